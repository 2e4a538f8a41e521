import { ERROR_TABLE, toToolscoutError, ToolscoutError, type ErrorCode } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';

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

/** The answer for a failure. A message that nobody wrote for a reader stays in the log. */
export function problemResponse(thrown: unknown, context: ProblemContext): Response {
  const error = toToolscoutError(thrown);
  const { code, suggestion, severity, retryAfterMs, problems } = error;
  const status = context.status ?? ERROR_TABLE[code].status;
  const isOurs = thrown instanceof ToolscoutError;
  const body = {
    type: `${TYPE_PREFIX}${code.toLowerCase()}`,
    title: title(code),
    status,
    detail: isOurs ? error.message : 'Something went wrong inside toolscout.',
    code,
    suggestion,
    severity,
    trace_id: context.traceId,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    ...(problems.length > 0 ? { problems } : {}),
    ...context.more,
  };
  const headers = new Headers(context.headers);
  headers.set('content-type', PROBLEM_TYPE);
  headers.set('x-trace-id', context.traceId);
  headers.set('cache-control', 'no-store');
  if (retryAfterMs !== undefined) headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  return new Response(JSON.stringify(body), { status, headers });
}
