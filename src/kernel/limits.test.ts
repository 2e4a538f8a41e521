import { describe, expect, it } from 'vitest';
import { LIMITS } from './limits.js';

describe('limits', () => {
  it('A28 every limit lets the largest thing seen on real servers pass, and is finite', () => {
    const seen = { depth: 24, toolBytes: 77_000, listBytes: 1_030_000, toolsPerServer: 401 };
    for (const [name, value] of Object.entries(seen)) expect(LIMITS[name as keyof typeof seen]).toBeGreaterThan(value);
    expect(Object.values(LIMITS).every((value) => Number.isSafeInteger(value) && value > 0)).toBe(true);
  });

  it('FIND-4 a query may have 2 kB; a whole list fits on the line it comes in', () => {
    expect(LIMITS.queryBytes).toBe(2048);
    expect(LIMITS.lineBytes).toBeGreaterThan(LIMITS.listBytes);
    expect(LIMITS.listBytes).toBeGreaterThan(LIMITS.toolBytes);
  });
});
