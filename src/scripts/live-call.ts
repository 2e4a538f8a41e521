import { Canceller, type Cancel } from '../kernel/async/cancel.js';
import type { JsonObject } from '../kernel/json.js';
import type { CallResult } from '../model/call.js';
import { questionWithdrawn, tooManyQuestions, type Host } from '../model/host.js';

/** Questions of one call that wait at once. */
const MAX_QUESTIONS = 32;

interface Question {
  readonly request: JsonObject;
  resolve(answer: JsonObject): void;
  reject(reason: unknown): void;
}

/**
 * A call that is at its server, and what the server asks meanwhile. It outlives the VM of its script while the host, which can only answer by
 * calling again, is asked; but not this process.
 */
export class LiveCall {
  readonly cancel = new Canceller();
  readonly questions = new Map<string, Question>();
  /** Told when there is a question, or one less. */
  onQuestion: () => void = () => undefined;
  private asked = 0;
  private outcome: Promise<CallResult> | undefined;

  begin(outcome: Promise<CallResult>): void {
    this.outcome = outcome;
    // The caller that awaits the outcome gets the failure.
    outcome.catch(() => undefined);
  }

  result(): Promise<CallResult> {
    return this.outcome ?? Promise.reject(new Error('The call has not begun.'));
  }

  /** Asks the host of the script, in the name of this call. */
  ask(method: string, params: JsonObject | undefined, signal: Cancel | undefined): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted || this.cancel.aborted) return reject(questionWithdrawn());
      if (this.questions.size >= MAX_QUESTIONS) return reject(tooManyQuestions(MAX_QUESTIONS));
      const key = `question-${++this.asked}`;
      const leave = (): void => {
        this.questions.delete(key);
        signal?.removeEventListener('abort', withdraw);
        this.onQuestion();
      };
      const withdraw = (): void => this.questions.get(key)?.reject(questionWithdrawn());
      signal?.addEventListener('abort', withdraw, { once: true });
      this.questions.set(key, {
        request: { method, ...(params && { params }) },
        resolve(answer) {
          leave();
          resolve(answer);
        },
        reject(reason) {
          leave();
          reject(reason);
        },
      });
      this.onQuestion();
    });
  }

  /** The host that this call may ask: the script is suspended for that, and its time limit is paused. */
  hostFrom(host: Host): Host {
    return {
      get id() {
        return host.id;
      },
      era: host.era,
      defersQuestions: true,
      capabilities: host.capabilities,
      get sole() {
        return host.sole;
      },
      get group() {
        return host.group;
      },
      get alike() {
        return host.alike;
      },
      get logLevel() {
        return host.logLevel;
      },
      get session() {
        return host.session;
      },
      notify: (method, params) => host.notify(method, params),
      request: (method, params, given) => this.ask(method, params, given?.signal),
    };
  }

  /** What waits for an answer, by key. */
  asks(): JsonObject {
    return Object.fromEntries([...this.questions].map(([key, { request }]) => [key, request]));
  }

  /** Gives the answers to its questions, and the refusals of those that the host did not answer. */
  answer(responses: JsonObject, refusals: ReadonlyMap<string, unknown> = new Map()): void {
    for (const [key, reason] of refusals) this.questions.get(key)?.reject(reason);
    for (const [key, question] of this.questions) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (typeof response === 'object' && response !== null && !Array.isArray(response)) question.resolve(response);
    }
  }
}
