import { isUtf8 } from 'node:buffer';
import { ToolscoutError } from '../kernel/errors.js';
import type { JsonValue } from '../kernel/json.js';

/** A value as the text that is stored; what is not JSON or nests too deep is refused with `STORE_ERROR`. */
export function toText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (thrown) {
    throw new ToolscoutError('STORE_ERROR', 'The value cannot be stored: it is not JSON, or it nests too deep.', {
      cause: thrown,
    });
  }
  if (text === undefined) throw new ToolscoutError('STORE_ERROR', 'The value cannot be stored: it is not JSON.');
  return text;
}

/** The text of a column that was read as bytes, or `undefined` when it is not UTF-8. */
export function fromBytes(column: unknown): string | undefined {
  if (typeof column === 'string') return column;
  return Buffer.isBuffer(column) && isUtf8(column) ? column.toString() : undefined;
}

/** The value of a stored text, or `undefined` when it cannot be read back. */
export function fromText(column: unknown): { readonly value: JsonValue } | undefined {
  const text = fromBytes(column);
  if (text === undefined) return undefined;
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    // Damaged text is a miss; the caller names the row in the log.
    return undefined;
  }
}

/**
 * A name as it stands in a column. SQLite cuts text at NUL when it is read, and lone surrogates all
 * become U+FFFD, so that two names could share a row; JSON escapes keep every name distinct.
 */
export function toName(name: string): string {
  return PLAIN.test(name) ? name : JSON.stringify(name).slice(1, -1);
}

/** Nothing in it that JSON would write otherwise, as in nearly every name. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The name of a column written by {@link toName}, or `undefined` when it cannot be read back. */
export function fromName(column: unknown): string | undefined {
  const name = fromBytes(column);
  const read = name === undefined ? undefined : fromText(`"${name}"`);
  return typeof read?.value === 'string' ? read.value : undefined;
}
