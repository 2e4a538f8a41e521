import { describeRemedy, mapRemedy, toRemedy, type Remedy } from './remedy.js';

/** How bad a failure is: the caller may go on (`WARNING`), or a person should look (`SEVERE`). */
export type Severity = 'WARNING' | 'SEVERE';

/** What every failure of one code has in common. */
export interface ErrorRow {
  readonly status: number;
  readonly exit: number;
  readonly severity: Severity;
  readonly remedy: Remedy;
  /** The remedy in words for a person at a terminal. */
  readonly suggestion: string;
}

/** A row of the table; a string is advice that reads the same for every front. */
function row(status: number, exit: number, severity: Severity, given: Remedy | string): ErrorRow {
  const remedy = toRemedy(given);
  return { status, exit, severity, remedy, suggestion: describeRemedy(remedy) };
}

/**
 * Every failure toolscout can report, once: its HTTP status, its CLI exit code, how bad it is and
 * what to do when nothing more exact is known. Fronts map from this table and from nowhere else.
 */
export const ERROR_TABLE = {
  TOOL_VALIDATION_ERROR: row(422, 3, 'WARNING', { kind: 'fix-arguments' }),
  TOOL_NOT_FOUND: row(404, 2, 'WARNING', { kind: 'find-tool' }),
  SERVER_NOT_FOUND: row(404, 2, 'WARNING', { kind: 'list-servers' }),
  SKILL_NOT_FOUND: row(404, 2, 'WARNING', { kind: 'list-skills' }),
  NOTHING_FOUND: row(404, 2, 'WARNING', { kind: 'search-again' }),
  TOOL_DISABLED: row(403, 4, 'WARNING', { kind: 'change-rule' }),
  APPROVAL_REQUIRED: row(403, 4, 'WARNING', { kind: 'review' }),
  TOOL_CHANGED: row(403, 4, 'SEVERE', { kind: 'review-change' }),
  CONFIRMATION_REQUIRED: row(403, 4, 'WARNING', { kind: 'confirm-call' }),
  CONFIRMATION_REJECTED: row(403, 4, 'WARNING', { kind: 'do-not-repeat' }),
  FORBIDDEN: row(403, 4, 'WARNING', 'This caller lacks the permission; ask an administrator.'),
  RATE_LIMITED: row(429, 3, 'WARNING', 'Wait and try again.'),
  CIRCUIT_OPEN: row(503, 3, 'WARNING', { kind: 'diagnose', first: 'Try again later' }),
  TOOL_EXECUTION_TIMEOUT: row(504, 3, 'WARNING', { kind: 'ask-for-less' }),
  TOOL_EXECUTION_ERROR: row(502, 3, 'WARNING', 'Read the message of the tool, change the arguments and try again.'),
  SCRIPT_ERROR: row(422, 3, 'WARNING', 'Fix the script and run it again.'),
  SCRIPT_LIMIT_EXCEEDED: row(422, 3, 'WARNING', 'Split the work into several scripts.'),
  CANCELLED: row(499, 3, 'WARNING', 'Repeat it if it is still needed.'),
  SERVER_CONNECTION_ERROR: row(502, 3, 'SEVERE', { kind: 'diagnose' }),
  AUTHENTICATION_FAILED: row(401, 3, 'SEVERE', { kind: 'credentials' }),
  SESSION_INIT_FAILED: row(502, 3, 'SEVERE', { kind: 'diagnose' }),
  TOOLS_LIST_FAILED: row(502, 3, 'SEVERE', { kind: 'diagnose' }),
  SCHEMA_CONVERSION_FAILED: row(500, 1, 'WARNING', 'Report the schema to the author of the server.'),
  REGISTRY_MISCONFIGURED: row(424, 2, 'SEVERE', {
    kind: 'configure',
    what: 'Create the inventory file (TOOLS_YAML_PATH), or add a server to the config.',
  }),
  REGISTRY_UNAVAILABLE: row(503, 1, 'WARNING', 'Try again in a moment.'),
  CONFIGURATION_ERROR: row(400, 2, 'SEVERE', { kind: 'check-config' }),
  UNAUTHENTICATED: row(
    401,
    4,
    'WARNING',
    'Send a key or token of this toolscout in the header Authorization: Bearer KEY.',
  ),
  NOT_FOUND: row(404, 2, 'WARNING', 'See /openapi.json for the routes; the MCP endpoint is /mcp.'),
  METHOD_NOT_ALLOWED: row(405, 64, 'WARNING', 'Use one of the methods in the Allow header.'),
  PAYLOAD_TOO_LARGE: row(413, 64, 'WARNING', 'Send a smaller request.'),
  INVALID_REQUEST: row(400, 64, 'WARNING', { kind: 'none' }),
  STORE_ERROR: row(500, 1, 'SEVERE', { kind: 'state-directory' }),
  OVERLOADED: row(503, 3, 'WARNING', { kind: 'open-files' }),
  SHUTTING_DOWN: row(503, 1, 'WARNING', 'Connect again in a moment.'),
  INTERNAL_ERROR: row(500, 1, 'SEVERE', { kind: 'report-bug' }),
} as const satisfies Record<string, ErrorRow>;

