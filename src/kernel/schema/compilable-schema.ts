import { isObject, type JsonObject, type JsonValue } from '../json.js';

type Test = (value: JsonValue) => boolean;

const isNumber: Test = (value) => typeof value === 'number' && Number.isFinite(value);
const isText: Test = (value) => typeof value === 'string';
const isTexts: Test = (value) => Array.isArray(value) && value.every(isText);
const isFlag: Test = (value) => typeof value === 'boolean';
const isFilled: Test = (value) => Array.isArray(value) && value.length > 0;
const never: Test = () => false;

/** Compiles as the engines compile it. */
const isPattern: Test = (value) => {
  try {
    return typeof value === 'string' && new RegExp(value, 'u').unicode;
  } catch {
    // It is not a regular expression of JavaScript.
    return false;
  }
};

const TYPES: ReadonlySet<JsonValue> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

/** Keywords that hold no schema: what their value must be. Names that an engine treats in a way of its own are refused. */
const VALUES: ReadonlyMap<string, Test> = new Map<string, Test>([
  [
    'type',
    (value) => (Array.isArray(value) ? value.length > 0 && value.every((each) => TYPES.has(each)) : TYPES.has(value)),
  ],
  ['enum', isFilled],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map(
    (name) => [name, isNumber] as const,
  ),
  ...[
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'minProperties',
    'maxProperties',
    'minContains',
    'maxContains',
  ].map((name) => [name, isNumber] as const),
  ['pattern', isPattern],
  ['format', isText],
  ['required', isTexts],
  ['uniqueItems', isFlag],
  ['dependentRequired', (value) => isObject(value) && Object.values(value).every((each) => isTexts(each ?? null))],
  ['$ref', isText],
  ['$id', isText],
  ...['id', '$dynamicRef', '$recursiveAnchor', '$recursiveRef', '$async'].map((name) => [name, never] as const),
  ...['formatMinimum', 'formatMaximum', 'formatExclusiveMinimum', 'formatExclusiveMaximum'].map(
    (name) => [name, never] as const,
  ),
]);

const SCHEMAS: ReadonlySet<string> = new Set([
  'additionalProperties',
  'additionalItems',
  'propertyNames',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedProperties',
  'unevaluatedItems',
]);
const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
/** Keywords whose value is a map from free names to schemas. */
export const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

const DIALECT = /^https?:\/\/json-schema\.org\/(draft\/(2020-12|2019-09)|draft-0[67])\/schema#?$/;
const LISTED_ITEMS = /\/draft(\/2019-09|-0[67])\//;

/** Engines look for names of schemas everywhere, also inside of keywords they do not know. */
const NAMED = /"\$(id|anchor|dynamicAnchor)":"/;

/** The schemas directly inside of one, or `undefined` when a keyword has a value it cannot have. */
function schemasIn(schema: JsonObject, hasListedItems: boolean): JsonValue[] | undefined {
  const found: JsonValue[] = [];
  for (const [keyword, value = null] of Object.entries(schema)) {
    if (VALUES.get(keyword)?.(value) === false) return undefined;
    if (SCHEMAS.has(keyword)) found.push(value);
    else if (LISTS.has(keyword)) {
      if (!isFilled(value)) return undefined;
      found.push(...(value as JsonValue[]));
    } else if (SCHEMA_MAPS.has(keyword)) {
      if (!isObject(value)) return undefined;
      if (keyword === 'patternProperties' && !Object.keys(value).every(isPattern)) return undefined;
      found.push(...(Object.values(value) as JsonValue[]));
    } else if (keyword === 'dependencies') {
      if (!isObject(value)) return undefined;
      found.push(...(Object.values(value) as JsonValue[]).filter((each) => !isTexts(each)));
    } else if (keyword === 'items') {
      if (!Array.isArray(value)) found.push(value);
      else if (hasListedItems) found.push(...value);
      else return undefined;
    }
  }
  const { nullable, type } = schema;
  if (nullable === undefined) return found;
  const isNull = type === 'null' || (Array.isArray(type) && type.includes('null'));
  return typeof nullable === 'boolean' && type !== undefined && (nullable || !isNull) ? found : undefined;
}

/** What a local JSON pointer points to. */
function follow(root: JsonObject, reference: string): JsonValue | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let value: JsonValue | undefined = root;
  try {
    for (const step of decodeURIComponent(reference.slice(2)).split('/')) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
      value = (value as JsonObject)[name];
    }
  } catch {
    // A stray percent sign: such a reference means nothing.
    return undefined;
  }
  return value;
}

/**
 * Whether every client can compile a schema. SDK clients compile the output schemas of a whole list at once, and one that
 * does not compile costs them the list; so whatever is not certain counts as no. Nested schemas with a name of their own are
 * refused: the names of many servers meet in one client.
 */
export function isCompilable(root: JsonObject): boolean {
  const { $schema: dialect } = root;
  if (dialect !== undefined && (typeof dialect !== 'string' || !DIALECT.test(dialect))) return false;
  if (NAMED.test(JSON.stringify(root))) return false;
  const hasListedItems = typeof dialect === 'string' && LISTED_ITEMS.test(dialect);
  const visited = new Set<JsonValue>();
  const references: string[] = [];
  const waiting: JsonValue[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'boolean') continue;
    const inside = isObject(next) ? schemasIn(next, hasListedItems) : undefined;
    if (!inside) return false;
    visited.add(next);
    if (isObject(next) && typeof next['$ref'] === 'string') references.push(next['$ref']);
    waiting.push(...inside);
  }
  return references.every((reference) => visited.has(follow(root, reference) ?? null));
}
