import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { stdioServer } from '../../../test/support/test-server.js';
import type { JsonObject } from '../../kernel/json.js';
import { silentLog } from '../../kernel/log.js';
import { EVERY_CAPABILITY, type Host } from '../../model/host.js';
import type { Server } from '../../model/server.js';
import type { Upstream } from '../../model/upstream.js';
import type { ConnectionKey } from '../connection-key.js';
import { createPool } from './pool.js';

const host = (id: string, capabilities: JsonObject = {}): Host => ({
  id,
  era: 'legacy',
  capabilities,
  request: () => Promise.reject(new Error('not asked here')),
  notify: () => {},
});

function fakeUpstream(server: Server, era: 'legacy' | 'modern'): Upstream {
  const closers = new Set<(reason: Error | undefined) => void>();
  let closed = false;
  return {
    server: server.id,
    era,
    protocolVersion: '1',
    info: { name: server.id, version: '1' },
    capabilities: {},
    get closed() {
      return closed;
    },
    request: () => Promise.resolve({}),
    tell: () => {},
    ping: () => Promise.resolve(),
    onNotification: () => () => {},
    onClose: (listener) => (closers.add(listener), () => closers.delete(listener)),
    close() {
      closed = true;
      for (const closer of closers) closer(undefined);
      return Promise.resolve();
    },
  };
}

function setUp(era: 'legacy' | 'modern' | 'both' = 'legacy') {
  const clock = createFakeClock();
  const opened: Array<{ key: ConnectionKey; upstream: Upstream }> = [];
  let next = era;
  const pool = createPool({
    open: async (each, _signal, key) => {
      const upstream = fakeUpstream(each, next === 'both' ? (key.prefers ?? 'modern') : next);
      opened.push({ key, upstream });
      return upstream;
    },
    clock,
    log: silentLog,
    healthIntervalMs: 0,
    breaker: { failures: 3, resetMs: 1000 },
    random: () => 0.5,
  });
  const server = stdioServer('one', { command: 'x' });
  const use = (by?: Host, options: object = {}): Promise<Upstream> =>
    pool.use(server, (upstream) => Promise.resolve(upstream), undefined, { host: by, ...options });
  return { clock, pool, opened, server, use, become: (other: typeof era) => (next = other) };
}

