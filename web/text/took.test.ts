import { describe, expect, it } from 'vitest';
import { askedText, bySlowest, spentText, workedMs, workedText } from './took.js';

describe('how long something took', () => {
  it.each([
    [undefined, undefined, '', undefined],
    [120, undefined, '120 ms', undefined],
    // A record of a version that did not tell the wait apart.
    [31_000, 0, '31.0 s', undefined],
    [31_000, 30_000, '1.00 s', 'waited 30.0 s for a person or the host'],
    [10, 12, '<1 ms', 'waited 12 ms for a person or the host'],
  ])('STUDIO-1 leaves the wait for an answer out and names it: %s ms, %s asked', (whole, asked, worked, waited) => {
    expect(workedText(whole, asked)).toBe(worked);
    expect(askedText(asked)).toBe(waited);
  });

  it('STUDIO-1 the slowest is the one that worked longest, not the one that a person was asked in', () => {
    const calls = [
      { id: 'quick', ms: 5 },
      { id: 'asked', ms: 60_000, asked: 59_990 },
      { id: 'slow', ms: 900 },
      { id: 'open' },
    ];
    const order = calls.toSorted(bySlowest(({ ms, asked }) => [ms, asked]));
    expect(order.map(({ id }) => id)).toEqual(['slow', 'asked', 'quick', 'open']);
    expect(workedMs(60_000, 59_990)).toBe(10);
  });

  it.each([
    [
      { outcome: 'success', latencyMs: 4420, connectMs: 205 },
      '205 ms of it connecting to the server, the rest waiting for its answer',
    ],
    [{ outcome: 'success', latencyMs: 300, connectMs: 205 }, '205 ms of it connecting to the server'],
    [{ outcome: 'success', latencyMs: 4420 }, 'waiting for the answer of the server'],
    [{ outcome: 'success', latencyMs: 4420, waitedMs: 4000 }, undefined],
    [{ outcome: 'success', latencyMs: 20 }, undefined],
    [{ outcome: 'success', latencyMs: 61_020, askedMs: 61_000 }, undefined],
    [{ outcome: 'failure', code: 'TOOL_EXECUTION_TIMEOUT', latencyMs: 600_000, askedMs: 600_000 }, undefined],
    [{ outcome: 'success', latencyMs: 62_500, askedMs: 60_000 }, 'waiting for the answer of the server'],
    [{ outcome: 'failure', code: 'SERVER_CONNECTION_ERROR', latencyMs: 8320 }, 'spent on reaching the server'],
    [{ outcome: 'failure', code: 'SERVER_CONNECTION_ERROR', latencyMs: 20 }, undefined],
    [{ outcome: 'refused', code: 'TOOL_DISABLED', latencyMs: 2000 }, undefined],
  ])('STUDIO-1 says what the time of a call went to: %o', (call, text) => {
    expect(spentText(call)).toBe(text);
  });
});
