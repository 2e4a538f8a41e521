import type { Clock } from '../kernel/clock.js';
import { ToolscoutError, toToolscoutError, type ErrorCode, type Problem } from '../kernel/errors.js';
import { addressOf } from '../kernel/ids.js';
import { createParamHeaders } from '../kernel/param-headers.js';
import { estimateBytes } from '../kernel/size.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { AuditRecord } from '../model/audit-record.js';
import type { Call, CallResult, Progress } from '../model/call.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import type { Upstream } from '../model/upstream.js';
import type { ArgumentValidator } from './argument-validator.js';
import type { Check, Subject } from './checks.js';
import { failureOf, failureOfResult } from './outcome.js';
import { createOutputCheck } from './output-check.js';
import { streamCall, type CallEvent } from './stream.js';

/** One execution for the audit log; the arguments are as the caller gave them, redaction comes later. */
export type ExecutionEntry = Omit<AuditRecord, 'id' | 'time' | 'argumentsHash' | 'kind' | 'arguments'> & {
  readonly kind: 'execution';
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly latencyMs: number;
};

/** What an executor is made of, in the order in which a call meets it. */
export interface ExecutorDeps {
  readonly clock: Clock;
  /** Identity: the server and the tool a call means; throws when there is none. */
  readonly resolve: (call: Call) => { readonly server: Server; readonly tool: Tool };
  /** Rule, approval, binding. */
  readonly checks: readonly Check[];
  readonly validate: ArgumentValidator;
  /** What a rule takes out of the arguments on their way out; `undefined` when none does. */
  readonly outgoing?: (server: string) => ((args: JsonObject) => JsonObject) | undefined;
  /** Throws `RATE_LIMITED` when the server was asked too often. */
  readonly limit: (server: Server) => void;
  /** Runs a task on the connection of a server; throws `CIRCUIT_OPEN` when it is left alone. */
  readonly run: <T>(server: Server, task: (upstream: Upstream) => Promise<T>, call: Call) => Promise<T>;
  /** Tries again by the policy of the server while `mayRetry` allows it. */
  readonly retry: <T>(
    task: (attempt: number) => Promise<T>,
    server: Server,
    options: { readonly signal?: AbortSignal; readonly mayRetry: (error: ToolscoutError) => boolean },
  ) => Promise<T>;
  /** Whether the same request may succeed a moment later. */
  readonly isTransient: (error: ToolscoutError) => boolean;
  /** What a rule takes out of what a server says, before anybody sees it; `undefined` when none does. */
  readonly incoming?: (server: string) => Incoming | undefined;
  /** Must not throw. */
  readonly record: (entry: ExecutionEntry) => void;
  /** Removes secrets from a text. */
  readonly hide: (text: string) => string;
}

/** What is done to the results and the messages of a server. */
export interface Incoming {
  result(result: JsonObject): JsonObject;
  text(text: string): string;
}

/** Runs calls through the one guarded door. It answers; it does not throw. */
export interface Executor {
  /** Runs one call; `prepare` may fetch what resolving it needs, and its failure is the call's. */
  execute(call: Call, prepare?: () => Promise<void>): Promise<CallResult>;
  /** The same as a stream of progress, then the result; leaving the loop cancels the call. */
  executeStream(call: Call, prepare?: () => Promise<void>): AsyncIterable<CallEvent>;
}

/** What is learned on the way, for the audit log. */
interface Trail {
  subject?: Subject;
  /** `judging` while a refusal of ours is possible; before and after, what fails is a server. */
  phase: 'preparing' | 'judging' | 'sending';
  era?: 'legacy' | 'modern';
  /** How the result contradicts what its tool promised. */
  contradiction?: string;
}

/** Refusals of ours that come when the call is about to be sent. */
const LATE_REFUSALS: ReadonlySet<ErrorCode> = new Set(['CIRCUIT_OPEN', 'SHUTTING_DOWN']);

/** Progress is always asked for: a server that reports it is alive, and that extends the timeout. */
const ignoreProgress = (): void => {};

