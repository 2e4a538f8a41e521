import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';

/** The keywords of a subschema that hold no other schema and are well formed. */
export interface KeptKeywords {
  readonly kept: JsonObject;
  /** What long lists add to the cost of a visit. */
  readonly size: number;
}

const TYPES: ReadonlySet<JsonValue | undefined> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'object',
  'null',
]);

/** This many values of a list cost as much as one subschema. */
const VALUES_PER_COST = 10;

const isNumber = (value: JsonValue): boolean => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: JsonValue): boolean => Number.isInteger(value) && (value as number) >= 0;
const isText = (value: JsonValue): boolean => typeof value === 'string';
const isTexts = (value: JsonValue): boolean => Array.isArray(value) && value.every(isText);

/** What a keyword's value must look like; a server that writes something else is not checked there. */
const WELL_FORMED: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map([
  ['minimum', isNumber],
  ['maximum', isNumber],
  ['exclusiveMinimum', isNumber],
  ['exclusiveMaximum', isNumber],
  ['multipleOf', (value) => isNumber(value) && (value as number) > 0],
  ['minLength', isCount],
  ['maxLength', isCount],
  ['minItems', isCount],
  ['maxItems', isCount],
  ['minProperties', isCount],
  ['maxProperties', isCount],
  ['pattern', isText],
  ['required', isTexts],
  ['enum', (value) => Array.isArray(value) && value.length > 0],
  ['const', () => true],
  ['uniqueItems', (value) => value === true],
]);

/** What the dialects before 2019 do not know. */
const MODERN_WELL_FORMED: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map([
  ['minContains', isCount],
  ['maxContains', isCount],
  ['dependentRequired', (value) => isObject(value) && Object.values(value).every((each) => isTexts(each ?? null))],
]);

function typesOf(schema: JsonObject): JsonValue | undefined {
  const { type } = schema;
  const types = Array.isArray(type) ? type : [type];
  // One unknown type ("any", "date") may allow anything.
  if (types.length === 0 || !types.every((each) => TYPES.has(each))) return undefined;
  const all = new Set(types as string[]);
  if (schema['nullable'] === true) all.add('null');
  return all.size === 1 ? [...all][0] : [...all];
}

/** Copies what can be checked of one subschema, and leaves its subschemas to the caller. */
export function keepKeywords(schema: JsonObject, old: boolean): KeptKeywords {
  const kept: JsonObject = {};
  let size = 0;
  for (const [keyword, value] of Object.entries(schema)) {
    const isWellFormed = WELL_FORMED.get(keyword) ?? (old ? undefined : MODERN_WELL_FORMED.get(keyword));
    if (value === undefined || !isWellFormed?.(value)) continue;
    kept[keyword] = value;
    if (Array.isArray(value)) size += Math.floor(value.length / VALUES_PER_COST);
  }
  const type = typesOf(schema);
  if (type !== undefined) kept['type'] = type;
  // Draft 4 wrote `exclusiveMinimum: true` beside `minimum`.
  if (schema['exclusiveMinimum'] === true && kept['minimum'] !== undefined) kept['exclusiveMinimum'] = kept['minimum'];
  if (schema['exclusiveMaximum'] === true && kept['maximum'] !== undefined) kept['exclusiveMaximum'] = kept['maximum'];
  return { kept, size };
}
