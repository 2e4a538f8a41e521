import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { LIMITS } from '../kernel/limits.js';
import { ANY, meet, NODE_COST, unite, type MapEntry, type Scalar, type Shape } from './shape.js';

/**
 * Characters that one schema may become, more or less: a few hundred bytes of `$ref` can describe
 * more types than there are atoms. The largest real tool needs a twentieth of it.
 */
const BUDGET = 512 * 1024;

/** Parts of `allOf` and references are looked through this far for names that are required. */
const REQUIRED_DEPTH = 8;

interface Reader {
  readonly root: JsonValue;
  /** Keep null, further keys of maps and descriptions, which RTFS types have no place for. */
  readonly rich: boolean;
  /** References that are being followed: a second time is recursion. */
  readonly open: Set<string>;
  left: number;
}

type Names = ReadonlySet<string>;
const NO_NAMES: Names = new Set();

function spend(reader: Reader, characters: number): boolean {
  reader.left -= characters;
  return reader.left >= 0;
}

/** What a local reference points to. */
function follow(reader: Reader, ref: string): JsonValue | undefined {
  if ((ref !== '#' && !ref.startsWith('#/')) || !spend(reader, ref.length)) return undefined;
  let at: JsonValue | undefined = reader.root;
  for (const part of ref.split('/').slice(1, LIMITS.depth)) {
    if (typeof at !== 'object' || at === null) return undefined;
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    at = Object.hasOwn(at, key) ? (at as JsonObject)[key] : undefined;
  }
  return at;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (thrown) {
    if (thrown instanceof URIError) return part;
    throw thrown;
  }
}

/** The items of an array. Looking at them is paid for: one schema may be looked at through many references. */
function itemsOf(reader: Reader, value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) && spend(reader, value.length) ? value : [];
}

/** Names a schema requires, in whatever part of it: `allOf` often splits properties from `required`. */
function requiredOf(reader: Reader, schema: JsonValue | undefined, names: Set<string>, depth = 0): Set<string> {
  if (!isObject(schema) || depth > REQUIRED_DEPTH || !spend(reader, 1)) return names;
  for (const name of itemsOf(reader, schema.required)) if (typeof name === 'string') names.add(name);
  for (const part of itemsOf(reader, schema.allOf)) requiredOf(reader, part, names, depth + 1);
  if (typeof schema.$ref === 'string') requiredOf(reader, follow(reader, schema.$ref), names, depth + 1);
  return names;
}

/** The shape of an `enum` or `const`: the type its values have, and the values. */
function listed(reader: Reader, values: readonly (JsonValue | undefined)[], type: JsonValue | undefined): Shape {
  if (!spend(reader, values.length)) return ANY;
  const scalars = values.filter((value): value is Scalar => typeof value !== 'object' || value === null);
  if (scalars.length === 0 || scalars.length < values.length) return ANY;
  const distinct = [...new Set(scalars.map((value) => (value === 0 ? 0 : value)))];
  const all = (test: (value: Scalar) => boolean): boolean => distinct.every(test);
  const kind = all((value) => typeof value === 'string')
    ? 'string'
    : type !== 'number' && all((value) => Number.isInteger(value))
      ? 'int'
      : all((value) => typeof value === 'number')
        ? 'float'
        : all((value) => typeof value === 'boolean')
          ? 'bool'
          : 'any';
  const cost = distinct.reduce<number>((sum, value) => sum + String(value).length + 3, 0);
  return spend(reader, cost) ? { kind, values: distinct } : { kind };
}

function readMap(reader: Reader, schema: JsonObject, depth: number, required: Names): Shape {
  const entries: MapEntry[] = [];
  for (const [key, property] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    if (!spend(reader, NODE_COST + key.length)) break;
    const note = reader.rich && isObject(property) ? property.description : undefined;
    entries.push({
      key,
      optional: !required.has(key),
      type: readShape(reader, property, depth + 1, NO_NAMES),
      ...(typeof note === 'string' && spend(reader, note.length) ? { note } : {}),
    });
  }
  const more = schema.additionalProperties;
  const isOpen = reader.rich && (more === true || isObject(more));
  return { kind: 'map', entries, ...(isOpen ? { rest: readShape(reader, more, depth + 1, NO_NAMES) } : {}) };
}

