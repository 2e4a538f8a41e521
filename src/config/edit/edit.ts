import type { JsonValue } from '../../kernel/json.js';

/** One change of a file: what stands at a path of keys from now on; without a value it goes. */
export interface Edit {
  readonly keys: ReadonlyArray<string | number>;
  readonly value?: JsonValue;
}

/** The value at a path of keys; only own fields are followed. */
export function at(data: unknown, keys: Edit['keys']): unknown {
  let here = data;
  for (const key of keys) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<PropertyKey, unknown>)[key];
  }
  return here;
}
