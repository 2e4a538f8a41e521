import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { estimateResultTokens, estimateTokens, fitsResult } from '../kernel/tokens.js';
import type { Budget, Call } from '../model/call.js';
import type { AnswersConfig } from '../model/config.js';
import type { Server } from '../model/server.js';
import type { Viewer } from '../model/viewer.js';
import { OWN_SERVER, type KeptResults } from './kept-results.js';
import { previewResult } from './preview.js';
import { counted } from './prune.js';
import { jsonOf } from './result-data.js';
import { shapeOfJson } from './shape.js';
import { compileSelection, type Selection } from './select/select.js';

/** What is wanted of the result of a call. */
export interface Wanted {
  /** Tokens that the answer may cost; all of them when absent. */
  readonly maxTokens?: number;
  readonly select?: Selection;
  /** How an agent calls the tools that read on. */
  readonly readBy?: 'execute_tool' | 'name' | 'script';
}

/** An answer, and what was left out of it. */
export interface Answer {
  readonly result: JsonObject;
  /** About how many tokens of the result the agent was spared. */
  readonly withheld?: number;
  readonly handle?: string;
}

/** The tool that is called, and how. */
interface Subject {
  readonly call: Call;
  readonly server: Server;
  readonly tool: { readonly name: string; readonly definition: JsonObject };
}

/** Makes of the results of calls answers that an agent can afford (ANS-1, ANS-4). */
export interface Answers {
  /**
   * What is made of the result of a call; `undefined` when it is returned as it is.
   *
   * @throws ToolscoutError `INVALID_REQUEST` when the wanted part is not named by an expression.
   */
  answering(subject: Subject): ((result: JsonObject, isError: boolean) => Answer | Promise<Answer>) | undefined;
  /** The server's own object when nothing is to be done to it. */
  answer(
    viewer: Viewer,
    from: { readonly server: string; readonly tool: string },
    result: JsonObject,
    wanted: Wanted,
  ): Answer | Promise<Answer>;
}

/** A result that nests deeper is refused by the fronts; nothing can be shown of it. */
const MAX_DEPTH = 1000;

/** A preview costs this share of what an answer may cost: it is read to decide, not to be complete. */
const PREVIEW_SHARE = 0.25;
const MIN_PREVIEW = 400;

/** Answers over results that can be kept. */
export function createAnswers(kept: KeptResults, config: () => AnswersConfig): Answers {
  const answer: Answers['answer'] = (viewer, from, result, wanted) => {
    if (!isFinal(result)) return { result };
    const { maxTokens, select } = wanted;
    if (select !== undefined && result['isError'] !== true) return project(kept, viewer, from, result, wanted, select);
    if (maxTokens === undefined || fitsResult(result, maxTokens)) return { result };
    return withhold(kept, viewer, from, result, wanted, maxTokens);
  };
  return {
    answer,
    answering({ call, server, tool }) {
      const maxTokens = budgetOf(call.budget, server, tool, config());
      const select = call.select === undefined ? undefined : compileSelection(call.select);
      if (maxTokens === undefined && select === undefined) return undefined;
      // Pages of kept results are within the budget already, and are kept.
      if (server.id === OWN_SERVER && select === undefined) return undefined;
      return (result, isError) => {
        const wanted = {
          maxTokens,
          readBy: call.budget === 'passthrough' ? 'name' : 'execute_tool',
          ...(!isError && select && { select }),
        } as const;
        return answer(call.viewer, { server: server.id, tool: tool.name }, result, wanted);
      };
    },
  };
}

/** Whether a result is a result: not a question to the host, and no task that goes on. */
function isFinal(result: JsonObject): boolean {
  return (
    result['resultType'] !== 'input_required' && (Array.isArray(result['content']) || 'structuredContent' in result)
  );
}

type From = Parameters<Answers['answer']>[1];

async function withhold(
  kept: KeptResults,
  viewer: Viewer,
  from: From,
  result: JsonObject,
  wanted: Wanted,
  maxTokens: number,
  remark?: string,
): Promise<Answer> {
  if (isDeeperThan(result, MAX_DEPTH)) return { result };
  const handle = await kept.keep(viewer, from, result);
  const whole = estimateResultTokens(result);
  const text = withheldText(result, handle, whole, wanted, maxTokens, remark);
  const answer: JsonObject = { content: [{ type: 'text', text }] };
  if (result['isError'] !== undefined) answer['isError'] = result['isError'];
  if (result['resultType'] !== undefined) answer['resultType'] = result['resultType'];
  if (handle !== undefined) answer['_meta'] = { 'toolscout/result': { handle, tokens: whole } };
  return {
    result: answer,
    withheld: Math.max(0, whole - estimateTokens(text)),
    ...(handle !== undefined && { handle }),
  };
}

/** The preview with everything around it, within the budget whatever the result is. */
function withheldText(
  result: JsonObject,
  handle: string | undefined,
  whole: number,
  wanted: Wanted,
  maxTokens: number,
  remark: string | undefined,
): string {
  let room = Math.min(maxTokens, Math.max(MIN_PREVIEW, Math.floor(maxTokens * PREVIEW_SHARE)));
  for (; room >= 16; room = Math.floor(room / 2)) {
    const { shape, text, next } = previewResult(result, room);
    const head = `[Too large to return: about ${counted(whole)} tokens.${remark === undefined ? '' : ` ${remark}`} ${readOn(handle, next, wanted)}]`;
    const written = `${head}\n[Shape: ${shape}]\n${text}`;
    if (estimateTokens(written) <= maxTokens) return written;
  }
  return `[Too large to return: about ${counted(whole)} tokens. ${readOn(handle, {}, wanted)}]`;
}

