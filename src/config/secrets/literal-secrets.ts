import type { ServerEntry } from '../../model/config.js';
import { hideInArguments, hideInUrl, isSecretName, looksSecret, type Hidden } from './credentials.js';
import { literalPart } from '../resolve/expand.js';

/** The value of a header without its scheme: the words beside the credential. */
function withoutScheme(value: string): string {
  return value.replace(/^(bearer|basic|token|digest)\b\s*/i, '').trim();
}

function isSecretPair([name, value]: readonly [string, string]): boolean {
  const literal = withoutScheme(literalPart(value));
  return literal !== '' && (isSecretName(name) || looksSecret(literal));
}

/** Something in clear that looks like a credential. */
export interface LiteralSecret {
  /** `env NAME`, `header NAME`, `command`, `argument N`, `url`. */
  readonly name: string;
  /** Where it stands in the entry. */
  readonly keys: ReadonlyArray<string | number>;
  /** The credential itself, in every form that must not be shown. */
  readonly values: readonly string[];
}

/** What in an entry looks like a credential in clear. It is better to take an ordinary value for one than the other way round. */
export function findLiteralSecrets({ env, headers, args, url, command }: ServerEntry): LiteralSecret[] {
  const named = (kind: string, field: string, pairs: Readonly<Record<string, string>> = {}): LiteralSecret[] =>
    Object.entries(pairs)
      .filter(isSecretPair)
      .map(([name, value]) => ({
        name: `${kind} ${name}`,
        keys: [field, name],
        values: [literalPart(value), withoutScheme(literalPart(value))],
      }));
  const valuesOf = ({ secrets }: Hidden): string[] => secrets.filter((secret) => secret !== '');
  const words = hideInArguments([command ?? '', ...(args ?? [])].map(literalPart)).map(valuesOf);
  const inUrl = valuesOf(hideInUrl(literalPart(url ?? '')));
  return [
    ...named('env', 'env', env),
    ...named('header', 'headers', headers),
    ...words.flatMap((values, at): LiteralSecret[] => {
      if (values.length === 0) return [];
      if (at === 0) return [{ name: 'command', keys: ['command'], values }];
      return [{ name: `argument ${at}`, keys: ['args', at - 1], values }];
    }),
    ...(inUrl.length > 0 ? [{ name: 'url', keys: ['url'], values: inUrl }] : []),
  ];
}

/** The names of {@link findLiteralSecrets}. */
export function literalSecrets(entry: ServerEntry): string[] {
  return findLiteralSecrets(entry).map(({ name }) => name);
}

/** Whether an entry holds something in clear that looks like a credential. */
export function holdsLiteralSecret(entry: ServerEntry): boolean {
  return literalSecrets(entry).length > 0;
}