describe('connections of a pool by key', () => {
  it('S8 a legacy server has a connection for every host id, each declaring what that host declared', async () => {
    const { use, opened } = setUp();
    const ann = host('ann', { roots: {} });
    const [shared, hers, again] = [await use(), await use(ann), await use(ann)];
    expect(hers).toBe(again);
    expect(shared).not.toBe(hers);
    expect(opened.map(({ key }) => key.capabilities)).toEqual([EVERY_CAPABILITY, { roots: {} }]);
  });

  it('CONN-3 a modern server has one connection for all hosts', async () => {
    const { use, opened } = setUp('modern');
    const all = await Promise.all([use(host('ann', { roots: {} })), use(host('bob')), use()]);
    expect(new Set(all).size).toBe(1);
    expect(opened).toHaveLength(1);
  });

  it('CONN-1 the only host is spoken for in its own era, where a connection must be made', async () => {
    const { use, opened } = setUp('both');
    const ann = { ...host('ann'), sole: true };
    const hers = await use(ann);
    expect(hers.era).toBe('legacy');
    const shared = await use();
    expect([shared.era, await use(ann)]).toEqual(['modern', hers]);
    await hers.close();
    // What is open is used: another start would only cost time.
    expect(await use(ann)).toBe(shared);
    await shared.close();
    expect((await use(ann)).era).toBe('legacy');
    expect(opened).toHaveLength(3);
    const other = setUp('both');
    expect((await other.use(host('bob'))).era).toBe('modern');
  });

  it('CONN-1 META-6 the only host gets a connection of its own era if it can be asked, whatever is open', async () => {
    const { use, opened } = setUp('both');
    const ann = { ...host('ann', { elicitation: {} }), sole: true };
    const shared = await use();
    const hers = await use(ann);
    expect([shared.era, hers.era]).toEqual(['modern', 'legacy']);
    expect(await use(ann)).toBe(hers);
    expect(opened).toHaveLength(2);
    const { use: using, opened: made } = setUp('modern');
    const only = await using();
    expect([await using(ann), await using(ann)]).toEqual([only, only]);
    // One attempt shows that the server refuses the older era.
    expect(made).toHaveLength(2);
    expect(made.filter(({ upstream }) => !upstream.closed)).toHaveLength(1);
  });

  it('CONN-1 a modern-only server is shared with its only host', async () => {
    const { use, opened } = setUp('modern');
    const ann = { ...host('ann'), sole: true };
    const hers = await use(ann);
    expect(await use()).toBe(hers);
    expect(await use(ann)).toBe(hers);
    expect(opened).toHaveLength(1);
  });

  it('CONN-3 a connection that turns out to be shared does not replace the existing one', async () => {
    const { use, opened, pool } = setUp('both');
    const shared = await use();
    await shared.close();
    const { opened: made, use: using, become } = setUp('both');
    const ann = { ...host('ann'), sole: true };
    await (await using()).close();
    become('modern');
    const [hers, all] = await Promise.all([using(ann), using()]);
    expect(hers).toBe(all);
    expect(made.filter(({ upstream }) => !upstream.closed)).toHaveLength(1);
    await pool.close({ drainMs: 0 });
    expect(opened).toHaveLength(1);
  });

  it('CONN-1 a server that was modern and is no longer gets keys; no host gets the connection of another', async () => {
    const { use, opened, become } = setUp('modern');
    const first = await use(host('ann', { roots: {} }));
    await first.close();
    become('legacy');
    const settled = await Promise.allSettled([use(host('ann', { roots: {} })), use(host('bob'))]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    const bobs = await use(host('bob'));
    expect(opened.at(-1)).toMatchObject({ key: { capabilities: {} }, upstream: bobs });
  });

  it('CONN-3 the connections of a host that has gone end after their calls', async () => {
    const { use, pool, server } = setUp();
    const ann = host('ann');
    const shared = await use();
    let finish = (): void => {};
    const running = pool.use(server, () => new Promise<void>((resolve) => (finish = resolve)), undefined, {
      host: ann,
    });
    await Promise.resolve();
    const hers = await use(ann);
    pool.release(ann);
    expect(hers.closed).toBe(false);
    finish();
    await running;
    expect(hers.closed).toBe(true);
    expect(shared.closed).toBe(false);
    expect(pool.health('one').state).toBe('connected');
  });

  it('DISC-1 a connection that was only looked at ends at once; one that served a call stays', async () => {
    const { use, clock } = setUp();
    const looked = await use(undefined, { brief: true });
    await clock.advance(1001);
    expect(looked.closed).toBe(true);
    const used = await use(undefined, { brief: true });
    await use();
    await clock.advance(5000);
    expect(used.closed).toBe(false);
  });

  it('S8 connections are bounded: the idle one is closed, and when all are busy a new one is refused', async () => {
    const { use, pool, server, opened } = setUp();
    for (let at = 0; at < 32; at++) await use(host(`h${at}`));
    await use(host('one more'));
    expect(opened[0]?.upstream.closed).toBe(true);
    expect(opened[1]?.upstream.closed).toBe(false);
    const busy = Array.from({ length: 32 }, (_, at) =>
      pool.use(server, () => new Promise(() => {}), undefined, { host: host(at === 0 ? 'one more' : `h${at}`) }),
    );
    await Promise.resolve();
    await expect(use(host('too many'))).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringMatching(/^32 hosts use ".+", the most that may use one server at once\.$/) as string,
      delivered: false,
    });
    expect(busy).toHaveLength(32);
  });
});
