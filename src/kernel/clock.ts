/** A pending timer; `unref` timers never keep the process alive. */
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
  /** Runs `task` once after `ms`. The timer does not keep the process alive. */
  after(ms: number, task: () => void): Timer;
}

/** The real clock: the only place that reads time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, task) {
    const handle = setTimeout(task, ms);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
