import { unlessCancelled, type Cancel } from '../kernel/async/cancel.js';
import { ToolscoutError, type ErrorCode } from '../kernel/errors.js';
import { createParamHeaders } from '../protocol/param-headers.js';
import { estimateBytes } from '../kernel/size.js';
import { countLater, sampleResultTokens, sampleTokens } from '../kernel/token-sample.js';
import { estimateTokens } from '../kernel/tokens.js';
import { auditedMeta } from '../protocol/request-meta.js';
import { reportsError } from '../protocol/strict-results.js';
import { readTraceParent } from '../kernel/trace-context.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { TokenCount } from '../model/audit-record.js';
import { failureText, type Call, type CallResult, type Failure, type Progress } from '../model/call.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import type { ServerRequest } from '../model/upstream.js';
import { askAnew, cancelled, toCallError } from './call-errors.js';
import type { Subject } from './checks.js';
import type { Answering, ExecutionEntry, Executor, ExecutorDeps, Incoming, Prepare } from './executor.js';
import { isErrorResult } from './error-body.js';
import { invalidArguments } from './invalid-arguments.js';
import { failureOf, failureOfResult, type FailureContext } from './outcome.js';
import { createOutputCheck } from './validation/output-check.js';

/** What is learned on the way, for the audit log. */
interface Trail {
  subject?: Subject;
  /** `judging` while a refusal of ours is possible; before and after, what fails is a server. */
  phase: 'preparing' | 'judging' | 'sending';
  era?: 'legacy' | 'modern';
  /** How the result contradicts what its tool promised. */
  contradiction?: string;
  /** A person confirmed the call, or no confirmation was needed. */
  isConfirmed?: boolean;
  /** The answer is a question of ours: nothing was sent. */
  isAsked?: boolean;
  /** What is made of the result. */
  answering?: Answering;
  /** About how many tokens of the result the agent was spared. */
  withheld?: number;
  /** How long it waited for the rate limit. */
  waitedMs?: number;
  /** How long a person or a host was asked something, before the question that is open. */
  askedMs?: number;
  /** Since when a question is open (monotonic). */
  askingSince?: number;
  /** How long it waited for connections, and since when it waits for one (monotonic). */
  connectMs?: number;
  connectingSince?: number;
  /** How often it was tried again. */
  retries?: number;
  /** The method of a server's request that no host could answer. */
  unasked?: string;
}

/** Refusals of ours that come when the call is about to be sent. */
const LATE_REFUSALS: ReadonlySet<ErrorCode> = new Set(['CIRCUIT_OPEN', 'SHUTTING_DOWN']);

/** A shorter wait is not one for a connection. */
const MIN_CONNECT_MS = 1;

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

  /** Checks a confirmed call again after a wait: the answer of a person holds for the tool that they were shown, as it was then (SEC-11). */
  function permitConfirmed({ call, server, tool }: Subject): Server {
    const now = identify(call);
    permit(now);
    if (now.server.digest === server.digest && now.tool.hash === tool.hash) return now.server;
    const message = 'The call was not sent: its server or tool changed after a person was asked about it.';
    throw askAnew(message);
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
        if (trail.isConfirmed) return permitConfirmed(trail.subject!);
        const now = identify(call);
        permit(now);
        // A reload may have brought a rule that asks, while the call waited to be sent.
        if (deps.confirmation?.needed({ ...now, call: trail.subject!.call }))
          throw askAnew('The call was not sent: the config changed while it waited, and now a person must confirm it.');
        return now.server;
      },
      onAsking: (isOpen, worked) => noteAsking(trail, isOpen, worked),
      onWaited(ms) {
        trail.waitedMs = (trail.waitedMs ?? 0) + Math.round(ms);
      },
      onAttempt(attempt) {
        trail.phase = 'sending';
        trail.connectingSince = clock.monotonic();
        if (attempt > 0) trail.retries = attempt;
      },
      prepareOn: deps.prepareOn && ((upstream) => deps.prepareOn!(server, upstream, call)),
      onConnected({ era }) {
        trail.phase = 'sending';
        noteConnected(trail);
        trail.era = era;
      },
      onUnasked(method) {
        // Roots are asked for when a connection begins, not by a tool: an unanswered one explains no failed call.
        if (method !== 'roots/list') trail.unasked = method;
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
    const clearance = deps.confirmation?.needed(subject)
      ? await deps.confirmation.clear(subject, (isOpen) => noteAsking(trail, isOpen))
      : undefined;
    trail.isAsked = clearance && 'question' in clearance;
    if (clearance && 'question' in clearance) return clearance.question;
    trail.isConfirmed = clearance !== undefined;
    // A person may take minutes, and what was checked before may no longer hold.
    if (clearance) permitConfirmed(subject);
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
      const { askedMs } = trail;
      return askedMs === undefined ? outcome : { ...outcome, askedMs: toMicroseconds(askedMs) };
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
    const { isError: flag } = result;
    const isError =
      flag === true ||
      (typeof flag === 'string' && reportsError(result)) ||
      (namesErrorCode(result) && isErrorResult(result, trail.subject?.tool.definition['outputSchema']));
    if (!isError) return { success: true, result };
    return { success: false, result, error: failureOfResult(result, contextOf(call, trail)) };
  }

  function failed(call: Call, trail: Trail, error: ToolscoutError, started: number): CallResult {
    const failure = failureOf(error, contextOf(call, trail));
    if (trail.retries === undefined || error.code === 'CANCELLED') return { success: false, error: failure };
    // Without this, the message would not explain why a limit of seconds took a minute.
    const seconds = ((clock.monotonic() - started) / 1000).toFixed(1);
    const message = `${failure.message} (tried ${trail.retries + 1} times in ${seconds} s)`;
    return { success: false, error: { ...failure, message } };
  }

  /** The context of a failure: its server and tool, and the mask for its text. */
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
    // A call that was cancelled may end before its question does.
    noteAsking(trail, false);
    noteConnected(trail);
    const resultBytes = result && estimateBytes(result);
    // A question that is open says nothing of a call that failed for another reason.
    const isWaiting = success
      ? trail.isAsked === true
      : error?.code === 'CONFIRMATION_REQUIRED' && error.remedy.kind === 'confirm-call';
    const entry: ExecutionEntry = {
      kind: 'execution',
      principal: call.principal,
      route: call.route,
      host: call.hostName,
      skill: call.viewer.skill?.id,
      server,
      tool,
      arguments: call.arguments,
      outcome: isWaiting
        ? 'waiting'
        : success
          ? 'success'
          : isRefusal(error?.code, trail.phase === 'judging' || error?.remedy.kind === 'overloaded')
            ? 'refused'
            : 'failure',
      code: isWaiting ? 'CONFIRMATION_REQUIRED' : error?.code,
      message: error?.message,
      latencyMs: toMicroseconds(latencyMs),
      waitedMs: trail.waitedMs,
      connectMs: trail.connectMs === undefined ? undefined : toMicroseconds(trail.connectMs),
      askedMs: trail.askedMs === undefined ? undefined : toMicroseconds(trail.askedMs),
      resultBytes,
      ...countLater(resultBytes ?? 0, billLater(call, trail.withheld ?? 0, result, error)),
      era: trail.era,
      traceId: call.traceId ?? (call.meta && readTraceParent(call.meta['traceparent'])?.traceId),
      parent: call.parent,
      detail: detailOf(contradiction && hide(contradiction), call.meta && auditedMeta(call.meta)),
    };
    deps.record(entry, call);
  }

  function noteConnected(trail: Trail): void {
    if (trail.connectingSince === undefined) return;
    const ms = clock.monotonic() - trail.connectingSince;
    trail.connectingSince = undefined;
    // A connection that is there already costs no time that anyone would look for.
    if (ms >= MIN_CONNECT_MS) trail.connectMs = (trail.connectMs ?? 0) + ms;
  }

  function noteAsking(trail: Trail, isOpen: boolean, worked = false): void {
    if (worked) trail.askingSince = undefined;
    if (isOpen) trail.askingSince ??= clock.monotonic();
    else if (trail.askingSince !== undefined) {
      trail.askedMs = (trail.askedMs ?? 0) + clock.monotonic() - trail.askingSince;
      trail.askingSince = undefined;
    }
  }

  return { execute };
}

