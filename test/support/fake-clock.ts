import type { Clock } from '../../src/kernel/clock.js';

/** A clock that stands still until it is told to move. */
export interface FakeClock extends Clock {
  /**
   * Moves time on by `ms`, running every timer that falls due at its own moment and in order, timers
   * that were set on the way included. Promises settle before the first, between any two and after the last.
   */
  advance(ms: number): Promise<void>;
  /** How many timers wait. */
  readonly waiting: number;
}

interface Alarm {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

/** A clock at `start` (wall-clock milliseconds); its monotonic time begins at zero. */
export function createFakeClock(start: number = Date.UTC(2026, 0, 1)): FakeClock {
  const alarms = new Set<Alarm>();
  let elapsed = 0;
  let order = 0;
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    after(ms, task) {
      // A real timer never runs at once, so neither does this: a delay of zero waits for the next advance.
      const alarm = { at: elapsed + Math.max(0, ms), order: order++, task };
      alarms.add(alarm);
      return { cancel: () => void alarms.delete(alarm) };
    },
    get waiting() {
      return alarms.size;
    },
    async advance(ms) {
      const end = elapsed + ms;
      await settle();
      for (let next = firstDue(alarms, end); next; next = firstDue(alarms, end)) {
        alarms.delete(next);
        elapsed = Math.max(elapsed, next.at);
        next.task();
        await settle();
      }
      elapsed = end;
    },
  };
}

function firstDue(alarms: Iterable<Alarm>, end: number): Alarm | undefined {
  let first: Alarm | undefined;
  for (const alarm of alarms) {
    if (alarm.at > end) continue;
    if (!first || alarm.at < first.at || (alarm.at === first.at && alarm.order < first.order)) first = alarm;
  }
  return first;
}

/** One turn of the event loop runs every microtask, however many they chain; a few turns let I/O callbacks follow. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
