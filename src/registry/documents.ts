import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { oneLine, printable } from '../kernel/text.js';
import { sortedUnique } from './snapshot.js';

/** What a well-known document says of a server. */
export interface SelfDescription {
  readonly name?: string;
  readonly version?: string;
  /** Absent when the document says nothing about capabilities. */
  readonly capabilities?: readonly string[];
}

/** A location where a server may describe itself. */
export interface WellKnownLocation {
  readonly key: string;
  readonly kind: 'catalog' | 'card' | 'loose' | 'opencode';
  /** The URL, or `undefined` when it cannot be built for this server. */
  url(base: string, mcpUrl: string | undefined): string | undefined;
}

const under =
  (path: string) =>
  (base: string): string =>
    `${base.replace(/\/+$/, '')}${path}`;

function beside(_: string, mcpUrl: string | undefined): string | undefined {
  if (mcpUrl === undefined || !URL.canParse(mcpUrl)) return undefined;
  const url = new URL(mcpUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/server-card`;
  return url.href;
}

/** The location of the first draft: asked first, and what is reported when no location answers. */
export const MAIN_LOCATION = '/.well-known/mcp';

/** Every location, newest draft first: among those that are asked, the first that is valid says the name and the version. */
export const WELL_KNOWN_LOCATIONS: readonly WellKnownLocation[] = [
  { key: 'ai-catalog', kind: 'catalog', url: under('/.well-known/ai-catalog.json') },
  { key: 'server-card', kind: 'card', url: beside },
  { key: 'mcp/server-card.json', kind: 'card', url: under('/.well-known/mcp/server-card.json') },
  { key: 'mcp/server-card', kind: 'card', url: under('/.well-known/mcp/server-card') },
  { key: 'mcp.json', kind: 'loose', url: under('/.well-known/mcp.json') },
  { key: MAIN_LOCATION, kind: 'loose', url: under(MAIN_LOCATION) },
  { key: 'mcp-server-card.json', kind: 'card', url: under('/.well-known/mcp-server-card.json') },
  { key: 'opencode', kind: 'opencode', url: under('/.well-known/opencode') },
];

const DEPTH = 16;
const MAX_CAPABILITIES = 1000;
const MAX_TEXT_LENGTH = 200;
const CARD_TYPE = 'application/mcp-server-card+json';

/** The `Accept` header for these locations: some servers answer only to the exact type. */
export const ACCEPTED = `application/json, application/ai-catalog+json, ${CARD_TYPE}`;

/** A text from a server in a form that may be shown: on one line, printable and bounded. */
export function cleanText(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = oneLine(printable(String(value)), MAX_TEXT_LENGTH);
  return text === '' ? undefined : text;
}

function fieldOf(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isOff(value: JsonValue | undefined): boolean {
  return value === false || value === null || value === undefined;
}

/**
 * Capabilities in whatever shape they are given: a list of names or of objects with a name, a text with names in it, a map
 * of names, or maps in maps, whose names are joined by dots (`tools` and `tools.call`). Sorted and unique.
 */
export function readCapabilities(value: JsonValue | undefined): string[] {
  const found = new Set<string>();
  const add = (prefix: string, name: string | undefined): void => {
    if (name !== undefined && found.size < MAX_CAPABILITIES) found.add(prefix === '' ? name : `${prefix}.${name}`);
  };
  const visit = (here: JsonValue | undefined, prefix: string): void => {
    if (typeof here === 'string') {
      // Under a name a text is its description, not another name.
      if (prefix === '') for (const name of here.split(/[\s,;]+/)) add('', cleanText(name));
    } else if (Array.isArray(here)) {
      for (const entry of here) {
        if (isObject(entry)) add(prefix, cleanText(fieldOf(entry, 'name') ?? fieldOf(entry, 'id')));
        else if (!Array.isArray(entry) && typeof entry !== 'boolean') add(prefix, cleanText(entry ?? undefined));
      }
    } else if (isObject(here)) {
      for (const [key, child] of Object.entries(here)) {
        const name = cleanText(key);
        if (name === undefined || isOff(child)) continue;
        add(prefix, name);
        visit(child, prefix === '' ? name : `${prefix}.${name}`);
      }
    }
  };
  if (value !== undefined && !isDeeperThan(value, DEPTH)) visit(value, '');
  return sortedUnique(found);
}

function readLoose(document: JsonObject): SelfDescription | undefined {
  const info = fieldOf(document, 'serverInfo');
  const about = isObject(info) ? info : {};
  const name = cleanText(fieldOf(document, 'name') ?? fieldOf(about, 'name'));
  const version = cleanText(fieldOf(document, 'version') ?? fieldOf(about, 'version'));
  const stated = fieldOf(document, 'capabilities');
  if (name === undefined && stated === undefined) return undefined;
  return { name, version, ...(stated === undefined ? {} : { capabilities: readCapabilities(stated) }) };
}

function readCard(document: JsonObject): SelfDescription | undefined {
  const read = readLoose(document);
  return read?.name !== undefined && read.version !== undefined ? read : undefined;
}

/** A catalog leads to cards: one that stands in it, or the URL of one. */
function readCatalog(document: JsonObject): SelfDescription | { readonly cardUrl: string } | undefined {
  const entries = fieldOf(document, 'entries');
  if (!Array.isArray(entries)) return undefined;
  for (const entry of entries.slice(0, 100)) {
    if (!isObject(entry) || fieldOf(entry, 'type') !== CARD_TYPE) continue;
    const data = fieldOf(entry, 'data');
    const card = isObject(data) ? readCard(data) : undefined;
    if (card) return card;
    const url = fieldOf(entry, 'url');
    if (typeof url === 'string' && url.length <= 2048) return { cardUrl: url };
  }
  return undefined;
}

/** The settings that opencode takes from a host; what they say of its MCP server stands in a block of its own. */
function readOpencode(document: JsonObject): SelfDescription | undefined {
  const config = fieldOf(document, 'config');
  const block = fieldOf(document, 'mcp') ?? (isObject(config) ? fieldOf(config, 'mcp') : undefined);
  return readLoose(isObject(block) ? block : document);
}

/** Reads the JSON of one location; `undefined` when it is not what belongs there. */
export function readDocument(
  kind: WellKnownLocation['kind'],
  value: unknown,
): SelfDescription | { readonly cardUrl: string } | undefined {
  if (!isObject(value) || isDeeperThan(value, DEPTH)) return undefined;
  if (kind === 'catalog') return readCatalog(value);
  if (kind === 'opencode') return readOpencode(value);
  return kind === 'card' ? readCard(value) : readLoose(value);
}

const HEALTHY = new Set([
  'ok',
  'okay',
  'pass',
  'passing',
  'healthy',
  'up',
  'alive',
  'green',
  'ready',
  'running',
  'online',
  'serving',
  'available',
  'success',
  'true',
]);

/** Whether the body of a health check says that all is well; one that says nothing of the kind does not contradict. */
export function isHealthy(body: unknown): boolean {
  if (typeof body === 'boolean') return body;
  if (typeof body === 'string') return HEALTHY.has(body.trim().toLowerCase());
  if (!isObject(body)) return true;
  for (const key of ['status', 'state', 'health', 'healthy', 'ok', 'alive']) {
    const value = fieldOf(body, key);
    if (typeof value === 'boolean') return value;
    if (typeof value === 'string') return HEALTHY.has(value.trim().toLowerCase());
  }
  return true;
}

/** The first name and version, and the first capabilities, that the descriptions give, in the order of their locations. */
export function mergeDescriptions(found: readonly SelfDescription[]): SelfDescription | undefined {
  if (found.length === 0) return undefined;
  const named = found.find((each) => each.name !== undefined);
  const capable = found.find((each) => each.capabilities !== undefined);
  return { name: named?.name, version: named?.version ?? found[0]?.version, capabilities: capable?.capabilities };
}
