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

/**
 * Where an entry holds something in clear that looks like a credential: `env NAME`, `header NAME`, `argument N`, `url`. It is
 * better to take an ordinary value for one than the other way round.
 */
export function literalSecrets({ env, headers, args, url, command }: ServerEntry): string[] {
  const named = (kind: string, pairs: Readonly<Record<string, string>> = {}): string[] =>
    Object.entries(pairs)
      .filter(isSecretPair)
      .map(([name]) => `${kind} ${name}`);
  const isSecret = ({ secrets }: Hidden): boolean => secrets.some((secret) => secret !== '');
  const words = hideInArguments([command ?? '', ...(args ?? [])].map(literalPart));
  return [
    ...named('env', env),
    ...named('header', headers),
    ...words.flatMap((word, at) => (isSecret(word) ? [at === 0 ? 'command' : `argument ${at}`] : [])),
    ...(isSecret(hideInUrl(literalPart(url ?? ''))) ? ['url'] : []),
  ];
}

/** Whether an entry holds something in clear that looks like a credential. */
export function holdsLiteralSecret(entry: ServerEntry): boolean {
  return literalSecrets(entry).length > 0;
}
