import { isUtf8 } from 'node:buffer';
import { ToolscoutError } from '../kernel/errors.js';
import type { JsonValue } from '../kernel/json.js';

/** A value as the text that is stored under a key; what is not JSON or nests too deep is refused with `STORE_ERROR`. */
export function toText(value: unknown, at?: { readonly space: string; readonly key: string }): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (thrown) {
    throw unstorable(at, 'it is not JSON, or it nests too deep', thrown);
  }
  if (text === undefined) throw unstorable(at, 'it is not JSON');
  return text;
}

function unstorable(at: Parameters<typeof toText>[1], why: string, cause?: unknown): ToolscoutError {
  const what = at ? `The value of "${at.key}" in "${at.space}"` : 'The record';
  return new ToolscoutError('STORE_ERROR', `${what} cannot be stored: ${why}.`, {
    suggestion: 'Pass plain JSON data, without cycles and without deep nesting.',
    cause,
  });
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

/**
 * The name of a row. Another spelling of a name (`\u0061` for `a`) is left out: two rows would have one name, and removing the expired one
 * would remove the other (A48).
 */
export function fromKey(column: unknown): string | undefined {
  const name = fromName(column);
  return name !== undefined && toName(name) === fromBytes(column) ? name : undefined;
}
