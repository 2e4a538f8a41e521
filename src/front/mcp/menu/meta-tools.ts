import { adviseAgent } from './agent-remedies.js';
import { toToolscoutError, ToolscoutError } from '../../../kernel/errors.js';
import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../../../kernel/json.js';
import { oneLine } from '../../../kernel/text.js';
import type { Gateway, HostCallOptions } from '../../../gateway/index.js';
import type { CallResult, Failure } from '../../../model/call.js';
import type { SearchAnswer } from '../../../model/hit.js';
import { MetaArguments, type Address } from './meta-arguments.js';
import { FIELDS, readToolArguments } from './tool-arguments.js';
import { isFallback, type Tool } from '../../../model/tool.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

const string = { type: 'string' };
const readOnly = { readOnlyHint: true, openWorldHint: false };

function object(properties: JsonObject, required: string[] = []): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/**
 * The five tools an agent pays for (META-1), in a fixed order with fixed bytes. The wording of
 * `search_tools` draws out queries that rank well; every word here is paid for in every session.
 */
export const META_TOOLS: readonly JsonObject[] = [
  {
    name: 'search_tools',
    title: 'Search tools',
    description:
      'Find tools on all connected servers. Ask for one need at a time, in plain words: action + object + product + key inputs, e.g. "create issue in GitHub repo".',
    inputSchema: object(
      {
        query: string,
        server: { type: 'string', description: 'only this server' },
        limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
        includeSchema: { type: 'boolean', description: 'add call signatures' },
        schemaTokens: { type: 'integer', minimum: 1, description: 'budget for them' },
      },
      ['query'],
    ),
    annotations: readOnly,
  },
  {
    name: 'get_tool_details',
    title: 'Tool details',
    description: "A tool's full description and input schema. Read it before the first execute_tool.",
    inputSchema: object({ server: string, tool: string }, ['server', 'tool']),
    annotations: readOnly,
  },
  {
    name: 'execute_tool',
    title: 'Execute tool',
    description: 'Run a tool that search_tools found.',
    inputSchema: object(
      {
        server: string,
        tool: string,
        arguments: { type: 'object', description: "match the tool's schema" },
        select: { type: 'string', description: 'JMESPath filter' },
      },
      ['server', 'tool', 'arguments'],
    ),
    annotations: { destructiveHint: true, openWorldHint: true },
  },
  {
    name: 'list_mcp_servers',
    title: 'List servers',
    description: 'Servers, what they are for, their state and number of tools.',
    inputSchema: object({}),
    annotations: readOnly,
  },
  {
    name: 'list_tools',
    title: 'List tools of a server',
    description: 'All tools of one server.',
    inputSchema: object({ server: string, includeDisabled: { type: 'boolean', default: false } }, ['server']),
    annotations: readOnly,
  },
];

/**
 * The meta-tools for a host that may not show instructions: what is behind toolscout stands in the description of the search
 * (META-8).
 */
export function metaToolsNaming(coverage: string, tools: readonly JsonObject[] = META_TOOLS): readonly JsonObject[] {
  if (coverage === '') return tools;
  return tools.map((tool) =>
    tool['name'] === 'search_tools'
      ? { ...tool, description: String(tool['description']).replace('servers.', () => `servers: ${coverage}.`) }
      : tool,
  );
}

/** The meta-tool that only reads (META-10); it is there where the config says `splitReads`. */
export const QUERY_NAME = 'query_tool';

/** The names of the five. */
export const META_NAMES: ReadonlySet<string> = new Set(META_TOOLS.map(({ name }) => String(name)));

/** What a host that is offered the tools themselves is told when it connects. */
export function passthroughInstructions(coverage: string): string {
  const behind = coverage === '' ? 'No servers are configured yet.' : `Behind it: ${coverage}.`;
  return `One door to many MCP servers. ${behind} Tools are named server__tool.`;
}

/** What a host is told about toolscout when it connects (META-2, META-8). */
export function instructionsFor(coverage: string, runner = 'execute_tool'): string {
  const behind = coverage === '' ? 'No servers are configured yet.' : `Behind it: ${coverage}.`;
  return (
    `One door to many MCP servers. ${behind} Whenever a task may need an outside tool or data: ` +
    `search_tools, then get_tool_details, then ${runner}. Do not guess tool names.`
  );
}

/** What signatures in an answer may take together: unless an agent says otherwise, and at most. */
const SCHEMA_TOKENS = 1000;
const MAX_SCHEMA_TOKENS = 20_000;

/** Servers listed at once; beyond that an agent is better served by a search. */
const SERVERS_SHOWN = 200;

/** Lists of many servers get shorter descriptions. */
const MANY_SERVERS = 50;

