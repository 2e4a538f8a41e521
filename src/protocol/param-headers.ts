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

function valueAt(args: JsonObject, path: readonly string[]): string | number | boolean | undefined {
  let value: JsonValue | undefined = args;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** A number as JSON writes it; `Number()` takes blanks, `0x1f` and nothing for numbers too. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Whether a header says what the body says: numbers as numbers, everything else letter by letter. */
function isSame(said: string | undefined, value: string | number | boolean): boolean {
  if (said === String(value)) return true;
  return typeof value === 'number' && said !== undefined && NUMBER.test(said) && Number(said) === value;
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
        if (value !== undefined) headers[header] = encode(String(value));
      }
      return headers;
    },
    faultIn(definition, args, read) {
      for (const { header, path } of declaredIn(definition)) {
        const value = valueAt(args, path);
        const given = read(header);
        if (value === undefined && given === null) continue;
        // A router that reads the header would see an argument that the tool does not get.
        if (value === undefined) return `the header ${header} is there but the body has no ${path.join('.')}`;
        if (given === null) return `the body has ${path.join('.')} but the header ${header} is missing`;
        if (!isSame(decode(given), value)) return `the header ${header} differs from ${path.join('.')} in the body`;
      }
      return undefined;
    },
  };
}
