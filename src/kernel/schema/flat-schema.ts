import { canonicalJson, isObject, type JsonObject, type JsonValue } from '../json.js';

/** Keywords that some model APIs refuse at the root of an input schema. */
const REFUSED = ['oneOf', 'anyOf', 'allOf', 'not', 'enum'] as const;

/** References that are followed one after another. */
const MAX_REFERENCES = 8;

/** Branches within branches that are looked at. */
const MAX_DEPTH = 32;

/** What a schema says about an object: its members, each with the schemas it may have by their text, and those it must have. */
interface Members {
  readonly properties: Map<string, Map<string, JsonValue>>;
  readonly required: Set<string>;
}

function follow(root: JsonObject, reference: string): JsonValue | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let value: JsonValue | undefined = root;
  for (const step of reference.slice(2).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** Follows references at the root of a branch. */
function resolved(root: JsonObject, schema: JsonValue): JsonValue | undefined {
  let target: JsonValue | undefined = schema;
  for (let hop = 0; isObject(target) && typeof target['$ref'] === 'string'; hop++) {
    if (hop === MAX_REFERENCES) return undefined;
    target = follow(root, target['$ref']);
  }
  return target;
}

/** Whether arguments, which are always an object, can match. */
function mayMatchObject(schema: JsonValue | undefined): boolean {
  if (!isObject(schema)) return schema !== false;
  const { type } = schema;
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
}

/** The values a schema allows when it names them: `const`, or `enum`. */
function valuesOf(schema: JsonValue): JsonValue[] | undefined {
  if (!isObject(schema)) return undefined;
  const plain = Object.keys(schema).every((key) => ['const', 'enum', 'type', 'title', 'description'].includes(key));
  if (!plain) return undefined;
  if (schema['const'] !== undefined) return [schema['const']];
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined;
}

/** One schema for a member that several branches describe. */
function either(schemas: readonly JsonValue[]): JsonValue {
  const [first = {}] = schemas;
  if (schemas.length <= 1) return first;
  const values = schemas.map(valuesOf);
  if (values.every((each) => each !== undefined)) {
    const distinct = new Map(values.flat().map((value) => [canonicalJson(value), value]));
    const types = new Set(schemas.map((each) => (isObject(each) ? each['type'] : undefined)));
    const [type] = types;
    return { ...(types.size === 1 && type !== undefined && { type }), enum: [...distinct.values()] };
  }
  return { anyOf: [...schemas] };
}

/**
 * An input schema without `oneOf`, `anyOf`, `allOf`, `not` and `enum` at its root, for hosts and model APIs that refuse those. It
 * has the members of all branches; those that every branch demands are required. It allows at least what the original allows of
 * the members that its branches describe; calls are checked against the original.
 */
export function flattenSchema(root: JsonObject): JsonObject {
  if (REFUSED.every((keyword) => root[keyword] === undefined)) return root;
  const known = new Map<JsonObject, Members>();

  const membersOf = (schema: JsonObject, depth: number): Members => {
    const before = known.get(schema);
    if (before) return before;
    const own = isObject(schema['properties']) ? schema['properties'] : {};
    const properties: Members['properties'] = new Map(
      Object.entries(own).map(([name, value = {}]) => [name, new Map([[canonicalJson(value), value]])]),
    );
    const required = new Set(
      (Array.isArray(schema['required']) ? schema['required'] : []).filter((name) => typeof name === 'string'),
    );
    const members = { properties, required };
    // Known before it is complete: a schema that refers to itself adds nothing to itself.
    known.set(schema, members);
    if (depth > MAX_DEPTH) return members;
    const branchesOf = (keyword: string): Members[] => {
      const list = schema[keyword];
      return (Array.isArray(list) ? list : [])
        .map((each) => resolved(root, each))
        .filter(mayMatchObject)
        .map((each) => membersOf(isObject(each) ? each : {}, depth + 1));
    };
    // What the schema says itself holds for every branch, so its own word on a member is enough.
    const adopt = (branches: readonly Members[]): void => {
      const found: Members['properties'] = new Map();
      for (const branch of branches) {
        for (const [name, schemas] of branch.properties) {
          const all = found.get(name) ?? new Map<string, JsonValue>();
          for (const [text, each] of schemas) all.set(text, each);
          found.set(name, all);
        }
      }
      for (const [name, schemas] of found) {
        if ([...(properties.get(name)?.keys() ?? [])].every((text) => text === '{}' || text === 'true')) {
          properties.set(name, schemas);
        }
      }
    };
    for (const part of branchesOf('allOf')) {
      adopt([part]);
      for (const name of part.required) required.add(name);
    }
    for (const keyword of ['anyOf', 'oneOf']) {
      const branches = branchesOf(keyword);
      adopt(branches);
      const [first, ...others] = branches;
      for (const name of first?.required ?? []) {
        if (others.every((branch) => branch.required.has(name))) required.add(name);
      }
    }
    return members;
  };

  const { properties, required } = membersOf(root, 0);
  const dropped = new Set<string>([...REFUSED, 'properties', 'required', 'unevaluatedProperties']);
  const kept = Object.entries(root).filter(([keyword]) => !dropped.has(keyword));
  return {
    ...Object.fromEntries(kept),
    type: 'object',
    properties: Object.fromEntries([...properties].map(([name, schemas]) => [name, either([...schemas.values()])])),
    ...(required.size > 0 && { required: [...required] }),
  };
}
