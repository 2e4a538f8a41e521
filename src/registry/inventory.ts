import { isObject, type JsonObject } from '../kernel/json.js';
import type { Problem } from '../kernel/errors.js';
import type { Server } from '../model/server.js';
import type { SnapshotTransport } from '../model/snapshot.js';
import { cleanText } from './documents.js';
import { sortedUnique } from './snapshot.js';

/** One server that the snapshot is about. */
export interface InventoryItem {
  readonly id: string;
  readonly name: string;
  readonly transport: SnapshotTransport;
  /** Where its well-known documents and its health are; absent for a server over stdio. */
  readonly baseUrl?: string;
  /** Its MCP endpoint, where that is known. */
  readonly mcpUrl?: string;
  /** The base URL as it may be shown. */
  readonly shownUrl: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  /** The user configured it as a server, so that it may be internal. */
  readonly own: boolean;
}

/** Everything there is to check, and what in the inventory makes no sense. */
export interface Inventory {
  readonly items: readonly InventoryItem[];
  readonly problems: readonly Problem[];
}

/** Fills in the variables of a text, or says why it cannot. */
export type Expand = (text: string) => { readonly text: string; readonly problems: readonly string[] };

const MAX_ITEMS = 10_000;
const MAX_TEXT = 2048;

function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  return text === '' || text.length > MAX_TEXT ? undefined : text;
}

/** The URL without user, password and query, which are private. */
export function showUrl(url: string): string {
  if (!URL.canParse(url)) return '';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** The entries of an inventory file with their places: a list, or a mapping with `tools` or `servers`. */
function entriesOf(raw: unknown, problems: Problem[]): Array<{ at: string; entry: unknown }> {
  const spread = (value: unknown, at: string): Array<{ at: string; entry: unknown }> => {
    if (Array.isArray(value)) return value.map((entry: unknown, index) => ({ at: `${at}[${index}]`, entry }));
    if (isObject(value)) {
      // A map by id: its keys are the ids unless an entry has one of its own.
      return Object.entries(value).map(([id, entry]) => ({
        at: at === '' ? id : `${at}.${id}`,
        entry: isObject(entry) ? { ...entry, id: entry['id'] ?? id } : entry,
      }));
    }
    problems.push({ path: at === '' ? 'inventory' : at, message: 'expected a list of servers' });
    return [];
  };
  if (!isObject(raw)) return raw === null || raw === undefined ? [] : spread(raw, '');
  const keys = ['tools', 'servers'].filter((key) => Object.hasOwn(raw, key) && raw[key] !== null);
  if (keys.length > 0) return keys.flatMap((key) => spread(raw[key], key));
  return Object.keys(raw).length === 0 ? [] : spread(raw, '');
}

function readHeaders(value: unknown, expand: Expand): { headers: Record<string, string>; problem?: string } {
  const headers = Object.create(null) as Record<string, string>;
  if (value === undefined || value === null) return { headers };
  if (!isObject(value)) return { headers, problem: 'headers: expected names and values' };
  for (const [name, raw] of Object.entries(value)) {
    const text = typeof raw === 'string' || typeof raw === 'number' ? String(raw) : undefined;
    if (text === undefined || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return { headers, problem: 'headers: not a header' };
    const filled = expand(text);
    // A credential that is missing is never sent empty.
    if (filled.problems.length > 0) return { headers, problem: `headers.${name} ${filled.problems.join('; ')}` };
    headers[name] = filled.text;
  }
  return { headers };
}

function readTags(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  return sortedUnique(list.flatMap((tag: unknown) => cleanText(textOf(tag)) ?? []));
}

function readItem(entry: unknown, expand: Expand): InventoryItem | string {
  if (!isObject(entry)) return 'expected an object with id and base_url';
  const id = textOf(entry['id']);
  if (id === undefined || id.length > 200) return 'has no id';
  const shown = cleanText(id);
  if (shown !== id) return `has an id that cannot be shown as it is: "${shown}"`;
  const written = textOf(entry['base_url']);
  if (written === undefined) return `"${id}" has no base_url`;
  const url = expand(written);
  if (url.problems.length > 0) return `"${id}" base_url ${url.problems.join('; ')}`;
  const { headers, problem } = readHeaders((entry as JsonObject)['headers'], expand);
  if (problem !== undefined) return `"${id}" ${problem}`;
  return {
    id,
    name: cleanText(textOf(entry['name'])) ?? id,
    transport: 'http',
    baseUrl: url.text,
    shownUrl: showUrl(url.text),
    headers,
    tags: readTags(entry['tags']),
    own: false,
  };
}

function fromServer(server: Server): InventoryItem {
  const { transport, shown } = server;
  const common = { id: server.id, name: server.title ?? server.id, tags: sortedUnique(server.tags), own: true };
  if (transport.type === 'stdio') return { ...common, transport: 'stdio', shownUrl: null, headers: {} };
  const url = URL.canParse(transport.url) ? new URL(transport.url) : undefined;
  return {
    ...common,
    transport: transport.type,
    baseUrl: url?.origin ?? transport.url,
    mcpUrl: transport.url,
    shownUrl: showUrl(shown.target) || shown.target,
    headers: transport.headers,
  };
}

/**
 * Puts the inventory together: what the file lists, and every server of the config that is not turned off. Bad entries are
 * named and left out, and so is toolscout itself; of two with one id the configured one, or else the first, counts (REG-4).
 */
export function createInventory(
  raw: unknown,
  servers: readonly Server[],
  expand: Expand,
  isOwn: (url: string) => boolean = () => false,
): Inventory {
  const problems: Problem[] = [];
  const items = new Map<string, InventoryItem>();
  for (const server of servers) {
    if (server.enabled && server.problem === undefined) items.set(server.id, fromServer(server));
  }
  for (const { at, entry } of entriesOf(raw, problems)) {
    const item = readItem(entry, expand);
    if (typeof item === 'string') problems.push({ path: at, message: item });
    else if (isOwn(item.baseUrl ?? '')) problems.push({ path: at, message: `"${item.id}" is toolscout itself` });
    else if (items.has(item.id)) problems.push({ path: at, message: `duplicate id "${item.id}"` });
    else if (items.size >= MAX_ITEMS) problems.push({ path: at, message: `more than ${MAX_ITEMS} servers` });
    else items.set(item.id, item);
  }
  return { items: [...items.values()], problems };
}