/** Milliseconds to the microsecond; the digits behind are noise. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function detailOf(contradiction: string | undefined, meta: JsonObject | undefined): JsonObject | undefined {
  if (contradiction === undefined && meta === undefined) return undefined;
  return {
    ...(contradiction !== undefined && { warning: `the result contradicts its output schema: ${contradiction}` }),
    ...(meta && { _meta: meta }),
  };
}

/**
 * What a call cost its agent. What a script calls and gets costs it nothing: only the script reads it. Nothing else of the call is
 * held until then: its host would hold a whole request of HTTP.
 */
function billLater(call: Call, withheld: number, result?: JsonObject, error?: Failure): () => TokenCount {
  const { arguments: args, wordFailure = failureText } = call;
  const isScripted = call.parent !== undefined;
  return () => {
    const returned = result ? sampleResultTokens(result) : estimateTokens(error ? wordFailure(error) : '');
    if (isScripted) return { arguments: 0, returned: 0, withheld: withheld + (result ? returned : 0) };
    return { arguments: sampleTokens(args), returned, withheld };
  };
}

/** What the server is asked. Of the host's `_meta` all but its progress token: that one names a request of the host. */
function paramsOf({ arguments: args, resumed, meta }: Call, name: string): JsonObject {
  const params: JsonObject = { name, arguments: args };
  if (resumed) Object.assign(params, resumed);
  if (meta) {
    const { progressToken: _ours, ...rest } = meta;
    if (Object.keys(rest).length > 0) params['_meta'] = rest;
  }
  return params;
}

/** Whether a result may hold an error body: most are one text that does not name its field, and are not looked into. */
function namesErrorCode({ structuredContent, content }: JsonObject): boolean {
  if (structuredContent !== undefined) return true;
  const first = Array.isArray(content) && content.length === 1 ? content[0] : undefined;
  return isObject(first) && typeof first['text'] === 'string' && first['text'].includes('"error_code"');
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

function toolTimeout(server: Server, tool: string): number | undefined {
  return Object.hasOwn(server.toolTimeoutsMs, tool) ? server.toolTimeoutsMs[tool] : undefined;
}

function isMarkedRepeatable(tool: Tool): boolean {
  const { annotations } = tool.definition;
  return isObject(annotations) && (annotations['readOnlyHint'] === true || annotations['idempotentHint'] === true);
}

/**
 * What is marked repeatable may be sent again; but a connection lost in the middle of a call ends that call at once,
 * whatever the tool declares (EXEC-4). A refusal is an answer: the connection is not lost.
 */
function isNotLost(error: ToolscoutError): boolean {
  return error.code !== 'SERVER_CONNECTION_ERROR' || error.refusal !== undefined;
}
