import type { JsonValue } from '../kernel/json.js';
import { MASK } from '../kernel/secrets.js';

/** Names of fields whose values are never kept. Fixed alternatives only, so that no name can slow it down. */
const SECRET = /authorization|token|secret|password|passwd|cookie|api[-_]?key|private[-_]?key|credential/i;

/** Longest text that is kept whole. */
const TEXT = 200;
/** Most items of a list or fields of an object. */
const WIDTH = 50;
/** Deepest nesting that is kept. */
const DEPTH = 8;
/** Characters, names included, after which everything else is left out. */
const SIZE = 16_384;

const LEFT_OUT = '…';

/**
 * Arguments as they may be stored: values of fields that look secret are masked, long texts are cut
 * with their length noted, and width, depth and size are bounded. Takes anything, never throws on
 * JSON, and changes nothing when applied again.
 */
export function redactArguments(value: JsonValue): JsonValue {
  return redactValue(value, 0, { left: SIZE });
}

/**
 * The budget counts what comes out, in the order it comes out: a second pass over the result then
 * stops at the same place.
 */
function redactValue(value: unknown, depth: number, budget: { left: number }): JsonValue {
  if (budget.left <= 0) return LEFT_OUT;
  budget.left -= 1;
  if (typeof value === 'string') return spend(cut(value), budget);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'bigint') return spend(cut(String(value)), budget);
  if (typeof value !== 'object') return null;
  if (depth >= DEPTH) return spend(Array.isArray(value) ? '[list]' : '[object]', budget);
  if (Array.isArray(value)) return narrow(value).map((item) => redactValue(item, depth + 1, budget));

  const fields = new Map<string, unknown>();
  const names = Object.keys(value);
  for (const name of names.length > WIDTH ? names.slice(0, WIDTH - 1) : names) {
    const field: unknown = (value as Record<string, unknown>)[name];
    if (field !== undefined) fields.set(cut(name), SECRET.test(name) ? MASK : field);
  }
  if (names.length > WIDTH) fields.set(LEFT_OUT, `${names.length - WIDTH + 1} more`);
  // Without a prototype a field may have any name, `__proto__` too.
  const kept = Object.create(null) as Record<string, JsonValue>;
  for (const [name, field] of fields) kept[spend(name, budget)] = redactValue(field, depth + 1, budget);
  return kept;
}

function narrow(items: readonly unknown[]): unknown[] {
  if (items.length <= WIDTH) return [...items];
  return [...items.slice(0, WIDTH - 1), `${LEFT_OUT} ${items.length - WIDTH + 1} more`];
}

function cut(text: string): string {
  if (text.length <= TEXT) return text;
  const note = `${LEFT_OUT} [${text.length} characters]`;
  // The note stands inside the limit, so that a cut text is not cut again. No half of a pair stays behind.
  return text.slice(0, TEXT - note.length).replace(/[\ud800-\udbff]$/, '') + note;
}

function spend(text: string, budget: { left: number }): string {
  budget.left -= text.length;
  return text;
}
