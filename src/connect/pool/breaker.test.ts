import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { createBreaker, judgeFailure } from './breaker.js';

function setUp() {
  const clock = createFakeClock();
  return { clock, breaker: createBreaker({ clock, limits: () => ({ failures: 3, resetMs: 1000 }), server: 'one' }) };
}

const judge = (...args: ConstructorParameters<typeof ToolscoutError>): string =>
  judgeFailure(new ToolscoutError(...args));
const http = (status: number) => ({ cause: Object.assign(new Error('http'), { data: { status } }) });

describe('breaker', () => {
  it('CONN-3 opens after a number of failures in a row', () => {
    const { breaker } = setUp();
    breaker.fail();
    breaker.fail();
    breaker.succeed();
    breaker.fail();
    breaker.fail();
    breaker.check();
    expect(breaker.state).toBe('closed');
    breaker.fail();
    expect(breaker.state).toBe('open');
    expect(() => breaker.check()).toThrow(
      expect.objectContaining({ code: 'CIRCUIT_OPEN', retryAfterMs: 1000, delivered: false }),
    );
  });

  it('CONN-3 names the last cause while it is open, and forgets it after a success', async () => {
    const { clock, breaker } = setUp();
    for (const cause of ['first', 'second', 'no licence']) breaker.fail(new Error(cause));
    expect(() => breaker.check()).toThrow(/Last error: no licence$/);
    await clock.advance(1000);
    breaker.check();
    breaker.succeed();
    for (let i = 0; i < 3; i++) breaker.fail();
    expect(() => breaker.check()).toThrow(/ and is not called for the next \d+ s\.$/);
  });

  it('CONN-3 says how long it stays open', async () => {
    const { clock, breaker } = setUp();
    for (let i = 0; i < 3; i++) breaker.fail();
    await clock.advance(400);
    expect(() => breaker.check()).toThrow(expect.objectContaining({ retryAfterMs: 600 }));
  });

  it('CONN-3 half-opens for one trial, which closes it', async () => {
    const { clock, breaker } = setUp();
    for (let i = 0; i < 3; i++) breaker.fail();
    await clock.advance(1000);
    expect(breaker.state).toBe('half-open');
    breaker.check();
    expect(() => breaker.check()).toThrow(expect.objectContaining({ code: 'CIRCUIT_OPEN' }));
    breaker.succeed();
    expect(breaker.state).toBe('closed');
    breaker.check();
    breaker.check();
  });

  it('CONN-3 a failed trial opens it again for the whole time', async () => {
    const { clock, breaker } = setUp();
    for (let i = 0; i < 3; i++) breaker.fail();
    await clock.advance(1500);
    breaker.check();
    breaker.fail();
    expect(breaker.state).toBe('open');
    await clock.advance(999);
    expect(breaker.state).toBe('open');
    await clock.advance(1);
    expect(breaker.state).toBe('half-open');
  });

  it('CONN-3 a trial without a verdict makes room for another', async () => {
    const { clock, breaker } = setUp();
    for (let i = 0; i < 3; i++) breaker.fail();
    await clock.advance(1000);
    breaker.check();
    breaker.release();
    expect(breaker.state).toBe('half-open');
    breaker.check();
  });

  it('CONN-3 only what says that the server is in trouble counts', () => {
    expect(judge('SERVER_CONNECTION_ERROR', 'x')).toBe('trouble');
    expect(judge('SESSION_INIT_FAILED', 'x')).toBe('trouble');
    expect(judge('TOOL_EXECUTION_TIMEOUT', 'x')).toBe('trouble');
    expect(judge('SERVER_CONNECTION_ERROR', 'x', http(503))).toBe('trouble');
    expect(judge('SERVER_CONNECTION_ERROR', 'x', http(404))).toBe('nothing');
    expect(judge('TOOL_EXECUTION_ERROR', 'x', { upstream: { code: -32602 } })).toBe('answered');
    expect(judge('CANCELLED', 'x')).toBe('nothing');
    expect(judge('AUTHENTICATION_FAILED', 'x')).toBe('nothing');
    expect(judge('RATE_LIMITED', 'x')).toBe('nothing');
    expect(judgeFailure(new TypeError('a bug'))).toBe('nothing');
  });
});
