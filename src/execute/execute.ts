import { unlessCancelled, type Cancel } from '../kernel/async/cancel.js';
import type { Clock } from '../kernel/clock.js';
import { ToolscoutError, toToolscoutError, type ErrorCode } from '../kernel/errors.js';
import { createParamHeaders } from '../protocol/param-headers.js';
import { estimateBytes } from '../kernel/size.js';
import { estimateTokens } from '../kernel/tokens.js';
import { countLater, sampleResultTokens, sampleTokens } from '../kernel/token-sample.js';
import { auditedMeta } from '../protocol/request-meta.js';
import { readTraceParent } from '../kernel/trace-context.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { AuditRecord, TokenCount } from '../model/audit-record.js';
import type { Call, CallResult, Failure, Progress } from '../model/call.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import type { ServerRequest } from '../model/upstream.js';
import type { ArgumentValidator } from './validation/argument-validator.js';
import type { Check, Subject } from './checks.js';
import type { Confirmation } from './confirmation.js';
import { isErrorResult } from './error-body.js';
import { invalidArguments } from './invalid-arguments.js';
import { paramsOf } from './request-params.js';
import { failureOf, failureOfResult, type FailureContext } from './outcome.js';
import { createOutputCheck } from './validation/output-check.js';
import { streamCall, type CallEvent } from './stream.js';

/** One execution for the audit log; the arguments are as the caller gave them, redaction comes later. */
export type ExecutionEntry = Omit<AuditRecord, 'id' | 'time' | 'argumentsHash' | 'kind' | 'arguments'> & {
  readonly kind: 'execution';
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly latencyMs: number;
  /** Counts its tokens later, where little has to be held for that. */
  readonly countTokens?: () => TokenCount;
};

/** What an executor is made of, in the order in which a call meets it. */
export interface ExecutorDeps {
  readonly clock: Clock;
  /** Identity: the server and the tool a call means; throws when there is none. */
  readonly resolve: (call: Call) => { readonly server: Server; readonly tool: Tool };
  /** Rule, approval, binding. */
  readonly checks: readonly Check[];
  readonly validate: ArgumentValidator;
  /** Gets a person's yes where a call needs one (SEC-11). */
  readonly confirmation?: Confirmation;
  /** How a tool is called, on one line. */
  readonly signature: (tool: Tool) => string;
  /** What a rule takes out of the arguments on their way out; `undefined` when none does. */
  readonly outgoing?: (server: string) => Outgoing | undefined;
  /** Sends the request: rate limit, circuit breaker, connection, and again where that is safe. */
  readonly send: (server: Server, request: ServerRequest, call: Call) => Promise<JsonObject>;
  /** What a rule takes out of what a server says, before anybody sees it; `undefined` when none does. */
  readonly incoming?: (server: string) => Incoming | undefined;
  /**
   * What is made of the result of a call before it is returned (ANS-1, ANS-4); `undefined` when nothing is. Asked before the call is
   * sent, so that it can refuse what is wanted.
   */
  readonly answering?: (subject: Subject) => Answering | undefined;
  /** Must not throw. */
  readonly record: (entry: ExecutionEntry) => void;
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
  /** The same as a stream of progress, then the result; leaving the loop cancels the call. */
  executeStream(call: Call, prepare?: Prepare): AsyncIterable<CallEvent>;
}

