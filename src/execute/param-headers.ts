import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';

const KEY = 'x-mcp-header';
/** Levels of a schema that are looked at; one that goes deeper was not listed. */
const DEEPEST = 64;

interface Declared {
  readonly header: string;
  readonly path: readonly string[];
}

const known = new WeakMap<JsonObject, readonly Declared[]>();

function declarationsIn(schema: JsonValue | undefined, path: readonly string[]): Declared[] {
  if (!isObject(schema) || path.length > DEEPEST) return [];
  const header = schema[KEY];
  const own = typeof header === 'string' && path.length > 0 ? [{ header, path }] : [];
  const { properties } = schema;
  if (!isObject(properties)) return own;
  return [...own, ...Object.entries(properties).flatMap(([name, child]) => declarationsIn(child, [...path, name]))];
}

function valueAt(args: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = args;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** A value as a header may carry it: what is not plain printable ASCII goes in base64, so no value can add a header. */
function encode(value: string): string {
  const plain = /^[\x20-\x7e]*$/.test(value) && value.trim() === value && !/^=\?base64\?.*\?=$/.test(value);
  return plain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** The `Mcp-Param-*` headers a tool declares, for these arguments; `undefined` when it declares none (S20). */
export function paramHeaders(definition: JsonObject, args: JsonObject): Record<string, string> | undefined {
  let declared = known.get(definition);
  if (!declared) {
    declared = declarationsIn(definition['inputSchema'], []);
    known.set(definition, declared);
  }
  if (declared.length === 0) return undefined;
  const headers: Record<string, string> = {};
  for (const { header, path } of declared) {
    const value = valueAt(args, path);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      headers[`Mcp-Param-${header}`] = encode(String(value));
    }
  }
  return headers;
}
