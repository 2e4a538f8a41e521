import { isObject, type JsonValue } from '../kernel/json.js';
import { SCHEMA_MAPS } from '../kernel/schema/compilable-schema.js';

const KEY = 'x-mcp-header';

/** The `token` of RFC 9110: no spaces, no control characters, no delimiters. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

/** Keywords whose value is data, in which the key means nothing. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'example', 'required', KEY]);

interface SchemaLocation {
  readonly node: JsonValue | undefined;
  /** Reached through `properties` alone; only there may a header be declared. */
  readonly reachable: boolean;
  readonly path: string;
}

function findFault(location: SchemaLocation, names: Set<string>): string | undefined {
  const schema = location.node;
  if (!isObject(schema) || !Object.hasOwn(schema, KEY)) return undefined;
  const where = location.path === '' ? 'the schema itself' : location.path;
  const header = schema[KEY];
  if (!location.reachable || location.path === '') return `${KEY} is not allowed at ${where}`;
  if (typeof header !== 'string' || !TOKEN.test(header)) return `${KEY} at ${where} is not a valid header name`;
  if (!TYPES.has(schema.type)) return `${KEY} at ${where} needs the type string, integer or boolean`;
  if (names.has(header.toLowerCase())) return `${KEY} "${header}" is declared twice`;
  names.add(header.toLowerCase());
  return undefined;
}

function childrenOf(location: SchemaLocation): SchemaLocation[] {
  const { node } = location;
  if (Array.isArray(node)) return node.map((item) => ({ node: item, reachable: false, path: location.path }));
  if (!isObject(node)) return [];
  return Object.entries(node).flatMap(([keyword, value]): SchemaLocation[] => {
    if (DATA.has(keyword) || typeof value !== 'object' || value === null) return [];
    if (!SCHEMA_MAPS.has(keyword) || !isObject(value))
      return [{ node: value, reachable: false, path: `${location.path}/${keyword}` }];
    const reachable = location.reachable && keyword === 'properties';
    return Object.entries(value).map(([name, child]) => ({ node: child, reachable, path: `${location.path}/${name}` }));
  });
}

/**
 * What is wrong with the `x-mcp-header` declarations of an input schema, if anything (S20). They turn
 * arguments into HTTP headers, so a bad one would let a server write headers of its own.
 */
export function findHeaderFault(inputSchema: JsonValue | undefined): string | undefined {
  const names = new Set<string>();
  const open: SchemaLocation[] = [{ node: inputSchema, reachable: true, path: '' }];
  for (let location = open.pop(); location; location = open.pop()) {
    const fault = findFault(location, names);
    if (fault) return fault;
    for (const child of childrenOf(location)) open.push(child);
  }
  return undefined;
}
