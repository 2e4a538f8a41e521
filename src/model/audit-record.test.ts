import { describe, expect, it } from 'vitest';
import { ownMs } from './audit-record.js';

describe('how long a request took', () => {
  it('EXEC-5 leaves out the time in which a person was asked; a record of an older version has none', () => {
    expect(ownMs({ latencyMs: 45_120, askedMs: 45_000 })).toBe(120);
    expect(ownMs({ latencyMs: 120 })).toBe(120);
    expect(ownMs({})).toBeUndefined();
    expect(ownMs({ latencyMs: 1, askedMs: 2 })).toBe(0);
  });
});
