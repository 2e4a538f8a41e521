import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { ToolscoutError, type ErrorDetails } from '../../kernel/errors.js';
import { RetryConfig } from '../../model/config.js';
import { withRetry } from './call.js';
import { backoffMs, isTransient } from './retry-policy.js';

const policy = RetryConfig.parse({});
const busy = (details?: ErrorDetails): ToolscoutError => new ToolscoutError('RATE_LIMITED', 'busy', details);

const of = (...args: ConstructorParameters<typeof ToolscoutError>): boolean => isTransient(new ToolscoutError(...args));
const http = (status: number) => ({ cause: Object.assign(new Error('http'), { data: { status } }) });
const system = (code: string) => ({
  cause: new Error('outer', { cause: Object.assign(new Error(code), { code }) }),
});

/** Runs a task that always fails and says when each attempt was made. */
async function attempts(
  errors: (attempt: number) => Error,
  options: { random?: number; mayRetry?: (error: ToolscoutError) => boolean } = {},
): Promise<{ at: number[]; thrown: unknown }> {
  const clock = createFakeClock();
  const at: number[] = [];
  const run = withRetry(
    (attempt) => {
      at.push(clock.monotonic());
      return Promise.reject(errors(attempt));
    },
    policy,
    { clock, random: () => options.random ?? 0.5, mayRetry: options.mayRetry ?? (() => true) },
  ).catch((thrown: unknown) => thrown);
  await clock.advance(600_000);
  return { at, thrown: await run };
}

describe('retry', () => {
  it('CONN-7 three retries, one second and then double', async () => {
    const { at, thrown } = await attempts(() => busy());
    expect(at).toEqual([0, 1000, 3000, 7000]);
    expect(thrown).toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('CONN-7 jitter is at most ten per cent, and no wait is longer than the maximum', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.double({ min: 0, max: 0.999, noNaN: true }), (retry, random) => {
        const plain = Math.min(30_000, 1000 * 2 ** retry);
        const delay = backoffMs(policy, retry, () => random);
        expect(delay).toBeGreaterThanOrEqual(Math.floor(plain * 0.9));
        expect(delay).toBeLessThanOrEqual(Math.min(30_000, Math.ceil(plain * 1.1)));
      }),
    );
    expect(backoffMs(policy, 0, () => 0)).toBe(900);
    expect(backoffMs(policy, 0, () => 0.9999)).toBe(1100);
  });

  it('CONN-7 Retry-After is honoured', async () => {
    const { at } = await attempts((attempt) => busy(attempt === 0 ? { retryAfterMs: 5000 } : {}), { random: 0 });
    expect(at.slice(0, 3)).toEqual([0, 5000, 6800]);
  });

  it('CONN-7 a call is not retried when Retry-After exceeds the limit', async () => {
    const { at, thrown } = await attempts(() => busy({ retryAfterMs: 86_400_000 }));
    expect(at).toEqual([0]);
    expect(thrown).toMatchObject({ retryAfterMs: 86_400_000 });
  });

  it('CONN-7 what may not be retried is thrown as it is', async () => {
    const error = new TypeError('a bug');
    const { at, thrown } = await attempts(() => error, { mayRetry: isTransient });
    expect(at).toEqual([0]);
    expect(thrown).toBe(error);
  });

  it('CONN-7 the first success ends it', async () => {
    const clock = createFakeClock();
    const run = withRetry((attempt) => (attempt < 2 ? Promise.reject(busy()) : Promise.resolve(attempt)), policy, {
      clock,
      random: () => 0.5,
      mayRetry: isTransient,
    });
    await clock.advance(3000);
    await expect(run).resolves.toBe(2);
  });

  it('CONN-7 a cancelled wait ends at once', async () => {
    const clock = createFakeClock();
    const controller = new AbortController();
    let tried = 0;
    const run = withRetry(() => Promise.reject(busy({ retryAfterMs: ++tried * 1000 })), policy, {
      clock,
      random: () => 0.5,
      signal: controller.signal,
      mayRetry: isTransient,
    });
    await clock.advance(500);
    controller.abort(new Error('gone'));
    await expect(run).rejects.toThrow('gone');
    expect(tried).toBe(1);
    expect(clock.waiting).toBe(0);
  });

  it('CONN-7 429, timeouts and connection failures are transient; other errors are not', () => {
    expect(of('RATE_LIMITED', 'x', http(429))).toBe(true);
    expect(of('SERVER_CONNECTION_ERROR', 'x', http(503))).toBe(true);
    expect(of('SERVER_CONNECTION_ERROR', 'x', system('ECONNRESET'))).toBe(true);
    expect(of('TOOL_EXECUTION_TIMEOUT', 'x')).toBe(true);
    expect(of('SERVER_CONNECTION_ERROR', 'x', { refusal: { status: 502 } })).toBe(true);
    expect(of('SERVER_CONNECTION_ERROR', 'x', { refusal: { status: 500 } })).toBe(false);
    expect(of('SERVER_CONNECTION_ERROR', 'x', http(404))).toBe(false);
    const nested = new ToolscoutError('SERVER_CONNECTION_ERROR', 'inner', http(404));
    expect(of('SERVER_CONNECTION_ERROR', 'x', { cause: nested })).toBe(false);
    expect(of('SERVER_CONNECTION_ERROR', 'x', system('ENOENT'))).toBe(false);
    expect(of('SERVER_CONNECTION_ERROR', 'x', system('CERT_HAS_EXPIRED'))).toBe(false);
    expect(of('TOOL_EXECUTION_ERROR', 'x', { upstream: { code: -32603 } })).toBe(false);
    expect(of('AUTHENTICATION_FAILED', 'x')).toBe(false);
    expect(of('CIRCUIT_OPEN', 'x')).toBe(false);
    expect(of('CANCELLED', 'x')).toBe(false);
  });
});