function readVector(reader: Reader, schema: JsonObject, depth: number): Shape {
  const tuple = itemsOf(reader, Array.isArray(schema.items) ? schema.items : schema.prefixItems);
  const single = isObject(schema.items) ? [schema.items] : [];
  const items = [...tuple, ...single].map((item) => readShape(reader, item, depth + 1, NO_NAMES));
  return { kind: 'vector', items: unite(items) };
}

function readType(reader: Reader, schema: JsonObject, type: JsonValue, depth: number, required: Names): Shape {
  switch (type) {
    case 'string':
      return { kind: 'string' };
    case 'integer':
      return { kind: 'int' };
    case 'number':
      return { kind: 'float' };
    case 'boolean':
      return { kind: 'bool' };
    case 'array':
      return readVector(reader, schema, depth);
    case 'object':
      return readMap(reader, schema, depth, required);
    case 'null':
      return reader.rich ? { kind: 'null' } : ANY;
    default:
      return ANY;
  }
}

/** What a schema says itself, without its references and parts. */
function readOwn(reader: Reader, schema: JsonObject, depth: number, required: Names): Shape {
  const { type } = schema;
  if (schema.const !== undefined) return listed(reader, [schema.const], type);
  if (Array.isArray(schema.enum)) return listed(reader, schema.enum, type);
  if (typeof type === 'string') return readType(reader, schema, type, depth, required);
  if (Array.isArray(type)) {
    const types = [...new Set(itemsOf(reader, type))].slice(0, 8);
    return unite(types.map((each) => readType(reader, schema, each, depth, required)));
  }
  if (isObject(schema.properties)) return readMap(reader, schema, depth, required);
  return isObject(schema.items) || Array.isArray(schema.prefixItems) ? readVector(reader, schema, depth) : ANY;
}

function readReference(reader: Reader, ref: string, depth: number, required: Names): Shape {
  if (reader.open.has(ref)) return ANY;
  reader.open.add(ref);
  try {
    return readShape(reader, follow(reader, ref), depth + 1, required);
  } finally {
    reader.open.delete(ref);
  }
}

/** Whether a member of a choice is nothing but null, which an optional value does not need said. */
function isNull(reader: Reader, member: JsonValue): boolean {
  if (reader.rich || !isObject(member)) return false;
  const only = Array.isArray(member.enum) ? member.enum : [];
  return member.type === 'null' || member.const === null || (only.length === 1 && only[0] === null);
}

function readShape(reader: Reader, schema: JsonValue | undefined, depth: number, outer: Names): Shape {
  if (!isObject(schema) || depth > LIMITS.depth || !spend(reader, NODE_COST)) return ANY;
  const isRequiring = schema.required !== undefined || schema.allOf !== undefined || schema.$ref !== undefined;
  if (isRequiring && !spend(reader, outer.size)) return ANY;
  const required = isRequiring ? requiredOf(reader, schema, new Set(outer)) : outer;
  const parts = [readOwn(reader, schema, depth, required)];
  if (typeof schema.$ref === 'string') parts.push(readReference(reader, schema.$ref, depth, required));
  for (const part of itemsOf(reader, schema.allOf)) parts.push(readShape(reader, part, depth + 1, required));
  for (const choice of [schema.anyOf, schema.oneOf]) {
    const members = itemsOf(reader, choice).filter((member) => !isNull(reader, member));
    parts.push(unite(members.map((member) => readShape(reader, member, depth + 1, required))));
  }
  const pay = (characters: number): boolean => spend(reader, characters);
  const shape = parts.reduce<Shape>((all, part) => meet(all, part, pay) ?? ANY, ANY);
  if (schema.nullable !== true) return shape;
  return reader.rich ? unite([shape, { kind: 'null' }]) : ANY;
}

/**
 * The shape a JSON Schema describes (SCH-1). Total: whatever JSON a server sent, there is a shape;
 * what is null, unknown, recursive, contradictory or beyond the bounds is `any`.
 */
export function shapeOf(schema: JsonValue | undefined, options: { readonly rich?: boolean } = {}): Shape {
  const reader: Reader = { root: schema ?? null, rich: options.rich ?? false, open: new Set(['#']), left: BUDGET };
  return readShape(reader, schema, 0, NO_NAMES);
}
