import type { Audit } from '../audit/index.js';
import type { Clock, Timer } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';

/** Has old records of the audit log forgotten (EXEC-5). */
export interface Retention {
  /** Deletes expired records now and then daily, in the background: years of records must not delay anything. */
  prune(): void;
  stop(): void;
}

const DAY_MS = 86_400_000;

/** The retention of an audit log; `retentionMs` is asked each time, since a reload may change it. */
export function createRetention(deps: {
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
  readonly hide: (text: string) => string;
  readonly retentionMs: () => number;
}): Retention {
  const { audit, clock, log, hide, retentionMs } = deps;
  let timer: Timer | undefined;
  let stopped = false;

  const prune = (): void => {
    if (stopped) return;
    timer?.cancel();
    timer = clock.after(DAY_MS, prune);
    audit
      .prune(retentionMs())
      .catch((thrown: unknown) => log.error('audit.unpruned', { error: hide(messageOf(thrown)) }));
  };
  return {
    prune,
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
