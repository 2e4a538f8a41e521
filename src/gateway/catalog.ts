import { RUNG_WORTH, type Rung, type UpstreamFacts } from '../discover/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import { nearestNames } from '../kernel/text.js';
import type { Config } from '../model/config.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import { compileRules, normalizeTool, type Rules } from '../normalize/index.js';
import { createIndex, type ToolIndex, type VectorSource } from '../search/index.js';

/** What a server said of itself when its tools were learned, and what it has besides tools. */
export type ServerFacts = UpstreamFacts;
/** The learned list of one server, before rules. */
export interface LearnedList extends ServerFacts {
  readonly items: readonly JsonObject[];
  /** Wall-clock time at which the server gave this list. */
  readonly learnedAt: number;
  readonly stale: boolean;
  /** How many entries of the list were dropped as malformed. */
  readonly dropped: number;
}

/** Every known tool of every configured server under one set of rules. */
export interface Catalog {
  readonly rules: Rules;
  readonly index: ToolIndex;
  readonly servers: ReadonlyMap<string, Server>;
  /** What is known of a server's list; `undefined` while it was never learned. */
  list(server: string): LearnedList | undefined;
  /**
   * Puts a server's list on the shelf, replacing what was there; answers its tools. Until it is done all that was there
   * before is found. Of two lists for one server that come at the same time the later is kept.
   */
  put(server: Server, list: LearnedList): Promise<readonly Tool[]>;
  /** Takes a server's tools off the shelf. */
  drop(server: string): void;
  /** The server of that id, or `SERVER_NOT_FOUND` with the nearest names (META-4). */
  server(id: string): Server;
  /** The tool at an address, or `TOOL_NOT_FOUND` with the nearest names (META-4). */
  tool(server: string, name: string): Tool;
}

/** A sentence that offers the nearest names, or nothing when there is none. */
function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? '' : ` Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?`;
}

/** What was not listed by the server says so, and how sure it is; it can be looked at, not offered (DISC-6). */
function withProvenance(tool: Tool, rung: Rung | undefined): Tool {
  if (rung === undefined) return tool;
  const worth = RUNG_WORTH[rung];
  if (worth.provenance === 'protocol') return { ...tool, ...worth };
  const reason = `its server did not list it, it was ${worth.provenance}`;
  return { ...tool, ...worth, status: 'disabled', decision: { enabled: false, reason } };
}

function* normalized(server: Server, list: LearnedList, rules: Rules): Generator<Tool> {
  for (const item of list.items) yield withProvenance(normalizeTool(server, item, rules), list.rung);
}

/** An empty catalog over a configuration; lists are put in as they become known. */
export function createCatalog(config: Config, servers: readonly Server[], vectors?: VectorSource): Catalog {
  const rules = compileRules(config.toolRules);
  const index = createIndex(vectors);
  const byId = new Map(servers.map((server) => [server.id, server]));
  const lists = new Map<string, LearnedList>();

  const serverOf = (id: string): Server => {
    const server = byId.get(id);
    if (server) return server;
    const nearest = nearestNames(id, byId.keys());
    throw new ToolscoutError('SERVER_NOT_FOUND', `There is no server "${id}".${didYouMean(nearest)}`);
  };

  return {
    rules,
    index,
    servers: byId,
    list: (server) => lists.get(server),
    async put(server, list) {
      const evidence = { title: server.title ?? list.info?.title, name: list.info?.name };
      if (await index.fill(server.id, normalized(server, list, rules), evidence)) lists.set(server.id, list);
      return index.tools(server.id);
    },
    drop(server) {
      lists.delete(server);
      index.remove(server);
    },
    server: serverOf,
    tool(server, name) {
      serverOf(server);
      const prefix = `${server}:`;
      const plain = name.startsWith(prefix) ? index.tool(server, name.slice(prefix.length)) : undefined;
      const tool = index.tool(server, name) ?? plain;
      if (tool) return tool;
      const offered = index.tools(server).filter((known) => known.status === 'enabled');
      const names = offered.map((known) => known.name);
      const elsewhere = index
        .nearest(name)
        .filter((address) => !address.startsWith(prefix))
        .slice(0, 2);
      throw new ToolscoutError(
        'TOOL_NOT_FOUND',
        `Server "${server}" has no tool "${name}".${didYouMean([...nearestNames(name, names), ...elsewhere].slice(0, 3))}`,
      );
    },
  };
}
