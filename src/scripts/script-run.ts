import { sleep, type Timer } from '../kernel/clock.js';
import { toToolscoutError, ToolscoutError } from '../kernel/errors.js';
import { addressOf } from '../kernel/ids.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import { REPORT_TO_AUTHORS } from '../model/host.js';
import { describeRemedy, type Remedy } from '../kernel/remedy.js';
import type { CallResult } from '../model/call.js';
import { refusalsFor, responsesFor } from './asking-call.js';
import { CallsMade } from './calls-made.js';
import { LiveCall } from './live-call.js';
import type { Journal, RunEnd, RunOptions, RunStart, Used } from './run-types.js';
import { answerOf, thrownAnswer, unknownOutcome, type Answer } from './script-call.js';
import { breachError, callsError, stuckError, timeoutError } from './script-failure.js';
import { createStopwatch, type Stopwatch } from './stopwatch.js';
import type { CallRequest, ScriptEnd, VmImage, WorkerMessage } from './worker-messages.js';
import type { LentWorker, WorkerListener } from './workers.js';

type State = 'queued' | 'running' | 'asking';

interface InnerCall {
  readonly request: CallRequest;
  state: State;
  questions: JsonObject;
  requestState: string | undefined;
  responses: JsonObject | undefined;
  rounds: number;
  live: LiveCall | undefined;
  /** It was at its server in a process that is gone. */
  readonly isLost: boolean;
  /** Why the host did not answer what it asked. */
  readonly refusal?: ToolscoutError | undefined;
}

/** Rounds of one call; a server that asks without end is given up. */
const MAX_ROUNDS = 32;
/** A server that only asks to be called again is given a moment. */
const PACE_MS = 250;
/** The worker itself keeps to the bound on computing; one that does not answer by then is ended. */
const COMPUTE_GRACE_MS = 1000;

/** Runs a script until it ends, is stopped, or waits for a person. It does not throw. */
export function runScript(start: RunStart, options: RunOptions): Promise<RunEnd> {
  return new ScriptRun(start, options).ended;
}

class ScriptRun {
  readonly ended: Promise<RunEnd>;
  private resolve!: (end: RunEnd) => void;
  private isOver = false;
  private worker: LentWorker | undefined;
  private readonly calls = new Map<number, InnerCall>();
  /** Answers noted by a process that died, to be given in the same order. */
  private readonly noted: Array<Journal['noted'][number]>;
  private readonly made: CallsMade;
  private printed: string[];
  private readonly computedBefore: number;
  private computedMs = 0;
  /** Requests to the worker that it has not answered. */
  private computing = 0;
  private end: ScriptEnd | undefined;
  private watchdog: Timer | undefined;
  private readonly time: Stopwatch;

  constructor(
    private readonly start: RunStart,
    private readonly options: RunOptions,
  ) {
    this.ended = new Promise((resolve) => (this.resolve = resolve));
    const used = 'used' in start ? start.used : undefined;
    this.made = new CallsMade(used);
    this.printed = [...(used?.printed ?? [])];
    this.computedBefore = used?.computedMs ?? 0;
    this.noted = [...(options.journal?.noted ?? [])];
    const { timeoutMs } = options.bounds;
    this.time = createStopwatch(options.clock, timeoutMs, used?.elapsedMs ?? 0, () =>
      this.stop(timeoutError(timeoutMs, [...this.calls.values()])),
    );
    options.signal?.addEventListener('abort', this.onAbort, { once: true });
    if (options.signal?.aborted) this.onAbort();
    else void this.begin();
  }

  private readonly onAbort = (): void =>
    this.stop(new ToolscoutError('CANCELLED', 'The script was cancelled.', { cause: this.options.signal?.reason }));

  private async begin(): Promise<void> {
    const { workers, bounds, clock, owner } = this.options;
    const listener: WorkerListener = {
      onMessage: (message) => this.hear(message),
      onEnd: (reason) => this.breach('engine', reason.message),
    };
    try {
      const worker = await workers.lend(listener, owner);
      if (this.isOver) return worker.giveBack();
      this.worker = worker;
    } catch (thrown) {
      return this.stop(toToolscoutError(thrown));
    }
    const { memoryBytes, outputBytes, printBytes } = bounds;
    const computeMs = Math.max(1, bounds.computeMs - this.computedBefore);
    const limits = { memoryBytes, computeMs, outputBytes, printBytes };
    const now = clock.now();
    this.watchComputing();
    if ('script' in this.start) {
      const { script, seed } = this.start;
      return this.worker.post({ type: 'start', script, seed, now, bounds: limits });
    }
    const { image, asking, live, responses, refusals = new Map<string, ToolscoutError>() } = this.start;
    for (const { request, questions, requestState, rounds, isLive } of asking) {
      const own = live.get(request.id);
      const given = responsesFor(request.id, responses);
      const refused = refusalsFor(request.id, refusals);
      const [refusal] = refused.values();
      const isLost = isLive && !own;
      const state = isLost || (!own && (given ?? refusal)) ? 'queued' : 'asking';
      const about = { questions, requestState, responses: given, rounds, live: own, isLost };
      const call: InnerCall = { request, state, ...about, refusal };
      this.calls.set(request.id, call);
      if (own) this.follow(call, own, refused);
    }
    this.worker.post({ type: 'restore', image, now, bounds: limits });
  }

