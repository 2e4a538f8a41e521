import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.js';
import { stdioServer } from '../../../test/support/test-server.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { silentLog } from '../../kernel/log.js';
import type { Server } from '../../model/server.js';
import type { Upstream, UpstreamNotification } from '../../model/upstream.js';
import { createPool, type Pool, type PoolEvent } from './pool.js';

/** An upstream that a test can end, and that says what was done to it. */
interface FakeUpstream extends Upstream {
  lose(reason?: Error): void;
  notify(notification: UpstreamNotification): void;
  answerPing: () => Promise<void>;
  pings: number;
}

function fakeUpstream(server: Server): FakeUpstream {
  const closers = new Set<(reason: Error | undefined) => void>();
  const listeners = new Set<(notification: UpstreamNotification) => void>();
  let closed = false;
  const lose = (reason?: Error): void => {
    if (closed) return;
    closed = true;
    for (const closer of closers) closer(reason);
  };
  return {
    server: server.id,
    era: 'legacy',
    protocolVersion: '2025-06-18',
    info: { name: server.id, version: '1' },
    capabilities: {},
    pid: 42,
    get closed() {
      return closed;
    },
    request: () => Promise.resolve({}),
    tell() {},
    pings: 0,
    answerPing: () => Promise.resolve(),
    ping() {
      this.pings++;
      return this.answerPing();
    },
    onNotification(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onClose(listener) {
      closers.add(listener);
      return () => closers.delete(listener);
    },
    close() {
      lose();
      return Promise.resolve();
    },
    lose,
    notify(notification) {
      for (const listener of listeners) listener(notification);
    },
  };
}

interface Stage {
  readonly clock: FakeClock;
  readonly pool: Pool;
  readonly opened: FakeUpstream[];
  readonly events: PoolEvent[];
  /** How the next connections are opened. */
  open: (server: Server, signal: AbortSignal) => Promise<Upstream>;
}

function setUp(options: { healthIntervalMs?: number; failures?: number; hide?: (text: string) => string } = {}): Stage {
  const clock = createFakeClock();
  const opened: FakeUpstream[] = [];
  const events: PoolEvent[] = [];
  const stage = { clock, opened, events, open: async (server: Server) => fakeUpstream(server) } as unknown as Stage;
  const pool = createPool({
    open: async (server, signal) => {
      const upstream = await stage.open(server, signal);
      opened.push(upstream as FakeUpstream);
      return upstream;
    },
    clock,
    log: silentLog,
    get healthIntervalMs() {
      return options.healthIntervalMs ?? 300_000;
    },
    get breaker() {
      return { failures: options.failures ?? 3, resetMs: 30_000 };
    },
    hide: options.hide,
    random: () => 0.5,
  });
  pool.onEvent((event) => events.push(event));
  return Object.assign(stage, { pool });
}

const RETRY = { maxRetries: 3, initialDelayMs: 1000, backoffMultiplier: 2, maxDelayMs: 30_000, jitterFactor: 0.1 };
const server = (overrides: Partial<Server> = {}): Server =>
  stdioServer('one', { command: 'true' }, { idleTimeoutMs: 300_000, retry: RETRY, ...overrides } as never);

/** A call that runs until the test ends it. */
function longCall(pool: Pool, target: Server) {
  let end!: (value?: unknown) => void;
  let fail!: (error: Error) => void;
  let upstream: Upstream | undefined;
  const answer = pool.use(target, (used) => {
    upstream = used;
    return new Promise((resolve, reject) => {
      end = resolve;
      fail = reject;
    });
  });
  // Each test looks at the answer; this only keeps an early failure from being called unhandled.
  answer.catch(() => undefined);
  return { answer, end: (value?: unknown) => end(value), fail: (error: Error) => fail(error), on: () => upstream };
}

const unreachable = (message = 'refused'): ToolscoutError => new ToolscoutError('SERVER_CONNECTION_ERROR', message);
const nothing = (): Promise<void> => Promise.resolve();

describe('pool', () => {
  it('CONN-2 opens nothing before the first use', () => {
    const { pool, opened } = setUp();
    expect(pool.health('one')).toMatchObject({ state: 'disconnected', breaker: 'closed' });
    expect(opened).toHaveLength(0);
  });

  it('CONN-3 concurrent callers share one connect and one connection', async () => {
    const { pool, opened, events } = setUp();
    const used = await Promise.all([1, 2, 3].map(() => pool.use(server(), async (upstream) => upstream)));
    used.push(await pool.use(server(), async (upstream) => upstream));
    expect(opened).toHaveLength(1);
    expect(new Set(used).size).toBe(1);
    expect(events).toEqual([{ type: 'state', server: 'one', from: 'disconnected', to: 'connected' }]);
    expect(pool.health('one')).toMatchObject({ state: 'connected', era: 'legacy', pid: 42 });
  });

  it('CONN-3 closes a connection that was idle, and opens it again when needed', async () => {
    const { pool, opened, events, clock } = setUp({ healthIntervalMs: 0 });
    await pool.use(server(), nothing);
    await clock.advance(200_000);
    await pool.use(server(), nothing);
    await clock.advance(299_000);
    expect(pool.health('one').state).toBe('connected');
    await clock.advance(1000);
    expect(pool.health('one').state).toBe('disconnected');
    expect(opened[0]?.closed).toBe(true);
    expect(events.at(-1)).toMatchObject({ from: 'connected', to: 'disconnected', reason: 'idle' });
    expect(clock.waiting).toBe(0);
    await pool.use(server(), nothing);
    expect(opened).toHaveLength(2);
  });

  it('NEG-7 the shared connection of an eager server is never idle, not even one that was only looked at', async () => {
    const { pool, opened, clock } = setUp({ healthIntervalMs: 0 });
    const eager = server({ eager: true, idleTimeoutMs: 1000 });
    await pool.ping(eager);
    await clock.advance(3_600_000);
    expect(pool.health('one').state).toBe('connected');
    expect(opened).toHaveLength(1);
    // A reload that takes the mark away makes it a connection like any other.
    pool.retain([server({ idleTimeoutMs: 1000 })]);
    await clock.advance(2000);
    expect(pool.health('one').state).toBe('disconnected');
  });

  it('CONN-3 a connection in use is not idle, and 0 means never', async () => {
    const { pool, opened, clock } = setUp({ healthIntervalMs: 0 });
    const call = longCall(pool, server({ idleTimeoutMs: 1000 }));
    await clock.advance(10_000);
    expect(opened[0]?.closed).toBe(false);
    call.end();
    await call.answer;
    await clock.advance(999);
    expect(opened[0]?.closed).toBe(false);
    await clock.advance(1);
    expect(opened[0]?.closed).toBe(true);

    await pool.use(server({ idleTimeoutMs: 0 }), nothing);
    await clock.advance(10_000_000);
    expect(opened[1]?.closed).toBe(false);
  });

  it('CONN-3 a call on a live connection sets no timer', async () => {
    const { pool, clock } = setUp();
    await pool.use(server(), nothing);
    const before = clock.waiting;
    for (let i = 0; i < 10; i++) await pool.use(server(), nothing);
    expect(clock.waiting).toBe(before);
  });

  it('CONN-3 a lost connection is an error, and the next use connects again', async () => {
    const { pool, opened, events } = setUp();
    await pool.use(server(), nothing);
    opened[0]?.lose(new Error('exited with code 1'));
    expect(pool.health('one')).toMatchObject({ state: 'error', lastError: 'exited with code 1' });
    expect(events.at(-1)).toMatchObject({ from: 'connected', to: 'error', reason: 'exited with code 1' });
    await pool.use(server(), nothing);
    expect(opened).toHaveLength(2);
    expect(pool.health('one')).toMatchObject({ state: 'connected' });
    expect(pool.health('one').lastError).toBeUndefined();
  });

  it('CONN-3 a failed connect rejects all waiters, and not repeated before its time', async () => {
    const stage = setUp({ failures: 100 });
    const { pool, clock } = stage;
    let tried = 0;
    stage.open = () => {
      tried++;
      return Promise.reject(unreachable());
    };
    const failures = await Promise.allSettled([pool.use(server(), nothing), pool.use(server(), nothing)]);
    for (const failure of failures) {
      expect(failure).toMatchObject({
        reason: { code: 'SERVER_CONNECTION_ERROR', delivered: false, retryAfterMs: 1000 },
      });
    }
    expect(tried).toBe(1);
    await clock.advance(400);
    await expect(pool.use(server(), nothing)).rejects.toMatchObject({ message: 'refused', retryAfterMs: 600 });
    expect(tried).toBe(1);

    await clock.advance(600);
    await expect(pool.use(server(), nothing)).rejects.toMatchObject({ retryAfterMs: 2000 });
    await clock.advance(2000);
    await expect(pool.use(server(), nothing)).rejects.toMatchObject({ retryAfterMs: 4000 });
    expect(tried).toBe(3);
    await clock.advance(4000);
    stage.open = async (target) => fakeUpstream(target);
    await pool.use(server(), nothing);
    expect(pool.health('one').state).toBe('connected');
  });

  it('A43 a timeout that the caller chose does not count against the server, one of the config does', async () => {
    const stage = setUp({ failures: 2 });
    const late = (): Promise<never> => Promise.reject(new ToolscoutError('TOOL_EXECUTION_TIMEOUT', 'late'));
    for (let n = 0; n < 5; n++) {
      const attempt = stage.pool.use(server(), late, undefined, { principal: 'a', timeoutMs: 1 });
      await expect(attempt).rejects.toThrow('late');
    }
    expect(stage.pool.health('one').breaker).toBe('closed');
    for (let n = 0; n < 2; n++) {
      await expect(stage.pool.use(server(), late, undefined, { principal: 'a' })).rejects.toThrow('late');
    }
    await expect(stage.pool.use(server(), nothing, undefined, { principal: 'a' })).rejects.toMatchObject({
      code: 'CIRCUIT_OPEN',
    });
    await stage.pool.use(server(), nothing, undefined, { principal: 'b' });
  });

  it('A44 CONN-3 a server that was cut off is left alone for the pause it got', async () => {
    const stage = setUp();
    const { pool, clock } = stage;
    let opened: FakeUpstream | undefined;
    let tried = 0;
    stage.open = async (target) => {
      tried++;
      opened = fakeUpstream(target);
      return opened;
    };
    await pool.use(server(), nothing);
    opened?.lose(new ToolscoutError('SERVER_CONNECTION_ERROR', 'flooded', { retryAfterMs: 30_000 }));
    await expect(pool.use(server(), nothing)).rejects.toMatchObject({ message: 'flooded', retryAfterMs: 30_000 });
    expect(tried).toBe(1);
    await clock.advance(30_000);
    await pool.use(server(), nothing);
    expect(tried).toBe(2);
  });

  it('CONN-3 what open throws out of turn is a failed connect too', async () => {
    const stage = setUp();
    stage.open = () => {
      throw new TypeError('a bug');
    };
    await expect(stage.pool.use(server(), nothing)).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR' });
    stage.open = async (target) => {
      const upstream = fakeUpstream(target);
      upstream.lose();
      return upstream;
    };
    await stage.clock.advance(1000);
    await expect(stage.pool.use(server(), nothing)).rejects.toThrow(
      'closed the connection immediately after connecting',
    );
  });

  it('CONN-3 the breaker opens after repeated failures and half-opens on a timer', async () => {
    const stage = setUp({ failures: 3 });
    const { pool, clock } = stage;
    for (let i = 0; i < 3; i++) {
      await expect(pool.use(server(), () => Promise.reject(unreachable()))).rejects.toThrow('refused');
    }
    expect(pool.health('one').breaker).toBe('open');
    let ran = false;
    const call = async (): Promise<void> => {
      ran = true;
    };
    await expect(pool.use(server(), call)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN', retryAfterMs: 30_000 });
    expect(ran).toBe(false);
    await clock.advance(30_000);
    expect(pool.health('one').breaker).toBe('half-open');
    const trial = longCall(pool, server());
    await clock.advance(0);
    await expect(pool.use(server(), call)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' });
    trial.end();
    await trial.answer;
    expect(pool.health('one').breaker).toBe('closed');
    await pool.use(server(), call);
    expect(ran).toBe(true);
  });

  it('A12 CONN-3 a list may be read on the connection of the trial, and decides nothing', async () => {
    const { pool, clock } = setUp({ failures: 1 });
    await expect(pool.use(server(), () => Promise.reject(unreachable()))).rejects.toThrow('refused');
    expect(pool.mayList('one')).toBe(false);
    await clock.advance(30_000);
    const trial = longCall(pool, server());
    await clock.advance(0);
    expect(pool.mayList('one')).toBe(true);
    await expect(pool.use(server(), nothing, undefined, { brief: true })).resolves.toBeUndefined();
    await expect(pool.use(server(), () => Promise.reject(unreachable()), undefined, { brief: true })).rejects.toThrow();
    await expect(pool.use(server(), nothing)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' });
    trial.end();
    await trial.answer;
    expect(pool.health('one').breaker).toBe('closed');
  });

  it('A12 A43 failures of one principal do not stop others from asking for the list', async () => {
    const { pool } = setUp({ failures: 1 });
    const failing = pool.use(server(), () => Promise.reject(unreachable()), undefined, { principal: 'clumsy' });
    await expect(failing).rejects.toThrow('refused');
    expect(pool.health('one').breaker).toBe('open');
    expect(pool.mayList('one')).toBe(true);
  });

  it('CONN-3 failed connects count once each, however many wait, and a fast failure does not count', async () => {
    const stage = setUp({ failures: 3 });
    const { pool, clock } = stage;
    stage.open = () => Promise.reject(unreachable());
    await Promise.allSettled([1, 2, 3, 4, 5].map(() => pool.use(server(), nothing)));
    await Promise.allSettled([1, 2, 3, 4, 5].map(() => pool.use(server(), nothing)));
    expect(pool.health('one').breaker).toBe('closed');
    await clock.advance(1000);
    await Promise.allSettled([pool.use(server(), nothing)]);
    await clock.advance(2000);
    await Promise.allSettled([pool.use(server(), nothing)]);
    expect(pool.health('one').breaker).toBe('open');
  });

  it('CONN-3 one lost connection counts once, whatever it took down', async () => {
    const { pool, opened, clock } = setUp({ failures: 3 });
    const calls = [1, 2, 3, 4].map(() => longCall(pool, server()));
    await clock.advance(0);
    opened[0]?.lose(new Error('killed'));
    for (const call of calls) call.fail(unreachable('killed'));
    await Promise.allSettled(calls.map((call) => call.answer));
    expect(pool.health('one').breaker).toBe('closed');
  });

  it("CONN-3 a tool's own error and a cancelled call do not open the breaker", async () => {
    const { pool } = setUp({ failures: 2 });
    const wrong = new ToolscoutError('TOOL_EXECUTION_ERROR', 'bad input', { upstream: { code: -32602 } });
    const cancelled = new ToolscoutError('CANCELLED', 'gone');
    for (let i = 0; i < 5; i++) {
      await expect(pool.use(server(), () => Promise.reject(wrong))).rejects.toBe(wrong);
      await expect(pool.use(server(), () => Promise.reject(cancelled))).rejects.toBe(cancelled);
      await expect(pool.use(server(), () => Promise.reject(unreachable()))).rejects.toThrow();
    }
    expect(pool.health('one').breaker).toBe('closed');
  });

  it('CFG-6 a changed server gets a new connection while the old one finishes its calls', async () => {
    const { pool, opened, clock } = setUp();
    const old = longCall(pool, server());
    await clock.advance(0);
    const changed = server({ digest: 'new' });
    const fresh = await pool.use(changed, async (upstream) => upstream);
    expect(opened).toHaveLength(2);
    expect(fresh).toBe(opened[1]);
    expect(opened[0]?.closed).toBe(false);
    old.end('done');
    await expect(old.answer).resolves.toBe('done');
    await clock.advance(0);
    expect(opened[0]?.closed).toBe(true);
    expect(opened[1]?.closed).toBe(false);
    expect(pool.health('one').state).toBe('connected');
  });

  it('CFG-6 a connect that was overtaken by a change serves its waiters, and then closes', async () => {
    const stage = setUp();
    const { pool, opened, clock } = stage;
    let connect!: (upstream: Upstream) => void;
    stage.open = () => new Promise((resolve) => (connect = resolve));
    const waiting = pool.use(server(), async () => 'old');
    await clock.advance(0);
    stage.open = async (target) => fakeUpstream(target);
    await pool.use(server({ digest: 'new' }), nothing);
    connect(fakeUpstream(server()));
    await expect(waiting).resolves.toBe('old');
    await clock.advance(0);
    expect(opened.map((upstream) => upstream.closed)).toEqual([false, true]);
    expect(pool.health('one').state).toBe('connected');
  });

  it('CFG-6 a changed server starts without the failures of the old one', async () => {
    const stage = setUp({ failures: 1 });
    stage.open = () => Promise.reject(unreachable());
    await expect(stage.pool.use(server(), nothing)).rejects.toThrow();
    expect(stage.pool.health('one').breaker).toBe('open');
    stage.open = async (target) => fakeUpstream(target);
    await stage.pool.use(server({ digest: 'new' }), nothing);
    expect(stage.pool.health('one')).toMatchObject({ state: 'connected', breaker: 'closed' });
  });

  it('CFG-6 retain closes what was removed, after its calls, and keeps what is unchanged', async () => {
    const { pool, opened, events, clock } = setUp();
    const two = stdioServer('two', { command: 'true' });
    const call = longCall(pool, server());
    await pool.use(two, nothing);
    pool.retain([two]);
    expect(events.at(-1)).toMatchObject({ server: 'one', to: 'disconnected' });
    expect(opened[0]?.closed).toBe(false);
    call.end();
    await call.answer;
    await clock.advance(0);
    expect(opened.map((upstream) => upstream.closed)).toEqual([true, false]);
    expect(pool.health('one').state).toBe('disconnected');
    pool.retain([{ ...two, enabled: false }]);
    await clock.advance(0);
    expect(opened[1]?.closed).toBe(true);
  });

  it('CFG-6 retain takes a new idle timeout to a connection that stays', async () => {
    const { pool, opened, clock } = setUp();
    await pool.use(server(), nothing);
    pool.retain([server({ idleTimeoutMs: 1000 })]);
    await clock.advance(1000);
    expect(opened[0]?.closed).toBe(true);
  });

  it('CONN-5 connected servers are pinged at the interval, others are not', async () => {
    const { pool, opened, clock } = setUp({ healthIntervalMs: 300_000 });
    await clock.advance(1_000_000);
    const keep = server({ idleTimeoutMs: 0 });
    await pool.use(keep, nothing);
    await clock.advance(299_999);
    expect(opened[0]?.pings).toBe(0);
    await clock.advance(1);
    expect(opened[0]?.pings).toBe(1);
    await clock.advance(600_000);
    expect(opened[0]?.pings).toBe(3);
    expect(pool.health('one').latencyMs).toBe(0);
    opened[0]?.lose(new Error('gone'));
    await clock.advance(600_000);
    expect(opened[0]?.pings).toBe(3);
    expect(clock.waiting).toBe(0);
  });

  it('CFG-6 CONN-5 another interval holds from the reload on, for connections that are open too', async () => {
    const options = { healthIntervalMs: 0 };
    const { pool, opened, clock } = setUp(options);
    const keep = server({ idleTimeoutMs: 0 });
    await pool.use(keep, nothing);
    options.healthIntervalMs = 300_000;
    pool.retain([keep]);
    await clock.advance(100_000);
    options.healthIntervalMs = 1000;
    pool.retain([keep]);
    await clock.advance(2000);
    expect(opened[0]?.pings).toBe(2);
    options.healthIntervalMs = 0;
    pool.retain([keep]);
    await clock.advance(10_000);
    expect(opened[0]?.pings).toBe(2);
    expect(clock.waiting).toBe(0);
  });

  it('CFG-6 CONN-5 a reload that leaves the interval alone does not put the next check off', async () => {
    const { pool, opened, clock } = setUp({ healthIntervalMs: 1000 });
    const keep = server({ idleTimeoutMs: 0 });
    await pool.use(keep, nothing);
    await clock.advance(900);
    pool.retain([keep]);
    await clock.advance(100);
    expect(opened[0]?.pings).toBe(1);
  });

  it('CFG-6 CONN-3 other limits of the breaker hold from the reload on, for servers that are known too', async () => {
    const options = { failures: 3 };
    const { pool } = setUp(options);
    const fail = (): Promise<void> =>
      expect(pool.use(server(), () => Promise.reject(unreachable()))).rejects.toThrow('refused');
    await fail();
    options.failures = 2;
    await fail();
    expect(pool.health('one').breaker).toBe('open');
  });

  it('CONN-5 a server that fails its check is in error, closed, and an event', async () => {
    const { pool, opened, events, clock } = setUp({ healthIntervalMs: 1000 });
    await pool.use(server(), nothing);
    opened[0]!.answerPing = () => Promise.reject(new Error('no answer'));
    await clock.advance(1000);
    expect(pool.health('one')).toMatchObject({ state: 'error', lastError: 'health check failed: no answer' });
    expect(events.at(-1)).toMatchObject({ from: 'connected', to: 'error' });
    expect(opened[0]?.closed).toBe(true);
  });

  it('CONN-5 a check never takes a running call down', async () => {
    const { pool, opened, clock } = setUp({ healthIntervalMs: 1000 });
    const first = longCall(pool, server());
    await clock.advance(1000);
    expect(opened[0]?.pings).toBe(0);
    first.end();
    await first.answer;
    let failPing!: (error: Error) => void;
    opened[0]!.answerPing = () => new Promise((_resolve, reject) => (failPing = reject));
    await clock.advance(1000);
    const second = longCall(pool, server());
    failPing(new Error('slow'));
    await clock.advance(0);
    expect(opened[0]?.closed).toBe(false);
    second.end('fine');
    await expect(second.answer).resolves.toBe('fine');
  });

  it('CONN-5 ping connects, measures, and closes what does not answer', async () => {
    const { pool, opened, clock } = setUp();
    const measured = pool.ping(server());
    await clock.advance(0);
    await expect(measured).resolves.toBe(0);
    opened[0]!.answerPing = () =>
      new Promise((resolve) => {
        clock.after(25, resolve);
      });
    const slow = pool.ping(server());
    await clock.advance(25);
    await expect(slow).resolves.toBe(25);
    expect(pool.health('one').latencyMs).toBe(25);
    opened[0]!.answerPing = () => Promise.reject(new ToolscoutError('TOOL_EXECUTION_TIMEOUT', 'no answer'));
    await expect(pool.ping(server())).rejects.toMatchObject({ code: 'TOOL_EXECUTION_TIMEOUT' });
    expect(pool.health('one').state).toBe('error');
    expect(opened[0]?.closed).toBe(true);
  });

  it('META-6 notifications of a server are events until it is retired', async () => {
    const { pool, opened, events, clock } = setUp();
    const call = longCall(pool, server());
    await clock.advance(0);
    opened[0]?.notify({ method: 'notifications/tools/list_changed', params: { a: 1 } });
    pool.retain([]);
    opened[0]?.notify({ method: 'notifications/message' });
    call.end();
    await call.answer;
    expect(events.filter((event) => event.type === 'notification')).toEqual([
      {
        type: 'notification',
        server: 'one',
        connection: 'shared',
        method: 'notifications/tools/list_changed',
        params: { a: 1 },
      },
    ]);
  });

  it('CONN-4 stderr is bounded, shown without secrets, and noise is counted', async () => {
    const { pool } = setUp({ hide: (text) => text.replaceAll('hunter2', '***') });
    pool.appendStderr('one', 'nobody has asked for it yet');
    expect(pool.stderr('one')).toBe('');
    await pool.use(server(), nothing);
    pool.appendStderr('one', `${'x'.repeat(100_000)}token hunter2`);
    pool.noteNoise('one');
    pool.noteNoise('one');
    expect(pool.stderr('one')).toHaveLength(64 * 1024 - 'hunter2'.length + '***'.length);
    expect(pool.stderr('one')).toMatch(/token \*\*\*$/);
    expect(pool.health('one').noise).toBe(2);
  });

  it('A33 errors are shown without secrets', async () => {
    const stage = setUp({ hide: (text) => text.replaceAll('hunter2', '***') });
    stage.open = () => Promise.reject(unreachable('bad password hunter2'));
    await expect(stage.pool.use(server(), nothing)).rejects.toThrow();
    expect(stage.pool.health('one').lastError).toBe('bad password ***');
    expect(JSON.stringify(stage.events)).not.toContain('hunter2');
  });

  it('EXEC-4 a caller who leaves does not wait for the connection', async () => {
    const stage = setUp();
    const { pool, clock } = stage;
    let connect!: (upstream: Upstream) => void;
    stage.open = () => new Promise((resolve) => (connect = resolve));
    const controller = new AbortController();
    let ran = false;
    const left = pool.use(server(), async () => (ran = true), controller.signal);
    const stayed = pool.use(server(), async () => 'here');
    await clock.advance(0);
    controller.abort();
    await expect(left).rejects.toMatchObject({ code: 'CANCELLED', delivered: false });
    await expect(pool.use(server(), nothing, controller.signal)).rejects.toMatchObject({ code: 'CANCELLED' });
    connect(fakeUpstream(server()));
    await expect(stayed).resolves.toBe('here');
    expect(ran).toBe(false);
  });

  it('CONN-3 a throwing listener does not affect others', async () => {
    const { pool, events } = setUp();
    const stop = pool.onEvent(() => {
      throw new Error('listener');
    });
    await pool.use(server(), nothing);
    expect(events).toHaveLength(1);
    stop();
  });
});

describe('closing the pool', () => {
  it('CONN-3 takes no new calls and lets the running ones finish', async () => {
    const { pool, opened, clock } = setUp();
    const call = longCall(pool, server());
    await clock.advance(0);
    const closed = pool.close({ drainMs: 5000 });
    await expect(pool.use(server(), nothing)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await clock.advance(1000);
    expect(opened[0]?.closed).toBe(false);
    call.end('done');
    await expect(call.answer).resolves.toBe('done');
    await closed;
    expect(opened[0]?.closed).toBe(true);
    expect(clock.waiting).toBe(0);
    await pool.close({ drainMs: 0 });
  });

  it('CONN-3 a call that waits for a token does not keep a closed pool in memory', async () => {
    const { pool, clock } = setUp();
    const slow = server({ rateLimit: { requestsPerSecond: 0.001, burstSize: 1 } });
    await pool.ping(slow);
    const waits = pool.ping(slow);
    waits.catch(nothing);
    await pool.close({ drainMs: 0 });
    await expect(waits).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(clock.waiting).toBe(0);
  });

  it('CONN-3 does not wait longer than its limit', async () => {
    const { pool, opened, clock } = setUp();
    longCall(pool, server());
    await clock.advance(0);
    const closed = pool.close({ drainMs: 5000 });
    await clock.advance(4999);
    expect(opened[0]?.closed).toBe(false);
    await clock.advance(1);
    await closed;
    expect(opened[0]?.closed).toBe(true);
  });

  it('CONN-4 ends a connect that is under way, and one that ignores it', async () => {
    const stage = setUp();
    const { pool, clock, opened } = stage;
    let late!: (upstream: Upstream) => void;
    stage.open = (target, signal) =>
      target.id === 'one'
        ? new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
        : new Promise((resolve) => (late = resolve));
    const first = pool.use(server(), nothing);
    const second = pool.use(stdioServer('two', { command: 'true' }), nothing);
    first.catch(() => undefined);
    second.catch(() => undefined);
    await clock.advance(0);
    let done = false;
    const closed = pool.close({ drainMs: 100 }).then(() => (done = true));
    await clock.advance(100);
    await expect(first).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(done).toBe(false);
    await clock.advance(10_000);
    await closed;
    late(fakeUpstream(server()));
    await expect(second).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await clock.advance(0);
    expect(opened.every((upstream) => upstream.closed)).toBe(true);
  });

  it('CONN-3 a connection that cannot be closed does not stop the others', async () => {
    const { pool, opened, clock } = setUp();
    await pool.use(server(), nothing);
    await pool.use(stdioServer('two', { command: 'true' }), nothing);
    opened[0]!.close = () => Promise.reject(new Error('stuck'));
    const closed = pool.close({ drainMs: 0 });
    await clock.advance(0);
    await closed;
    expect(opened[1]?.closed).toBe(true);
    expect(pool.health('one').state).toBe('disconnected');
  });
});
