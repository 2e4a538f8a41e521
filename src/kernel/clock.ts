import type { Cancel } from './async/cancel.js';

/** A pending timer. */
export interface Timer {
  cancel(): void;
}

/**
 * Time, handed in wherever it matters so that a day can be tested in a second.
 * `now` is wall-clock time for people and for stored expiry; `monotonic` never jumps and is what
 * durations, deadlines, buckets and breakers use.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Runs `task` once after `ms`. The timer keeps the process alive only when it is `awaited`. */
  after(ms: number, task: () => void, options?: { readonly awaited?: boolean }): Timer;
}

/** Node runs a timer with a longer delay at once; setting it again would loop without a pause. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The real clock: the only place that reads time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  // Not `performance`: its modules would be half a megabyte of each forwarder (STORE-6).
  monotonic: () => process.uptime() * 1000,
  after(ms, task, options) {
    if (ms > MAX_TIMER_MS) {
      let timer = systemClock.after(
        MAX_TIMER_MS,
        () => {
          timer = systemClock.after(ms - MAX_TIMER_MS, task, options);
        },
        options,
      );
      return { cancel: () => timer.cancel() };
    }
    const handle = setTimeout(task, ms);
    if (!options?.awaited) handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
export function sleep(clock: Clock, ms: number, signal?: Cancel): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const elapsed = (): void => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    };
    // Without this a process with nothing else to do would end in the middle of the wait.
    const timer = clock.after(ms, elapsed, { awaited: true });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
