import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { estimateJsonTokens, estimateReadTokens, estimateTokens, fitsResult } from '../kernel/tokens.js';
import type { Budget, Call } from '../model/call.js';
import { DEFAULT_MAX_TOKENS, type AnswersConfig, type Config } from '../model/config.js';
import type { Server } from '../model/server.js';
import type { Viewer } from '../model/viewer.js';
import { OWN_SERVER, type KeptResults } from './kept-results.js';
import { previewResult } from './preview.js';
import { counted } from './prune.js';
import { jsonInside, jsonOf } from './result-data.js';
import { shapeOfJson } from './shape.js';
import { compileSelection, type Selection } from './select/select.js';

/** What is wanted of the result of a call. */
export interface Wanted {
  /** Tokens that the answer may cost; all of them when absent. */
  readonly maxTokens?: number;
  readonly select?: Selection;
  /** How an agent calls the tools that read on. */
  readonly readBy?: 'execute_tool' | 'query_tool' | 'name' | 'script';
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

type Answering = (result: JsonObject, isError: boolean) => Answer | Promise<Answer>;

/** Makes of the results of calls answers that an agent can afford (ANS-1, ANS-4). */
export interface Answers {
  /**
   * What is made of the result of a call; `undefined` when it is returned as it is.
   *
   * @throws ToolscoutError `INVALID_REQUEST` when the wanted part is not named by an expression.
   */
  answering(subject: Subject): Answering | undefined;
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

/**
 * Answers over results that can be kept; `screened` adds the screening of results where a server or the config enables
 * it.
 */
export function createAnswers(
  kept: KeptResults,
  config: () => Pick<Config, 'answers' | 'screenResults' | 'splitReads'>,
  screened: (subject: Subject, answer: Answering | undefined) => Answering | undefined,
): Answers {
  const answer: Answers['answer'] = (viewer, from, result, asked) => {
    if (!isFinal(result)) return { result };
    // Reading on changes nothing, so it goes through the read-only tool where there is one.
    const isSplit = asked.readBy === 'execute_tool' && config().splitReads;
    const wanted = isSplit ? ({ ...asked, readBy: 'query_tool' } as const) : asked;
    const { maxTokens, select } = wanted;
    if (select !== undefined && result['isError'] !== true) return project(kept, viewer, from, result, wanted, select);
    if (maxTokens === undefined || fitsBudget(result, maxTokens)) return { result };
    return withhold(kept, viewer, from, result, wanted, maxTokens);
  };
  const affordable = ({ call, server, tool }: Subject): Answering | undefined => {
    const maxTokens = budgetOf(call.budget, server, tool, config().answers);
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
  };
  return {
    answer,
    answering(subject) {
      const { server } = subject;
      // Most configs screen nothing.
      const isScreened =
        server.screenResults !== undefined || config().screenResults !== 'off' || server.id === OWN_SERVER;
      return isScreened ? screened(subject, affordable(subject)) : affordable(subject);
    },
  };
}

/** By how much the estimate of tokens may be too low (ANS-6): what could exceed the budget is withheld. */
const ESTIMATE_MARGIN = 1.15;

/** Whether a result fits the budget even where the estimate of its tokens is too low. */
function fitsBudget(result: JsonObject, maxTokens: number): boolean {
  return fitsResult(result, maxTokens / ESTIMATE_MARGIN);
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
  const whole = estimateReadTokens(result);
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

function readOn(handle: string | undefined, next: JsonObject, { readBy = 'execute_tool' }: Wanted): string {
  if (handle === undefined) return 'It could not be kept: ask the tool for less, or use select.';
  const args = JSON.stringify({ handle, ...next });
  if (readBy === 'name') {
    return `Kept as ${handle}. Read on: toolscout__read_result ${args}; find words in it: toolscout__search_result {handle, query}.`;
  }
  if (readBy === 'script') {
    return `Kept as ${handle}. Read on in a script: tools.toolscout.read_result(${args}); find words in it: tools.toolscout.search_result({handle, query}).`;
  }
  return `Kept as ${handle}. Read on: ${readBy}, server "toolscout", tool "read_result", arguments ${args}; or tool "search_result", arguments {handle, query}.`;
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
  const outcome = data === undefined ? { problem: 'the result is not JSON' } : applied(select, data);
  if ('problem' in outcome) return unprojected(kept, viewer, from, result, wanted, outcome.problem);
  if (isTiny(data!, result)) {
    // To show the whole costs less than to say where it is kept.
    const note = outcome.value === data ? undefined : `[Selected from ${JSON.stringify(data)}]`;
    return { result: selectedResult(outcome.value, result, note) };
  }
  const handle = await kept.keep(viewer, from, result);
  const whole = estimateReadTokens(result);
  const selected = selectedResult(outcome.value, result, noteOf(outcome.value, data!, whole, handle));
  const { maxTokens } = wanted;
  if (maxTokens !== undefined && !fitsBudget(selected, maxTokens)) {
    // What was selected is itself too large: its preview, and a handle for what was selected.
    const plain = selectedResult(outcome.value, result, undefined);
    const of = handle === undefined ? '' : ` of a result that is kept as ${handle}`;
    return withhold(kept, viewer, from, plain, wanted, maxTokens, `It is what select gave${of}.`);
  }
  const withheld = Math.max(0, whole - estimateReadTokens(selected));
  return { result: selected, withheld, ...(handle !== undefined && { handle }) };
}

/** What a line that names a handle costs, about. */
const TINY_TOKENS = 40;

/** Whether the data costs next to nothing and is all that the result says. */
function isTiny(data: JsonValue, { content }: JsonObject): boolean {
  if (estimateJsonTokens(data, TINY_TOKENS) > TINY_TOKENS) return false;
  if (!Array.isArray(content) || content.length === 0) return true;
  return content.length === 1 && JSON.stringify(jsonOf({ content })) === JSON.stringify(data);
}

/** Applies an expression to the data; where it finds nothing and the only field of the data is JSON as text, to that JSON. */
function applied(select: Selection, data: JsonValue): ReturnType<Selection['apply']> {
  const outcome = select.apply(data);
  const isMissed = 'value' in outcome && outcome.value === null;
  const inner = isMissed ? jsonInside(data) : undefined;
  return inner === undefined ? outcome : select.apply(inner);
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
  if (maxTokens === undefined || fitsBudget(noted, maxTokens)) return { result: noted };
  return withhold(kept, viewer, from, result, wanted, maxTokens, remark);
}

/** The note beside a selection; the shape of the whole result when the expression found nothing. */
function noteOf(selected: JsonValue, data: JsonValue, whole: number, handle: string | undefined): string {
  const from = `Selected from a result of about ${counted(whole)} tokens`;
  const where = handle === undefined ? from : `${from}, kept as ${handle}`;
  return hasGap(selected) ? `[${where}. Its shape: ${shapeOfJson(data, 200)}]` : `[${where}.]`;
}

/** Whether an expression found nothing, or nothing for one of the fields that it names. */
function hasGap(selected: JsonValue): boolean {
  if (!Array.isArray(selected)) {
    return selected === null || (isObject(selected) && Object.values(selected).includes(null));
  }
  const [first] = selected;
  if (first === undefined || selected.every((item) => item === null)) return true;
  if (!isObject(first)) return false;
  return Object.keys(first).some((key) => selected.every((item) => isObject(item) && item[key] === null));
}

function selectedResult(selected: JsonValue, { resultType }: JsonObject, note: string | undefined): JsonObject {
  // A text is shown as it is: its lines are lines.
  const text = typeof selected === 'string' ? selected : JSON.stringify(selected);
  const content: JsonValue[] = [{ type: 'text', text }];
  if (note !== undefined) content.push({ type: 'text', text: note });
  return {
    content,
    ...(isObject(selected) && { structuredContent: selected }),
    ...(resultType !== undefined && { resultType }),
  };
}

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
  const general = config.maxTokens ?? (asked === 'passthrough' ? false : DEFAULT_MAX_TOKENS);
  if (general === false) return undefined;
  return Math.max(general, Math.min(declaredTokens(tool.definition), config.maxDeclaredTokens));
}
