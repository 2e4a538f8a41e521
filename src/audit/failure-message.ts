import { isObject, type JsonValue } from '../kernel/json.js';
import { MASK } from '../kernel/secrets.js';

/** Shorter values are too common to be masked without destroying ordinary text. */
const MIN_LENGTH = 4;
/** Values of one call that are looked at; what is stored of its arguments is bounded as well. */
const MAX_VALUES = 2000;

/** Values that stand in a request and not in what is stored of it: a field of them was redacted. */
function takenOut(raw: JsonValue | undefined, stored: JsonValue | undefined, found: Set<string>): void {
  if (raw === stored || found.size >= MAX_VALUES) return;
  if (Array.isArray(raw)) {
    const items = Array.isArray(stored) ? stored : [];
    raw.forEach((item, at) => takenOut(item, items[at], found));
  } else if (isObject(raw)) {
    const fields = isObject(stored) ? stored : {};
    for (const [name, value] of Object.entries(raw)) {
      takenOut(value, Object.hasOwn(fields, name) ? fields[name] : undefined, found);
    }
  } else if ((typeof raw === 'string' || typeof raw === 'number') && String(raw).length >= MIN_LENGTH) {
    found.add(String(raw));
    // As a server that quotes JSON repeats it.
    found.add(JSON.stringify(String(raw)).slice(1, -1));
  }
}

/** The message of a failure without the values of its arguments that are not stored: a server may repeat what it was sent. */
export function withoutTakenOut(message: string, raw: JsonValue | undefined, stored: JsonValue | undefined): string {
  const values = new Set<string>();
  takenOut(raw, stored, values);
  // The longest first: one value may be part of another.
  return [...values]
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, value) => text.replaceAll(value, MASK), message);
}
