import type { Clock, Timer } from '../clock.js';

/** The deadlines of many that wait together, watched by one timer: a timer for each costs more than what it guards. */
export interface Deadlines {
  /** Makes sure that the timer fires at this monotonic time at the latest. */
  watch(due: number): void;
  /** Cancels the timer. */
  stop(): void;
}

/**
 * Deadlines by a clock. `sweep` ends those that are due by `now` and returns the next due time, or `Infinity` when
 * there is none; a waiter that was answered in time needs no call here.
 */
export function createDeadlines(clock: Clock, sweep: (now: number) => number): Deadlines {
  let timer: Timer | undefined;
  let rings = Infinity;

  const ring = (): void => {
    rings = Infinity;
    const next = sweep(clock.monotonic());
    if (next < Infinity) watch(next);
  };
  const watch = (due: number): void => {
    if (due >= rings) return;
    timer?.cancel();
    rings = due;
    // The process must not exit before the waiters have been rejected.
    timer = clock.after(Math.max(0, due - clock.monotonic()), ring, { awaited: true });
  };

  return {
    watch,
    stop() {
      timer?.cancel();
      rings = Infinity;
    },
  };
}