  private hear(message: WorkerMessage): void {
    if (this.isOver) return;
    if (message.type === 'breach') {
      this.printed.push(...(message.printed ?? []));
      return this.breach(message.breach, message.detail, message.place);
    }
    if (message.type === 'suspended') return this.suspended(message.image);
    if (message.type !== 'rest') return;
    this.computing -= 1;
    if (this.computing === 0) this.watchdog?.cancel();
    this.computedMs = message.computedMs;
    this.end = message.end;
    this.printed.push(...message.printed);
    for (const request of message.calls) {
      this.made.made += 1;
      if (this.made.made > this.options.bounds.calls) return this.stop(callsError(this.options.bounds.calls, request));
      this.calls.set(request.id, {
        request,
        state: 'queued',
        questions: {},
        requestState: undefined,
        responses: undefined,
        rounds: 0,
        live: undefined,
        isLost: false,
      });
    }
    this.proceed();
  }

  /** Does what can be done: gives noted answers, sends calls, ends, or suspends. */
  private proceed(): void {
    if (this.isOver) return;
    const next = this.noted[0];
    if (next && this.computing === 0) {
      this.noted.shift();
      const call = this.calls.get(next.id);
      if (!call)
        return this.stop(
          new ToolscoutError(
            'SCRIPT_ERROR',
            'The script cannot be resumed: it did not repeat the calls that were saved.',
            {
              suggestion: 'Check what its calls changed, then run it from the start.',
            },
          ),
        );
      return this.give(next.id, next.answer, next.now);
    }
    if (next) return;
    let running = 0;
    for (const { state } of this.calls.values()) if (state === 'running') running += 1;
    for (const call of this.calls.values()) {
      if (running >= this.options.bounds.parallel) break;
      if (call.state !== 'queued') continue;
      running += 1;
      call.state = 'running';
      void this.send(call);
    }
    if (running > 0 || this.computing > 0) return;
    // A script has ended when its value is there and no call runs that it did not wait for.
    if (this.calls.size > 0) return this.suspend();
    if (this.end) this.finish({ kind: 'ended', end: this.end, used: this.used() }, true);
    else this.finish({ kind: 'stopped', error: stuckError(), used: this.used() }, true);
  }

  private async send(call: InnerCall): Promise<void> {
    const { request, rounds } = call;
    const { journal, callTool, advise = describeRemedy } = this.options;
    const { server, tool } = request;
    if (rounds === 0) {
      const progress = this.made.begin(request);
      this.options.onProgress?.(progress);
    }
    try {
      if (call.refusal && !call.isLost) throw call.refusal;
      const isFirst = !call.isLost && (journal ? await journal.sending(request, rounds) : true);
      if (this.isOver) return;
      if (!isFirst) return await this.answer(call, unknownOutcome(request));
      const live = new LiveCall();
      live.onQuestion = () => this.questioned(call, live);
      call.live = live;
      call.rounds += 1;
      const resumed =
        call.requestState === undefined && !call.responses
          ? undefined
          : {
              ...(call.responses && { inputResponses: call.responses }),
              ...(call.requestState !== undefined && { requestState: call.requestState }),
            };
      live.begin(
        callTool({
          server,
          tool,
          arguments: argumentsOf(request),
          host: this.options.host && live.hostFrom(this.options.host),
          signal: live.cancel,
          ...(resumed && { resumed }),
        }),
      );
      const result = await live.result();
      await this.settle(call, result, advise);
    } catch (thrown) {
      await this.answer(call, thrownAnswer(thrown, request));
    }
  }

  /** A call that went on while its script was suspended. */
  private follow(call: InnerCall, live: LiveCall, refusals: ReadonlyMap<string, ToolscoutError>): void {
    const { advise = describeRemedy } = this.options;
    live.onQuestion = () => this.questioned(call, live);
    live.answer(call.responses ?? {}, refusals);
    this.questioned(call, live);
    live.result().then(
      (result) => this.settle(call, result, advise),
      (thrown: unknown) => this.answer(call, thrownAnswer(thrown, call.request)),
    );
  }

  private questioned(call: InnerCall, live: LiveCall): void {
    call.state = live.questions.size > 0 ? 'asking' : 'running';
    call.questions = live.asks();
    this.proceed();
  }

