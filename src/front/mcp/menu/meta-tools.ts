import { adviseAgent, agentFailureText, type AgentMenu } from './agent-remedies.js';
import { toToolscoutError, ToolscoutError } from '../../../kernel/errors.js';
import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../../../kernel/json.js';
import { addressOf } from '../../../kernel/ids.js';
import { oneLine } from '../../../kernel/text.js';
import type { Gateway, HostCallOptions } from '../../../gateway/index.js';
import type { CallResult, Failure } from '../../../model/call.js';
import { DEFAULT_HITS, MAX_AGENT_HITS, type SearchAnswer, type SearchOptions } from '../../../model/hit.js';
import { META_TOOLS, QUERY_NAME } from './meta-menu.js';
import { FIELDS, readToolArguments } from './tool-arguments.js';
import { isFallback, type Tool } from '../../../model/tool.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

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

/** The tool that a call is about. */
interface Address {
  readonly server: string;
  readonly tool: string;
}

/** The arguments of a meta-tool call, read once at the door. */
export class MetaArguments {
  constructor(
    private readonly tool: string,
    private readonly values: JsonObject,
  ) {}

  private fail(name: string, expected: string): never {
    const found =
      this.values[name] === undefined ? 'it is missing' : `found ${JSON.stringify(this.values[name])?.slice(0, 80)}`;
    throw new ToolscoutError('INVALID_REQUEST', `${this.tool} needs "${name}" to be ${expected}; ${found}.`);
  }

  text(name: string): string {
    const value = this.values[name];
    return typeof value === 'string' ? value : this.fail(name, 'a string');
  }

  /** Agents fill in what they leave out: nothing, null and a blank text are the same. */
  optionalText(name: string): string | undefined {
    return (this.values[name] ?? '') === '' ? undefined : this.text(name);
  }

  /** A list of texts, or one text. */
  texts(name: string): string[] {
    const list = [this.values[name] ?? []].flat();
    return list.every((item) => typeof item === 'string') ? list : this.fail(name, 'a list of strings');
  }

  flag(name: string): boolean {
    const value = this.values[name] ?? false;
    return typeof value === 'boolean' ? value : this.fail(name, 'true or false');
  }

  count(name: string, fallback: number, most: number): number {
    const value = this.values[name] ?? fallback;
    return typeof value === 'number' && Number.isInteger(value) && value >= 1
      ? Math.min(value, most)
      : this.fail(name, `a whole number from 1 to ${most}`);
  }

  /** Server and tool; `server:tool` in `tool` is accepted (META-4). */
  address(): Address {
    const tool = this.text('tool');
    const server = this.optionalText('server');
    const colon = tool.indexOf(':');
    if (colon > 0 && server === undefined) {
      return { server: tool.slice(0, colon), tool: tool.slice(colon + 1) };
    }
    return { server: server ?? this.text('server'), tool };
  }
}

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
  const { upstream } = failure ?? {};
  if (upstream?.code === RPC_CODE.urlElicitationRequired) {
    throw new ToolscoutError('TOOL_EXECUTION_ERROR', failure?.message ?? '', { upstream });
  }
  return { ...text(failure ? agentFailureText(failure) : '{}'), isError: true };
}

/** A refusal by toolscout itself: an `isError` result with one JSON object (META-3). */
export function refusal(error: ToolscoutError, server?: string, tool?: string, menu?: AgentMenu): MetaResult {
  const { code, message, remedy, severity, retryAfterMs, problems } = error;
  const body = {
    code,
    message,
    server,
    tool,
    suggestion: adviseAgent(remedy, menu),
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

/** What to do after a search without hits, unless the answer names tools that are spelled alike. */
function hintFor({ hits, nearest, learning }: SearchAnswer, menu?: AgentMenu): JsonObject {
  if (hits.length > 0 || nearest.length > 0) return {};
  return { hint: learning.length > 0 ? 'Search again in a moment.' : adviseAgent({ kind: 'search-again' }, menu) };
}

function searchAnswer(answer: SearchAnswer, menu?: AgentMenu): string {
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
    ...hintFor(answer, menu),
    ...(answer.nearest.length > 0 ? { nearest: [...answer.nearest] } : {}),
    ...(answer.learning.length > 0 ? { stillLearning: answer.learning.slice(0, 10) } : {}),
    ...(answer.unavailable.length > 0
      ? { unavailable: answer.unavailable.slice(0, 5).map(({ server, reason }) => `${server}: ${reason.slice(0, 80)}`) }
      : {}),
  });
}

/** The server that the arguments of `execute_tool` name, however they name it; `undefined` where they name none. */
export function serverMeant(values: JsonObject): string | undefined {
  try {
    return new MetaArguments('execute_tool', values).address().server;
  } catch {
    // The call is refused, with the reason.
    return undefined;
  }
}

