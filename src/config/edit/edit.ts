import type { JsonValue } from '../../kernel/json.js';

/** One change of a file: what stands at a path of keys from now on; without a value it goes. */
export interface Edit {
  readonly keys: ReadonlyArray<string | number>;
  readonly value?: JsonValue;
}
