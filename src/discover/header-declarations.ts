import { isObject, type JsonValue } from '../kernel/json.js';
import { SCHEMA_MAPS } from '../kernel/schema/compilable-schema.js';

const KEY = 'x-mcp-header';

/** The `token` of RFC 9110: no spaces, no control characters, no delimiters. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

/** Keywords whose value is data, in which the key means nothing. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'example', 'required', KEY]);

interface Place {
  readonly node: JsonValue | undefined;
  /** Reached through `properties` alone; only there may a header be declared. */
  readonly reachable: boolean;
  readonly path: string;
}

function findFault(place: Place, names: Set<string>): string | undefined {
  const schema = place.node;
  if (!isObject(schema) || !Object.hasOwn(schema, KEY)) return undefined;
  const where = place.path === '' ? 'the schema itself' : place.path;
  const header = schema[KEY];
  if (!place.reachable || place.path === '') return `${KEY} is not allowed at ${where}`;
  if (typeof header !== 'string' || !TOKEN.test(header)) return `${KEY} at ${where} is not a valid header name`;
  if (!TYPES.has(schema.type)) return `${KEY} at ${where} needs the type string, integer or boolean`;
  if (names.has(header.toLowerCase())) return `${KEY} "${header}" is declared twice`;
  names.add(header.toLowerCase());
  return undefined;
}

function childrenOf(place: Place): Place[] {
  const { node } = place;
  if (Array.isArray(node)) return node.map((item) => ({ node: item, reachable: false, path: place.path }));
  if (!isObject(node)) return [];
  return Object.entries(node).flatMap(([keyword, value]): Place[] => {
    if (DATA.has(keyword) || typeof value !== 'object' || value === null) return [];
    if (!SCHEMA_MAPS.has(keyword) || !isObject(value))
      return [{ node: value, reachable: false, path: `${place.path}/${keyword}` }];
    const reachable = place.reachable && keyword === 'properties';
    return Object.entries(value).map(([name, child]) => ({ node: child, reachable, path: `${place.path}/${name}` }));
  });
}

/**
 * What is wrong with the `x-mcp-header` declarations of an input schema, if anything (S20). They turn
 * arguments into HTTP headers, so a bad one would let a server write headers of its own.
 */
export function findHeaderFault(inputSchema: JsonValue | undefined): string | undefined {
  const names = new Set<string>();
  const open: Place[] = [{ node: inputSchema, reachable: true, path: '' }];
  for (let place = open.pop(); place; place = open.pop()) {
    const fault = findFault(place, names);
    if (fault) return fault;
    for (const child of childrenOf(place)) open.push(child);
  }
  return undefined;
}
