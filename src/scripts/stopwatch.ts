import type { Clock, Timer } from '../kernel/clock.js';

/** A time limit that stands still while somebody is asked. */
export interface Stopwatch {
  /** Time that has passed, without the pauses. */
  elapsed(): number;
  /** Does something during which no time passes; several may overlap. */
  pausing<T>(work: () => Promise<T>): Promise<T>;
  stop(): void;
}

/** Calls `onLimit` when `limitMs` have passed, of which `elapsedMs` have passed already. */
export function createStopwatch(clock: Clock, limitMs: number, elapsedMs: number, onLimit: () => void): Stopwatch {
  let passed = elapsedMs;
  let since = clock.monotonic();
  let pauses = 0;
  let hasStopped = false;
  let timer: Timer;
  const elapsed = (): number => (pauses > 0 || hasStopped ? passed : passed + clock.monotonic() - since);
  const go = (): void => {
    since = clock.monotonic();
    timer = clock.after(Math.max(0, limitMs - passed), onLimit, { awaited: true });
  };
  const halt = (): void => {
    passed = elapsed();
    timer.cancel();
  };
  go();
  return {
    elapsed,
    async pausing(work) {
      if (pauses === 0 && !hasStopped) halt();
      pauses += 1;
      try {
        return await work();
      } finally {
        pauses -= 1;
        if (pauses === 0 && !hasStopped) go();
      }
    },
    stop() {
      if (hasStopped) return;
      if (pauses === 0) halt();
      hasStopped = true;
    },
  };
}
