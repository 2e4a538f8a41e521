import { createHash } from 'node:crypto';
import { canonicalJson, type JsonValue } from './json.js';

/** Hex SHA-256 of a text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Hex SHA-256 of a JSON value; the order of keys does not matter. */
export function hashJson(value: JsonValue | undefined): string {
  return sha256(canonicalJson(value));
}
