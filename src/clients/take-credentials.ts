import type { ServerEntry } from '../model/config.js';
import { hideInArguments, hideInUrl, isSecretName, looksSecret } from '../config/secrets/credentials.js';
import { literalPart } from '../config/resolve/expand.js';

/** An entry without credentials, and the variables that hold them. */
export interface TakenCredentials {
  readonly entry: ServerEntry;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Stores a value under a variable: the requested name, or a free one. */
type Keep = (wish: string, value: string) => string;

function variableName(...words: string[]): string {
  const name = words
    .join('_')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return /^[A-Z_]/.test(name) ? name : `_${name}`;
}

/** What stands before the credential of a header, such as `Bearer `. */
function schemeOf(value: string): string {
  return /^(bearer|basic|token|digest)\s+/i.exec(value)?.[0] ?? '';
}

function takeFromPairs(
  pairs: Readonly<Record<string, string>> | undefined,
  wishFor: (name: string) => string,
  keep: Keep,
): Record<string, string> | undefined {
  if (!pairs) return undefined;
  const taken = Object.entries(pairs).map(([name, value]): [string, string] => {
    const scheme = schemeOf(value);
    const secret = value.slice(scheme.length);
    const isSecret = literalPart(secret) !== '' && (isSecretName(name) || looksSecret(literalPart(secret)));
    return [name, isSecret ? `${scheme}\${${keep(wishFor(name), secret)}}` : value];
  });
  return Object.fromEntries(taken);
}

/** A text with its secret parts replaced by variables, the longest first. */
function takeFromText(text: string, secrets: readonly string[], wish: string, keep: Keep): string {
  let out = text;
  const found = [...new Set(secrets)]
    .filter((secret) => literalPart(secret) !== '')
    .toSorted((a, b) => b.length - a.length);
  for (const secret of found) {
    if (!out.includes(secret)) continue;
    const name = keep(wish, secret);
    out = out.split(secret).join(`\${${name}}`);
  }
  return out;
}

/**
 * Takes the credentials out of an entry: `${VARIABLE}` stands in their place. `undefined` when that cannot be done without changing what
 * the entry means.
 *
 * @param isFree whether a variable of that name does not exist yet, or has exactly that value.
 */
export function takeCredentials(
  id: string,
  entry: ServerEntry,
  isFree: (name: string, value: string) => boolean,
): TakenCredentials | undefined {
  const secrets: Record<string, string> = {};
  const keep: Keep = (wish, value) => {
    const fits = (name: string): boolean => (secrets[name] ?? value) === value && isFree(name, value);
    const own = wish.startsWith(variableName(id)) ? wish : variableName(id, wish);
    let name = fits(wish) ? wish : own;
    for (let n = 2; !fits(name); n++) name = `${own}_${n}`;
    secrets[name] = value;
    return name;
  };
  const { env, headers, args, url } = entry;
  const hidden = hideInArguments(args ?? []);
  const taken: ServerEntry = {
    ...entry,
    ...(env && { env: takeFromPairs(env, (name) => variableName(name), keep) }),
    ...(headers && { headers: takeFromPairs(headers, (name) => variableName(id, name), keep) }),
    ...(args && {
      args: args.map((arg, at) =>
        takeFromText(arg, hidden[at]!.secrets, variableName(id, 'arg', String(at + 1)), keep),
      ),
    }),
    ...(url !== undefined && { url: takeFromText(url, hideInUrl(url).secrets, variableName(id, 'url'), keep) }),
  };
  // What is filled in is not read again, so a value that mixes in another variable would change; the file has one line for each.
  const isPlain = (value: string): boolean => value.trim() !== '' && !value.includes('${') && !/[\r\n\0]/.test(value);
  return Object.values(secrets).every(isPlain) ? { entry: taken, secrets } : undefined;
}
