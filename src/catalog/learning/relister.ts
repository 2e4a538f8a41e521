import type { Clock, Timer } from '../../kernel/clock.js';

/** A server that announces many changes in a row is asked once. */
const RELIST_DELAY_MS = 250;

/** A server that announces a change whenever it was asked is asked less and less often from this time on. */
const PATIENT_ASKS = 8;
const MAX_RELIST_DELAY_MS = 60_000;
/** An announcement that comes later than this after the last question has nothing to do with it. */
const UNRELATED_MS = 1000;

/** What a server says about keeping its list is no interval to ask it at: some say 0, and are called all the time. */
const RELIST_REST_MS = 60_000;

/** How long a list that was announced and not given is left alone, doubling with every failure. */
const FIRST_RETRY_MS = 5000;

/** The number of retries; after that, only a call or a search asks the server again. */
const RETRIES = 6;

/** Sees to it that a list which is out of date is read again. */
export interface Relister {
  soon(server: string): void;
  /** The same where nothing was announced: the list is merely old, and a server is not asked more than once a minute. */
  whenRested(server: string): void;
  /** Whether a server whose list is merely old may be asked by now; when it may it counts as asked. */
  claim(server: string): boolean;
  close(): void;
}

/** A relister over `relist`, which reads the list of one server and answers whether nothing is left to be done. */
export function createRelister(deps: {
  readonly clock: Clock;
  readonly isLearning: (server: string) => boolean;
  readonly relist: (server: string) => Promise<boolean>;
}): Relister {
  const timers = new Map<string, Timer>();
  const retries = new Map<string, Timer>();
  const failures = new Map<string, number>();
  const asked = new Map<string, number>();
  /** How many questions in a row brought the next announcement, and when the last one was asked or answered. */
  const rows = new Map<string, { readonly times: number; readonly at: number }>();
  let closed = false;

  const ask = async (server: string, row: number): Promise<void> => {
    rows.set(server, { times: row, at: deps.clock.monotonic() });
    const isDone = await deps.relist(server);
    if (closed) return;
    rows.set(server, { times: row, at: deps.clock.monotonic() });
    const times = failures.get(server) ?? 0;
    if (isDone) failures.delete(server);
    else if (times < RETRIES && !timers.has(server)) {
      failures.set(server, times + 1);
      retries.set(
        server,
        deps.clock.after(FIRST_RETRY_MS * 2 ** times, () => soon(server)),
      );
    }
  };
  const soon = (server: string): void => {
    // Not put off by every further announcement: a server that announces without end would never be asked.
    if (timers.has(server)) return;
    retries.get(server)?.cancel();
    retries.delete(server);
    const { times: row, at } = rows.get(server) ?? { times: 0, at: -Infinity };
    const times = deps.isLearning(server) || deps.clock.monotonic() - at < UNRELATED_MS ? row : 0;
    const delayMs = Math.min(RELIST_DELAY_MS * 2 ** Math.max(0, times - PATIENT_ASKS), MAX_RELIST_DELAY_MS);
    const timer = deps.clock.after(delayMs, () => {
      timers.delete(server);
      // The list that is being read may be the one before the change.
      if (deps.isLearning(server)) return soon(server);
      void ask(server, times + 1);
    });
    timers.set(server, timer);
  };
  const claim = (server: string): boolean => {
    const now = deps.clock.monotonic();
    if (now - (asked.get(server) ?? -Infinity) < RELIST_REST_MS) return false;
    asked.set(server, now);
    return true;
  };
  return {
    soon,
    claim,
    whenRested(server) {
      if (claim(server)) soon(server);
    },
    close() {
      closed = true;
      for (const timer of [...timers.values(), ...retries.values()]) timer.cancel();
      timers.clear();
      retries.clear();
    },
  };
}
