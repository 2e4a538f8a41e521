import type { Gateway, HostCallOptions } from '../../../gateway/index.js';
import { toToolscoutError, ToolscoutError } from '../../../kernel/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../../../kernel/json.js';
import { estimateTokens } from '../../../kernel/tokens.js';
import type { Remedy } from '../../../kernel/remedy.js';
import { nothingReturned, type ScriptFailure, type ScriptResult } from '../../../model/script.js';
import { keptState } from '../exchange.js';
import { adviseAgent, type AgentMenu } from './agent-remedies.js';
import { instructionsFor, META_TOOLS } from './meta-menu.js';
import { callMetaTool, MetaArguments, refusal, rows, traced } from './meta-tools.js';

/** The name of the tool that runs a script. */
export const RUN_SCRIPT = 'run_script';

/** The tool that makes many calls one (CODE-1). Every word is paid for in every session. */
export const SCRIPT_TOOL: JsonObject = {
  name: RUN_SCRIPT,
  description:
    'Many calls in one async JavaScript function body. `await tools.SERVER.TOOL({…})` gives data or throws; return or print() what you need.',
  inputSchema: {
    type: 'object',
    properties: { script: { type: 'string' }, timeoutMs: { type: 'integer' } },
    required: ['script'],
  },
};

/** Parameters whose names say enough. */
const PLAIN: ReadonlySet<string> = new Set(['server', 'arguments', 'includeSchema']);

function plain(name: string, property: JsonValue | undefined): JsonValue | undefined {
  if (!PLAIN.has(name) || !isObject(property)) return property;
  const { description: _said, ...rest } = property;
  return rest;
}

/** A tool without its title, and of its hints only what a host does not assume anyway: that it only reads. */
function compact({ title: _title, annotations, inputSchema, ...tool }: JsonObject): JsonObject {
  const schema = inputSchema as JsonObject & { properties: JsonObject };
  const { schemaTokens: _budget, ...given } = schema.properties;
  const properties = Object.fromEntries(Object.entries(given).map(([name, property]) => [name, plain(name, property)]));
  const isRead = isObject(annotations) && annotations['readOnlyHint'] === true;
  return { ...tool, inputSchema: { ...schema, properties }, ...(isRead && { annotations: { readOnlyHint: true } }) };
}

/** A menu with `run_script`: the others are written shorter, so that menu and instructions stay within 600 tokens (META-9). */
export function withScriptTool(tools: readonly JsonObject[]): readonly JsonObject[] {
  return [...tools.map(compact), SCRIPT_TOOL];
}

/** The instructions beside {@link withScriptTool}. What is behind toolscout is said once: here, or in the menu where `isNamed`. */
export function scriptInstructions(coverage: string, mode: 'code' | 'split' | 'meta', isNamed: boolean): string {
  const runner = {
    code: RUN_SCRIPT,
    split: 'query_tool, execute_tool or run_script',
    meta: 'execute_tool or run_script',
  }[mode];
  const text = instructionsFor(coverage, runner);
  return isNamed && coverage !== '' ? text.replace(` Behind it: ${coverage}.`, () => '') : text;
}

function codeTool(tool: JsonObject): JsonObject {
  if (tool['name'] !== 'search_tools') {
    return { ...tool, description: 'The TypeScript declaration of a tool. Read it before the first call in a script.' };
  }
  const { properties } = tool['inputSchema'] as { properties: JsonObject };
  const { query, server, limit } = properties;
  return { ...tool, inputSchema: { type: 'object', properties: { query, server, limit }, required: ['query'] } };
}

/** The meta-tools that stand beside `run_script` in the mode `code`; they answer with declarations (CODE-2). */
export const CODE_TOOLS: readonly JsonObject[] = ['search_tools', 'get_tool_details'].map((name) =>
  codeTool(META_TOOLS.find((tool) => tool['name'] === name)!),
);

/** The error for a call of another tool in the mode `code`. */
export function notInCode(name: string): JsonObject {
  const names = [...CODE_TOOLS, SCRIPT_TOOL].map((tool) => String(tool['name'])).join(', ');
  return refusal(
    new ToolscoutError('TOOL_NOT_FOUND', `There is no tool "${name}"; there are ${names}.`, {
      suggestion: `Call tools of servers in a script, with ${RUN_SCRIPT}.`,
    }),
  );
}

/** A remedy for an agent whose script failed; the words of `menu` name the tools that it has beside `run_script`. */
function adviseScript(remedy: Remedy, menu: AgentMenu): string {
  return adviseAgent(remedy, remedy.kind === 'call-with-effects' ? 'code' : menu);
}

function block(text: string): JsonObject {
  return { type: 'text', text };
}

function printedBlocks({ printed, note }: Pick<ScriptResult, 'printed' | 'note'>): JsonObject[] {
  const lines = printed.length === 0 ? [] : [block(`Printed:\n${printed.join('\n')}`)];
  return note === undefined ? lines : [...lines, block(`[${note}]`)];
}

