import { array, assert, double, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fairPortion } from './fair-portion.js';

describe('fairPortion', () => {
  it.each([
    [10, 5, [], 1],
    [10, 50, [50, 50], 1 / 3],
    [10, 1, [50], 0.1],
    [10, 50, [1], 0.9],
    [9, 1, [1, 1], 1 / 3],
  ])('STORE-3 of %d a second, a demand of %d beside %j gets %d', (perSecond, mine, others, portion) => {
    expect(fairPortion(perSecond, mine, others)).toBeCloseTo(portion);
  });

  it('STORE-3 CONN-7 the portions of all replicas never exceed the limit, and use all of it', () => {
    const rate = double({ min: 0.01, max: 1000, noNaN: true });
    assert(
      property(rate, array(rate, { minLength: 1, maxLength: 8 }), (limit, demands) => {
        const portions = demands.map((mine, at) => fairPortion(limit, mine, demands.toSpliced(at, 1)));
        expect(portions.reduce((sum, portion) => sum + portion)).toBeCloseTo(1, 6);
      }),
    );
  });
});
