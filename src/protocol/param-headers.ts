import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';

const KEY = 'x-mcp-header';
/** Levels of a schema that are looked at; one that goes deeper was not listed. */
const MAX_DEPTH = 64;

interface Declared {
  readonly header: string;
  readonly path: readonly string[];
}

function declarationsIn(schema: JsonValue | undefined, path: readonly string[]): Declared[] {
  if (!isObject(schema) || path.length > MAX_DEPTH) return [];
  const header = schema[KEY];
  const own = typeof header === 'string' && path.length > 0 ? [{ header: `Mcp-Param-${header}`, path }] : [];
  const { properties } = schema;
  if (!isObject(properties)) return own;
  return [...own, ...Object.entries(properties).flatMap(([name, child]) => declarationsIn(child, [...path, name]))];
}

function valueAt(args: JsonObject, path: readonly string[]): string | undefined {
  let value: JsonValue | undefined = args;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

/** A value as a header may carry it: what is not plain printable ASCII goes in base64, so no value can add a header. */
function encode(value: string): string {
  const plain = /^[\x20-\x7e]*$/.test(value) && value.trim() === value && !value.startsWith('=?base64?');
  return plain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** The value a header carries; `undefined` when it claims to be base64 and is not. */
function decode(value: string): string | undefined {
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value;
  const body = value.slice('=?base64?'.length, -2);
  const text = Buffer.from(body, 'base64').toString('utf8');
  return Buffer.from(text, 'utf8').toString('base64') === body ? text : undefined;
}

/** The arguments of tools that travel as HTTP headers as well, by the tools' definitions (S20). */
export interface ParamHeaders {
  /** The headers a tool declares, for these arguments; `undefined` when it declares none. */
  of(definition: JsonObject, args: JsonObject): Record<string, string> | undefined;
  /** What is wrong with the headers of a call, if anything. */
  faultIn(definition: JsonObject, args: JsonObject, read: (name: string) => string | null): string | undefined;
}

/** Reads each definition once. */
export function createParamHeaders(): ParamHeaders {
  const known = new WeakMap<JsonObject, readonly Declared[]>();

  const declaredIn = (definition: JsonObject): readonly Declared[] => {
    let declared = known.get(definition);
    if (!declared) {
      declared = declarationsIn(definition['inputSchema'], []);
      known.set(definition, declared);
    }
    return declared;
  };

  return {
    of(definition, args) {
      const declared = declaredIn(definition);
      if (declared.length === 0) return undefined;
      const headers: Record<string, string> = {};
      for (const { header, path } of declared) {
        const value = valueAt(args, path);
        if (value !== undefined) headers[header] = encode(value);
      }
      return headers;
    },
    faultIn(definition, args, read) {
      for (const { header, path } of declaredIn(definition)) {
        const value = valueAt(args, path);
        if (value === undefined) continue;
        const given = read(header);
        if (given === null) return `the body has ${path.join('.')} but the header ${header} is missing`;
        const said = decode(given);
        const isEqual = said === value || (said !== undefined && said !== '' && Number(said) === Number(value));
        if (!isEqual) return `the header ${header} differs from ${path.join('.')} in the body`;
      }
      return undefined;
    },
  };
}