/** An executor; the order of its steps is the promise it makes (EXEC-2). */
export function createExecutor(deps: ExecutorDeps): Executor {
  const { clock, hide } = deps;
  const checkOutput = createOutputCheck();
  const paramHeaders = createParamHeaders();

  function identify(call: Call): Subject {
    return { call, ...deps.resolve(call) };
  }

  function permit(subject: Subject): void {
    for (const check of deps.checks) check(subject);
  }

  async function validate({ call, tool }: Subject): Promise<void> {
    const answer = deps.validate.validate(tool, call.arguments);
    const problems = answer instanceof Promise ? await answer : answer;
    if (problems.length > 0) throw invalidArguments(tool, problems);
  }

  /** The call as it goes out and comes back: everything behind the checks sees only this one. */
  function redactCall(subject: Subject): Subject {
    const { call, server } = subject;
    const outgoing = deps.outgoing?.(server.id);
    const incoming = deps.incoming?.(server.id);
    const { onProgress } = call;
    if (!outgoing && !(incoming && onProgress)) return subject;
    return {
      ...subject,
      call: {
        ...call,
        ...(outgoing && { arguments: outgoing(call.arguments) }),
        ...(incoming && onProgress && { onProgress: (step: Progress) => onProgress(redactProgress(step, incoming)) }),
      },
    };
  }

  function send({ call, server, tool }: Subject, trail: Trail): Promise<JsonObject> {
    const { signal, host, resumed } = call;
    const params = { name: tool.name, arguments: call.arguments, ...resumed, ...metaOf(call) };
    const timeoutMs = call.timeoutMs ?? toolTimeout(server, tool.name) ?? server.timeoutMs;
    const onProgress = call.onProgress ?? ignoreProgress;
    const isRepeatable = isMarkedRepeatable(tool);
    return deps.retry(
      async (attempt) => {
        // The first token was taken before; a retry is a request like any other and pays for itself.
        if (attempt > 0) deps.limit(server);
        return deps.run(
          server,
          async (upstream) => {
            trail.era = upstream.era;
            refuseCancelled(signal);
            const headers = upstream.era === 'modern' ? paramHeaders.of(tool.definition, call.arguments) : undefined;
            return upstream.request('tools/call', params, { signal, timeoutMs, onProgress, host, headers });
          },
          call,
        );
      },
      server,
      { signal, mayRetry: (error) => deps.isTransient(error) && mayBeSentAgain(error, isRepeatable) },
    );
  }

  async function walk(call: Call, trail: Trail, prepare: (() => Promise<void>) | undefined): Promise<JsonObject> {
    await prepare?.();
    trail.phase = 'judging';
    const subject = identify(call);
    trail.subject = subject;
    permit(subject);
    await validate(subject);
    const redacted = redactCall(subject);
    refuseCancelled(call.signal);
    deps.limit(subject.server);
    trail.phase = 'sending';
    const result = await send(redacted, trail);
    if (!subject.tool.definition['outputSchema'] || result['resultType'] === 'input_required') return result;
    const found = checkOutput(subject.tool, result);
    trail.contradiction = found instanceof Promise ? await found : found;
    return result;
  }

  async function execute(call: Call, prepare?: () => Promise<void>): Promise<CallResult> {
    const started = clock.monotonic();
    const trail: Trail = { phase: 'preparing' };
    const answer = await walk(call, trail, prepare).then(
      (result) => ({ result }),
      (thrown: unknown) => ({ error: toCallError(thrown, call.signal) }),
    );
    const outcome = conclude(call, trail, answer);
    record(call, trail, outcome, clock.monotonic() - started);
    return outcome;
  }

  function conclude(call: Call, trail: Trail, answer: { result: JsonObject } | { error: ToolscoutError }): CallResult {
    const names = namesOf(call, trail);
    const incoming = trail.phase === 'sending' ? deps.incoming?.(names.server) : undefined;
    const context = { ...names, hide: incoming ? (text: string) => hide(incoming.text(text)) : hide };
    if ('error' in answer) return { success: false, error: failureOf(answer.error, context) };
    const result = incoming ? incoming.result(answer.result) : answer.result;
    if (result['isError'] !== true) return { success: true, result };
    return { success: false, result, error: failureOfResult(result, context) };
  }

  function record(call: Call, trail: Trail, { success, result, error }: CallResult, latencyMs: number): void {
    deps.record({
      kind: 'execution',
      principal: call.principal,
      route: call.route,
      ...(call.skill !== undefined && { skill: call.skill }),
      ...namesOf(call, trail),
      arguments: call.arguments,
      outcome: success ? 'success' : isRefusal(error?.code, trail) ? 'refused' : 'failure',
      ...(error && { code: error.code }),
      latencyMs,
      ...(result && { resultBytes: estimateBytes(result) }),
      ...(trail.era && { era: trail.era }),
      ...(call.traceId !== undefined && { traceId: call.traceId }),
      ...(trail.contradiction !== undefined && {
        detail: { warning: `the result contradicts its output schema: ${hide(trail.contradiction)}` },
      }),
    });
  }

  return {
    execute,
    executeStream: (call, prepare) => streamCall(call, (streamed) => execute(streamed, prepare)),
  };
}

