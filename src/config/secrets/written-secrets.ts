import { isObject } from '../../kernel/json.js';
import { literalPart } from '../resolve/expand.js';
import { hideInArguments, hideInUrl, isSecretName, looksSecret, secretsOfHeader } from './credentials.js';

/** Fields whose values are all taken for credentials, as they are once the config is in force. */
const ALL_SECRET = new Set(['env', 'headers', 'authHeaders']);

/** A name and its value in JSON, YAML, TOML or code. */
const PAIR =
  /(?<![\w.-])(["']?)([A-Za-z_][\w.-]*)\1[ \t]*[:=][ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"',#[\]{}]+))/g;
const WORD = /[^\s"'`,;()[\]{}<>]+/g;

function inValue(value: string, isSecret: boolean): string[] {
  const literal = literalPart(value);
  if (literal.includes('://')) return [...hideInUrl(literal).secrets, ...(isSecret ? [literal] : [])];
  return isSecret || looksSecret(literal) ? secretsOfHeader(literal) : [];
}

function inRaw(value: unknown, isSecret: boolean): string[] {
  if (typeof value === 'string') return inValue(value, isSecret);
  if (Array.isArray(value)) {
    const words = value.filter((each) => typeof each === 'string').map(literalPart);
    const inWords = hideInArguments(words).flatMap(({ secrets }) => secrets);
    return [...inWords, ...value.flatMap((each) => inRaw(each, isSecret))];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const isNamed = typeof each === 'string' && isSecretName(name);
    return inRaw(each, isNamed || (typeof each === 'string' && isSecret) || ALL_SECRET.has(name));
  });
}

/**
 * What looks like a credential in a config that need not be in force, nor valid (A33). It is better to take an ordinary value for one than
 * the other way round.
 */
export function secretsInConfig(raw: unknown): string[] {
  return inRaw(raw, false);
}

/** The same in the text of a config that cannot be read. */
export function secretsInText(text: string): string[] {
  const pairs = [...text.matchAll(PAIR)].flatMap(([, , name = '', double, single, bare]) =>
    isSecretName(name) ? inValue(double ?? single ?? bare ?? '', true) : [],
  );
  return [...pairs, ...(text.match(WORD) ?? []).flatMap((word) => inValue(word, false))];
}