/** What is learned on the way, for the audit log. */
interface Trail {
  subject?: Subject;
  /** `judging` while a refusal of ours is possible; before and after, what fails is a server. */
  phase: 'preparing' | 'judging' | 'sending';
  era?: 'legacy' | 'modern';
  /** How the result contradicts what its tool promised. */
  contradiction?: string;
  /** A person said yes, or nobody had to. */
  isConfirmed?: boolean;
  /** The answer is a question of ours: nothing was sent. */
  isAsked?: boolean;
  /** What is made of the result. */
  answering?: Answering;
  /** About how many tokens of the result the agent was spared. */
  withheld?: number;
  /** How long it waited for the rate limit. */
  waitedMs?: number;
  /** How often it was tried again. */
  retries?: number;
  /** What the server asked that nobody could be asked. */
  unasked?: string;
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
    const { server, tool } = deps.resolve(call);
    return { call, server, tool };
  }

  function permit(subject: Subject): void {
    for (const check of deps.checks) check(subject);
  }

  /** The call as it goes out and comes back: everything behind the checks sees only this one. */
  function redactCall(subject: Subject): Subject {
    const { call, server } = subject;
    const outgoing = deps.outgoing?.(server.id);
    const incoming = deps.incoming?.(server.id);
    const { onProgress, resumed } = call;
    if (!outgoing && !(incoming && onProgress)) return subject;
    return {
      ...subject,
      call: {
        ...call,
        ...(outgoing && { arguments: outgoing.arguments(call.arguments) }),
        ...(outgoing && call.meta && { meta: outgoing.meta(call.meta) }),
        ...(outgoing && resumed && { resumed: outgoing.resumed(resumed) }),
        ...(incoming && onProgress && { onProgress: (step: Progress) => onProgress(redactProgress(step, incoming)) }),
      },
    };
  }

  function send({ call, server, tool }: Subject, trail: Trail): Promise<JsonObject> {
    const { definition, name } = tool;
    const hasHeaders = server.transport.type !== 'stdio';
    const request: ServerRequest = {
      method: 'tools/call',
      params: paramsOf(call, name),
      timeoutMs: toolTimeout(server, name),
      onProgress: call.onProgress ?? ignoreProgress,
      headersFor: hasHeaders
        ? ({ era }) => (era === 'modern' ? paramHeaders.of(definition, call.arguments) : undefined)
        : undefined,
      mayRepeat: isMarkedRepeatable(tool) ? isNotLost : undefined,
      recheck() {
        trail.phase = 'judging';
        const now = identify(call);
        permit(now);
        // A reload may have brought a rule that asks, while the call waited to be sent.
        if (!trail.isConfirmed && deps.confirmation?.needed({ ...now, call: trail.subject!.call })) {
          throw new ToolscoutError(
            'CONFIRMATION_REQUIRED',
            'A rule that came meanwhile asks before this call is sent.',
            {
              suggestion: 'Make the same call again.',
              delivered: false,
            },
          );
        }
        return now.server;
      },
      onWaited(ms) {
        trail.waitedMs = (trail.waitedMs ?? 0) + Math.round(ms);
      },
      onAttempt(attempt) {
        trail.phase = 'sending';
        if (attempt > 0) trail.retries = attempt;
      },
      onConnected({ era }) {
        trail.era = era;
      },
      onUnasked(method) {
        trail.unasked = method;
      },
    };
    return deps.send(server, request, call);
  }

  /**
   * The way of a call. It waits only where there is something to wait for: of many calls that arrive together,
   * the first is then on its way to its server before the last is read.
   */
  async function walk(call: Call, trail: Trail, prepare: Prepare | undefined): Promise<JsonObject> {
    const prepared = prepare?.();
    if (prepared) await unlessCancelled(prepared, call.signal);
    trail.phase = 'judging';
    const subject = identify(call);
    trail.subject = subject;
    permit(subject);
    const checked = call.problems ?? deps.validate.validate(subject.tool, call.arguments);
    const problems = checked instanceof Promise ? await checked : checked;
    if (problems.length > 0) throw invalidArguments(subject.tool, problems, deps.signature);
    trail.answering = deps.answering?.(subject);
    const clearance = deps.confirmation?.needed(subject) ? await deps.confirmation.clear(subject) : undefined;
    trail.isAsked = clearance && 'question' in clearance;
    if (clearance && 'question' in clearance) return clearance.question;
    trail.isConfirmed = clearance !== undefined;
    const redacted = redactCall(clearance ? { ...subject, call: clearance.call } : subject);
    refuseCancelled(call.signal);
    const sent = await send(redacted, trail);
    const result = clearance ? await clearance.carry(sent) : sent;
    if (!subject.tool.definition['outputSchema'] || result['resultType'] === 'input_required') return result;
    const found = checkOutput(subject.tool, result);
    trail.contradiction = found instanceof Promise ? await found : found;
    return result;
  }

  function execute(call: Call, prepare?: Prepare): Promise<CallResult> {
    const started = clock.monotonic();
    const trail: Trail = { phase: 'preparing' };
    const conclude = (outcome: CallResult): CallResult => {
      record(call, trail, outcome, clock.monotonic() - started);
      return outcome;
    };
    return walk(call, trail, prepare).then(
      (answer) => {
        const outcome = answered(call, trail, answer);
        const made = trail.answering?.(outcome.result!, !outcome.success);
        if (made === undefined || (!(made instanceof Promise) && made.result === outcome.result))
          return conclude(outcome);
        return Promise.resolve(made).then(({ result, withheld = 0 }) => {
          trail.withheld = withheld;
          return conclude({ ...outcome, result, ...(withheld > 0 && { withheld }) });
        });
      },
      (thrown: unknown) => conclude(failed(call, trail, toCallError(thrown, call.signal), started)),
    );
  }

  function answered(call: Call, trail: Trail, answer: JsonObject): CallResult {
    const incoming = deps.incoming?.(namesOf(call, trail).server);
    const result = incoming ? incoming.result(answer) : answer;
    const isError = result['isError'] === true || isErrorResult(result, trail.subject?.tool.definition['outputSchema']);
    if (!isError) return { success: true, result };
    return { success: false, result, error: failureOfResult(result, contextOf(call, trail)) };
  }

  function failed(call: Call, trail: Trail, error: ToolscoutError, started: number): CallResult {
    const failure = failureOf(error, contextOf(call, trail));
    if (trail.retries === undefined || error.code === 'CANCELLED') return { success: false, error: failure };
    // Otherwise nobody would know why a limit of seconds took a minute.
    const seconds = ((clock.monotonic() - started) / 1000).toFixed(1);
    const message = `${failure.message} (tried ${trail.retries + 1} times in ${seconds} s)`;
    return { success: false, error: { ...failure, message } };
  }

  /** What a failure is told with: whose it is, and what must not be seen of it. */
  function contextOf(call: Call, trail: Trail): FailureContext {
    const names = namesOf(call, trail);
    const { subject, unasked: method } = trail;
    if (trail.phase !== 'sending' || !subject) return { ...names, hide };
    const incoming = deps.incoming?.(names.server);
    return {
      ...names,
      hide: incoming ? (text: string) => hide(incoming.text(text)) : hide,
      sent: { transport: subject.server.transport.type, isRepeatable: isMarkedRepeatable(subject.tool) },
      ...(method !== undefined && { unasked: { method, hasHost: call.host !== undefined } }),
    };
  }

  function record(call: Call, trail: Trail, { success, result, error }: CallResult, latencyMs: number): void {
    const { server, tool } = namesOf(call, trail);
    const { contradiction } = trail;
    const resultBytes = result && estimateBytes(result);
    deps.record({
      kind: 'execution',
      principal: call.principal,
      route: call.route,
      skill: call.viewer.skill?.id,
      server,
      tool,
      arguments: call.arguments,
      outcome: trail.isAsked
        ? 'refused'
        : success
          ? 'success'
          : isRefusal(error?.code, trail.phase === 'judging')
            ? 'refused'
            : 'failure',
      code: trail.isAsked ? 'CONFIRMATION_REQUIRED' : error?.code,
      // To the microsecond; the digits behind are noise.
      latencyMs: Math.round(latencyMs * 1000) / 1000,
      waitedMs: trail.waitedMs,
      resultBytes,
      ...countLater(resultBytes ?? 0, () => billOf(call, trail.withheld ?? 0, result, error)),
      era: trail.era,
      traceId: call.traceId ?? (call.meta && readTraceParent(call.meta['traceparent'])?.traceId),
      parent: call.parent,
      detail: detailOf(contradiction && hide(contradiction), call.meta && auditedMeta(call.meta)),
    });
  }

  return {
    execute,
    executeStream: (call, prepare) => streamCall(call, (streamed) => execute(streamed, prepare)),
  };
}

