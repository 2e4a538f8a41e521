import { ERROR_TABLE, type Severity, type ToolscoutError } from '../kernel/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Failure } from '../model/call.js';

/** What a failed call was about, and how secrets are removed from what is said of it. */
export interface FailureContext {
  readonly server: string;
  readonly tool: string;
  readonly hide: (text: string) => string;
}

/** What a server itself says about its error (EXEC-3). */
interface CarriedError {
  readonly message?: string;
  readonly suggestion?: string;
  readonly severity?: Severity;
}

/** The message of a tool may be a whole page; the result has it untouched. */
const LONGEST_MESSAGE = 4000;

/** An error body that says what to do is short; longer text is not parsed. */
const LONGEST_BODY = 64 * 1024;

/** Values visited to estimate the size of a result. */
const MOST_VISITED = 10_000;

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
  return { message: [code, text].filter(Boolean).join(': ') || undefined, suggestion, severity };
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

function firstText(result: JsonObject): string | undefined {
  if (!Array.isArray(result['content'])) return undefined;
  for (const item of result['content']) {
    if (isObject(item) && item['type'] === 'text') return textAt(item, 'text');
  }
  return undefined;
}

/** The server's own error without secrets; its data is JSON, whose escapes the mask knows. */
function hideUpstream(
  { code, message, data }: NonNullable<Failure['upstream']>,
  hide: (text: string) => string,
): Failure['upstream'] {
  return {
    code,
    ...(message !== undefined && { message: hide(message) }),
    ...(data !== undefined && { data: JSON.parse(hide(JSON.stringify(data))) as unknown }),
  };
}

/** Anything that stopped a call, as the object every front shows (META-3). */
export function failureOf(error: ToolscoutError, context: FailureContext): Failure {
  const { server, tool, hide } = context;
  const carried = carriedIn(error.upstream?.data);
  return {
    code: error.code,
    message: hide(cut(carried?.message ?? error.message)),
    server,
    tool,
    suggestion: hide(cut(carried?.suggestion ?? error.suggestion)),
    severity: carried?.severity ?? error.severity,
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    ...(error.problems.length > 0 && {
      problems: error.problems.map(({ path, message }) => ({ path: hide(path), message: hide(message) })),
    }),
    ...(error.upstream && { upstream: hideUpstream(error.upstream, hide) }),
  };
}

/** The failure a tool reported in its own result with `isError`. */
export function failureOfResult(result: JsonObject, context: FailureContext): Failure {
  const { server, tool, hide } = context;
  const text = firstText(result);
  const carried = carriedIn(result['structuredContent']) ?? carriedIn(parseBody(text));
  const { severity, suggestion } = ERROR_TABLE.TOOL_EXECUTION_ERROR;
  return {
    code: 'TOOL_EXECUTION_ERROR',
    message: hide(cut(carried?.message ?? text ?? 'The tool reported an error without saying which.')),
    server,
    tool,
    suggestion: hide(cut(carried?.suggestion ?? suggestion)),
    severity: carried?.severity ?? severity,
  };
}

/**
 * About how large a result is: the lengths of its texts and names, a few bytes for anything else.
 * Serialising a large result only to learn its size would double the cost of a call.
 */
export function estimateBytes(result: JsonValue | undefined): number {
  let bytes = 0;
  let visited = 0;
  const stack: Array<JsonValue | undefined> = [result];
  while (stack.length > 0 && visited < MOST_VISITED) {
    const value = stack.pop();
    visited++;
    if (typeof value === 'string') bytes += value.length + 2;
    else if (Array.isArray(value)) {
      bytes += value.length + 1;
      stack.push(...value.slice(0, MOST_VISITED));
    } else if (isObject(value)) {
      for (const key of Object.keys(value).slice(0, MOST_VISITED)) {
        bytes += key.length + 4;
        stack.push(value[key]);
      }
    } else bytes += 4;
  }
  return bytes;
}