/** A result that nests deeper cannot be written as JSON without the risk of overflowing the stack. */
const MAX_RESULT = 1000;

/** Lists of many tools get shorter lines. */
const LONG_LIST = 100;

/** A meta-tool's answer. */
export type MetaResult = JsonObject & { content: JsonValue[] };

function text(value: string): MetaResult {
  return { content: [{ type: 'text', text: value }] };
}

/** JSON with one row of a list per line: machines parse it, people and agents can read it. */
export function rows(head: JsonObject, name: string, list: readonly JsonObject[], tail: JsonObject = {}): string {
  const field = (entry: [string, JsonValue | undefined]): string =>
    `${JSON.stringify(entry[0])}:${JSON.stringify(entry[1])}`;
  const fields = (part: JsonObject): string[] =>
    Object.entries(part)
      .filter(([, value]) => value !== undefined)
      .map(field);
  const body = list.length === 0 ? '[]' : `[\n${list.map((item) => JSON.stringify(item)).join(',\n')}\n]`;
  return `{${[...fields(head), `${JSON.stringify(name)}:${body}`, ...fields(tail)].join(',')}}`;
}

/** A failed call, as one JSON object; what a host must see as a protocol error is thrown as one. */
function failed(failure: Failure | undefined): MetaResult {
  const { upstream, remedy, ...shown } = failure ?? {};
  if (upstream?.code === RPC_CODE.urlElicitationRequired) {
    throw new ToolscoutError('TOOL_EXECUTION_ERROR', failure?.message ?? '', { upstream });
  }
  const advised = remedy === undefined ? shown : { ...shown, suggestion: adviseAgent(remedy) };
  return { ...text(JSON.stringify(advised)), isError: true };
}

/** A refusal by toolscout itself: an `isError` result with one JSON object (META-3). */
export function refusal(error: ToolscoutError, server?: string, tool?: string): MetaResult {
  const { code, message, remedy, severity, retryAfterMs, problems } = error;
  const body = {
    code,
    message,
    server,
    tool,
    suggestion: adviseAgent(remedy),
    severity,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(problems.length === 0 ? {} : { problems }),
  };
  return { ...text(JSON.stringify(body)), isError: true };
}

/** A failure of ours with the id under which the log has it; in `_meta`, where no model reads it. */
export function traced(failure: JsonObject, { traceId }: { readonly traceId?: string }): JsonObject {
  return traceId === undefined ? failure : { ...failure, _meta: { 'toolscout/trace_id': traceId } };
}

/** Characters of a need that a hit repeats. */
const NEED_LENGTH = 80;

function searchAnswer(answer: SearchAnswer): string {
  const hits = answer.hits.map(({ server, tool, summary, relevance, tags, need, signature }) => ({
    server,
    tool,
    ...(signature ? { call: signature } : {}),
    summary,
    relevance: Math.round(relevance * 100) / 100,
    ...(tags.length > 0 ? { tags: [...tags] } : {}),
    ...(need === undefined ? {} : { need: oneLine(need, NEED_LENGTH) }),
  }));
  return rows({}, 'hits', hits, {
    ...(answer.nearest.length > 0 ? { nearest: [...answer.nearest] } : {}),
    ...(answer.learning.length > 0 ? { stillLearning: answer.learning.slice(0, 10) } : {}),
    ...(answer.unavailable.length > 0
      ? { unavailable: answer.unavailable.slice(0, 5).map(({ server, reason }) => `${server}: ${reason.slice(0, 80)}`) }
      : {}),
  });
}

/** `execute_tool` and `query_tool`: the server's own answer, or why there is none. */
async function callThrough(
  gateway: Gateway,
  name: string,
  values: JsonObject,
  options: HostCallOptions,
): Promise<JsonObject> {
  let meant: Address | undefined;
  try {
    const given = new MetaArguments(name, values);
    meant = given.address();
    const plain = plainArguments(values);
    const select = given.optionalText('select');
    const wanted = select === undefined ? options : { ...options, select };
    const { result, error } = await (plain
      ? gateway.call(meant.server, meant.tool, plain, wanted)
      : callMisplaced(gateway, meant, values, wanted));
    if (result && isDeeperThan(result, MAX_RESULT)) {
      throw new ToolscoutError('TOOL_EXECUTION_ERROR', `The result nests deeper than ${MAX_RESULT} levels.`);
    }
    return result ?? traced(failed(error), options);
  } catch (thrown) {
    return traced(refused(thrown, meant?.server, meant?.tool), options);
  }
}

/** The arguments of `execute_tool` when they are where they belong and nothing else was sent; else `undefined`. */
export function plainArguments(values: JsonObject): JsonObject | undefined {
  for (const key in values) if (!FIELDS.has(key)) return undefined;
  const given = values['arguments'];
  return isObject(given) && !Object.hasOwn(given, 'arguments') ? given : undefined;
}

