import type { Clock, Timer } from '../kernel/clock.js';

/** A server that announces many changes in a row is asked once. */
const RELIST_DELAY_MS = 250;

/** What a server says about keeping its list is no interval to ask it at: some say 0, and are called all the time. */
const RELIST_REST_MS = 60_000;

/** Sees to it that a list which is out of date is read again. */
export interface Relister {
  soon(server: string): void;
  /** The same where nothing was announced: the list is merely old, and a server is not asked more than once a minute. */
  whenRested(server: string): void;
  close(): void;
}

/** A relister over `relist`, which reads the list of one server. */
export function createRelister(deps: {
  readonly clock: Clock;
  readonly isLearning: (server: string) => boolean;
  readonly relist: (server: string) => void;
}): Relister {
  const timers = new Map<string, Timer>();
  const asked = new Map<string, number>();
  const soon = (server: string): void => {
    // Not put off by every further announcement: a server that announces without end would never be asked.
    if (timers.has(server)) return;
    const timer = deps.clock.after(RELIST_DELAY_MS, () => {
      timers.delete(server);
      // The list that is being read may be the one before the change.
      if (deps.isLearning(server)) soon(server);
      else deps.relist(server);
    });
    timers.set(server, timer);
  };
  return {
    soon,
    whenRested(server) {
      const now = deps.clock.monotonic();
      if (now - (asked.get(server) ?? -Infinity) < RELIST_REST_MS) return;
      asked.set(server, now);
      soon(server);
    },
    close() {
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
    },
  };
}
