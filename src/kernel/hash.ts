import * as crypto from 'node:crypto';
import { canonicalJson, type JsonValue } from './json.js';

/** Hex SHA-256 of a text. */
export function sha256(text: string): string {
  // In one step it costs half; Node.js has that since 20.12.
  return typeof crypto.hash === 'function'
    ? crypto.hash('sha256', text)
    : crypto.createHash('sha256').update(text).digest('hex');
}

/** Hex SHA-256 of a JSON value; the order of keys does not matter. */
export function hashJson(value: JsonValue | undefined): string {
  return sha256(canonicalJson(value));
}
