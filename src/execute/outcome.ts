import { ERROR_TABLE, hideInUpstream, type Severity, type ToolscoutError } from '../kernel/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { oneLine } from '../kernel/text.js';
import type { Failure } from '../model/call.js';

/** What a failed call was about, and how secrets are removed from what is said of it. */
export interface FailureContext {
  readonly server: string;
  readonly tool: string;
  readonly hide: (text: string) => string;
}

/** What a server itself says about its error (EXEC-3). */
interface CarriedError {
  readonly errorCode?: string;
  readonly message?: string;
  readonly suggestion?: string;
  readonly severity?: Severity;
}

/** The message of a tool may be a whole page; the result has it untouched. */
const LONGEST_MESSAGE = 4000;

/** An error body that says what to do is short; longer text is not parsed. */
const LONGEST_BODY = 64 * 1024;

/** Items of a result in which an error body is looked for. */
const MOST_ITEMS = 8;

/** Longest name of an error that is carried. */
const LONGEST_CODE = 100;

function cut(text: string): string {
  return text.length <= LONGEST_MESSAGE
    ? text
    : `${text.slice(0, LONGEST_MESSAGE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function textAt(body: JsonObject, key: string): string | undefined {
  const value = body[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function severityOf(value: JsonValue | undefined): Severity | undefined {
  const upper = typeof value === 'string' ? value.toUpperCase() : '';
  return upper === 'WARNING' || upper === 'SEVERE' ? upper : undefined;
}

/** The error of an upstream's body, when it has one of the fields that say more than text does. */
function carriedIn(value: unknown): CarriedError | undefined {
  if (!isObject(value)) return undefined;
  const body = isObject(value['error']) ? value['error'] : value;
  const code = textAt(body, 'error_code');
  const suggestion = textAt(body, 'suggestion');
  const severity = severityOf(body['severity']);
  if (code === undefined && suggestion === undefined && severity === undefined) return undefined;
  const text = textAt(body, 'message') ?? textAt(body, 'error') ?? textAt(body, 'detail');
  return { errorCode: code, message: [code, text].filter(Boolean).join(': ') || undefined, suggestion, severity };
}

function parseBody(text: string | undefined): unknown {
  if (text === undefined || text.length > LONGEST_BODY || !/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Text that merely begins like JSON is the message itself.
    return undefined;
  }
}

/** The first texts of a result; an error body seldom stands further back. */
function firstTexts(result: JsonObject): string[] {
  if (!Array.isArray(result['content'])) return [];
  const texts: string[] = [];
  for (const item of result['content'].slice(0, MOST_ITEMS)) {
    const text = isObject(item) && item['type'] === 'text' ? textAt(item, 'text') : undefined;
    if (text !== undefined) texts.push(text);
  }
  return texts;
}

function carriedInTexts(texts: readonly string[]): CarriedError | undefined {
  for (const text of texts) {
    const carried = carriedIn(parseBody(text));
    if (carried) return carried;
  }
  return undefined;
}

/** The name a server gave its error, as one short line. */
function shownCode(code: string | undefined, hide: (text: string) => string): { error_code?: string } {
  return code === undefined ? {} : { error_code: hide(oneLine(code, LONGEST_CODE)) };
}

/** Anything that stopped a call, as the object every front shows (META-3). */
export function failureOf(error: ToolscoutError, context: FailureContext): Failure {
  const { server, tool, hide } = context;
  const carried = carriedIn(error.upstream?.data) ?? carriedIn(error.refusal?.body);
  return {
    code: error.code,
    message: hide(cut(carried?.message ?? error.message)),
    server,
    tool,
    suggestion: hide(cut(carried?.suggestion ?? error.suggestion)),
    severity: carried?.severity ?? error.severity,
    ...shownCode(carried?.errorCode, hide),
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    ...(error.problems.length > 0 && {
      problems: error.problems.map(({ path, message }) => ({ path: hide(path), message: hide(message) })),
    }),
    ...(error.upstream && { upstream: hideInUpstream(error.upstream, hide) }),
  };
}

/** The failure a tool reported in its own result with `isError`. */
export function failureOfResult(result: JsonObject, context: FailureContext): Failure {
  const { server, tool, hide } = context;
  const texts = firstTexts(result);
  const carried = carriedIn(result['structuredContent']) ?? carriedInTexts(texts);
  const { severity, suggestion } = ERROR_TABLE.TOOL_EXECUTION_ERROR;
  return {
    code: 'TOOL_EXECUTION_ERROR',
    message: hide(cut(carried?.message ?? texts[0] ?? 'The tool reported an error without saying which.')),
    server,
    tool,
    suggestion: hide(cut(carried?.suggestion ?? suggestion)),
    severity: carried?.severity ?? severity,
    ...shownCode(carried?.errorCode, hide),
  };
}