function failed({ remedy, ...shown }: ScriptFailure, result: ScriptResult, menu: AgentMenu): JsonObject {
  const body = { ...shown, suggestion: adviseScript(remedy, menu), calls: result.calls };
  return { content: [block(JSON.stringify(body)), ...printedBlocks(result)], isError: true };
}

function shownValue(value: JsonValue | undefined, script: string): string {
  if (value === undefined) return nothingReturned(script);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The time limit that an agent asks for. */
function timeoutIn({ timeoutMs }: JsonObject): number | undefined {
  if (timeoutMs === undefined || timeoutMs === null) return undefined;
  if (typeof timeoutMs === 'number' && Number.isInteger(timeoutMs) && timeoutMs >= 1) return timeoutMs;
  throw new ToolscoutError(
    'INVALID_REQUEST',
    `${RUN_SCRIPT} needs "timeoutMs" to be a whole number of milliseconds, at least 1.`,
  );
}

function scriptIn({ script, timeoutMs: _time, ...others }: JsonObject): string {
  if (typeof script === 'string') return script;
  const [other] = Object.keys(others);
  if (script === undefined && other !== undefined) {
    const message = `Unknown argument ${JSON.stringify(other.slice(0, 80))}; ${RUN_SCRIPT} needs "script" (a string).`;
    throw new ToolscoutError('INVALID_REQUEST', message, { suggestion: 'Send the script as "script".' });
  }
  const found = script === undefined ? 'it is missing' : `found ${JSON.stringify(script)?.slice(0, 80)}`;
  throw new ToolscoutError('INVALID_REQUEST', `${RUN_SCRIPT} needs "script" to be a string; ${found}.`);
}

/** Answers a call of `run_script`. Failures are answers, not exceptions; a script that waits for a person asks for input (CODE-5). */
export async function callScript(
  gateway: Gateway,
  values: JsonObject,
  options: HostCallOptions,
  readBy: 'execute_tool' | 'script',
): Promise<JsonObject> {
  const menu = readBy === 'script' ? 'code' : 'meta';
  try {
    const timeoutMs = timeoutIn(values);
    const script = scriptIn(values);
    const result = await gateway.run(script, {
      ...options,
      advise: (remedy) => adviseScript(remedy, menu),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    if (result.suspended) {
      const { state, inputRequests } = result.suspended;
      return keptState({ resultType: 'input_required', inputRequests, requestState: state });
    }
    if (result.error) return traced(failed(result.error, result, menu), options);
    const answer = { content: [block(shownValue(result.value, script)), ...printedBlocks(result)] };
    return await gateway.internal.afford(RUN_SCRIPT, answer, readBy);
  } catch (thrown) {
    return traced(refusal(toToolscoutError(thrown), undefined, undefined, menu), options);
  }
}

/** What declarations in the answer to a search may take together. */
const DECLARATION_TOKENS = 1000;

/**
 * `search_tools` in the mode `code`: the usual hits, the best of them with declarations as far as the budget allows
 * (CODE-2).
 */
async function searchCode(gateway: Gateway, values: JsonObject, options: HostCallOptions): Promise<JsonObject> {
  const { includeSchema: _plain, ...asked } = values;
  const answer = await callMetaTool(gateway, 'search_tools', asked, { ...options, menu: 'code' });
  const [first] = answer['content'] as JsonObject[];
  if (answer['isError'] === true || typeof first?.['text'] !== 'string') return answer;
  const { hits, ...rest } = JSON.parse(first['text']) as {
    readonly hits: ReadonlyArray<JsonObject & { server: string; tool: string }>;
  };
  let left = DECLARATION_TOKENS;
  const declared: JsonObject[] = [];
  for (const { server, tool, ...hit } of hits) {
    const declaration = left > 0 ? await gateway.tools.declaration(server, tool, { brief: true }).catch(() => '') : '';
    const cost = estimateTokens(declaration);
    const isShown = declaration !== '' && cost <= left;
    if (isShown) left -= cost;
    declared.push({ ...(isShown ? { declaration } : { server, tool }), ...hit });
  }
  return { content: [block(rows({}, 'hits', declared, rest))] };
}

/** Answers `search_tools` and `get_tool_details` in the mode `code`. */
export async function lookInCode(
  gateway: Gateway,
  name: string,
  values: JsonObject,
  options: HostCallOptions,
): Promise<JsonObject> {
  if (name === 'search_tools') return searchCode(gateway, values, options);
  // An invalid request gets the same error as in the other modes.
  const answer = await callMetaTool(gateway, name, values, { ...options, menu: 'code' });
  if (answer['isError'] === true) return answer;
  const { server, tool } = new MetaArguments(name, values).address();
  return { content: [block(await gateway.tools.declaration(server, tool))] };
}
