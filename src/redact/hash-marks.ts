import { sha256 } from '../kernel/hash.js';
import { canonicalJson, isDeeperThan, type JsonValue } from '../kernel/json.js';
import { LIMITS } from '../kernel/limits.js';
import { MASK } from '../kernel/secrets.js';

/** What takes the place of something redacted; looked for so that a second pass leaves it alone. */
const MARKS = /\*\*\*|sha256:[0-9a-f]{16}/g;
const WHOLE_MARK = /^(?:\*\*\*|sha256:[0-9a-f]{16})$/;

/** Hexadecimal digits of a hash in place of a value: enough to distinguish values. */
const DIGITS = 16;

/** A value as its hash: equal values give equal marks. A mark stays what it is. */
export function hashMark(value: JsonValue): string {
  if (typeof value === 'string' && WHOLE_MARK.test(value)) return value;
  if (isDeeperThan(value, LIMITS.depth)) return MASK;
  return `sha256:${sha256(typeof value === 'string' ? value : canonicalJson(value)).slice(0, DIGITS)}`;
}

/** Where marks stand in a text, from left to right. */
export function findMarks(text: string): Array<readonly [start: number, end: number]> {
  return Array.from(text.matchAll(MARKS), ({ 0: mark, index }) => [index, index + mark.length] as const);
}
