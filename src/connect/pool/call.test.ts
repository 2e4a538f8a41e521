import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { stdioServer } from '../../../test/support/test-server.js';
import { ToolscoutError, type ErrorDetails } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import { silentLog } from '../../kernel/log.js';
import { RetryConfig } from '../../model/config.js';
import type { Host } from '../../model/host.js';
import type { Server } from '../../model/server.js';
import type { ServerRequest, Upstream, UpstreamRequest } from '../../model/upstream.js';
import { createPool } from './pool.js';

const lost = (details?: ErrorDetails): ToolscoutError => new ToolscoutError('SERVER_CONNECTION_ERROR', 'lost', details);
const late = (): ToolscoutError => new ToolscoutError('TOOL_EXECUTION_TIMEOUT', 'late');

const request: ServerRequest = { method: 'tools/call', params: { name: 'read' } };
const always = { ...request, mayRepeat: () => true };

interface Sent {
  readonly at: number;
  readonly method: string;
  readonly options: UpstreamRequest | undefined;
}

/** A pool over connections that answer what a test says, one answer for each request. */
function setUp(answers: ReadonlyArray<JsonObject | Error> = [], overrides: Partial<Server> = {}) {
  const clock = createFakeClock();
  const server: Server = {
    ...stdioServer('files', { command: 'true' }),
    timeoutMs: 30_000,
    totalTimeoutMs: 600_000,
    retry: RetryConfig.parse({}),
    ...overrides,
  };
  const sent: Sent[] = [];
  let opened = 0;
  let closed = 0;
  const open = async (): Promise<Upstream> => {
    opened++;
    return {
      server: server.id,
      era: 'legacy',
      protocolVersion: '2025-06-18',
      info: { name: server.id, version: '1' },
      capabilities: { logging: {} },
      closed: false,
      async request(method: string, _params: JsonObject | undefined, options: UpstreamRequest | undefined) {
        const answer = answers[sent.length] ?? { content: [] };
        sent.push({ at: clock.monotonic(), method, options });
        if (answer instanceof Error) throw answer;
        return answer;
      },
      onNotification: () => () => {},
      onClose: () => () => {},
      close: async () => void closed++,
    } as unknown as Upstream;
  };
  const pool = createPool({
    open,
    clock,
    log: silentLog,
    random: () => 0.5,
    healthIntervalMs: 0,
    breaker: { failures: 2, resetMs: 30_000 },
  });
  return {
    pool,
    server,
    clock,
    sent,
    open,
    get opened() {
      return opened;
    },
    get closed() {
      return closed;
    },
    /** Runs something to its end, however long it waits; answers what it answers or throws. */
    async end<T>(work: Promise<T>): Promise<T> {
      work.catch(() => {});
      await clock.advance(700_000);
      return work;
    },
  };
}

const oneASecond = { rateLimit: { requestsPerSecond: 1, burstSize: 1 } };

