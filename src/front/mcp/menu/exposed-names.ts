import type { Gateway } from '../../../gateway/index.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import type { PatternList } from '../../../kernel/patterns/pattern.js';
import type { Tool } from '../../../model/tool.js';
import { protocolError } from '../exchange.js';
import { readingTools } from './afforded-tools.js';
import { createGivenLinks } from './given-links.js';
import type { ListItems } from './list-items.js';
import { exposedName, exposedUri, readName, readUri } from './names.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** What servers have, under the names by which a host of the pass-through and hybrid modes sees it. */
export interface ExposedNames {
  /** The tools that are offered directly, by their exposed names; in a fixed order. */
  tools(): Promise<ReadonlyMap<string, Tool>>;
  /** The tool a host means; `undefined` when none of that name is offered. */
  tool(exposed: string): Promise<{ readonly server: string; readonly tool: string } | undefined>;
  prompts(): Promise<JsonObject[]>;
  resources(): Promise<JsonObject[]>;
  resourceTemplates(): Promise<JsonObject[]>;
  /** @throws ToolscoutError with the code for invalid params when there is no such prompt. */
  prompt(exposed: string): Promise<{ readonly server: string; readonly name: string }>;
  /**
   * A URI that is not exposed is that of a link, and leads to the server whose answer held it; where none did, to the only server that lists it.
   *
   * @throws ToolscoutError with the code for invalid params for any other.
   */
  resource(exposed: string): Promise<{ readonly server: string; readonly uri: string }>;
  /** Remembers which server an answer with links is from, here and in the store, and returns the answer. */
  noteLinks(server: string, answer: JsonObject): JsonObject | Promise<JsonObject>;
}

/** The URIs that an answer of a tool or prompt links to. */
function* linksIn({ content, messages }: JsonObject): Generator<string> {
  const said = Array.isArray(messages) ? messages.map((each) => isObject(each) && each['content']) : [];
  for (const list of [content, said]) {
    if (!Array.isArray(list)) continue;
    for (const block of list) {
      if (!isObject(block)) continue;
      const { uri } = isObject(block['resource']) ? block['resource'] : block;
      if (typeof uri === 'string') yield uri;
    }
  }
}

/** A copy of an entry with its exposed name or URI in the field that names it. */
function renamed(entry: JsonObject, field: string, value: string): JsonObject {
  return { ...entry, [field]: value };
}

/** The exposed names of what the gateway offers; only tools that match `pinned`, where it is given. */
export function createExposedNames(gateway: Gateway, items: ListItems, pinned?: PatternList): ExposedNames {
  const tools = async (): Promise<Map<string, Tool>> => {
    const named = new Map<string, Tool>();
    const own = pinned ? [] : (await readingTools(gateway)).values();
    for (const tool of [...own, ...(await gateway.tools.offered())]) {
      if (pinned && !pinned.matches(tool.server, tool.name)) continue;
      const name = exposedName(tool.server, tool.name);
      // Two digests that are alike are next to impossible; the first keeps the name.
      if (!named.has(name)) named.set(name, tool);
    }
    return named;
  };

  const entries = async (
    field: 'resources' | 'resourceTemplates' | 'prompts',
    parsable: (entry: JsonObject) => JsonObject | undefined,
    expose: (server: string, entry: JsonObject) => JsonObject,
  ): Promise<JsonObject[]> => {
    const facts = [...(await gateway.internal.knownFacts())].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return facts.flatMap(([server, known]) =>
      (known[field] ?? []).flatMap((entry) => {
        const item = parsable(entry);
        return item ? [expose(server, item)] : [];
      }),
    );
  };

  const promptNames = async (): Promise<Map<string, { server: string; name: string }>> => {
    const named = new Map<string, { server: string; name: string }>();
    for (const [server, { prompts = [] }] of await gateway.internal.knownFacts()) {
      for (const { name } of prompts) {
        if (typeof name === 'string') named.set(exposedName(server, name), { server, name });
      }
    }
    return named;
  };

  const onlyLister = async (uri: string): Promise<string | undefined> => {
    const facts = [...(await gateway.internal.knownFacts())];
    const listers = facts.filter(([, { resources = [] }]) => resources.some((each) => each['uri'] === uri));
    return listers.length === 1 ? listers[0]![0] : undefined;
  };

  const links = createGivenLinks();

  /** The server that gave a link to another host of this caller, or before a restart; where none did, the only one that lists it. */
  const giverOf = async (uri: string): Promise<string | undefined> => {
    const [giver, ...more] = await gateway.internal.linkGivers(uri);
    if (giver === undefined) return onlyLister(uri);
    return more.length === 0 ? giver : undefined;
  };

  return {
    tools,
    noteLinks(server, answer) {
      const fresh = [...linksIn(answer)].filter((uri) => links.note(server, uri));
      return fresh.length === 0 ? answer : gateway.internal.keepLinks(server, fresh).then(() => answer);
    },
    async tool(exposed) {
      const read = readName(exposed);
      // What a plain name means is in the name; whether it may be run is decided where every call is.
      if (read && !pinned) return { server: read.server, tool: read.name };
      const found = (await tools()).get(exposed);
      return found && { server: found.server, tool: found.name };
    },
    prompts: () =>
      entries('prompts', items.prompt, (server, entry) =>
        renamed(entry, 'name', exposedName(server, String(entry['name']))),
      ),
    resources: () =>
      entries('resources', items.resource, (server, entry) =>
        renamed(entry, 'uri', exposedUri(server, String(entry['uri']))),
      ),
    resourceTemplates: () =>
      entries('resourceTemplates', items.resourceTemplate, (server, entry) =>
        renamed(entry, 'uriTemplate', exposedUri(server, String(entry['uriTemplate']))),
      ),
    async prompt(exposed) {
      const found = readName(exposed) ?? (await promptNames()).get(exposed);
      if (!found) throw protocolError(RPC_CODE.invalidParams, `There is no prompt "${exposed}".`);
      return found;
    },
    async resource(exposed) {
      const read = readUri(exposed);
      if (read) return read;
      // A link comes before a list: another server may list what the link of a server names (A52).
      const server = links.has(exposed) ? links.giverOf(exposed) : await giverOf(exposed);
      if (server === undefined) throw protocolError(RPC_CODE.invalidParams, 'Resource not found', { uri: exposed });
      return { server, uri: exposed };
    },
  };
}