function detailOf(contradiction: string | undefined, meta: JsonObject | undefined): JsonObject | undefined {
  if (contradiction === undefined && meta === undefined) return undefined;
  return {
    ...(contradiction !== undefined && { warning: `the result contradicts its output schema: ${contradiction}` }),
    ...(meta && { _meta: meta }),
  };
}

/** What a call cost its agent. What a script calls and gets costs it nothing: only the script reads it. */
function billOf(call: Call, withheld: number, result: JsonObject | undefined, error: Failure | undefined): TokenCount {
  const { arguments: sent, returned } = tokensOf(call.arguments, result, error);
  if (call.parent !== undefined) return { arguments: 0, returned: 0, withheld: withheld + (result ? returned : 0) };
  return { arguments: sent, returned, withheld };
}

function tokensOf(
  args: JsonObject,
  result: JsonObject | undefined,
  error: Failure | undefined,
): Omit<TokenCount, 'withheld'> {
  const returned = result ? sampleResultTokens(result) : estimateTokens(`${error?.message} ${error?.suggestion}`);
  return { arguments: sampleTokens(args), returned };
}

function redactProgress(progress: Progress, incoming: Incoming): Progress {
  const { message } = progress;
  return message === undefined ? progress : { ...progress, message: incoming.text(message) };
}

function namesOf(call: Call, { subject }: Trail): { server: string; tool: string } {
  return subject ? { server: subject.server.id, tool: subject.tool.name } : { server: call.server, tool: call.tool };
}

/** Whether a request that failed was refused by toolscout; `isJudged` while no server has been asked yet. */
export function isRefusal(code: ErrorCode | undefined, isJudged: boolean): boolean {
  if (code === undefined || code === 'CANCELLED') return false;
  return isJudged || LATE_REFUSALS.has(code);
}

function refuseCancelled(signal: Cancel | undefined): void {
  if (signal?.aborted) throw cancelled(signal, false);
}

function cancelled(signal: Cancel, delivered?: boolean): ToolscoutError {
  return new ToolscoutError('CANCELLED', 'The call was cancelled.', { delivered, cause: signal.reason });
}

/** What ended a call, as an error: a signal may be aborted with any reason, and the wait for a retry ends with just that. */
export function toCallError(thrown: unknown, signal: Cancel | undefined): ToolscoutError {
  if (signal?.aborted && !(thrown instanceof ToolscoutError)) return cancelled(signal);
  return toToolscoutError(thrown);
}

function toolTimeout(server: Server, tool: string): number | undefined {
  return Object.hasOwn(server.toolTimeoutsMs, tool) ? server.toolTimeoutsMs[tool] : undefined;
}

function isMarkedRepeatable(tool: Tool): boolean {
  const { annotations } = tool.definition;
  return isObject(annotations) && (annotations['readOnlyHint'] === true || annotations['idempotentHint'] === true);
}

/**
 * What is marked repeatable may be sent again; but a connection lost in the middle of a call ends that call at once,
 * whatever the tool says of itself (EXEC-4). A server that refused was heard: its connection is not lost.
 */
function isNotLost(error: ToolscoutError): boolean {
  return error.code !== 'SERVER_CONNECTION_ERROR' || error.refusal !== undefined;
}
