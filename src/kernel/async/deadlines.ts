import type { Clock, Timer } from '../clock.js';

/** The deadlines of many that wait together, watched by one timer: a timer for each costs more than what it guards. */
export interface Deadlines {
  /** Somebody's time is up at this monotonic time. */
  watch(due: number): void;
  /** Nobody waits any more. */
  stop(): void;
}

/**
 * Deadlines by a clock. `sweep` ends those whose time is up by `now` and answers when the next one's is,
 * `Infinity` when nobody waits; whoever was answered in time needs no word to the timer.
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
    // The process must not end before whoever waits has heard that it was in vain.
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
