import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, isAlive, waitUntil } from '../../../test/support/fixture.js';
import { stdioServer } from '../../../test/support/test-server.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import { systemClock } from '../../kernel/clock.js';
import type { ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import { silentLog } from '../../kernel/log.js';
import type { Server } from '../../model/server.js';
import type { Upstream } from '../../model/upstream.js';
import { createChildKeeper, createPool, openUpstream } from '../index.js';
import { isTransient } from './retry-policy.js';

/** A pool over real children. */
function setUp() {
  const children = createChildKeeper({ clock: systemClock, log: silentLog });
  const pool = createPool({
    open: (server, signal) =>
      openUpstream(server, {
        clock: systemClock,
        log: silentLog,
        children,
        verdicts: { recall: async () => undefined, remember: async () => undefined },
        baseEnv: process.env,
        clientInfo: { name: 'toolscout', version: '0.0.0' },
        onStderr: (id, chunk) => pool.appendStderr(id, chunk),
        onNoise: (id) => pool.noteNoise(id),
        signal,
      }),
    clock: systemClock,
    log: silentLog,
    healthIntervalMs: 300_000,
    breaker: { failures: 5, resetMs: 30_000 },
  });
  onTestFinished(async () => {
    await pool.close({ drainMs: 0 });
    await children.closeAll();
  });
  return { pool, children };
}

const legacy = (overrides: Partial<Server> = {}): Server => ({
  ...stdioServer('legacy', fixture('legacy')),
  ...overrides,
});

const echo = (upstream: Upstream): Promise<JsonObject> =>
  upstream.request('tools/call', { name: 'echo', arguments: { message: 'hi' } }, { timeoutMs: 5000 });

describe('pool over real children', STARTS_PROCESSES, () => {
  it('CONN-3 one child serves concurrent callers, and a killed one is replaced', async () => {
    const { pool, children } = setUp();
    const server = legacy();
    const answers = await Promise.all(Array.from({ length: 10 }, () => pool.use(server, echo)));
    expect(answers).toHaveLength(10);
    expect(children.count).toBe(1);

    const { pid } = pool.health('legacy');
    process.kill(pid!, 'SIGKILL');
    await waitUntil(() => pool.health('legacy').state === 'error');
    await pool.use(server, echo);
    expect(pool.health('legacy').state).toBe('connected');
    expect(pool.health('legacy').pid).not.toBe(pid);
  });

  it('CONN-3 idle children end, and none outlives the pool', async () => {
    const { pool } = setUp();
    await pool.use(legacy({ idleTimeoutMs: 50 }), echo);
    const { pid } = pool.health('legacy');
    await waitUntil(() => !isAlive(pid!));
    expect(pool.health('legacy').state).toBe('disconnected');

    await pool.use(legacy(), echo);
    const next = pool.health('legacy').pid!;
    await pool.close({ drainMs: 0 });
    await waitUntil(() => !isAlive(next));
  });

  it('CONN-5 ping measures a real server', async () => {
    const { pool } = setUp();
    expect(await pool.ping(legacy())).toBeGreaterThan(0);
    expect(pool.health('legacy')).toMatchObject({ state: 'connected', breaker: 'closed' });
  });

  it('CONN-3 a command that does not exist fails at once and is not hammered', async () => {
    const { pool } = setUp();
    const retry = {
      maxRetries: 3,
      initialDelayMs: 60_000,
      backoffMultiplier: 2,
      maxDelayMs: 60_000,
      jitterFactor: 0.1,
    };
    const missing = stdioServer('missing', { command: '/no/such/command' }, { retry });
    const first = await pool.use(missing, echo).catch((thrown: unknown) => thrown);
    expect(first).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: false });
    expect(isTransient(first as ToolscoutError)).toBe(false);
    const second = await pool.use(missing, echo).catch((thrown: unknown) => thrown);
    expect(second).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', retryAfterMs: expect.any(Number) as number });
    expect(pool.health('missing').state).toBe('error');
  });
});