  private async settle(call: InnerCall, outcome: CallResult, advise: (remedy: Remedy) => string): Promise<void> {
    if (this.isOver) return;
    const { result } = outcome;
    if (result?.['resultType'] !== 'input_required') {
      return this.answer(call, answerOf(outcome, call.request.raw, call.request, advise));
    }
    const { inputRequests, requestState } = result;
    call.live = undefined;
    call.responses = undefined;
    call.requestState = typeof requestState === 'string' ? requestState : '';
    call.questions = isObject(inputRequests) ? inputRequests : {};
    if (call.rounds > MAX_ROUNDS) {
      const { server, tool } = call.request;
      const error = new ToolscoutError(
        'TOOL_EXECUTION_ERROR',
        `"${addressOf(server, tool)}" asked for input more than ${MAX_ROUNDS} times.`,
        { suggestion: REPORT_TO_AUTHORS },
      );
      return this.answer(call, thrownAnswer(error, call.request));
    }
    if (Object.keys(call.questions).length > 0) {
      call.state = 'asking';
      return this.proceed();
    }
    await sleep(this.options.clock, PACE_MS);
    call.state = 'queued';
    this.proceed();
  }

  private async answer(call: InnerCall, answer: Answer): Promise<void> {
    if (this.isOver) return;
    const now = this.options.clock.now();
    const { id, server, tool } = call.request;
    const fitting = answer.text.length * 2 > this.options.bounds.memoryBytes ? tooLarge({ server, tool }) : answer;
    try {
      await this.options.journal?.answered(id, fitting, now);
    } catch (thrown) {
      return this.stop(toToolscoutError(thrown));
    }
    this.give(id, fitting, now);
    this.proceed();
  }

  private give(id: number, answer: Answer, now: number): void {
    if (this.isOver) return;
    const { kind, text } = answer;
    const call = this.calls.get(id);
    if (call) this.made.end(call.request, answer);
    this.calls.delete(id);
    this.watchComputing();
    this.worker?.post({ type: 'answer', id, kind, text, now });
  }

  private watchComputing(): void {
    this.computing += 1;
    this.watchdog?.cancel();
    const { clock, bounds } = this.options;
    const left = Math.max(0, bounds.computeMs - this.computedBefore - this.computedMs) + COMPUTE_GRACE_MS;
    this.watchdog = clock.after(left, () => this.breach('compute', 'no answer'), { awaited: true });
  }

  private breach(breach: Parameters<typeof breachError>[0], detail: string, place?: string): void {
    this.stop(breachError(breach, detail, this.options.bounds), place);
  }

  private stop(error: ToolscoutError, place?: string): void {
    if (this.isOver) return;
    for (const { live } of this.calls.values()) live?.cancel.abort(error);
    this.finish({ kind: 'stopped', error, used: this.used(), ...(place !== undefined && { place }) }, false);
  }

  private suspend(): void {
    this.computing += 1;
    this.worker?.post({ type: 'suspend' });
  }

  private suspended(image: VmImage): void {
    const calls = [...this.calls.values()];
    const asking = calls.map(({ request, questions, requestState, rounds, live }) => ({
      request,
      questions,
      ...(requestState !== undefined && { requestState }),
      rounds,
      isLive: live !== undefined,
    }));
    const live = new Map(calls.flatMap(({ request, live: own }) => (own ? [[request.id, own] as const] : [])));
    this.finish({ kind: 'suspended', image, asking, live, used: { ...this.used(), wasAsked: true } }, true);
  }

  private used(): Used {
    return {
      ...this.made.used(),
      ...('used' in this.start && { wasAsked: true }),
      ...('used' in this.start && this.start.used.wentOn && { wentOn: true }),
      computedMs: this.computedBefore + this.computedMs,
      elapsedMs: this.time.elapsed(),
      printed: this.printed,
    };
  }

  /** The worker of a script that ended by itself is clean; any other is ended. */
  private finish(end: RunEnd, isClean: boolean): void {
    if (this.isOver) return;
    this.isOver = true;
    this.time.stop();
    this.watchdog?.cancel();
    this.options.signal?.removeEventListener('abort', this.onAbort);
    if (isClean) this.worker?.giveBack();
    else this.worker?.end();
    this.resolve(this.made.last ? { ...end, last: this.made.last } : end);
  }
}

/** The prelude sends nothing but objects; a script that could send something else must not get further than this. */
function argumentsOf({ json, server, tool }: CallRequest): JsonObject {
  const value: unknown = JSON.parse(json);
  if (isObject(value)) return value;
  throw new ToolscoutError('INVALID_REQUEST', `The arguments of "${server}:${tool}" must be one object.`, {
    delivered: false,
  });
}

function tooLarge(address: { readonly server: string; readonly tool: string }): Answer {
  const error = new ToolscoutError(
    'SCRIPT_LIMIT_EXCEEDED',
    'The result of the call does not fit into the memory of the script.',
    { suggestion: 'Request less data in one call.' },
  );
  return thrownAnswer(error, address);
}