/** The name of a failure; see {@link ERROR_TABLE}. */
export type ErrorCode = keyof typeof ERROR_TABLE;

/** One precise complaint inside a failure: where, and what is wrong there. */
export interface Problem {
  /** Path into the input, e.g. `toolRules[2].pattern` or `/path/0`. */
  readonly path: string;
  /** What was expected and what was found, as one sentence. */
  readonly message: string;
}

/** What may be said about a failure besides its code and message. */
export interface ErrorDetails {
  /** What to do, in words that suit every reader. */
  readonly suggestion?: string;
  /** What to do, where readers can do different things about it. */
  readonly remedy?: Remedy;
  readonly severity?: Severity;
  /** When trying again makes sense. */
  readonly retryAfterMs?: number;
  /** Each single thing that is wrong with the input. */
  readonly problems?: readonly Problem[];
  /** The file that the problems are in. */
  readonly file?: string;
  /**
   * Whether the request can have reached the server. Only `false` makes a retry of a tool that
   * is not idempotent safe, so `undefined` must be read as "perhaps".
   */
  readonly delivered?: boolean;
  /** The JSON-RPC error of the server, when that is what failed. */
  readonly upstream?: { readonly code: number; readonly message?: string; readonly data?: unknown };
  /** The HTTP status with which the server refused the request, and the JSON object it sent along: it did answer. */
  readonly refusal?: { readonly status: number; readonly body?: unknown };
  readonly cause?: unknown;
}

/** The one error class of toolscout. Its code decides how every front shows it. */
export class ToolscoutError extends Error {
  readonly code: ErrorCode;
  readonly remedy: Remedy;
  /** The remedy in words for a person at a terminal. */
  readonly suggestion: string;
  readonly severity: Severity;
  readonly retryAfterMs: number | undefined;
  readonly problems: readonly Problem[];
  readonly file: string | undefined;
  readonly delivered: boolean | undefined;
  readonly upstream: ErrorDetails['upstream'];
  readonly refusal: ErrorDetails['refusal'];

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ToolscoutError';
    this.code = code;
    this.remedy = toRemedy(details.remedy ?? details.suggestion ?? ERROR_TABLE[code].remedy);
    this.suggestion = describeRemedy(this.remedy);
    this.severity = details.severity ?? ERROR_TABLE[code].severity;
    this.retryAfterMs = details.retryAfterMs;
    this.problems = details.problems ?? [];
    this.file = details.file;
    this.delivered = details.delivered;
    this.upstream = details.upstream;
    this.refusal = details.refusal;
  }
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    // An object without any way to become text; that it was thrown is all there is to say.
    return 'something that cannot be shown was thrown';
  }
}

/** What the system says when a process, or all of them, have as many files and connections open as they may. */
const NO_FILES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);
const NO_FILES_RETRY_MS = 1000;

/** Anything thrown, as a {@link ToolscoutError}; what is already one passes through unchanged. */
export function toToolscoutError(thrown: unknown, code: ErrorCode = 'INTERNAL_ERROR'): ToolscoutError {
  if (thrown instanceof ToolscoutError) return thrown;
  // A transient lack of file handles (R10); the message would name an unrelated file.
  if (thrown instanceof Error && NO_FILES.has((thrown as { code?: unknown }).code)) {
    const message = 'toolscout has reached its limit of open files and connections.';
    return new ToolscoutError('OVERLOADED', message, { retryAfterMs: NO_FILES_RETRY_MS, cause: thrown });
  }
  return new ToolscoutError(code, messageOf(thrown), { cause: thrown });
}

/** JSON as a value; text that hiding made into none stays text. */
function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What was taken out may have been half of a number.
    return text;
  }
}

/** The server's own error with secrets masked; its data is JSON, whose escapes the mask handles. */
export function hideInUpstream(
  { code, message, data }: NonNullable<ErrorDetails['upstream']>,
  hide: (text: string) => string,
): NonNullable<ErrorDetails['upstream']> {
  return {
    code,
    ...(message !== undefined && { message: hide(message) }),
    ...(data !== undefined && { data: parsedOr(hide(JSON.stringify(data))) }),
  };
}

function hideInRefusal(
  { status, body }: NonNullable<ErrorDetails['refusal']>,
  hide: (text: string) => string,
): NonNullable<ErrorDetails['refusal']> {
  return body === undefined ? { status } : { status, body: parsedOr(hide(JSON.stringify(body))) };
}

/** The same error with every text in it passed through `hide`: what a server printed may hold a secret. */
export function hideIn(error: ToolscoutError, hide: (text: string) => string): ToolscoutError {
  const { code, remedy, severity, retryAfterMs, problems, file, delivered, upstream, refusal } = error;
  const shown = problems.map(({ path, message }) => ({ path, message: hide(message) }));
  return new ToolscoutError(code, hide(error.message), {
    remedy: mapRemedy(remedy, hide),
    severity,
    retryAfterMs,
    problems: shown,
    file,
    delivered,
    ...(upstream && { upstream: hideInUpstream(upstream, hide) }),
    ...(refusal && { refusal: hideInRefusal(refusal, hide) }),
  });
}
