import { createHash } from 'node:crypto';
import { canonicalJson, type JsonValue } from './json.js';

/** In one step it costs half; a Node.js without it has no name to import. */
const hash = process.getBuiltinModule?.('node:crypto').hash;

/** Hex SHA-256 of a text. */
export function sha256(text: string): string {
  return hash ? hash('sha256', text) : createHash('sha256').update(text).digest('hex');
}

/** Hex SHA-256 of a JSON value; the order of keys does not matter. */
export function hashJson(value: JsonValue | undefined): string {
  return sha256(canonicalJson(value));
}
