import { expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import type { Clock } from '../kernel/clock.js';
import { EVERY_MS, memoryOf, watchPressure, type Pressure } from './pressure.js';

/** A clock whose timers fire late by what `late` says at that moment. */
function lateClock(late: () => number) {
  const clock = createFakeClock();
  let added = 0;
  const monotonic = (): number => clock.monotonic() + added;
  const after: Clock['after'] = (ms, task) =>
    clock.after(ms, () => {
      added += late();
      task();
    });
  return { ...clock, monotonic, after, advance: clock.advance };
}

it('R12 the delay is the least of three readings: one long task does not count, a loop that stays late does', async () => {
  const delays = [900, 0, 0, 700, 800, 600, 0];
  const clock = lateClock(() => delays.shift() ?? 0);
  const seen: Pressure[] = [];
  const watch = watchPressure({ clock, memory: { share: () => 0.5 } }, (pressure) => seen.push(pressure));
  await clock.advance(7 * EVERY_MS);
  watch.cancel();
  expect(seen.map(({ delayMs }) => delayMs)).toEqual([0, 0, 0, 0, 0, 600, 0]);
  expect(seen.every(({ memoryShare }) => memoryShare === 0.5)).toBe(true);
});

it('R12 nothing is measured any more once it was cancelled, also from within a reading', async () => {
  const clock = createFakeClock();
  let readings = 0;
  const watch = watchPressure({ clock, memory: { share: () => 0 } }, () => {
    if (++readings === 2) watch.cancel();
  });
  await clock.advance(10 * EVERY_MS);
  expect(readings).toBe(2);
  expect(clock.waiting).toBe(0);
});

it('R12 the used share of the memory is that of the heap, or of what the system grants where that is less', () => {
  const heap = memoryOf(0);
  expect(heap.share()).toBeGreaterThan(0);
  expect(heap.share()).toBeLessThan(1);
  expect(memoryOf(1024).bytes).toBe(1024);
  expect(memoryOf(1024).share()).toBeGreaterThan(1);
  // Node.js says so where no limit is set.
  expect(memoryOf(2 ** 64)).toMatchObject({ bytes: heap.bytes });
  expect(memoryOf(2 ** 64).share()).toBeLessThan(1);
  expect(memoryOf().share()).toBeGreaterThan(0);
});
