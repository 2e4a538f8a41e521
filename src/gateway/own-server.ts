import {
  budgetOf,
  createAnswers,
  createKeptResults,
  createScreen,
  OWN_SERVER,
  OWN_TOOLS,
  runOwnTool,
  screenModeOf,
  type Answer,
  type Wanted,
} from '../answers/index.js';
import type { Catalog } from '../catalog/catalog.js';

import type { Answering, Subject } from '../execute/index.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import { nearestNames, didYouMean } from '../kernel/text.js';
import type { Budget, Call } from '../model/call.js';
import type { Config, ScreenMode } from '../model/config.js';
import type { Hit } from '../model/hit.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import type { Viewer } from '../model/viewer.js';
import { normalizeTool } from '../normalize/index.js';
import { findFindings } from '../approvals/index.js';
import type { GatewayDeps } from './deps.js';

/**
 * toolscout as a server of its own catalog (ANS-3), and what is made of the results of all servers (ANS-1). Its tools are found, shown
 * and called like those of any server; there is nothing to connect to.
 */
export interface OwnServer {
  readonly server: Server;
  tools(): readonly Tool[];
  find(name: string): Tool | undefined;
  /**
   * The tool of that name.
   *
   * @throws ToolscoutError `TOOL_NOT_FOUND` with the nearest name.
   */
  tool(name: string): Tool;
  /** Runs one of the own tools. */
  run(call: Call): Promise<JsonObject>;
  /** How many tokens the answer of a tool may cost; `undefined` when there is no bound. */
  budget(server: Server, tool: Pick<Tool, 'name' | 'definition'>, asked: Budget): number | undefined;
  /** What is made of the result of a call. */
  answering(subject: Subject): Answering | undefined;
  /** Makes an answer within the budget of a result that is not of a call, such as that of a script. */
  answer(viewer: Viewer, tool: string, result: JsonObject, readBy: Wanted['readBy']): Answer | Promise<Answer>;
  /** The own tools that a search means: asked for by name, or by words while a result is kept. */
  hits(viewer: Viewer, query: string): Promise<Hit[]>;
}

/** Words of a query that may mean the own tools; others are not looked for. */
export const OWN_WORDS =
  /\b(results?|answers?|output|rest|remaining|kept|handle|withheld|truncated|more|toolscout|(read|search)_result|res_)/i;
/** Those that name them. */
const NAMES = /\b(read_result|search_result|toolscout|res_[\w-]{8})/i;

const NO_LIMITS = { timeoutMs: 0, totalTimeoutMs: 0, toolTimeoutsMs: {}, connectTimeoutMs: 0, idleTimeoutMs: 0 };

const SERVER: Server = {
  id: OWN_SERVER,
  title: 'toolscout',
  description: 'Reads on in large results that were kept.',
  source: OWN_SERVER,
  transport: { type: 'stdio', command: '', args: [], env: {} },
  shown: { type: 'stdio', target: 'toolscout itself', secrets: [] },
  digest: '',
  enabled: true,
  tags: [],
  ...NO_LIMITS,
  rateLimit: false,
  retry: { maxRetries: 0, initialDelayMs: 0, backoffMultiplier: 1, maxDelayMs: 0, jitterFactor: 0 },
};

/**
 * A rule may disable one of our own tools. An allow-list that does not name it does not disable it: kept results could
 * not be read then.
 */
function ownTool(definition: JsonObject, catalog: Catalog): Tool {
  const tool = normalizeTool(SERVER, definition, catalog.rules);
  if (tool.status !== 'disabled' || tool.decision.rule !== undefined) return tool;
  return { ...tool, status: 'enabled', decision: { enabled: true, reason: 'a tool of toolscout itself' } };
}

/** toolscout as a server, over the results that it keeps in the store. */
export function createOwnServer(
  { store, clock, log }: Pick<GatewayDeps, 'store' | 'clock' | 'log'>,
  state: { config(): Config; catalog(): Catalog },
): OwnServer {
  const kept = createKeptResults({
    store,
    clock,
    limits: () => state.config().answers,
    onError: (thrown) => log.warn('answers.keep', { error: messageOf(thrown) }),
  });
  const screen = createScreen(kept, (text) => findFindings({ text }).filter(({ isHard }) => isHard));
  const screenMode = (server: Server): ScreenMode =>
    screenModeOf(server, OWN_SERVER, state.config().screenResults, () =>
      [...state.catalog().servers.values()].some(({ screenResults = 'off' }) => screenResults !== 'off'),
    );
  /** `hold` keeps the whole result; `mark` marks the answer that the agent gets. For the calls of a script only the answer of the script is marked. */
  const answers = createAnswers(kept, state.config, ({ call, server, tool }, answer) => {
    const mode = screenMode(server);
    const isInner = call.parent !== undefined;
    if (mode === 'off' || (mode === 'mark' && isInner)) return answer;
    const from = { server: server.id, tool: tool.name };
    return async (result, isError) => {
      const held = mode === 'hold' ? await screen.hold(call.viewer, from, result) : undefined;
      if (held) return { result: held };
      const made = (await answer?.(result, isError)) ?? { result };
      return mode === 'hold' ? made : { ...made, result: screen.mark(from, made.result) };
    };
  });
  let ruled: { readonly rules: Catalog['rules']; readonly tools: readonly Tool[] } | undefined;
  const tools = (): readonly Tool[] => {
    const catalog = state.catalog();
    if (ruled?.rules !== catalog.rules) {
      ruled = { rules: catalog.rules, tools: OWN_TOOLS.map((definition) => ownTool(definition, catalog)) };
    }
    return ruled.tools;
  };
  const find = (name: string): Tool | undefined => tools().find((tool) => tool.name === name);
  const tokensFor = (call: Call, tool: Tool): number =>
    budgetOf(call.budget, SERVER, tool, state.config().answers) ?? Infinity;

  return {
    server: SERVER,
    tools,
    find,
    tool(name) {
      const found = find(name);
      if (found) return found;
      const near = didYouMean(
        nearestNames(
          name,
          tools().map((tool) => tool.name),
        ),
      );
      throw new ToolscoutError('TOOL_NOT_FOUND', `Server "${OWN_SERVER}" has no tool "${name}".${near}`, {
        remedy: { kind: 'find-tool', server: OWN_SERVER },
      });
    },
    run(call) {
      const tool = find(call.tool)!;
      return runOwnTool(kept, call.viewer, tool.name, call.arguments, tokensFor(call, tool));
    },
    budget: (server, tool, asked) => budgetOf(asked, server, tool, state.config().answers),
    answering: answers.answering,
    async answer(viewer, tool, result, readBy) {
      const maxTokens = budgetOf('agent', SERVER, { name: tool, definition: {} }, state.config().answers);
      const from = { server: OWN_SERVER, tool };
      const made = await answers.answer(viewer, from, result, { maxTokens, readBy });
      return screenMode(SERVER) === 'off' ? made : { ...made, result: screen.mark(from, made.result) };
    },
    async hits(viewer, query) {
      const isMeant = NAMES.test(query) || (await kept.hasAny(viewer));
      if (!isMeant) return [];
      return tools()
        .filter(({ status }) => status === 'enabled')
        .map(({ server, name, summary, tags }) => ({ server, tool: name, summary, relevance: 1, tags }));
    },
  };
}
