import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import type { Clock, Timer } from '../kernel/clock.js';

/** How much this process has to do, and what it has left. */
export interface Pressure {
  /** The used share of the memory that it may have. */
  readonly memoryShare: number;
  /** By how much the event loop is late: the least of some readings in a row, so that one long task does not count. */
  readonly delayMs: number;
}

/** How often it is measured. */
export const EVERY_MS = 100;

/** Readings of the delay that are looked at together. */
export const IN_A_ROW = 3;

/** What V8 adds to the limit of the heap for young objects: three semi-spaces of 16 MB. */
const YOUNG_BYTES = 48 * 1024 * 1024;

/** Bytes of objects that outlived two collections, or are large: what a process runs out of. */
function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name !== 'new_space')
    .reduce((sum, { space_used_size: used }) => sum + used, 0);
}

/** The memory of this process. */
export interface Memory {
  /** How many bytes it may have. */
  readonly bytes: number;
  /** The used share of them. */
  share(): number;
}

/**
 * The memory of this process: the heap, or the memory that the system grants, whichever has less left. Memory that was freed and is still held by
 * the process does not count as used, since a process that never gave it back would never recover.
 */
export function memoryOf(granted = process.constrainedMemory() ?? 0): Memory {
  const { heap_size_limit: limit } = getHeapStatistics();
  const most = limit - Math.min(YOUNG_BYTES, limit / 3);
  return {
    bytes: granted > 0 ? Math.min(most, granted) : most,
    share() {
      const { used_heap_size: heap, external_memory: outside } = getHeapStatistics();
      return Math.max(oldBytes() / most, granted > 0 ? (heap + outside) / granted : 0);
    },
  };
}

/** Measures from now on, until the timer is cancelled. */
export function watchPressure(
  { clock, memory }: { readonly clock: Clock; readonly memory: Pick<Memory, 'share'> },
  onPressure: (pressure: Pressure) => void,
): Timer {
  const delays: number[] = [];
  let isOver = false;
  let timer: Timer;
  const next = (): void => {
    const due = clock.monotonic() + EVERY_MS;
    timer = clock.after(EVERY_MS, () => {
      delays.push(Math.max(0, clock.monotonic() - due));
      if (delays.length > IN_A_ROW) delays.shift();
      const delayMs = delays.length < IN_A_ROW ? 0 : Math.min(...delays);
      onPressure({ memoryShare: memory.share(), delayMs });
      if (!isOver) next();
    });
  };
  next();
  return {
    cancel() {
      isOver = true;
      timer.cancel();
    },
  };
}
