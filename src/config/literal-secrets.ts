import type { ServerEntry } from '../model/config.js';
import { hideInArguments, hideInUrl, isSecretName, looksSecret } from './credentials.js';
import { literalPart } from './expand.js';

/** Words of a header that stand beside a credential and are none. */
function withoutScheme(value: string): string {
  return value.replace(/^(bearer|basic|token|digest)\b\s*/i, '').trim();
}

function isSecretPair([name, value]: readonly [string, string]): boolean {
  const literal = withoutScheme(literalPart(value));
  return literal !== '' && (isSecretName(name) || looksSecret(literal));
}

/**
 * Whether an entry holds something in clear that looks like a credential. It is better to take an ordinary value for
 * one than the other way round.
 */
export function holdsLiteralSecret({ env, headers, args, url, command }: ServerEntry): boolean {
  const pairs = [...Object.entries(env ?? {}), ...Object.entries(headers ?? {})];
  const words = [command ?? '', ...(args ?? [])].map(literalPart);
  const hidden = [...hideInArguments(words), hideInUrl(literalPart(url ?? ''))];
  return pairs.some(isSecretPair) || hidden.some(({ secrets }) => secrets.some((secret) => secret !== ''));
}
