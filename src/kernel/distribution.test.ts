import { describe, expect, it } from 'vitest';
import { Distribution } from './distribution.js';

describe('a distribution', () => {
  it('REG-7 counts each value under every bound that it is within, and sums all of them', () => {
    const times = new Distribution([1, 10, 100]);
    for (const value of [0.5, 1, 5, 1000]) times.observe(value);
    expect(times).toMatchObject({ counts: [2, 3, 3], count: 4, sum: 1006.5 });
  });
});
