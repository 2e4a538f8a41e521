import type { Gateway } from '../../../gateway/index.js';
import type { ToolscoutError } from '../../../kernel/errors.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { compilePatterns } from '../../../kernel/patterns/pattern.js';
import { isCut } from './afforded-tools.js';
import { ADMIN_TOOLS, callAdminTool, isAdminTool } from './admin-tools.js';
import { callOptions, methodNotFound, protocolError, type Exchange } from '../exchange.js';
import { createGuide, skillIn } from './guide.js';
import { toolForLegacy } from './legacy-shape.js';
import type { ListItems } from './list-items.js';
import {
  callMetaTool,
  instructionsFor,
  META_NAMES,
  META_TOOLS,
  metaToolsNaming,
  passthroughInstructions,
  QUERY_NAME,
} from './meta-tools.js';
import type { Mode } from './modes.js';
import { exposedUri } from './names.js';
import type { HostSurface } from './host-surface.js';
import { LIST_TTL_MS, listResult, noteMenu } from './server-surface.js';
import { readKept, RESULT_URI } from './kept-resource.js';
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
import { createShelf } from './exposed-names.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** Meta-tools whose answers no other record counts. */
const LOOKS: ReadonlySet<string> = new Set(['get_tool_details', 'list_tools', 'list_mcp_servers']);

/** How long a host may keep the meta-tools alone when they name no servers: they change only with a new version. */
const MENU_TTL_MS = 3_600_000;

function notText(field: string, method: string): ToolscoutError {
  return protocolError(RPC_CODE.invalidParams, `${method} needs "${field}" to be a text.`);
}

function textOf(params: JsonObject, field: string, method: string): string {
  const value = params[field];
  if (typeof value !== 'string') throw notText(field, method);
  return value;
}

