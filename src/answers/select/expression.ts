import type { JsonValue } from '../../kernel/json.js';

/** A part of a JMESPath expression; `at` is where it begins in the text, for errors. */
export type Expression =
  | { readonly kind: 'current' }
  | { readonly kind: 'literal'; readonly value: JsonValue }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly start?: number; readonly stop?: number; readonly step: number }
  /** The right side on what the left side gives. */
  | { readonly kind: 'then'; readonly left: Expression; readonly right: Expression }
  /** The right side on each item of a list. */
  | { readonly kind: 'each'; readonly left: Expression; readonly right: Expression }
  /** The right side on each value of an object. */
  | { readonly kind: 'values'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'flatten'; readonly of: Expression }
  | { readonly kind: 'filter'; readonly left: Expression; readonly right: Expression; readonly test: Expression }
  | { readonly kind: 'compare'; readonly operator: Comparator; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'not'; readonly of: Expression }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'object'; readonly members: ReadonlyArray<readonly [name: string, value: Expression]> }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[]; readonly at: number }
  /** `&expression`: handed to a function as it is. */
  | { readonly kind: 'reference'; readonly of: Expression };

/** An operator that compares two values. */
export type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** A text that is not a JMESPath expression, and where it stops being one. */
export class SelectSyntaxError extends Error {
  constructor(
    message: string,
    /** Characters before the place. */
    readonly at: number,
  ) {
    super(message);
    this.name = 'SelectSyntaxError';
  }
}

/** A valid expression that cannot be applied to a value: a function got a value of another type, or a bound was reached. */
export class SelectRunError extends Error {
  override readonly name = 'SelectRunError';
}
