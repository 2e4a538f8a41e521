import { addressOf } from '../kernel/ids.js';
import type { Progress } from '../model/call.js';
import type { LastAnswer, Used } from './run-types.js';
import type { Answer } from './script-call.js';
import type { CallRequest } from './worker-messages.js';

/** The calls of one run: how many there are, how many of them succeeded, and what the last one gave. */
export class CallsMade {
  made: number;
  last: LastAnswer | undefined;
  private started: number;
  private answered: number;
  /** Calls that succeeded, by address. */
  private readonly done: Map<string, number>;

  constructor(used: Used | undefined) {
    this.made = used?.calls ?? 0;
    this.started = this.made;
    this.answered = this.made;
    this.done = new Map(used?.done);
  }

  /** That a call is sent, for the host: `3 of 20` while several are under way, since it is not known how many follow. */
  begin({ server, tool }: CallRequest): Progress {
    this.started += 1;
    const progress = this.started;
    const address = addressOf(server, tool);
    if (this.made - this.answered < 2) return { progress, message: `${progress}: ${address}` };
    return { progress, total: this.made, message: `${progress} of ${this.made}: ${address}` };
  }

  /** Notes what a call gave. */
  end({ server, tool }: CallRequest, answer: Answer): void {
    const address = addressOf(server, tool);
    this.answered += 1;
    this.last = { ...answer, address };
    if (answer.kind !== 'error') this.done.set(address, (this.done.get(address) ?? 0) + 1);
  }

  /** What is kept of a run. */
  used(): Pick<Used, 'calls' | 'done'> {
    return { calls: this.made, done: [...this.done] };
  }
}