/** `execute_tool` and `query_tool`: the server's own answer, or an error with the reason. */
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
    if (result) refuseDeep(result, meant);
    return result ?? traced(failed(error), options);
  } catch (thrown) {
    return traced(refused(thrown, meant?.server, meant?.tool), options);
  }
}

/** @throws ToolscoutError for a result that cannot be written as JSON without the risk of overflowing the stack. */
export function refuseDeep(result: JsonObject, { server, tool }: Address): void {
  if (!isDeeperThan(result, MAX_RESULT)) return;
  const message = `"${addressOf(server, tool)}" ran, but its result nests deeper than ${MAX_RESULT} levels and was not returned.`;
  throw new ToolscoutError('TOOL_EXECUTION_ERROR', message, {
    suggestion:
      'Do not repeat the call if it changed something. Request a less deeply nested part of the data, for example by a narrower path or id.',
  });
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

/** The error result for a host; an error that needs a protocol error is thrown. */
function refused(thrown: unknown, server?: string, tool?: string, menu?: AgentMenu): MetaResult {
  const error = toToolscoutError(thrown);
  if (error.upstream?.code === RPC_CODE.urlElicitationRequired) throw error;
  return refusal(error, server, tool, menu);
}

/** How a meta-tool is called: by a host, or to show what a host would get. */
type MetaCallOptions = HostCallOptions &
  Pick<SearchOptions, 'isPreview'> & {
    /** What else the agent has; the meta-tools unless it is said. */
    readonly menu?: AgentMenu;
  };

/** Answers one call of a meta-tool. Failures are answers, not exceptions (META-3), but for one that only the protocol can say. */
export function callMetaTool(
  gateway: Gateway,
  name: string,
  values: JsonObject,
  options: MetaCallOptions,
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

/** Characters of the type of an answer. */
const TYPE_LENGTH = 600;

/** What a call of a tool gives, where an agent may write scripts that read it (CODE-2). */
async function answerType(gateway: Gateway, server: string, tool: string): Promise<JsonObject> {
  if (!gateway.internal.loaded().config.scripts.enabled) return {};
  const type = await gateway.tools.declaration(server, tool, { brief: true, answer: true });
  return type === 'unknown' ? {} : { returns: oneLine(type, TYPE_LENGTH) };
}

/** The error for a call of a meta-tool that does not exist; it names those that do. */
function noMetaTool(gateway: Gateway, name: string): ToolscoutError {
  const { splitReads, scripts } = gateway.internal.loaded().config;
  const five = META_TOOLS.map((each) => String(each['name']));
  const names = [...five, ...(splitReads ? [QUERY_NAME] : []), ...(scripts.enabled ? ['run_script'] : [])];
  const runner = splitReads ? QUERY_NAME : 'execute_tool';
  // What reads on in large results is a tool of a server, but is often called by its own name.
  const suggestion = /^(?:toolscout__)?(?:read|search)_result$/.test(name)
    ? `Call it with ${runner}: server "toolscout", tool "${name.replace('toolscout__', '')}".`
    : 'Call a tool of a server with execute_tool.';
  const message = `There is no meta-tool "${name}"; there are ${names.join(', ')}.`;
  return new ToolscoutError('TOOL_NOT_FOUND', message, { suggestion });
}

/** The meta-tools that only look. */
async function look(
  gateway: Gateway,
  name: string,
  args: MetaArguments,
  options: MetaCallOptions,
): Promise<JsonObject> {
  // A host that gave a token gets the progress of learning (DISC-3).
  const asked = { meta: options.meta, traceId: options.traceId, onLearning: options.onProgress };
  let server: string | undefined;
  let tool: string | undefined;
  try {
    switch (name) {
      case 'search_tools': {
        server = args.optionalText('server');
        const answer = await gateway.search(args.text('query'), {
          server,
          limit: args.count('limit', DEFAULT_HITS, MAX_AGENT_HITS),
          tags: args.texts('tags'),
          includeSchema: args.flag('includeSchema'),
          schemaTokens: args.count('schemaTokens', SCHEMA_TOKENS, MAX_SCHEMA_TOKENS),
          route: options.route,
          hostName: options.hostName,
          isPreview: options.isPreview,
          ...asked,
        });
        return text(searchAnswer(answer, options.menu));
      }
      case 'get_tool_details': {
        ({ server, tool } = args.address());
        const { tool: found, lean } = await gateway.details(server, tool, asked);
        const shown = isFallback(found) ? { ...lean, ...marksOf(found) } : lean;
        return text(JSON.stringify({ ...shown, ...(await answerType(gateway, server, tool)) }));
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
        throw noMetaTool(gateway, name);
    }
  } catch (thrown) {
    return traced(refused(thrown, server, tool, options.menu), options);
  }
}
