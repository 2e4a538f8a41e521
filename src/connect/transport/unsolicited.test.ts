import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';
import { createUnsolicitedBudget, NOISE_WEIGHT } from './unsolicited.js';

const MEGABYTE = 1024 * 1024;

/** More messages than any budget tolerates. */
const MANY = 50_000;

/** How many messages in a row are tolerated. */
function tolerated(spend: () => boolean): number {
  let count = 0;
  while (count < MANY && spend()) count++;
  return count;
}

describe('createUnsolicitedBudget', () => {
  it('A44 tolerates a burst of messages, and fewer lines that are not protocol', COMPUTES_LONG, () => {
    expect(tolerated(() => createUnsolicitedBudget(createFakeClock()).spend(0))).toBe(MANY);
    const messages = createUnsolicitedBudget(createFakeClock());
    expect(tolerated(() => messages.spend(100))).toBe(10_000);
    const noise = createUnsolicitedBudget(createFakeClock());
    expect(tolerated(() => noise.spend(100, NOISE_WEIGHT))).toBe(2500);
  });

  it('A44 few messages are too much when they are large', () => {
    const budget = createUnsolicitedBudget(createFakeClock());
    expect(tolerated(() => budget.spend(20 * MEGABYTE))).toBe(3);
  });

  it(
    'A44 fills up again with time, so that a server that always has something to say lives',
    COMPUTES_LONG,
    async () => {
      const clock = createFakeClock();
      const budget = createUnsolicitedBudget(clock);
      for (let second = 0; second < 120; second++) {
        const spent = Array.from({ length: 400 }, () => budget.spend(1000));
        expect(spent).not.toContain(false);
        await clock.advance(1000);
      }
    },
  );
});