/** Everything behind toolscout, in one of the modes: the meta-tools, the tools themselves, or both (META-5). */
export function createCatalogSurface(
  gateway: Gateway,
  options: {
    readonly info: HostSurface['info'];
    readonly mode: Mode;
    readonly pinned: readonly string[];
    readonly items: ListItems;
    /** The host wants input schemas without a union at their root. */
    readonly flat: boolean;
    readonly admin?: boolean;
    /** Whether the host puts the instructions before its model. */
    readonly showsInstructions?: boolean;
  },
): HostSurface {
  const { info, mode, pinned, items, flat, admin = false, showsInstructions = true } = options;
  const guide = createGuide(gateway, mode);
  const shelf = createShelf(gateway, items, mode === 'hybrid' ? compilePatterns(pinned) : undefined);
  const isDirect = mode === 'passthrough' || mode === 'hybrid';
  const offering = mode === 'hybrid' ? 'pinned' : 'passthrough';
  const hasScripts = mode === 'code' || (mode !== 'passthrough' && gateway.internal.loaded().config.scripts.enabled);
  const hasSkills = gateway.internal.loaded().config.skills.directories.length > 0;
  const { splitReads } = gateway.internal.loaded().config;
  const plainTools = mode === 'code' ? CODE_TOOLS : splitReads ? SPLIT_META_TOOLS : META_TOOLS;
  const metaTools = hasScripts ? withScriptTool(plainTools) : plainTools;
  const isMeta = (name: string): boolean => META_NAMES.has(name) || (splitReads && name === QUERY_NAME);
  const watching = new Map<string, () => void>();
  /** What is behind toolscout, where the menu is to say it. */
  const isNaming = !showsInstructions && mode !== 'passthrough';
  const named = (): string => (isNaming ? gateway.internal.coverage() : '');
  const coverage = gateway.internal.coverage();
  let listed = isNaming ? coverage : '';
  /** Whether the menu says something else than when a host was last told. */
  const isRenamed = (): boolean => {
    const before = listed;
    listed = named();
    return listed !== before;
  };

  const listTools = async (params: JsonObject, exchange: Exchange): Promise<JsonObject> => {
    const behind = named();
    const menu = [...(mode === 'passthrough' ? [] : metaToolsNaming(behind, metaTools)), ...(admin ? ADMIN_TOOLS : [])];
    if (!isDirect) {
      noteMenu(gateway, menu, params, exchange);
      if (exchange.host.era === 'legacy') return { tools: menu };
      // What names servers belongs to one principal, and changes with them.
      const cacheScope = admin || behind !== '' ? 'private' : 'public';
      return { tools: menu, ttlMs: behind === '' ? MENU_TTL_MS : LIST_TTL_MS, cacheScope };
    }
    // A server that is being learned for the first time is given a moment; later ones are announced.
    await gateway.internal.settle(gateway.internal.loaded().config.limits.searchWaitMs);
    const shown = [...(await shelf.tools())].flatMap(([name, tool]) => {
      const item = items.tool(tool.definition, flat, isCut(gateway, tool, offering));
      return item ? [{ ...item, name }] : [];
    });
    const fitting = exchange.host.era === 'legacy' ? shown.map(toolForLegacy) : shown;
    const tools = [...menu, ...fitting];
    noteMenu(gateway, tools, params, exchange);
    return listResult('tools', tools, 'name', params, exchange);
  };

  /** Has what toolscout itself answers counted; searches and calls have records of their own. */
  const billed = async (name: string, params: JsonObject, exchange: Exchange, answer: Promise<JsonObject>) => {
    const given = params['arguments'];
    const answered = await answer;
    if (answered['resultType'] !== 'input_required') {
      gateway.hosts.noteAnswer(name, isObject(given) ? given : {}, answered, { traceId: exchange.traceId });
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
    if (hasScripts && name === RUN_SCRIPT) {
      const args = params['arguments'];
      const readBy = mode === 'code' ? 'script' : 'execute_tool';
      const answer = callScript(gateway, isObject(args) ? args : {}, callOptions(params, exchange), readBy);
      return billed(name, params, exchange, answer);
    }
    if (mode === 'code') {
      const args = params['arguments'];
      if (!CODE_TOOLS.some((tool) => tool['name'] === name)) return Promise.resolve(notInCode(name));
      const answer = lookInCode(gateway, name, isObject(args) ? args : {}, callOptions(params, exchange));
      return name === 'search_tools' ? answer : billed(name, params, exchange, answer);
    }
    if (mode !== 'passthrough' && (isMeta(name) || !isDirect)) {
      const args = params['arguments'];
      const answer = callMetaTool(gateway, name, isObject(args) ? args : {}, callOptions(params, exchange, 'agent'));
      return LOOKS.has(name) ? billed(name, params, exchange, answer) : answer;
    }
    return callDirect(name, params, exchange);
  };

  const callDirect = async (name: string, params: JsonObject, exchange: Exchange): Promise<JsonObject> => {
    const address = await shelf.tool(name);
    if (!address) throw protocolError(RPC_CODE.invalidParams, `Unknown tool: ${name}`);
    return runTool(gateway, address, params, exchange, offering);
  };

  const read = async (params: JsonObject, exchange: Exchange): Promise<JsonObject> => {
    const asked = textOf(params, 'uri', 'resources/read');
    const own = guide.read(asked);
    if (own) return own;
    if (asked.startsWith(RESULT_URI)) return readKept(gateway, asked, callOptions(params, exchange));
    if (!isDirect) throw protocolError(RPC_CODE.invalidParams, 'Resource not found', { uri: asked });
    const { server, uri } = await shelf.resource(asked);
    const result = await gateway.hosts.relay(
      server,
      'resources/read',
      { ...params, uri },
      callOptions(params, exchange),
    );
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
    const { server, name } = await shelf.prompt(asked);
    return gateway.hosts.relay(server, 'prompts/get', { ...params, name }, callOptions(params, exchange));
  };

  const complete = async (params: JsonObject, exchange: Exchange): Promise<JsonObject> => {
    const ref = isObject(params['ref']) ? params['ref'] : {};
    const isPrompt = ref['type'] === 'ref/prompt';
    const found = isPrompt
      ? await shelf.prompt(textOf(ref, 'name', 'completion/complete'))
      : await shelf.resource(textOf(ref, 'uri', 'completion/complete'));
    const { server, ...named } = found;
    const asked = { ...params, ref: { ...ref, ...named } };
    return gateway.hosts.relay(server, 'completion/complete', asked, callOptions(params, exchange));
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
    const { server, uri } = await shelf.resource(exposed);
    return gateway.hosts.subscribe(server, uri, { host, onUpdate: (update) => onUpdate({ ...update, uri: exposed }) });
  };

  const subscribe = async (params: JsonObject, { host }: Exchange): Promise<JsonObject> => {
    const uri = textOf(params, 'uri', 'resources/subscribe');
    const audience = host.session ?? host;
    const tell = (update: JsonObject): void => audience.notify('notifications/resources/updated', update);
    if (!watching.has(uri)) watching.set(uri, await watch(uri, host, tell));
    return {};
  };

  const always: Record<string, (params: JsonObject, exchange: Exchange) => Promise<JsonObject>> = {
    'tools/list': listTools,
    'tools/call': callTool,
    'resources/read': read,
    'prompts/get': getPrompt,
    'resources/list': async (params, exchange) => {
      const more = isDirect ? await shelf.resources() : [];
      return listResult('resources', [...(await guide.resources()), ...more], 'uri', params, exchange);
    },
    'resources/templates/list': async (params, exchange) => {
      const more = isDirect ? await shelf.resourceTemplates() : [];
      const all = [...guide.resourceTemplates, ...more];
      return listResult('resourceTemplates', all, 'uriTemplate', params, exchange);
    },
    'prompts/list': async (params, exchange) => {
      const more = isDirect ? await shelf.prompts() : [];
      return listResult('prompts', [...guide.prompts, ...more], 'name', params, exchange);
    },
  };
  const watchable: typeof always = {
    'resources/subscribe': subscribe,
    'resources/unsubscribe': async (params) => {
      const uri = textOf(params, 'uri', 'resources/unsubscribe');
      watching.get(uri)?.();
      watching.delete(uri);
      return {};
    },
  };
  const methods = new Map(
    Object.entries({
      ...always,
      ...(isDirect && { 'completion/complete': complete }),
      ...((isDirect || hasSkills) && watchable),
    }),
  );
  const instructions = (): string => {
    if (mode === 'passthrough') return passthroughInstructions(coverage);
    if (hasScripts) {
      return scriptInstructions(coverage, mode === 'code' ? 'code' : splitReads ? 'split' : 'meta', isNaming);
    }
    return splitReads ? splitInstructions(coverage, isNaming) : instructionsFor(coverage);
  };
  const changing = isDirect ? { listChanged: true } : {};

  return {
    info,
    capabilities: {
      tools: isDirect || isNaming ? { listChanged: true } : {},
      resources: isDirect || hasSkills ? { listChanged: true, subscribe: true } : {},
      prompts: changing,
      logging: {},
      ...(isDirect && { completions: {} }),
    },
    instructions: instructions(),
    answer(method, params, exchange) {
      const answer = methods.get(method);
      return answer ? answer(params, exchange) : Promise.reject(methodNotFound(method));
    },
    ...((isDirect || hasSkills) && { watch }),
    async definition(name) {
      const address = isDirect && !isMeta(name) ? await shelf.tool(name) : undefined;
      return address && gateway.tools.definition(address.server, address.tool);
    },
    // The menu of the meta-tools changes only where it names what is behind it.
    concerns: (_server, kind) => isDirect || (kind === 'tools' && isRenamed()),
    skills: hasSkills,
    ...(hasScripts && {
      takesKeptState: (method: string, { name }: JsonObject) => method === 'tools/call' && name === RUN_SCRIPT,
    }),
    close() {
      for (const stop of watching.values()) stop();
      watching.clear();
    },
  };
}
