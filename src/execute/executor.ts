import type { Clock } from '../kernel/clock.js';
import type { JsonObject } from '../kernel/json.js';
import type { AuditRecord, TokenCount } from '../model/audit-record.js';
import type { Call, CallResult } from '../model/call.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import type { ServerRequest, Upstream } from '../model/upstream.js';
import type { Check, Subject } from './checks.js';
import type { Confirmation } from './confirmation.js';
import type { ArgumentValidator } from './validation/argument-validator.js';

/** One execution for the audit log; the arguments are as the caller gave them, redaction comes later. */
export type ExecutionEntry = Omit<AuditRecord, 'id' | 'time' | 'argumentsHash' | 'kind' | 'arguments'> & {
  readonly kind: 'execution';
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly latencyMs: number;
  /** Counts its tokens later, where that holds little memory. */
  readonly countTokens?: () => TokenCount;
};

/** What an executor is made of, in the order in which a call meets it. */
export interface ExecutorDeps {
  readonly clock: Clock;
  /** Identity: the server and the tool of a call; throws when they do not exist. */
  readonly resolve: (call: Call) => { readonly server: Server; readonly tool: Tool };
  /** Rule, approval, binding, read-only; in this order. */
  readonly checks: readonly Check[];
  readonly validate: ArgumentValidator;
  /** Gets a person's confirmation where a call needs one (SEC-11). */
  readonly confirmation?: Confirmation;
  /** How a tool is called, on one line. */
  readonly signature: (tool: Tool) => string;
  /** What a rule takes out of the arguments on their way out; `undefined` when none does. */
  readonly outgoing?: (server: string) => Outgoing | undefined;
  /** What to wait for on the connection of a call before it is sent; the checks are made again after it. */
  readonly prepareOn?: (server: Server, upstream: Upstream, call: Call) => Promise<void> | undefined;
  /** Sends the request: rate limit, circuit breaker, connection, and again where that is safe. */
  readonly send: (server: Server, request: ServerRequest, call: Call) => Promise<JsonObject>;
  /** What rules remove from the answers of a server, before any caller sees them; `undefined` without such rules. */
  readonly incoming?: (server: string) => Incoming | undefined;
  /**
   * What is made of the result of a call before it is returned (ANS-1, ANS-4); `undefined` when nothing is. Asked before the call is
   * sent, so that it can refuse what is wanted.
   */
  readonly answering?: (subject: Subject) => Answering | undefined;
  /** Called once for every call, when it has ended. Must not throw. */
  readonly record: (entry: ExecutionEntry, call: Call) => void;
  /** Removes secrets from a text. */
  readonly hide: (text: string) => string;
}

/** What is done to what a server receives. */
export interface Outgoing {
  arguments(args: JsonObject): JsonObject;
  meta(meta: JsonObject): JsonObject;
  /** What a host answered to the questions of an earlier round. */
  resumed(resumed: NonNullable<Call['resumed']>): NonNullable<Call['resumed']>;
}

/** What is done to the results and the messages of a server. */
export interface Incoming {
  result(result: JsonObject): JsonObject;
  text(text: string): string;
}

/** Makes the answer of a result. It does not throw. */
export type Answering = (result: JsonObject, isError: boolean) => Answered | Promise<Answered>;

interface Answered {
  readonly result: JsonObject;
  /** Tokens that were left out of the result. */
  readonly withheld?: number;
}

/** Answers `undefined` when there is nothing to wait for. */
export type Prepare = () => Promise<void> | undefined;

/** Runs calls; every call takes this path, which applies all checks. It answers and does not throw. */
export interface Executor {
  /** Runs one call; `prepare` may fetch what resolving it needs, and its failure is the call's. */
  execute(call: Call, prepare?: Prepare): Promise<CallResult>;
}
