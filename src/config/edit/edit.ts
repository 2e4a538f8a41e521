import type { JsonValue } from '../../kernel/json.js';

/** One change of a file: what stands at a path of keys from now on; without a value it goes. */
export interface Edit {
  readonly keys: ReadonlyArray<string | number>;
  readonly value?: JsonValue;
  /** The value is a further item of a list, before what stands at its place now. */
  readonly isNew?: boolean;
}
