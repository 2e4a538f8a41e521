import { ERROR_TABLE, toToolscoutError, ToolscoutError, type ErrorCode } from '../../../kernel/errors.js';
import { adviseHttp } from './http-remedies.js';
import type { JsonObject } from '../../../kernel/json.js';

/** What every failure over HTTP looks like (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

/** The beginning of the `type` of every problem; what follows is its code in small letters. */
const TYPE_PREFIX = 'urn:toolscout:problem:';

/** What a failure is told with besides its code and message. */
export interface ProblemContext {
  readonly traceId: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another status than that of the table. */
  readonly status?: number;
  /** Further members of the answer. */
  readonly more?: JsonObject;
}

const title = (code: ErrorCode): string => `${code[0]}${code.slice(1).toLowerCase().replaceAll('_', ' ')}`;

/** A failure as it goes over the wire. */
export interface WrittenProblem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function statusOf({ code, retryAfterMs, remedy }: ToolscoutError): number {
  // Not the caller asks too often: this process has too much to do (R12).
  if (remedy.kind === 'overloaded') return ERROR_TABLE.OVERLOADED.status;
  // A database that is away comes back: callers and load balancers try again after a 503, not after a 500 (STORE-4).
  if (code === 'STORE_ERROR' && retryAfterMs !== undefined) return 503;
  // A server refused our credentials; a 401 would tell the caller to bring better ones of their own.
  return code === 'AUTHENTICATION_FAILED' ? ERROR_TABLE.SERVER_CONNECTION_ERROR.status : ERROR_TABLE[code].status;
}

/** What is sent for a failure. The message of an unexpected error stays in the log. */
export function writeProblem(thrown: unknown, context: ProblemContext): WrittenProblem {
  const error = toToolscoutError(thrown);
  const { code, remedy, severity, retryAfterMs, problems } = error;
  const status = context.status ?? statusOf(error);
  const isOurs = thrown instanceof ToolscoutError;
  const body = {
    type: `${TYPE_PREFIX}${code.toLowerCase()}`,
    title: title(code),
    status,
    detail: isOurs ? error.message : 'Something went wrong inside toolscout.',
    code,
    suggestion: adviseHttp(remedy),
    severity,
    trace_id: context.traceId,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    ...(problems.length > 0 ? { problems } : {}),
    ...context.more,
  };
  const seconds = retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1000));
  const headers = {
    ...context.headers,
    'content-type': PROBLEM_TYPE,
    'x-trace-id': context.traceId,
    'cache-control': 'no-store',
    ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
  };
  return { status, headers, body: JSON.stringify(body) };
}

/** The answer for a failure. */
export function problemResponse(thrown: unknown, context: ProblemContext): Response {
  const { status, headers, body } = writeProblem(thrown, context);
  return new Response(body, { status, headers });
}
