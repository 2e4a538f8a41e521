import type { Gateway, ServerFacts } from '../../../gateway/index.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { strictCapabilities, strictInfo } from '../../../protocol/strict-items.js';
import { callOptions, metaOf, methodNotFound, protocolError, type Exchange } from '../exchange.js';
import { isCut, readingTools } from './afforded-tools.js';
import { readKept, RESULT_URI } from './kept-resource.js';
import { toolForLegacy } from './legacy-shape.js';
import type { ListItems } from './list-items.js';
import type { HostSurface } from './host-surface.js';
import { pageOf } from './paging.js';
import { runTool } from './run-tool.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** How long a host may keep a list of a server; a change is announced. */
export const LIST_TTL_MS = 60_000;

/** A list as the era of the host has it. */
export function listResult(
  field: string,
  list: readonly JsonObject[],
  key: string,
  { cursor }: JsonObject,
  exchange: Exchange,
): JsonObject {
  const { items, nextCursor } = pageOf(list, key, cursor);
  return {
    [field]: items,
    ...(nextCursor !== undefined && { nextCursor }),
    ...(exchange.host.era === 'modern' && { ttlMs: LIST_TTL_MS, cacheScope: 'private' }),
  };
}

/** What a server declared, as far as it can be kept: tools always are ours to announce, tasks are not passed on. */
function capabilitiesOf(declared: JsonObject | undefined): JsonObject {
  const { tasks: _tasks, ...rest } = strictCapabilities(declared ?? {});
  const announced = Object.fromEntries(
    ['tools', 'resources', 'prompts'].flatMap((name) => {
      const own = rest[name];
      return isObject(own) ? [[name, { ...own, listChanged: true }]] : [];
    }),
  );
  return { ...rest, tools: { listChanged: true }, ...announced };
}

/** Clients that know URIs refuse a whole list for one resource whose address is none. */
function isAddressable({ uri }: JsonObject): boolean {
  return URL.canParse(String(uri));
}

/** What `parsable` makes of entries, without those it makes nothing of. */
function each(
  entries: readonly JsonObject[] = [],
  parsable: (entry: JsonObject) => JsonObject | undefined,
): JsonObject[] {
  return entries.map(parsable).filter((item) => item !== undefined);
}

/**
 * One server passed through under its own names, behind the same rules, limits and audit as every other way to it. The answer
 * makes the surface for a host; `flat` says that the host wants input schemas without a union at their root.
 */
export async function createServerSurface(
  gateway: Gateway,
  server: string,
  items: ListItems,
): Promise<(flat: boolean) => HostSurface> {
  const facts: ServerFacts = await gateway.servers.facts(server);
  return (flat) => surfaceOf(gateway, server, { facts, items, flat });
}

/** Has the list of tools recorded that a host is given; a list that comes in pages counts once. */
export function noteMenu(
  gateway: Gateway,
  tools: readonly JsonObject[],
  { cursor }: JsonObject,
  { traceId }: Exchange,
  server?: string,
): void {
  if (cursor === undefined) gateway.hosts.noteMenu(tools, { traceId, server });
}

function surfaceOf(
  gateway: Gateway,
  server: string,
  { facts, items, flat }: { readonly facts: ServerFacts; readonly items: ListItems; readonly flat: boolean },
): HostSurface {
  const { info, instructions } = facts;
  const watching = new Map<string, () => void>();

  const fresh = (): Promise<ServerFacts> => gateway.servers.facts(server);

  const subscribe = async (params: JsonObject, { host }: Exchange): Promise<JsonObject> => {
    const { uri } = params;
    if (typeof uri !== 'string') throw protocolError(RPC_CODE.invalidParams, 'resources/subscribe needs a uri.');
    if (watching.has(uri)) return {};
    const audience = host.session ?? host;
    const onUpdate = (update: JsonObject): void => audience.notify('notifications/resources/updated', update);
    watching.set(uri, await gateway.hosts.subscribe(server, uri, { host, onUpdate }));
    return {};
  };

  return {
    info: strictInfo({ ...info, name: info?.name ?? server, version: info?.version ?? '' }),
    capabilities: capabilitiesOf(facts.capabilities),
    ...(instructions !== undefined && { instructions }),
    async answer(method, params, exchange) {
      switch (method) {
        case 'tools/call': {
          const { name } = params;
          if (typeof name !== 'string')
            throw protocolError(RPC_CODE.invalidParams, 'tools/call needs the name of a tool.');
          const own = (await readingTools(gateway, server)).get(name);
          return runTool(
            gateway,
            own ? { server: own.server, tool: own.name } : { server, tool: name },
            params,
            exchange,
          );
        }
        case 'tools/list': {
          const listed = await gateway.tools.list(server, { meta: metaOf(params), traceId: exchange.traceId });
          const reading = [...(await readingTools(gateway, server))].map(([name, { definition }]) => ({
            ...items.tool(definition, flat)!,
            name,
          }));
          const own = listed.flatMap((tool) => {
            const item = items.tool(tool.definition, flat, isCut(gateway, tool, 'passthrough'));
            return item ? [item] : [];
          });
          const tools = [...reading, ...own];
          const shown = exchange.host.era === 'legacy' ? tools.map(toolForLegacy) : tools;
          noteMenu(gateway, shown, params, exchange, server);
          return listResult('tools', shown, 'name', params, exchange);
        }
        case 'resources/list':
          return listResult(
            'resources',
            each((await fresh()).resources, items.resource).filter(isAddressable),
            'uri',
            params,
            exchange,
          );
        case 'resources/templates/list': {
          const templates = each((await fresh()).resourceTemplates, items.resourceTemplate);
          return listResult('resourceTemplates', templates, 'uriTemplate', params, exchange);
        }
        case 'prompts/list':
          return listResult('prompts', each((await fresh()).prompts, items.prompt), 'name', params, exchange);
        case 'resources/subscribe':
          return subscribe(params, exchange);
        case 'resources/unsubscribe': {
          watching.get(String(params['uri']))?.();
          watching.delete(String(params['uri']));
          return {};
        }
        case 'resources/read':
          if (String(params['uri']).startsWith(RESULT_URI)) {
            return readKept(gateway, String(params['uri']), callOptions(params, exchange));
          }
          return gateway.hosts.relay(server, method, params, callOptions(params, exchange));
        case 'prompts/get':
        case 'completion/complete':
          return gateway.hosts.relay(server, method, params, callOptions(params, exchange));
        default:
          throw methodNotFound(method);
      }
    },
    definition: async (name) => gateway.tools.definition(server, name),
    watch: (uri, host, onUpdate) => gateway.hosts.subscribe(server, uri, { host, onUpdate }),
    concerns: (changed) => changed === undefined || changed === server,
    close() {
      for (const stop of watching.values()) stop();
      watching.clear();
    },
  };
}
