import type { Gateway, HostCallOptions, Traffic } from '../../../gateway/index.js';
import type { ToolscoutError } from '../../../kernel/errors.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { compilePatterns } from '../../../kernel/patterns/pattern.js';
import { isCut } from './afforded-tools.js';
import { ADMIN_TOOLS, callAdminTool, isAdminTool } from './admin-tools.js';
import { callOptions, fitAnswer, methodNotFound, protocolError, type Exchange } from '../exchange.js';
import { createGuide, skillIn } from './guide.js';
import { toolForLegacy } from './legacy-shape.js';
import type { ListItems } from './list-items.js';
import {
  instructionsFor,
  META_NAMES,
  META_TOOLS,
  metaToolsNaming,
  passthroughInstructions,
  QUERY_NAME,
} from './meta-menu.js';
import { callMetaTool, serverMeant } from './meta-tools.js';
import type { Mode } from './modes.js';
import { exposedUri } from './names.js';
import type { HostSurface } from './host-surface.js';
import { LIST_TTL_MS, listResult, noteMenu } from './server-surface.js';
import { readKept, RESULT_URI } from './kept-resource.js';
import { recordTraffic } from './answer-traffic.js';
import { runTool } from './run-tool.js';
import {
  callScript,
  CODE_TOOLS,
  lookInCode,
  notInCode,
  RUN_SCRIPT,
  scriptInstructions,
  withScriptTool,
} from './script-tool.js';
import { SPLIT_META_TOOLS, splitInstructions } from './split-reads.js';
import { createExposedNames } from './exposed-names.js';
import { Watches } from './watches.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** Meta-tools whose answers no other record counts. */
const LOOKS: ReadonlySet<string> = new Set(['get_tool_details', 'list_tools', 'list_mcp_servers']);

/** How long a host may keep the meta-tools alone when they name no servers: they change only with a new version. */
const MENU_TTL_MS = 3_600_000;

function notText(field: string, method: string): ToolscoutError {
  return protocolError(RPC_CODE.invalidParams, `${method} needs "${field}" to be a string.`);
}

function textOf(params: JsonObject, field: string, method: string): string {
  const value = params[field];
  if (typeof value !== 'string') throw notText(field, method);
  return value;
}

/** Whoever subscribes to resources. */
interface Subscriber {
  readonly watches: Watches;
}

type Method = (params: JsonObject, exchange: Exchange, host: Subscriber) => Promise<JsonObject>;

/** What all hosts of one name are offered; each of them has a surface of its own over it. */
interface CatalogMenu extends Pick<HostSurface, 'info' | 'capabilities' | 'watch' | 'takesKeptState'> {
  readonly hostName: string;
  readonly traffic: Traffic;
  /** The lists change with every server, since they name tools. */
  readonly isDirect: boolean;
  readonly skills: boolean;
  instructions(): string;
  /** What is behind toolscout, where the menu is to say it; empty where it is not. */
  named(): string;
  answer(method: string, params: JsonObject, exchange: Exchange, host: Subscriber): Promise<JsonObject>;
  definition(name: string): Promise<JsonObject | undefined>;
}

/** What one host is offered: only what differs from host to host is its own, for there are thousands of them. */
class CatalogSurface implements HostSurface, Subscriber {
  private watching: Watches | undefined;
  /** What the menu named when the host was last told. */
  private listed: string;

  constructor(private readonly menu: CatalogMenu) {
    this.listed = menu.named();
  }

  get info(): HostSurface['info'] {
    return this.menu.info;
  }

  get capabilities(): JsonObject {
    return this.menu.capabilities;
  }

  get instructions(): string {
    return this.menu.instructions();
  }

  get skills(): boolean {
    return this.menu.skills;
  }

  get watches(): Watches {
    return (this.watching ??= new Watches());
  }

  get watch(): HostSurface['watch'] {
    return this.menu.watch;
  }

  get takesKeptState(): HostSurface['takesKeptState'] {
    return this.menu.takesKeptState;
  }

  answer(method: string, params: JsonObject, exchange: Exchange): Promise<JsonObject> {
    const { traffic, hostName } = this.menu;
    if (!traffic.isOn) return this.menu.answer(method, params, exchange, this);
    const answer: HostSurface['answer'] = (...asked) => this.menu.answer(...asked, this);
    return recordTraffic(traffic, hostName, answer, method, params, exchange);
  }