function readOn(handle: string | undefined, next: JsonObject, { readBy }: Wanted): string {
  if (handle === undefined) return 'It could not be kept: ask the tool for less, or use select.';
  const args = JSON.stringify({ handle, ...next });
  if (readBy === 'name') {
    return `Kept as ${handle}. Read on: toolscout__read_result ${args}; find words in it: toolscout__search_result {handle, query}.`;
  }
  if (readBy === 'script') {
    return `Kept as ${handle}. Read on in a script: tools.toolscout.read_result(${args}); find words in it: tools.toolscout.search_result({handle, query}).`;
  }
  return `Kept as ${handle}. Read on: execute_tool, server "toolscout", tool "read_result", arguments ${args}; or tool "search_result", arguments {handle, query}.`;
}

/** The selected part of a result as its answer; the whole stays behind a handle. */
async function project(
  kept: KeptResults,
  viewer: Viewer,
  from: From,
  result: JsonObject,
  wanted: Wanted,
  select: Selection,
): Promise<Answer> {
  const data = jsonOf(result);
  const outcome = data === undefined ? { problem: 'the result is not JSON' } : select.apply(data);
  if ('problem' in outcome) return unprojected(kept, viewer, from, result, wanted, outcome.problem);
  const handle = await kept.keep(viewer, from, result);
  const whole = estimateResultTokens(result);
  const selected = selectedResult(outcome.value, result, noteOf(outcome.value, data!, whole, handle));
  const { maxTokens } = wanted;
  if (maxTokens !== undefined && estimateResultTokens(selected, maxTokens) > maxTokens) {
    // What was selected is itself too large: its preview, and a handle for what was selected.
    const plain = selectedResult(outcome.value, result, undefined);
    return withhold(kept, viewer, from, plain, wanted, maxTokens, 'It is what select gave.');
  }
  const withheld = Math.max(0, whole - estimateResultTokens(selected));
  return { result: selected, withheld, ...(handle !== undefined && { handle }) };
}

/** A result that select could not be applied to: the whole, and why. */
async function unprojected(
  kept: KeptResults,
  viewer: Viewer,
  from: From,
  result: JsonObject,
  wanted: Wanted,
  problem: string,
): Promise<Answer> {
  const remark = `select was not applied: ${problem}.`;
  const { maxTokens } = wanted;
  const content = Array.isArray(result['content']) ? result['content'] : [];
  const noted: JsonObject = { ...result, content: [...content, { type: 'text', text: `[${remark}]` }] };
  if (maxTokens === undefined || estimateResultTokens(noted, maxTokens) <= maxTokens) return { result: noted };
  return withhold(kept, viewer, from, result, wanted, maxTokens, remark);
}

/** What the agent is told beside a selection; the shape of the whole when the expression found nothing. */
function noteOf(selected: JsonValue, data: JsonValue, whole: number, handle: string | undefined): string {
  const from = `Selected from a result of about ${counted(whole)} tokens`;
  const where = handle === undefined ? from : `${from}, kept as ${handle}`;
  const isEmpty = selected === null || (Array.isArray(selected) && selected.length === 0);
  return isEmpty ? `[${where}. Its shape: ${shapeOfJson(data, 200)}]` : `[${where}.]`;
}

function selectedResult(selected: JsonValue, { resultType }: JsonObject, note: string | undefined): JsonObject {
  const content: JsonValue[] = [{ type: 'text', text: JSON.stringify(selected) }];
  if (note !== undefined) content.push({ type: 'text', text: note });
  return {
    content,
    ...(isObject(selected) && { structuredContent: selected }),
    ...(resultType !== undefined && { resultType }),
  };
}

/** What an answer may cost when nothing else is said. */
const DEFAULT_TOKENS = 8000;

/** Where a tool says how long its results are (ANS-5). */
const DECLARED_SIZE = 'anthropic/maxResultSizeChars';

/** Characters of a token of English or JSON, about. */
const CHARACTERS_PER_TOKEN = 4;

/** Tokens by the size that a tool declares for its results; 0 when it declares none. */
function declaredTokens(definition: JsonObject): number {
  const meta = definition['_meta'];
  const size = isObject(meta) ? meta[DECLARED_SIZE] : undefined;
  return typeof size === 'number' && size > 0 ? Math.floor(size / CHARACTERS_PER_TOKEN) : 0;
}

/**
 * How many tokens the answer of a call may cost; `undefined` when there is no bound. What the config says about the tool or its
 * server holds; otherwise what a tool declares raises the general budget, up to a cap (ANS-1, ANS-5).
 */
export function budgetOf(
  asked: Budget | undefined,
  { answers }: Pick<Server, 'answers'>,
  tool: { readonly name: string; readonly definition: JsonObject },
  config: AnswersConfig,
): number | undefined {
  if (asked === undefined) return undefined;
  if (typeof asked === 'number') return asked;
  const tools = answers?.tools;
  const own = tools && Object.hasOwn(tools, tool.name) ? tools[tool.name] : undefined;
  const written = own ?? answers?.maxTokens;
  if (written !== undefined) return written === false ? undefined : written;
  const general = config.maxTokens ?? (asked === 'passthrough' ? false : DEFAULT_TOKENS);
  if (general === false) return undefined;
  return Math.max(general, Math.min(declaredTokens(tool.definition), config.maxDeclaredTokens));
}
