import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { oneLine } from '../kernel/text.js';
import type { Parameter } from '../model/tool.js';

const TYPES: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']);

/** References and nesting are followed this far. */
const DEPTH = 12;

/** Schemas read for one tool: a few hundred bytes of `$ref` can describe more schemas than there are atoms. */
const BUDGET = 5000;

const MAX_PARAMETERS = 500;
const MAX_VALUES = 50;
const MAX_VARIANTS = 5;

/** What is known of one schema: its type's name, and its values when they are listed. */
interface Shape {
  readonly type: string;
  readonly values?: readonly string[];
}

const ANY: Shape = { type: 'any' };

interface Reader {
  readonly root: JsonObject;
  left: number;
}

function resolveRef(root: JsonObject, ref: string): JsonValue | undefined {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let at: JsonValue | undefined = root;
  for (const part of ref.split('/').slice(1, 40)) {
    if (typeof at !== 'object' || at === null) return undefined;
    const key = part.replace(/~1/g, '/').replace(/~0/g, '~');
    at = Object.hasOwn(at, key) ? (at as JsonObject)[key] : undefined;
  }
  return at;
}

/** The schema itself, references followed; `undefined` when it says nothing or the bounds are reached. */
function open(reader: Reader, schema: JsonValue | undefined): JsonObject | undefined {
  let at = schema;
  for (let hop = 0; hop < DEPTH; hop++) {
    if (!isObject(at) || reader.left <= 0) return undefined;
    reader.left--;
    if (typeof at.$ref !== 'string') return at;
    at = resolveRef(reader.root, at.$ref);
  }
  return undefined;
}

function typeOfValue(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function listed(values: readonly (JsonValue | undefined)[]): Shape {
  const present = values.slice(0, 1000).filter((value) => value !== null && value !== undefined);
  const types = new Set(present.map((value) => typeOfValue(value)));
  const simple = present.filter((value) => typeof value !== 'object').map((value) => oneLine(String(value), 100));
  return {
    type: types.size === 0 ? 'null' : types.size === 1 ? [...types][0]! : 'any',
    ...(simple.length > 0 && simple.length === present.length
      ? { values: [...new Set(simple)].slice(0, MAX_VALUES) }
      : {}),
  };
}

function unite(shapes: readonly Shape[]): Shape {
  const types = [...new Set(shapes.flatMap((shape) => shape.type.split('|')))].filter((type) => type !== 'null');
  const values = [...new Set(shapes.flatMap((shape) => shape.values ?? []))].slice(0, MAX_VALUES);
  if (types.length === 0) return shapes.length > 0 ? { type: 'null' } : ANY;
  if (types.includes('any') || types.length > MAX_VARIANTS) return ANY;
  // Values describe the whole union only when every part of it lists them and all are of one kind.
  const exact = types.length === 1 && shapes.every((shape) => shape.values !== undefined || shape.type === 'null');
  return { type: types.join('|'), ...(exact ? { values } : {}) };
}

function shapeOfArray(reader: Reader, schema: JsonObject, depth: number): Shape {
  const items = shapeOf(reader, schema.items, depth + 1);
  if (items.type.length > 60) return { type: 'array' };
  const type = items.type.includes('|') ? `(${items.type})[]` : `${items.type}[]`;
  return { type, ...(items.values ? { values: items.values } : {}) };
}

function shapeOfType(reader: Reader, schema: JsonObject, type: string, depth: number): Shape {
  if (!TYPES.has(type)) return ANY;
  return type === 'array' ? shapeOfArray(reader, schema, depth) : { type };
}

function shapeOf(reader: Reader, given: JsonValue | undefined, depth: number): Shape {
  const schema = depth > DEPTH ? undefined : open(reader, given);
  if (!schema) return ANY;
  if (schema.const !== undefined) return listed([schema.const]);
  if (Array.isArray(schema.enum)) return listed(schema.enum);
  if (typeof schema.type === 'string') return shapeOfType(reader, schema, schema.type, depth);
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => typeof type === 'string').slice(0, TYPES.size);
    return unite(types.map((type) => shapeOfType(reader, schema, type, depth)));
  }
  for (const variants of [schema.anyOf, schema.oneOf]) {
    if (!Array.isArray(variants)) continue;
    return unite(variants.slice(0, 100).map((variant) => shapeOf(reader, variant, depth + 1)));
  }
  if (Array.isArray(schema.allOf)) {
    for (const part of schema.allOf.slice(0, 100)) {
      const shape = shapeOf(reader, part, depth + 1);
      if (shape.type !== 'any') return shape;
    }
  }
  if (isObject(schema.properties)) return { type: 'object' };
  return schema.items === undefined ? ANY : shapeOfArray(reader, schema, depth);
}

interface Found {
  readonly schema: JsonValue | undefined;
  required: boolean;
}

/** Collects properties of a schema and of its parts; a branch of a choice can require nothing. */
function collect(
  reader: Reader,
  given: JsonValue | undefined,
  found: Map<string, Found>,
  sure: boolean,
  depth: number,
): void {
  const schema = depth > DEPTH ? undefined : open(reader, given);
  if (!schema) return;
  if (isObject(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (found.size >= MAX_PARAMETERS) break;
      if (!found.has(name)) found.set(name, { schema: property, required: false });
    }
  }
  for (const part of Array.isArray(schema.allOf) ? schema.allOf : []) collect(reader, part, found, sure, depth + 1);
  for (const choice of [schema.anyOf, schema.oneOf]) {
    for (const part of Array.isArray(choice) ? choice : []) collect(reader, part, found, false, depth + 1);
  }
  for (const name of sure && Array.isArray(schema.required) ? schema.required : []) {
    const property = typeof name === 'string' ? found.get(name) : undefined;
    if (property) property.required = true;
  }
}

/** The parameters of a tool, flat, in the order of its schema. Total: any JSON gives a list. */
export function readParameters(inputSchema: JsonValue | undefined): Parameter[] {
  if (!isObject(inputSchema)) return [];
  const reader: Reader = { root: inputSchema, left: BUDGET };
  const found = new Map<string, Found>();
  collect(reader, inputSchema, found, true, 0);
  return [...found].map(([name, property]) => {
    const { type, values } = shapeOf(reader, property.schema, 0);
    const text = isObject(property.schema) ? property.schema.description : undefined;
    const description = typeof text === 'string' ? oneLine(text.slice(0, 2000), 400) : '';
    const { required } = property;
    return values ? { name, type, required, description, values } : { name, type, required, description };
  });
}
