import { MASK } from '../../kernel/secrets.js';

/** A text that may be shown, and what had to be taken out of it. */
export interface Hidden {
  readonly shown: string;
  readonly secrets: readonly string[];
}

const SECRET_WORDS = new Set(
  (
    'token tokens secret secrets password passwd passphrase pwd pass auth authorization bearer credential ' +
    'credentials cookie pat key keys apikey dsn signature header headers'
  ).split(' '),
);

/** Forms that common issuers give their tokens. */
const KNOWN_TOKEN = /^(sk-|pk-|rk_|sk_|ghp_|gho_|ghs_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|npm_|hf_|eyJ)[\w.-]{8,}$/;

/** Whether a name says that its value is a credential. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.some((word) => SECRET_WORDS.has(word) || /(token|secret|password|apikey)$/.test(word));
}

/** Remote servers are often addressed by an unguessable path; a long mix of letters and digits is one. */
function isSecretSegment(segment: string): boolean {
  return /^[\w.~=-]{20,}$/.test(segment) && /\d/.test(segment) && /[A-Za-z]/.test(segment);
}

/** Whether a text has the form that a common issuer gives its tokens. */
export function looksIssued(text: string): boolean {
  return KNOWN_TOKEN.test(text);
}

/** Whether a text looks like a credential by itself. */
export function looksSecret(text: string): boolean {
  return KNOWN_TOKEN.test(text) || isSecretSegment(text) || /^[a-z][a-z0-9+.-]*:\/\/[^/@\s]*:[^/@\s]+@/i.test(text);
}

/** Percent-decodes a text; one that is not validly encoded stays as it is. */
export function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (thrown) {
    if (thrown instanceof URIError) return text;
    throw thrown;
  }
}

/** Hides what a URL may carry besides its host: user and password, unguessable paths, values of the query. */
export function hideInUrl(url: string): Hidden {
  const secrets: string[] = [];
  const take = (text: string): string => {
    if (text !== '') secrets.push(text, decodeComponent(text));
    return text === '' ? '' : MASK;
  };
  const parts = /^([a-z][a-z0-9+.-]*:\/\/)?([^/?#]*@)?([^/?#]*)([^?#]*)(\?[^#]*)?(#[^]*)?$/i.exec(url);
  if (!parts) return { shown: take(url), secrets };
  const [, scheme = '', user = '', host = '', path = '', query = '', fragment = ''] = parts;
  for (const half of user.slice(0, -1).split(':')) take(half);
  const shownPath = path
    .split('/')
    .map((segment) => (isSecretSegment(segment) ? take(segment) : segment))
    .join('/');
  const pairs = query.slice(1).split('&');
  const shownQuery = pairs.map((pair) => {
    const equals = pair.indexOf('=');
    return equals === -1 ? take(pair) : `${pair.slice(0, equals)}=${take(pair.slice(equals + 1))}`;
  });
  const shown =
    scheme +
    (user === '' ? '' : `${MASK}@`) +
    host +
    shownPath +
    (query === '' ? '' : `?${shownQuery.join('&')}`) +
    (fragment === '' ? '' : `#${take(fragment.slice(1))}`);
  return { shown, secrets };
}

function masked(kept: string, secret: string): Hidden {
  return { shown: kept + MASK, secrets: secretsOfHeader(secret) };
}

function hideArgument(arg: string): Hidden {
  if (KNOWN_TOKEN.test(arg)) return masked('', arg);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(arg)) return hideInUrl(arg);
  const pair = /^(-{0,2}[A-Za-z_][\w.-]*[=:])(\s*)([^]*)$/.exec(arg);
  if (!pair) return { shown: arg, secrets: [] };
  const [, name = '', space = '', value = ''] = pair;
  if (value !== '' && isSecretName(name)) return masked(name + space, value);
  if (!name.endsWith('=')) return { shown: arg, secrets: [] };
  const inner = KNOWN_TOKEN.test(value) || value.includes('://') ? hideArgument(value) : undefined;
  return inner ? { shown: name + space + inner.shown, secrets: inner.secrets } : { shown: arg, secrets: [] };
}

/** Hides credentials in the arguments of a command: `--token=x`, `--api-key x`, `-e NAME=x`, `Header: x`, URLs. */
export function hideInArguments(args: readonly string[]): Array<Hidden> {
  let before = '';
  return args.map((arg) => {
    const flag = before;
    before = arg;
    const isValue = flag.startsWith('-') && !flag.includes('=') && !arg.startsWith('-');
    if (isValue && /^(-e|--env)$/.test(flag) && arg.includes('=')) {
      const [name = '', ...rest] = arg.split('=');
      return { shown: `${name}=${MASK}`, secrets: [rest.join('=')] };
    }
    if (isValue && flag.length > 2 && isSecretName(flag)) return { shown: MASK, secrets: secretsOfHeader(arg) };
    return hideArgument(arg);
  });
}

/** The secret parts of a header's value: all of it, and what follows its name or scheme. */
export function secretsOfHeader(value: string): string[] {
  const rest = /^[A-Za-z][\w-]*(?::\s*|\s+)(\S[^]*)$/.exec(value)?.[1];
  return rest === undefined ? [value] : [value, ...secretsOfHeader(rest)];
}
