import { isObject, type JsonValue } from './json.js';

/** Values visited to estimate the size of a result. */
const MAX_VISITED = 10_000;

/**
 * About how large a result is: the lengths of its texts and names, a few bytes for anything else.
 * Serialising a large result only to learn its size would double the cost of a call. With a `limit` it ends soon after the
 * estimate has passed it.
 */
export function estimateBytes(result: JsonValue | undefined, limit = Infinity): number {
  let bytes = 0;
  let visited = 0;
  const stack: Array<JsonValue | undefined> = [result];
  while (stack.length > 0 && visited < MAX_VISITED && bytes <= limit) {
    const value = stack.pop();
    visited++;
    if (typeof value === 'string') bytes += value.length + 2;
    else if (Array.isArray(value)) {
      bytes += value.length + 1;
      for (let at = 0; at < value.length && at < MAX_VISITED; at++) stack.push(value[at]);
    } else if (isObject(value)) {
      const keys = Object.keys(value);
      for (let at = 0; at < keys.length && at < MAX_VISITED; at++) {
        bytes += keys[at]!.length + 4;
        stack.push(value[keys[at]!]);
      }
    } else bytes += 4;
  }
  return bytes;
}
