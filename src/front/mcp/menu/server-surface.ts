import type { Gateway, HostCallOptions, MenuOptions, ServerFacts, Traffic } from '../../../gateway/index.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import type { Host } from '../../../model/host.js';
import { strictCapabilities, strictInfo } from '../../../protocol/strict-items.js';
import { callOptions, fitAnswer, metaOf, methodNotFound, protocolError, type Exchange } from '../exchange.js';
import { isCut, readingTools } from './afforded-tools.js';
import { readKept, RESULT_URI } from './kept-resource.js';
import { toolForLegacy } from './legacy-shape.js';
import type { ListItems } from './list-items.js';
import type { HostSurface } from './host-surface.js';
import { pageOf } from './paging.js';
import { recordTraffic } from './answer-traffic.js';
import { runTool } from './run-tool.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';
import { Watches } from './watches.js';

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

/** Clients that parse URIs refuse a whole list for one resource with an invalid URI. */
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
 * One server passed through under its own names, behind the same rules, limits and audit as every other way to it. The
 * answer makes the surface for a host; `flat`: the host needs input schemas without a union at their root.
 */
export async function createServerSurface(
  gateway: Gateway,
  server: string,
  items: ListItems,
): Promise<(flat: boolean, hostName?: string) => HostSurface> {
  const facts: ServerFacts = await gateway.servers.facts(server);
  const traffic = gateway.internal.traffic();
  return (flat, hostName = '') => new ServerSurface(gateway, { server, facts, traffic, items, flat, hostName });
}

/** Has the list of tools recorded that a host is given; a list that comes in pages counts once. */
export function noteMenu(
  gateway: Gateway,
  tools: readonly JsonObject[],
  { cursor }: JsonObject,
  { traceId }: Exchange,
  { hostName, server }: Omit<MenuOptions, 'traceId'>,
): void {
  if (cursor === undefined) gateway.hosts.noteMenu(tools, { traceId, hostName, server });
}

/** What the surface of one server is made of. */
interface Offered {
  readonly server: string;
  readonly facts: ServerFacts;
  readonly traffic: Traffic;
  readonly items: ListItems;
  readonly flat: boolean;
  readonly hostName: string;
}

class ServerSurface implements HostSurface {
  private watching: Watches | undefined;

  constructor(
    private readonly gateway: Gateway,
    private readonly offered: Offered,
  ) {}

  get info(): HostSurface['info'] {
    const { server, facts } = this.offered;
    return strictInfo({ ...facts.info, name: facts.info?.name ?? server, version: facts.info?.version ?? '' });
  }

  get capabilities(): JsonObject {
    return capabilitiesOf(this.offered.facts.capabilities);
  }

  get instructions(): string | undefined {
    return this.offered.facts.instructions;
  }

  answer(method: string, params: JsonObject, exchange: Exchange): Promise<JsonObject> {
    const { traffic, hostName } = this.offered;
    if (!traffic.isOn) return this.answerUnrecorded(method, params, exchange);
    const answer: HostSurface['answer'] = (...asked) => this.answerUnrecorded(...asked);
    return recordTraffic(traffic, hostName, answer, method, params, exchange);
  }

  async definition(name: string): Promise<JsonObject | undefined> {
    return this.gateway.tools.definition(this.offered.server, name);
  }

  watch(uri: string, host: Host, onUpdate: (params: JsonObject) => void): Promise<() => void> {
    return this.gateway.hosts.subscribe(this.offered.server, uri, { host, onUpdate });
  }

  concerns(changed: string | undefined): boolean {
    return changed === undefined || changed === this.offered.server;
  }

  close(): void {
    this.watching?.close();
  }

  private answerUnrecorded(method: string, params: JsonObject, exchange: Exchange): Promise<JsonObject> {
    return fitAnswer(method, params, this.answerAsGiven(method, params, exchange), exchange.host);
  }

  private async answerAsGiven(method: string, params: JsonObject, exchange: Exchange): Promise<JsonObject> {
    const { gateway } = this;
    const { server, items } = this.offered;
    switch (method) {
      case 'tools/call':
        return this.call(params, exchange);
      case 'tools/list':
        return this.listTools(params, exchange);
      case 'resources/list': {
        const resources = each((await this.fresh()).resources, items.resource).filter(isAddressable);
        return listResult('resources', resources, 'uri', params, exchange);
      }
      case 'resources/templates/list': {
        const templates = each((await this.fresh()).resourceTemplates, items.resourceTemplate);
        return listResult('resourceTemplates', templates, 'uriTemplate', params, exchange);
      }
      case 'prompts/list':
        return listResult('prompts', each((await this.fresh()).prompts, items.prompt), 'name', params, exchange);
      case 'resources/subscribe':
        return this.subscribe(params, exchange);
      case 'resources/unsubscribe':
        this.watching?.end(String(params['uri']));
        return {};
      case 'resources/read':
        if (String(params['uri']).startsWith(RESULT_URI)) {
          return readKept(gateway, String(params['uri']), this.optionsFor(params, exchange));
        }
        return gateway.hosts.relay(server, method, params, this.optionsFor(params, exchange));
      case 'prompts/get':
      case 'completion/complete':
        return gateway.hosts.relay(server, method, params, this.optionsFor(params, exchange));
      default:
        throw methodNotFound(method);
    }
  }

  private optionsFor(params: JsonObject, exchange: Exchange): HostCallOptions {
    return callOptions(params, exchange, undefined, this.offered.hostName);
  }

  private fresh(): Promise<ServerFacts> {
    return this.gateway.servers.facts(this.offered.server);
  }

  private async call(params: JsonObject, exchange: Exchange): Promise<JsonObject> {
    const { name } = params;
    if (typeof name !== 'string') throw protocolError(RPC_CODE.invalidParams, 'tools/call needs the name of a tool.');
    const { server } = this.offered;
    const own = (await readingTools(this.gateway, server)).get(name);
    const address = own ? { server: own.server, tool: own.name } : { server, tool: name };
    return runTool(this.gateway, address, params, exchange, { hostName: this.offered.hostName });
  }

  private async listTools(params: JsonObject, exchange: Exchange): Promise<JsonObject> {
    const { gateway } = this;
    const { server, items, flat } = this.offered;
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
    noteMenu(gateway, shown, params, exchange, { hostName: this.offered.hostName, server });
    return listResult('tools', shown, 'name', params, exchange);
  }

  private async subscribe(params: JsonObject, { host }: Exchange): Promise<JsonObject> {
    const { uri } = params;
    if (typeof uri !== 'string') throw protocolError(RPC_CODE.invalidParams, 'resources/subscribe needs a uri.');
    const audience = host.session ?? host;
    const onUpdate = (update: JsonObject): void => audience.notify('notifications/resources/updated', update);
    this.watching ??= new Watches();
    await this.watching.begin(uri, () => this.watch(uri, host, onUpdate));
    return {};
  }
}
