import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { createServerBreaker } from './breaker.js';

function setUp() {
  const clock = createFakeClock();
  const breaker = createServerBreaker({ clock, limits: () => ({ failures: 3, resetMs: 1000 }), server: 'one' });
  const fail = (principal?: string, times = 3): void => {
    for (let n = 0; n < times; n++) breaker.fail(new Error('no'), principal);
  };
  return { clock, breaker, fail };
}

describe('the breaker of a server', () => {
  it('A43 CONN-3 the failed calls of one principal open it for that principal alone', () => {
    const { breaker, fail } = setUp();
    fail('a');
    expect(() => breaker.check('a')).toThrow(expect.objectContaining({ code: 'CIRCUIT_OPEN', retryAfterMs: 1000 }));
    expect(() => breaker.check('b')).not.toThrow();
    expect(() => breaker.check()).not.toThrow();
    expect(breaker.state).toBe('open');
  });

  it('CONN-3 it opens for all principals when the server cannot be connected, or fails for several principals', () => {
    const unreachable = setUp();
    unreachable.fail();
    expect(() => unreachable.breaker.check('a')).toThrow(expect.objectContaining({ code: 'CIRCUIT_OPEN' }));
    const hanging = setUp();
    hanging.fail('a', 1);
    hanging.fail('b', 3);
    expect(() => hanging.breaker.check('c')).toThrow(expect.objectContaining({ code: 'CIRCUIT_OPEN' }));
  });

  it('CONN-3 one trial decides after a while, for one principal and for all', async () => {
    const { breaker, fail, clock } = setUp();
    fail('a');
    fail('b');
    await clock.advance(1000);
    breaker.check('a');
    expect(() => breaker.check('c')).toThrow(expect.objectContaining({ code: 'CIRCUIT_OPEN' }));
    breaker.fail(new Error('still'), 'a');
    expect(() => breaker.check('c')).toThrow(expect.objectContaining({ code: 'CIRCUIT_OPEN' }));
    await clock.advance(1000);
    breaker.check('a');
    breaker.succeed('a');
    breaker.check('a');
    breaker.check('c');
    breaker.release('c');
    breaker.check('b');
    breaker.succeed('b');
    expect(breaker.state).toBe('closed');
  });

  it('A43 a principal that is refused takes nothing from the trial of the others', async () => {
    const { breaker, fail, clock } = setUp();
    fail('a');
    fail();
    await clock.advance(500);
    breaker.fail(new Error('late'), 'a');
    await clock.advance(999);
    expect(() => breaker.check('a')).toThrow(expect.objectContaining({ code: 'CIRCUIT_OPEN' }));
  });
});
