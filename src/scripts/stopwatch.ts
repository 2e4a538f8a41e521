import type { Clock } from '../kernel/clock.js';

/** A time limit; the time that a script is suspended does not count. */
export interface Stopwatch {
  /** Time that has passed. */
  elapsed(): number;
  stop(): void;
}

/** Calls `onLimit` when `limitMs` have passed; `elapsedMs` of them have passed already. */
export function createStopwatch(clock: Clock, limitMs: number, elapsedMs: number, onLimit: () => void): Stopwatch {
  const since = clock.monotonic();
  const timer = clock.after(Math.max(0, limitMs - elapsedMs), onLimit, { awaited: true });
  return { elapsed: () => elapsedMs + clock.monotonic() - since, stop: () => timer.cancel() };
}
