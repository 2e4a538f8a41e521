import { describe, expect, it } from 'vitest';
import { restHint, retryHint, withoutRetryHint } from './retry-hint.js';

describe('when to try again', () => {
  it('CONN-3 STUDIO-1 a message that is kept promises no time', () => {
    for (const ms of [1, 999, 1000, 14_500, 60_000, 900_000]) {
      expect(withoutRetryHint(`It failed 5 times${restHint(ms)}. Last error: gone`)).toBe(
        'It failed 5 times. Last error: gone',
      );
      expect(withoutRetryHint(`It failed${retryHint(ms)}. Last error: it is busy${retryHint(ms)}.`)).toBe(
        'It failed. Last error: it is busy.',
      );
    }
    const other = 'The server says: try again in a while; waited 3 s.';
    expect(withoutRetryHint(other)).toBe(other);
  });
});