  definition(name: string): Promise<JsonObject | undefined> {
    return this.menu.definition(name);
  }

  /** The menu of the meta-tools changes only where it names what is behind it. */
  concerns(_server: string | undefined, kind: 'tools' | 'resources' | 'prompts'): boolean {
    return this.menu.isDirect || (kind === 'tools' && this.isRenamed());
  }

  close(): void {
    this.watching?.close();
  }

  private isRenamed(): boolean {
    const before = this.listed;
    this.listed = this.menu.named();
    return this.listed !== before;
  }
}

/**
 * Everything behind toolscout, in one of the modes: the meta-tools, the tools themselves, or both (META-5). The answer makes
 * the surface of a host.
 */
export function createCatalogMenu(
  gateway: Gateway,
  options: {
    readonly info: HostSurface['info'];
    readonly mode: Mode;
    readonly pinned: readonly string[];
    readonly items: ListItems;
    /** The host needs input schemas without a union at their root. */
    readonly flat: boolean;
    readonly admin?: boolean;
    /** Whether the host puts the instructions before its model. */
    readonly showsInstructions?: boolean;
    /** What the host calls itself. */
    readonly hostName?: string;
  },
): () => HostSurface {
  const { info, mode, pinned, items, flat, admin = false, showsInstructions = true, hostName = '' } = options;
  const traffic = gateway.internal.traffic();
  const guide = createGuide(gateway, mode);
  const exposedNames = createExposedNames(gateway, items, mode === 'hybrid' ? compilePatterns(pinned) : undefined);
  const isDirect = mode === 'passthrough' || mode === 'hybrid';
  const offering = mode === 'hybrid' ? 'pinned' : 'passthrough';
  const hasScripts = mode === 'code' || (mode !== 'passthrough' && gateway.internal.loaded().config.scripts.enabled);
  const hasSkills = gateway.internal.loaded().config.skills.directories.length > 0;
  const { splitReads } = gateway.internal.loaded().config;
  const plainTools = mode === 'code' ? CODE_TOOLS : splitReads ? SPLIT_META_TOOLS : META_TOOLS;
  const metaTools = hasScripts ? withScriptTool(plainTools) : plainTools;
  const isMeta = (name: string): boolean => META_NAMES.has(name) || (splitReads && name === QUERY_NAME);
  const isNaming = !showsInstructions && mode !== 'passthrough';
  let lastNamed = '';
  const named = (): string => {
    const now = isNaming ? gateway.internal.coverage() : '';
    // Every host keeps it: where it is equal, it is the same text.
    if (now !== lastNamed) lastNamed = now;
    return lastNamed;
  };

  const listTools = async (params: JsonObject, exchange: Exchange): Promise<JsonObject> => {
    const behind = named();
    const menu = [...(mode === 'passthrough' ? [] : metaToolsNaming(behind, metaTools)), ...(admin ? ADMIN_TOOLS : [])];
    if (!isDirect) {
      noteMenu(gateway, menu, params, exchange, { hostName });
      if (exchange.host.era === 'legacy') return { tools: menu };
      // What names servers belongs to one principal, and changes with them.
      const cacheScope = admin || behind !== '' ? 'private' : 'public';
      return { tools: menu, ttlMs: behind === '' ? MENU_TTL_MS : LIST_TTL_MS, cacheScope };
    }
    // A server that is being learned for the first time is given a moment; later ones are announced.
    await gateway.internal.settle(gateway.internal.loaded().config.limits.searchWaitMs);
    const shown = [...(await exposedNames.tools())].flatMap(([name, tool]) => {
      const item = items.tool(tool.definition, flat, isCut(gateway, tool, offering));
      return item ? [{ ...item, name }] : [];
    });
    const fitting = exchange.host.era === 'legacy' ? shown.map(toolForLegacy) : shown;
    const tools = [...menu, ...fitting];
    noteMenu(gateway, tools, params, exchange, { hostName });
    return listResult('tools', tools, 'name', params, exchange);
  };

  /** Has what toolscout itself answers counted; searches and calls have records of their own. */
  const optionsFor = (params: JsonObject, exchange: Exchange, budget?: HostCallOptions['budget']): HostCallOptions =>
    callOptions(params, exchange, budget, hostName);

  const billed = async (name: string, params: JsonObject, exchange: Exchange, answer: Promise<JsonObject>) => {
    const given = params['arguments'];
    const answered = await answer;
    if (answered['resultType'] !== 'input_required') {
      const options = { traceId: exchange.traceId, hostName };
      gateway.hosts.noteAnswer(name, isObject(given) ? given : {}, answered, options);
    }
    return answered;
  };

  const callTool = (params: JsonObject, exchange: Exchange): Promise<JsonObject> => {
    const { name } = params;
    if (typeof name !== 'string') return Promise.reject(notText('name', 'tools/call'));
    if (admin && isAdminTool(name)) {
      const args = params['arguments'];
      return callAdminTool(gateway, name, isObject(args) ? args : {}, {
        by: exchange.principal,
        traceId: exchange.traceId,
      });
    }
    const args = isObject(params['arguments']) ? params['arguments'] : {};
    if (hasScripts && name === RUN_SCRIPT) {
      const readBy = mode === 'code' ? 'script' : 'execute_tool';
      const answer = callScript(gateway, args, optionsFor(params, exchange), readBy);
      return billed(name, params, exchange, answer);
    }
    if (mode === 'code') {
      if (!CODE_TOOLS.some((tool) => tool['name'] === name)) return Promise.resolve(notInCode(name));
      const answer = lookInCode(gateway, name, args, optionsFor(params, exchange));
      return name === 'search_tools' ? answer : billed(name, params, exchange, answer);
    }
    if (mode !== 'passthrough' && (isMeta(name) || !isDirect)) {
      const answer = callMetaTool(gateway, name, args, optionsFor(params, exchange, 'agent'));
      if (LOOKS.has(name)) return billed(name, params, exchange, answer);
      const server = isDirect ? serverMeant(args) : undefined;
      return server !== undefined ? answer.then((given) => exposedNames.noteLinks(server, given)) : answer;
    }
    return callDirect(name, params, exchange);
  };

  const callDirect = async (name: string, params: JsonObject, exchange: Exchange): Promise<JsonObject> => {
    const address = await exposedNames.tool(name);
    if (!address) throw protocolError(RPC_CODE.invalidParams, `Unknown tool: ${name}`);
    const answer = await runTool(gateway, address, params, exchange, { budget: offering, hostName });
    return exposedNames.noteLinks(address.server, answer);
  };

  const read = async (params: JsonObject, exchange: Exchange): Promise<JsonObject> => {
    const asked = textOf(params, 'uri', 'resources/read');
    const own = guide.read(asked);
    if (own) return own;
    if (asked.startsWith(RESULT_URI)) return readKept(gateway, asked, optionsFor(params, exchange));
    if (!isDirect) throw protocolError(RPC_CODE.invalidParams, 'Resource not found', { uri: asked });
    const { server, uri } = await exposedNames.resource(asked);
    const asks = { ...params, uri };
    const result = await gateway.hosts.relay(server, 'resources/read', asks, optionsFor(params, exchange));
    if (!Array.isArray(result['contents'])) return result;
    const contents = result['contents'].map((item) =>
      isObject(item) && typeof item['uri'] === 'string' ? { ...item, uri: exposedUri(server, item['uri']) } : item,
    );
    return { ...result, contents };
  };

  const getPrompt = async (params: JsonObject, exchange: Exchange): Promise<JsonObject> => {
    const asked = textOf(params, 'name', 'prompts/get');
    const own = guide.prompt(asked);
    if (own) return own;
    if (!isDirect) throw protocolError(RPC_CODE.invalidParams, `There is no prompt "${asked}".`);
    const { server, name } = await exposedNames.prompt(asked);
    const asks = { ...params, name };
    return exposedNames.noteLinks(
      server,
      await gateway.hosts.relay(server, 'prompts/get', asks, optionsFor(params, exchange)),
    );
  };

  const complete = async (params: JsonObject, exchange: Exchange): Promise<JsonObject> => {
    const ref = isObject(params['ref']) ? params['ref'] : {};
    const isPrompt = ref['type'] === 'ref/prompt';
    const found = isPrompt
      ? await exposedNames.prompt(textOf(ref, 'name', 'completion/complete'))
      : await exposedNames.resource(textOf(ref, 'uri', 'completion/complete'));
    const { server, ...named } = found;
    const asked = { ...params, ref: { ...ref, ...named } };
    return gateway.hosts.relay(server, 'completion/complete', asked, optionsFor(params, exchange));
  };

  const watch = async (
    exposed: string,
    host: Exchange['host'],
    onUpdate: (params: JsonObject) => void,
  ): Promise<() => void> => {
    const skill = skillIn(exposed);
    if (skill !== undefined) {
      return gateway.onEvent((event) => {
        if (event.type === 'briefing' && event.briefing.skill_id === skill) onUpdate({ uri: exposed });
      });
    }
    if (!isDirect) throw protocolError(RPC_CODE.invalidParams, 'Resource not found', { uri: exposed });
    const { server, uri } = await exposedNames.resource(exposed);
    return gateway.hosts.subscribe(server, uri, { host, onUpdate: (update) => onUpdate({ ...update, uri: exposed }) });
  };

  const subscribe: Method = async (params, { host }, { watches }) => {
    const uri = textOf(params, 'uri', 'resources/subscribe');
    const audience = host.session ?? host;
    const tell = (update: JsonObject): void => audience.notify('notifications/resources/updated', update);
    await watches.begin(uri, () => watch(uri, host, tell));
    return {};
  };

  const always: Record<string, Method> = {
    'tools/list': listTools,
    'tools/call': callTool,
    'resources/read': read,
    'prompts/get': getPrompt,
    'resources/list': async (params, exchange) => {
      const more = isDirect ? await exposedNames.resources() : [];
      return listResult('resources', [...(await guide.resources()), ...more], 'uri', params, exchange);
    },
    'resources/templates/list': async (params, exchange) => {
      const more = isDirect ? await exposedNames.resourceTemplates() : [];
      const all = [...guide.resourceTemplates, ...more];
      return listResult('resourceTemplates', all, 'uriTemplate', params, exchange);
    },
    'prompts/list': async (params, exchange) => {
      const more = isDirect ? await exposedNames.prompts() : [];
      return listResult('prompts', [...guide.prompts, ...more], 'name', params, exchange);
    },
  };
  const watchable: typeof always = {
    'resources/subscribe': subscribe,
    'resources/unsubscribe': async (params, _exchange, { watches }) => {
      watches.end(textOf(params, 'uri', 'resources/unsubscribe'));
      return {};
    },
  };
  const methods = new Map<string, Method>(
    Object.entries<Method>({
      ...always,
      ...(isDirect && { 'completion/complete': complete }),
      ...((isDirect || hasSkills) && watchable),
    }),
  );
  const instructions = (): string => {
    const coverage = gateway.internal.coverage();
    if (mode === 'passthrough') return passthroughInstructions(coverage);
    if (hasScripts) {
      return scriptInstructions(coverage, mode === 'code' ? 'code' : splitReads ? 'split' : 'meta', isNaming);
    }
    return splitReads ? splitInstructions(coverage, isNaming) : instructionsFor(coverage);
  };
  const changing = isDirect ? { listChanged: true } : {};

  const menu: CatalogMenu = {
    info,
    hostName,
    traffic,
    isDirect,
    skills: hasSkills,
    capabilities: {
      tools: isDirect || isNaming ? { listChanged: true } : {},
      resources: isDirect || hasSkills ? { listChanged: true, subscribe: true } : {},
      prompts: changing,
      logging: {},
      ...(isDirect && { completions: {} }),
    },
    instructions,
    named,
    answer(method, params, exchange, host) {
      const found = methods.get(method);
      if (!found) return Promise.reject(methodNotFound(method));
      return fitAnswer(method, params, found(params, exchange, host), exchange.host);
    },
    ...((isDirect || hasSkills) && { watch }),
    async definition(name) {
      const address = isDirect && !isMeta(name) ? await exposedNames.tool(name) : undefined;
      return address && gateway.tools.definition(address.server, address.tool);
    },
    ...(hasScripts && {
      takesKeptState: (method: string, { name }: JsonObject) => method === 'tools/call' && name === RUN_SCRIPT,
    }),
  };
  return () => new CatalogSurface(menu);
}
