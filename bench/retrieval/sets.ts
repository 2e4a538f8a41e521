import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isObject, type JsonObject, type JsonValue } from '../../src/kernel/json.js';
import type { Parameter, Tool } from '../../src/model/tool.js';
import type { Judged } from './measures.js';

/** A server of a set, ready to be indexed. */
export interface SetServer {
  readonly server: string;
  readonly title?: string;
  readonly name?: string;
  readonly tools: readonly Tool[];
}

/** Queries with their right answers, and the tools they are asked of. */
export interface RetrievalSet {
  readonly name: string;
  readonly servers: readonly SetServer[];
  readonly queries: readonly Judged[];
  /** The set's own id of a tool. */
  idOf(tool: Tool): string;
}

/** Names of the sets in a folder: those with queries. */
export function listSets(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'queries.jsonl')))
    .toSorted();
}

/** Reads a set; one without tools of its own is asked of the real servers beside it. */
export function readSet(folder: string, name: string): RetrievalSet {
  const ids = new Map<Tool, string>();
  const own = join(folder, name, 'tools.jsonl');
  const servers = existsSync(own) ? readListed(own, ids) : readReal(join(folder, '..', 'servers'), ids);
  return {
    name,
    servers,
    queries: readLines(join(folder, name, 'queries.jsonl')).map(readQuery),
    idOf: (tool) => ids.get(tool) ?? '',
  };
}

function readLines(path: string): JsonObject[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject);
}

function readQuery(line: JsonObject): Judged {
  const groups = (line['groups'] ?? line['anyOf'] ?? (line['relevant'] as JsonValue[]).map((id) => [id])) as string[][];
  return { query: text(line['query']), groups: groups.map((group) => new Set(group)) };
}

/** Tools as lines. Two sources may list servers of one name: each gets a place of its own. */
function readListed(path: string, ids: Map<Tool, string>): SetServer[] {
  const places = new Map<string, string>();
  const servers = new Map<string, Tool[]>();
  for (const line of readLines(path)) {
    const id = text(line['id']);
    const name = text(line['server']);
    const origin = `${id.split('::')[0]}\n${name}`;
    let server = places.get(origin) ?? name;
    while (!places.has(origin) && servers.has(server)) server += ' ';
    places.set(origin, server);
    const tool = toTool(server, line);
    ids.set(tool, id);
    servers.set(server, [...(servers.get(server) ?? []), tool]);
  }
  return [...servers].map(([server, tools]) => ({ server, tools }));
}

function readReal(folder: string, ids: Map<Tool, string>): SetServer[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => {
      const server = basename(file, '.json');
      const { meta, tools } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        meta?: { serverInfo?: { name?: string; title?: string } };
        tools: JsonObject[];
      };
      const list = tools.map((definition) => toTool(server, definition));
      for (const tool of list) ids.set(tool, `${server}::${tool.name}`);
      return { server, title: meta?.serverInfo?.title, name: meta?.serverInfo?.name, tools: list };
    });
}

function toTool(server: string, definition: JsonObject): Tool {
  const description = text(definition['description']);
  return {
    server,
    name: text(definition['name']),
    title: typeof definition['title'] === 'string' ? definition['title'] : undefined,
    description,
    summary: description,
    parameters: parametersOf(definition['inputSchema']),
    domains: [],
    categories: [],
    tags: [],
    status: 'enabled',
    decision: { enabled: true, reason: 'in the set' },
    provenance: 'protocol',
    hash: '',
    definition: {},
  };
}

function parametersOf(schema: JsonValue | undefined): Parameter[] {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).map(([name, property]) => ({
    name,
    type: 'any',
    required: false,
    description: isObject(property) ? text(property['description']) : '',
    values: isObject(property) && Array.isArray(property['enum']) ? property['enum'].map(String) : undefined,
  }));
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
