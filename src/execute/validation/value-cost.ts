import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';

/** The keyword that says what a subschema costs by the size of the value; see {@link valueCostOf}. */
export const VALUE_COST_KEYWORD = 'x-value-cost';

/** Keywords of one subschema that take longer the larger the value is, counted by what they read of it. */
export interface ValueCost {
  /** Keywords that read every character of a text. */
  readonly text: number;
  /** Keywords that read every name of an object. */
  readonly names: number;
  /** Keywords that read every item of a list. */
  readonly items: number;
  /** What has to be looked up in any object, whatever its size. */
  readonly lookups: number;
}

/** Counting the characters of a text is this much cheaper than a visit. */
const CHARS_PER_STEP = 64;
/** What is looked up in an object costs more than a visit when it is missing: each gives an error. */
const STEPS_PER_LOOKUP = 2;
/** Objects and lists up to this size are paid by the visit itself. */
const FREE_MEMBERS = 16;
/** So are lists of names and values up to this size. */
const FREE_LOOKUPS = 100;

const BY_TEXT = ['minLength', 'maxLength'] as const;
const BY_NAMES = [
  'minProperties',
  'maxProperties',
  'propertyNames',
  'additionalProperties',
  'unevaluatedProperties',
  'patternProperties',
] as const;
const BY_ITEMS = ['contains', 'unevaluatedItems'] as const;
const LOOKED_UP = ['required', 'dependentRequired', 'dependencies'] as const;

const countOf = (schema: JsonObject, keywords: readonly string[]): number =>
  keywords.filter((keyword) => schema[keyword] !== undefined).length;

/** Every value inside of one, itself included; what is compared with arguments may be large too. */
function sizeOf(value: JsonValue | undefined): number {
  let size = 0;
  const stack = [value];
  while (stack.length > 0) {
    const next = stack.pop();
    size++;
    if (typeof next === 'object' && next !== null) for (const each of Object.values(next)) stack.push(each);
  }
  return size;
}

/** What the keywords of a subschema cost by the size of the value; `undefined` when none of them does. */
export function valueCostOf(schema: JsonObject): JsonObject | undefined {
  const allowed = schema['const'] === undefined ? [] : [schema['const']];
  if (Array.isArray(schema['enum'])) allowed.push(...schema['enum']);
  // Two objects are compared by listing the names of both.
  const compared = allowed.filter((each) => isObject(each)).length;
  let lookups = 0;
  for (const keyword of LOOKED_UP) if (schema[keyword] !== undefined) lookups += sizeOf(schema[keyword]) - 1;
  if (allowed.some((each) => typeof each === 'object')) lookups += sizeOf(allowed);
  const cost = {
    text: countOf(schema, BY_TEXT),
    // A name that is refused gives two errors.
    names: countOf(schema, BY_NAMES) + compared + (schema['propertyNames'] === false ? 1 : 0),
    items: countOf(schema, BY_ITEMS),
    lookups: lookups > FREE_LOOKUPS ? lookups : 0,
  } satisfies ValueCost;
  return Object.values(cost).some((each) => each > 0) ? cost : undefined;
}

const membersCost = (members: number): number => (members > FREE_MEMBERS ? members : 0);

function namesIn(value: object): number {
  let names = 0;
  for (const _name in value) names++;
  return names;
}

/** The steps that the keywords of one subschema take on one value. */
export function stepsFor(cost: ValueCost, value: unknown): number {
  if (typeof value === 'string') {
    return cost.text === 0 || value.length < CHARS_PER_STEP ? 0 : (cost.text * value.length) / CHARS_PER_STEP;
  }
  if (typeof value !== 'object' || value === null) return 0;
  const lookups = cost.lookups * STEPS_PER_LOOKUP;
  if (Array.isArray(value)) return lookups + cost.items * membersCost(value.length);
  return cost.names === 0 ? lookups : lookups + cost.names * membersCost(namesIn(value));
}