describe('pool.call', () => {
  it('CONN-7 a call whose turn comes too late is refused at once, before anything is connected', async () => {
    const stage = setUp([], { ...oneASecond, timeoutMs: 999 });
    await stage.pool.call(stage.server, request);
    stage.pool.disconnect('files');
    const attempts: number[] = [];
    const refused = stage.pool.call(stage.server, { ...request, onAttempt: (attempt) => attempts.push(attempt) });
    await expect(refused).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 1000, delivered: false });
    expect(attempts).toEqual([]);
    expect(stage.opened).toBe(1);
  });

  it('CONN-7 calls beyond the rate limit are sent in turn, within their time limits', async () => {
    const { pool, server, sent, end } = setUp([], { ...oneASecond, timeoutMs: 2000 });
    const waited: number[] = [];
    const watched = { ...request, onWaited: (ms: number) => waited.push(ms) };
    const ends = await end(Promise.allSettled([1, 2, 3, 4].map(() => pool.call(server, watched))));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
    expect(sent.map(({ at }) => at)).toEqual([0, 1000, 2000]);
    expect(waited).toEqual([1000, 2000]);
    // Without a time limit of its own, a call has the server's whole limit for the answer.
    expect(sent.map(({ options }) => options?.timeoutMs)).toEqual([2000, 2000, 2000]);
  });

  it('CONN-7 EXEC-1 a time limit that the caller chose holds for the wait and the answer together', async () => {
    const { pool, server, sent, end } = setUp([], oneASecond);
    const calls = [5000, 1500, 900].map((timeoutMs) => pool.call(server, request, { timeoutMs }));
    const ends = await end(Promise.allSettled(calls));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(sent.map(({ options }) => options?.timeoutMs)).toEqual([5000, 500]);
    // The caller can raise a limit that it chose; another one is the server's.
    expect(sent.map(({ options }) => options?.ifLate)).toEqual([
      { kind: 'ask-for-less', limit: 'call' },
      { kind: 'ask-for-less', limit: 'call' },
    ]);
  });

  it('CONN-7 the total time limit of the server bounds the wait', async () => {
    const { pool, server, end } = setUp([], { ...oneASecond, totalTimeoutMs: 900 });
    await pool.call(server, request);
    await expect(end(pool.call(server, request))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('EXEC-1 CONN-7 a call that is cancelled while it waits is not sent, and frees its place', async () => {
    const { pool, server, sent, end } = setUp([], oneASecond);
    await pool.call(server, request);
    const leaving = new AbortController();
    const left = pool.call(server, request, { signal: leaving.signal });
    const stays = pool.call(server, request);
    leaving.abort('the host went away');
    await expect(left).rejects.toMatchObject({ code: 'CANCELLED', delivered: false });
    await end(stays);
    expect(sent.map(({ at }) => at)).toEqual([0, 1000]);
    const gone = { signal: AbortSignal.abort('before') };
    await expect(pool.call(server, request, gone)).rejects.toMatchObject({ code: 'CANCELLED', delivered: false });
  });

  it('CFG-6 CONN-7 a call that waited goes to the server as it is configured then', async () => {
    const { pool, server, clock, sent } = setUp([], oneASecond);
    await pool.call(server, request);
    let current: Server = server;
    const waits = pool.call(server, { ...request, recheck: () => current });
    current = { ...server, digest: 'changed', timeoutMs: 5 };
    pool.retain([current]);
    await clock.advance(1000);
    await waits;
    expect(sent).toHaveLength(2);
    expect(pool.health('files').state).toBe('connected');
    const refused = pool.call(current, {
      ...request,
      timeoutMs: 5000,
      recheck: () => {
        throw new ToolscoutError('SERVER_NOT_FOUND', 'gone');
      },
    });
    refused.catch(() => {});
    pool.retain([]);
    await expect(refused).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
    expect(sent).toHaveLength(2);
  });

  it('CONN-3 CONN-7 closing lets the calls that wait have their turn within the drain, and refuses the others', async () => {
    const { pool, server, clock, sent } = setUp([], oneASecond);
    const calls = Promise.allSettled([1, 2, 3].map(() => pool.call(server, request)));
    await clock.advance(0);
    const closed = pool.close({ drainMs: 1500 });
    await expect(pool.call(server, request)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await clock.advance(1500);
    await closed;
    expect(
      (await calls).map((end) => (end.status === 'rejected' ? (end.reason as ToolscoutError).code : 'sent')),
    ).toEqual(['sent', 'sent', 'SHUTTING_DOWN']);
    expect(sent.map(({ at }) => at)).toEqual([0, 1000]);
    expect(clock.waiting).toBe(0);
  });

  it('CONN-7 each retry takes a token, and waits for one like any other retry', async () => {
    const slow = { rateLimit: { requestsPerSecond: 0.25, burstSize: 1 } };
    const { pool, server, sent, end } = setUp([lost({ delivered: false })], slow);
    await end(pool.call(server, request));
    // After one second there is a quarter of a token: the retry waits for the rest of it.
    expect(sent.map(({ at }) => at)).toEqual([0, 4000]);
  });

  it('A43 the rate limit and the circuit breaker count for the calling principal', async () => {
    const { pool, server } = setUp([late(), late()]);
    const alice = { principal: 'alice' };
    await expect(pool.call(server, request, alice)).rejects.toThrow('late');
    await expect(pool.call(server, request, alice)).rejects.toThrow('late');
    await expect(pool.call(server, request, alice)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' });
    await expect(pool.call(server, request, { principal: 'bob' })).resolves.toEqual({ content: [] });
  });

  it('CONN-3 the rate limit is asked before the circuit breaker', async () => {
    const { pool, server } = setUp([late(), late()], {
      timeoutMs: 500,
      rateLimit: { requestsPerSecond: 1, burstSize: 2 },
    });
    await expect(pool.call(server, request, { principal: 'alice' })).rejects.toThrow('late');
    await expect(pool.call(server, request, { principal: 'alice' })).rejects.toThrow('late');
    await expect(pool.call(server, request, { principal: 'alice' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('R5 what may have arrived is sent again only where that is allowed', async () => {
    const once = setUp([lost()]);
    await expect(once.end(once.pool.call(once.server, request))).rejects.toThrow('lost');
    expect(once.sent).toHaveLength(1);
    const again = setUp([lost()]);
    await again.end(again.pool.call(again.server, always));
    expect(again.sent.map(({ at }) => at)).toEqual([0, 1000]);
  });

  it('CONN-7 all attempts share one deadline, after which nothing is sent again', async () => {
    const { pool, server, sent, end } = setUp([lost(), lost()], { totalTimeoutMs: 900 });
    await expect(end(pool.call(server, always))).rejects.toThrow('lost');
    expect(sent.map(({ at }) => at)).toEqual([0, 1000]);
    expect(sent.map(({ options }) => options?.deadline)).toEqual([900, 900]);
  });

  it('CONN-7 the time limit is that of the caller, else of the request, else of the server', async () => {
    const { pool, server, sent } = setUp();
    await pool.call(server, { ...request, timeoutMs: 90_000 }, { timeoutMs: 5 });
    await pool.call(server, { ...request, timeoutMs: 90_000 });
    await pool.call(server, request);
    expect(sent.map(({ options }) => options?.timeoutMs)).toEqual([5, 90_000, 30_000]);
  });

  it('EXEC-1 a call that was cancelled while its server was connected, is not sent', async () => {
    const { pool, server, sent } = setUp();
    const controller = new AbortController();
    const onAttempt = (): void => controller.abort('left');
    const cancelled = pool.call(server, { ...request, onAttempt }, { signal: controller.signal });
    await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED', delivered: false });
    expect(sent).toEqual([]);
  });

  it('META-6 a legacy server gets the log level of its host once, before the first call', async () => {
    const { pool, server, sent } = setUp();
    const host = { id: 'h', era: 'legacy', capabilities: {}, logLevel: 'debug' } as unknown as Host;
    await pool.call(server, request, { host });
    await pool.call(server, request, { host });
    await pool.setLogLevel({ ...host, logLevel: 'error' });
    const methods = ['logging/setLevel', 'tools/call', 'tools/call', 'logging/setLevel'];
    expect(sent.map(({ method }) => method)).toEqual(methods);
  });
});

describe('pool.access', () => {
  it('CONN-7 waits for the rate limit of the terms, not of the configuration', async () => {
    const { pool, server, clock } = setUp();
    const { pace } = pool.access(server, { rateLimit: { requestsPerSecond: 2, burstSize: 1 } });
    await pace();
    let isServed = false;
    const second = pace().then(() => (isServed = true));
    await clock.advance(499);
    expect(isServed).toBe(false);
    await clock.advance(1);
    await second;
  });

  it('CONN-7 a task is run again by the policy of the terms, while that makes sense', async () => {
    const { pool, server, end } = setUp();
    let runs = 0;
    const failing = async (): Promise<never> => {
      runs++;
      throw lost();
    };
    const { again } = pool.access(server, { retry: { maxRetries: 1 } });
    await expect(end(again(failing))).rejects.toThrow('lost');
    expect(runs).toBe(2);
    await expect(end(again(failing, () => false))).rejects.toThrow('lost');
    expect(runs).toBe(3);
  });

  it('CONN-6 a connection of its own is closed after its task, whatever became of it', async () => {
    const stage = setUp([lost()]);
    const { use, isOpen } = stage.pool.access(stage.server, { open: stage.open });
    await expect(use((upstream) => upstream.request('tools/list', {}))).rejects.toThrow('lost');
    await use((upstream) => upstream.request('tools/list', {}));
    expect([stage.opened, stage.closed]).toEqual([2, 2]);
    expect(isOpen('host:1')).toBe(false);
    expect(stage.pool.health('files').state).toBe('disconnected');
  });

  it('CONN-6 a cancelled task ends the opening of its own connection', async () => {
    const { pool, server } = setUp();
    const controller = new AbortController();
    const open = (_server: Server, signal: AbortSignal): Promise<Upstream> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const { use } = pool.access(server, { signal: controller.signal, open });
    const task = use(() => Promise.resolve());
    controller.abort(new Error('left'));
    await expect(task).rejects.toThrow('left');
  });
});
