import type { ErrorCode, Problem, Severity } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';

/** Progress of a running call, as the server reported it. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A wish to run one tool. */
export interface Call {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Who asks: `local` on a laptop, the authenticated subject on a shared service. */
  readonly principal: string;
  /** The door it came through. */
  readonly route: 'library' | 'mcp' | 'cli' | 'http';
  readonly skill?: string;
  readonly traceId?: string;
  /** `_meta` of the host's request, passed on (trace context). */
  readonly meta?: JsonObject;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** Why a call did not succeed; the same object in every front (META-3). */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly server: string;
  readonly tool: string;
  readonly suggestion: string;
  readonly severity: Severity;
  /** The server's own name for its error, where its error body has one (EXEC-3). */
  readonly error_code?: string;
  readonly retryAfterMs?: number;
  readonly problems?: readonly Problem[];
}

/**
 * What became of a call (EXEC-1). `result` is the server's answer, byte for byte. A tool that
 * answered `isError` gives both: the untouched result, and an error that says so.
 */
export interface CallResult {
  readonly success: boolean;
  readonly result?: JsonObject;
  readonly error?: Failure;
}