function redactProgress(progress: Progress, incoming: Incoming): Progress {
  const { message } = progress;
  return message === undefined ? progress : { ...progress, message: incoming.text(message) };
}

function namesOf(call: Call, { subject }: Trail): { server: string; tool: string } {
  return subject ? { server: subject.server.id, tool: subject.tool.name } : { server: call.server, tool: call.tool };
}

function isRefusal(code: ErrorCode | undefined, { phase }: Trail): boolean {
  if (code === undefined || code === 'CANCELLED') return false;
  return phase === 'judging' || LATE_REFUSALS.has(code);
}

function refuseCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw cancelled(signal, false);
}

function cancelled(signal: AbortSignal, delivered?: boolean): ToolscoutError {
  return new ToolscoutError('CANCELLED', 'The call was cancelled.', { delivered, cause: signal.reason });
}

/** A signal may be aborted with any reason, and the wait for a retry ends with just that. */
function toCallError(thrown: unknown, signal: AbortSignal | undefined): ToolscoutError {
  if (signal?.aborted && !(thrown instanceof ToolscoutError)) return cancelled(signal);
  return toToolscoutError(thrown);
}

function toolTimeout(server: Server, tool: string): number | undefined {
  return Object.hasOwn(server.toolTimeoutsMs, tool) ? server.toolTimeoutsMs[tool] : undefined;
}

/** `_meta` of the host, without its progress token: that one names a request of the host, not of ours. */
function metaOf(call: Call): { _meta?: JsonObject } {
  if (!call.meta) return {};
  const { progressToken: _ours, ...rest } = call.meta;
  return Object.keys(rest).length > 0 ? { _meta: rest } : {};
}

function isMarkedRepeatable(tool: Tool): boolean {
  const { annotations } = tool.definition;
  return isObject(annotations) && (annotations['readOnlyHint'] === true || annotations['idempotentHint'] === true);
}

/**
 * What surely did not start may be sent again, and so may what is marked repeatable; but a connection
 * lost in the middle of a call ends that call at once, whatever the tool says of itself (EXEC-4).
 */
function mayBeSentAgain(error: ToolscoutError, isRepeatable: boolean): boolean {
  return error.delivered === false || (isRepeatable && error.code !== 'SERVER_CONNECTION_ERROR');
}

/** Problems named in the message; the others stand in the list. */
const NAMED = 3;

function invalidArguments(tool: Tool, problems: readonly Problem[]): ToolscoutError {
  const named = problems.slice(0, NAMED).map(({ path, message }) => `${path} ${message}`);
  const more = problems.length > NAMED ? `; and ${problems.length - NAMED} more` : '';
  return new ToolscoutError(
    'TOOL_VALIDATION_ERROR',
    `The arguments of "${addressOf(tool.server, tool.name)}" are not valid: ${named.join('; ')}${more}.`,
    { problems, delivered: false },
  );
}
