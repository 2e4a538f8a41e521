import { expect, it } from 'vitest';
import { CLOCK_SLACK_MS, isAhead, isOver } from './expiry.js';

const DAY = 86_400_000;

it('R11 what was noted ahead of now by more than clocks differ is of unknown age', () => {
  expect(isAhead(1000, 1000)).toBe(false);
  expect(isAhead(1000 + CLOCK_SLACK_MS, 1000)).toBe(false);
  expect(isAhead(1001 + CLOCK_SLACK_MS, 1000)).toBe(true);
});

it.each([
  [0, false],
  [DAY - 1, false],
  [DAY, true],
  [400 * DAY, true],
  [-CLOCK_SLACK_MS, false],
  [-2 * 3_600_000, true],
  [-400 * DAY, true],
])('R11 after a jump of %d ms something that lasts a day is over: %s', (jump, wanted) => {
  const began = Date.UTC(2026, 0, 1);
  expect(isOver(began + DAY, DAY, began + jump)).toBe(wanted);
});