/** A call whose arguments do not stand where they belong: run when what was meant is certain, else refused by the executor. */
async function callMisplaced(
  gateway: Gateway,
  { server, tool }: Address,
  values: JsonObject,
  options: HostCallOptions,
): Promise<CallResult> {
  // A tool that is not known or not allowed is refused below, in the same order as every other call.
  const found = await gateway
    .details(server, tool, { meta: options.meta, traceId: options.traceId })
    .catch(() => undefined);
  const { arguments: args, problems } = readToolArguments(values, found?.tool.definition);
  return gateway.call(server, tool, args, problems.length > 0 ? { ...options, problems } : options);
}

/** What a host is told instead of an answer; an error that only the protocol can say is thrown. */
function refused(thrown: unknown, server: string | undefined, tool: string | undefined): MetaResult {
  const error = toToolscoutError(thrown);
  if (error.upstream?.code === RPC_CODE.urlElicitationRequired) throw error;
  return refusal(error, server, tool);
}

/** Answers one call of a meta-tool. Failures are answers, not exceptions (META-3), but for one that only the protocol can say. */
export function callMetaTool(
  gateway: Gateway,
  name: string,
  values: JsonObject,
  options: HostCallOptions,
): Promise<JsonObject> {
  // Of its own, since it runs so much more often than the others together.
  if (name === 'execute_tool') return callThrough(gateway, name, values, options);
  if (name === QUERY_NAME && gateway.internal.loaded().config.splitReads) {
    return callThrough(gateway, name, values, { ...options, readOnly: true });
  }
  return look(gateway, name, new MetaArguments(name, values), options);
}

/** That a tool cannot be called, and where it comes from (DISC-6). */
function marksOf({ provenance, rung, confidence }: Tool): JsonObject {
  return { callable: false, provenance, rung, confidence };
}

/** The meta-tools that only look. */
async function look(
  gateway: Gateway,
  name: string,
  args: MetaArguments,
  options: HostCallOptions,
): Promise<JsonObject> {
  // A host that gave a token hears what it waits for (DISC-3).
  const asked = { meta: options.meta, traceId: options.traceId, onLearning: options.onProgress };
  let server: string | undefined;
  let tool: string | undefined;
  try {
    switch (name) {
      case 'search_tools': {
        server = args.optionalText('server');
        const answer = await gateway.search(args.text('query'), {
          server,
          limit: args.count('limit', 10, 50),
          tags: args.texts('tags'),
          includeSchema: args.flag('includeSchema'),
          schemaTokens: args.count('schemaTokens', SCHEMA_TOKENS, MAX_SCHEMA_TOKENS),
          ...asked,
        });
        return text(searchAnswer(answer));
      }
      case 'get_tool_details': {
        ({ server, tool } = args.address());
        const { tool: found, lean } = await gateway.details(server, tool, asked);
        return text(JSON.stringify(isFallback(found) ? { ...lean, ...marksOf(found) } : lean));
      }
      case 'list_tools': {
        server = args.text('server');
        const tools = await gateway.tools.list(server, {
          includeDisabled: args.flag('includeDisabled'),
          includeFallback: true,
          ...asked,
        });
        const width = tools.length > LONG_LIST ? 60 : 100;
        const list = tools.map((each) =>
          isFallback(each)
            ? { tool: each.name, ...marksOf(each) }
            : {
                tool: each.name,
                summary: each.summary.slice(0, width),
                ...(each.status === 'enabled' ? {} : { status: each.status }),
              },
        );
        return text(rows({ server }, 'tools', list));
      }
      case 'list_mcp_servers': {
        const views = await gateway.servers.list(asked);
        const width = views.length > MANY_SERVERS ? 60 : 120;
        const list = views.slice(0, SERVERS_SHOWN).map((view) => ({
          server: view.id,
          ...(view.title ? { title: view.title.slice(0, 80) } : {}),
          ...(view.description ? { description: oneLine(view.description, width) } : {}),
          state: view.knowledge,
          tools: view.tools,
          ...(view.problem ? { problem: view.problem.slice(0, 120) } : {}),
        }));
        const more = views.length - list.length;
        return text(rows({}, 'servers', list, more > 0 ? { more, hint: 'search_tools covers all of them' } : {}));
      }
      default:
        throw new ToolscoutError(
          'TOOL_NOT_FOUND',
          `There is no meta-tool "${name}"; the five are ${META_TOOLS.map((each) => String(each['name'])).join(', ')}.`,
          { suggestion: 'Call a tool of a server with execute_tool.' },
        );
    }
  } catch (thrown) {
    return traced(refused(thrown, server, tool), options);
  }
}
