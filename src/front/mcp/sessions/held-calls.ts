import { Canceller, type Cancel } from '../../../kernel/async/cancel.js';
import type { Clock, Timer } from '../../../kernel/clock.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { JsonObject } from '../../../kernel/json.js';
import { questionWithdrawn, tooManyQuestions, type Host } from '../../../model/host.js';
import type { Exchange } from '../exchange.js';

/** One request of a modern host: a call begins with one, and each answer to a question is another. */
export interface Round {
  readonly principal: string;
  readonly traceId?: string;
  /** See {@link Host.id}. */
  readonly hostId: string;
  /** See `Host.group`. */
  readonly group?: string;
  readonly capabilities: JsonObject;
  readonly logLevel?: string;
  readonly signal: Cancel;
  /** The token for progress in this round. */
  readonly progressToken?: string | number;
  readonly inputResponses?: JsonObject;
  readonly resumed?: Exchange['resumed'];
  notify(method: string, params: JsonObject | undefined): void;
}

/** How a round ended: with the result, or with questions to the host. */
export type RoundEnd =
  | { readonly result: JsonObject }
  | { readonly held: string; readonly inputRequests: Record<string, JsonObject> };

/** Calls to servers that ask while they run, held until the host, which can only answer by calling again, has. */
export interface HeldCalls {
  begin(round: Round, work: (exchange: Exchange) => Promise<JsonObject>): Promise<RoundEnd>;
  /** Goes on with a held call; `undefined` for an unknown id. */
  resume(id: string, round: Round): Promise<RoundEnd> | undefined;
  readonly size: number;
  /** Gives all of them up. */
  close(): void;
}

/** Calls held at once. */
const MAX_HELD = 256;
/** Questions of one call that wait at once. */
const MAX_QUESTIONS = 32;
/** A host that has not answered by then will not. */
const PATIENCE_MS = 600_000;

interface Question {
  readonly request: JsonObject;
  resolve(answer: JsonObject): void;
}

type Outcome = { readonly result: JsonObject } | { readonly thrown: unknown };

/** One call over all of its rounds. */
class HeldCall {
  readonly stop = new Canceller();
  /** Most calls ask nothing. */
  private asking: Map<string, Question> | undefined;
  current: Round | undefined;
  outcome: Outcome | undefined;
  timer: Timer | undefined;
  private asked = 0;
  private wake: (() => void) | undefined;

  constructor(first: Round) {
    this.current = first;
  }

  get questions(): Map<string, Question> {
    return (this.asking ??= new Map());
  }

  finish(outcome: Outcome): void {
    this.outcome = outcome;
    this.wake?.();
  }

  ask(method: string, params: JsonObject | undefined, signal: Cancel | undefined): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted || this.stop.aborted) return reject(questionWithdrawn());
      if (this.questions.size >= MAX_QUESTIONS) return reject(tooManyQuestions(MAX_QUESTIONS));
      const key = `question-${++this.asked}`;
      const withdraw = (): void => {
        this.questions.delete(key);
        reject(questionWithdrawn());
      };
      signal?.addEventListener('abort', withdraw, { once: true });
      this.questions.set(key, {
        request: { method, ...(params && { params }) },
        resolve: (answer) => {
          this.questions.delete(key);
          signal?.removeEventListener('abort', withdraw);
          resolve(answer);
        },
      });
      this.wake?.();
    });
  }

  /** Resolves at the next event for the host: the end, or a question. */
  async event(): Promise<void> {
    while (!this.outcome && !this.asking?.size) {
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  answer(responses: JsonObject): void {
    for (const [key, question] of this.questions) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (typeof response === 'object' && response !== null && !Array.isArray(response)) question.resolve(response);
    }
  }

  tell(method: string, params: JsonObject | undefined): void {
    const round = this.current;
    if (!round) return;
    if (method !== 'notifications/progress') return round.notify(method, params);
    // Each round has its own token; the host ignores progress under the token of an earlier round.
    const { progressToken } = round;
    if (progressToken !== undefined) round.notify(method, { ...params, progressToken });
  }
}

/** No calls held yet. */
export function createHeldCalls(clock: Clock): HeldCalls {
  const held = new Map<string, HeldCall>();
  /** Calls that have asked something; they may be held at any moment. */
  const asking = new Set<HeldCall>();

  const hold = (call: HeldCall): RoundEnd => {
    const id = newId();
    held.set(id, call);
    call.current = undefined;
    call.timer = clock.after(PATIENCE_MS, () => {
      held.delete(id);
      call.stop.abort(new Error('the host did not come back'));
    });
    const inputRequests = Object.fromEntries([...call.questions].map(([key, { request }]) => [key, request]));
    return { held: id, inputRequests };
  };

  const drive = async (call: HeldCall, round: Round): Promise<RoundEnd> => {
    const onAbort = (): void => call.stop.abort(round.signal.reason);
    if (round.signal.aborted) onAbort();
    round.signal.addEventListener('abort', onAbort, { once: true });
    try {
      await call.event();
      if (!call.outcome) return hold(call);
      if ('thrown' in call.outcome) throw call.outcome.thrown;
      return call.outcome;
    } finally {
      round.signal.removeEventListener('abort', onAbort);
    }
  };

  return {
    begin(round, work) {
      const call = new HeldCall(round);
      const { hostId: id, group, capabilities, logLevel, principal, traceId, resumed } = round;
      const host: Host = {
        id,
        group,
        era: 'modern',
        capabilities,
        logLevel,
        request(method, params, options) {
          if (asking.size >= MAX_HELD && !asking.has(call)) {
            return Promise.reject(
              new ToolscoutError(
                'RATE_LIMITED',
                `${MAX_HELD} calls already wait for answers from their hosts; that is the limit.`,
              ),
            );
          }
          asking.add(call);
          return call.ask(method, params, options?.signal);
        },
        notify: (method, params) => call.tell(method, params),
      };
      const end = (outcome: Outcome): void => {
        asking.delete(call);
        call.finish(outcome);
      };
      work({ host, principal, traceId, signal: call.stop, resumed }).then(
        (result) => end({ result }),
        (thrown: unknown) => end({ thrown }),
      );
      return drive(call, round);
    },
    resume(id, round) {
      const call = held.get(id);
      if (!call) return undefined;
      held.delete(id);
      call.timer?.cancel();
      call.current = round;
      call.answer(round.inputResponses ?? {});
      return drive(call, round);
    },
    get size() {
      return held.size;
    },
    close() {
      for (const call of held.values()) {
        call.timer?.cancel();
        call.stop.abort(new Error('toolscout is stopping'));
      }
      held.clear();
    },
  };
}
