import type { Remedy } from '../kernel/remedy.js';
import type { Cancel } from '../kernel/async/cancel.js';
import type { ErrorCode, Problem, Severity } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import type { Host } from './host.js';
import type { Viewer } from './viewer.js';

/** Progress of a running call, as the server reported it. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/**
 * How much of a result is returned: what the config allows an agent, a tool that is offered by its own name beside the meta-tools
 * (`pinned`) or instead of them (`passthrough`), or so many tokens.
 */
export type Budget = 'agent' | 'pinned' | 'passthrough' | number;

/** A request to run one tool. */
export interface Call {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** The caller, and what it sees. */
  readonly viewer: Viewer;
  /** The name of the viewer: `local` on a laptop, the authenticated subject on a shared service. */
  readonly principal: string;
  /** The door it came through. */
  readonly route: 'library' | 'mcp' | 'cli' | 'http';
  readonly traceId?: string;
  /** The id of the audit record of the script that makes it (CODE-4). */
  readonly parent?: string;
  /** `_meta` of the host's request, passed on (trace context). */
  readonly meta?: JsonObject;
  readonly timeoutMs?: number;
  readonly signal?: Cancel;
  readonly onProgress?: (progress: Progress) => void;
  /** It runs only if the tool counts as one that only reads (META-10). */
  readonly readOnly?: boolean;
  /** JMESPath: the part of the result that is wanted (ANS-4). */
  readonly select?: string;
  /** Without one the whole result is returned (ANS-1). */
  readonly budget?: Budget;
  /** The host that can be asked while it runs; without one, requests of the server are declined. */
  readonly host?: Host;
  /** What the host or the program calls itself that makes the call, for the audit log; nothing proves it. */
  readonly hostName?: string;
  /** A failure as its reader gets it: what a call costs that did not succeed. JSON by default. */
  readonly wordFailure?: (failure: Failure) => string;
  /** What is wrong with the way the arguments were sent: the call is refused once it is certain that the caller may make it. */
  readonly problems?: readonly Problem[];
  /** What a modern host answered to the questions of an earlier round of this call, and the server's own state. */
  readonly resumed?: { readonly inputResponses?: JsonObject; readonly requestState?: string };
}

/** Problems that the message of a failure names; `problems` has them all. */
export const PROBLEMS_IN_MESSAGE = 3;

/** Why a call did not succeed; the same object in every front (META-3). */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly server: string;
  readonly tool: string;
  /** What to do, as data: each front words it for its own readers. */
  readonly remedy: Remedy;
  /** The remedy in words for a person at a terminal. */
  readonly suggestion: string;
  readonly severity: Severity;
  /** The server's own name for its error, where its error body has one (EXEC-3). */
  readonly error_code?: string;
  readonly retryAfterMs?: number;
  readonly problems?: readonly Problem[];
  /** Of a call that got no answer: `false` when it did not reach the server, `unknown` when it may have taken effect. */
  readonly delivered?: false | 'unknown';
  /** The JSON-RPC error of the server, when that is what failed; fronts that pass servers through give it on. */
  readonly upstream?: { readonly code: number; readonly message?: string; readonly data?: unknown };
}

/** A failure as one JSON object, as fronts give it to programs. */
export function failureText({ upstream: _upstream, remedy: _remedy, ...shown }: Failure): string {
  return JSON.stringify(shown);
}

/**
 * What became of a call (EXEC-1). `result` is the server's answer, byte for byte. A tool that
 * answered with `isError` or an error body gives both: the untouched result, and an error that says so.
 */
export interface CallResult {
  readonly success: boolean;
  readonly result?: JsonObject;
  readonly error?: Failure;
  /** About how many tokens of the server's result were left out of `result` (ANS-1, ANS-4). */
  readonly withheld?: number;
  /** How long a person or the host was asked something meanwhile; absent where nothing was asked. */
  readonly askedMs?: number;
}
