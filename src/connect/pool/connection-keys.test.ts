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

type Answer = (era: 'legacy' | 'modern') => JsonObject;

function fakeUpstream(server: Server, era: 'legacy' | 'modern', isDual: boolean | undefined, answer: Answer): Upstream {
  const closers = new Set<(reason: Error | undefined) => void>();
  let closed = false;
  return {
    server: server.id,
    era,
    ...(isDual !== undefined && { isDual }),
    protocolVersion: '1',
    info: { name: server.id, version: '1' },
    capabilities: {},
    get closed() {
      return closed;
    },
    request: () => Promise.resolve(answer(era)),
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

type Spoken = 'legacy' | 'modern' | 'both' | 'failing';

function setUp(era: Spoken = 'legacy', isAsking = true, answer: Answer = () => ({})) {
  const clock = createFakeClock();
  const opened: Array<{ key: ConnectionKey; upstream: Upstream }> = [];
  let next = era;
  const pool = createPool({
    open: async (each, _signal, key) => {
      if (next === 'failing') throw new Error('no start');
      const isTried = key.prefers !== undefined && next !== 'legacy';
      const spoken = next === 'both' ? (key.prefers ?? 'modern') : next;
      const upstream = fakeUpstream(each, spoken, isTried ? next === 'both' : undefined, answer);
      opened.push({ key, upstream });
      return upstream;
    },
    clock,
    log: silentLog,
    healthIntervalMs: 0,
    asking: { has: () => isAsking, note: () => {}, unable: () => undefined, noteUnable: () => {} },
    breaker: { failures: 3, resetMs: 1000 },
    random: () => 0.5,
  });
  const server = stdioServer('one', { command: 'x' });
  const use = (by?: Host, options: object = {}): Promise<Upstream> =>
    pool.use(server, (upstream) => Promise.resolve(upstream), undefined, { host: by, ...options });
  return { clock, pool, opened, server, use, become: (other: Spoken) => (next = other) };
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

  it.each([
    ['legacy', 'legacy'],
    ['of both eras', 'both'],
  ] as const)('CONN-3 a call ends the process of a %s server that was only asked for its list', async (_, era) => {
    const { use, opened, pool } = setUp(era);
    const states: string[] = [];
    pool.onEvent((event) => event.type === 'state' && states.push(event.to));
    const listed = await use(undefined, { brief: true });
    const hers = await use({ ...host('ann', { elicitation: {} }), sole: true });
    expect(hers).not.toBe(listed);
    expect(listed.closed).toBe(true);
    expect(opened.map(({ upstream }) => upstream.closed)).toEqual([true, false]);
    expect(opened[1]!.key.capabilities).toEqual({ elicitation: {} });
    expect(states).toEqual(['connected']);
    // What is asked without a host later has a connection again, and hers stays.
    expect(await use(undefined, { brief: true })).not.toBe(listed);
    expect(hers.closed).toBe(false);
  });

  it('CONN-3 NEG-7 a call leaves what others use, what was called before, and the connection of an eager server', async () => {
    const { use, pool, server } = setUp();
    let finish = (): void => {};
    const busy = pool.use(
      server,
      (upstream) => new Promise<Upstream>((resolve) => (finish = () => resolve(upstream))),
      undefined,
      { brief: true },
    );
    await use(host('ann'));
    finish();
    expect((await busy).closed).toBe(false);
    await use();
    await use(host('bob'));
    expect((await busy).closed).toBe(false);
    // A list that is read for a host starts nothing that ends others.
    await use(host('eve'), { brief: true });
    await use(host('zoe'), { brief: true });
    expect(await use(host('eve'), { brief: true })).toHaveProperty('closed', false);

    const eager = setUp();
    const kept = { ...eager.server, eager: true };
    const shared = await eager.pool.use(kept, (upstream) => Promise.resolve(upstream), undefined, { brief: true });
    await eager.pool.use(kept, () => Promise.resolve(), undefined, { host: host('ann') });
    expect(shared.closed).toBe(false);
  });

  it('CONN-3 a failed start after a list leaves the server in error, and the next call starts it again', async () => {
    const { use, pool, server, become, clock } = setUp();
    await use(undefined, { brief: true });
    become('failing');
    await expect(use(host('ann'))).rejects.toThrow('no start');
    expect(pool.health(server.id).state).toBe('error');
    become('legacy');
    await clock.advance(60_000);
    expect((await use(host('ann'))).closed).toBe(false);
    expect(pool.health(server.id).state).toBe('connected');
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

  it('CONN-1 CONN-3 META-6 hosts of the older era that can be asked share a connection of it, until the server asks', async () => {
    const { use, opened, pool, server } = setUp('both', false);
    const session = (id: string): Host => ({ ...host(id, { elicitation: {} }), alike: 'same' });
    const [ann, bob, mute] = [session('ann'), session('bob'), { ...host('mute'), alike: 'other' }];
    const shared = await use();
    const theirs = await use(ann);
    expect([shared.era, theirs.era]).toEqual(['modern', 'legacy']);
    expect([await use(bob), await use(mute), await use({ ...ann, era: 'modern' })]).toEqual([theirs, shared, shared]);
    expect(opened.map(({ key }) => [key.id, key.owner])).toEqual([
      ['shared', undefined],
      ['group:same', undefined],
    ]);
    pool.noteQuestion(server);
    expect(theirs.closed).toBe(true);
    const [hers, his] = [await use(ann), await use(bob)];
    expect(opened.slice(2).map(({ key }) => key.id)).toEqual(['host:ann', 'host:bob']);
    expect([hers.era, his.era, await use(mute)]).toEqual(['legacy', 'legacy', shared]);
    // Before anything is known of a server it may be one of the older era alone, whose hosts must not share.
    const cold = setUp('both', false);
    const first = await cold.use(ann);
    expect([await cold.use(ann), (await cold.use(bob)) === first]).toEqual([first, false]);
    expect(cold.opened.map(({ key }) => key.id)).toEqual(['host:ann', 'group:same']);
    const old = setUp('legacy', false);
    await old.use(ann);
    await old.use(bob);
    expect(old.opened.map(({ key }) => key.id)).toEqual(['host:ann', 'host:bob']);
  });

  it('META-6 EXEC-4 a server that cannot ask in an era uses the other one from then on; what may run twice is sent again', async () => {
    const unable = (text: string): JsonObject => ({ isError: true, content: [{ type: 'text', text }] });
    const inOlder = unable('elicitation via server-initiated requests is unavailable on 2026-07-28 connections.');
    const inNewer = unable('InputRequiredResult requires negotiated protocol version 2026-07-28 or newer');
    const asked = { elicitation: {} };
    const modern = { ...host('ann', asked), era: 'modern' as const };
    const session = { ...host('bob', asked), alike: 'same' };
    for (const [first, other, failure] of [
      [modern, 'legacy', inOlder],
      [session, 'modern', inNewer],
    ] as const) {
      const answer: Answer = (era) => (era === other ? { era } : failure);
      for (const mayRepeat of [undefined, () => true]) {
        const { pool, server, use, opened } = setUp('both', false, answer);
        await use();
        const send = (by: Host): Promise<JsonObject> =>
          pool.call(server, { method: 'tools/call', params: {}, mayRepeat }, { host: by });
        const sent = send(first);
        if (mayRepeat) expect(await sent).toEqual({ era: other });
        else await expect(sent).rejects.toMatchObject({ code: 'TOOL_EXECUTION_ERROR' });
        for (const by of [modern, session]) expect(await send(by)).toEqual({ era: other });
        // A host that cannot be asked is not affected, and gets what the server said.
        expect(await send(host('mute'))).toEqual(answer('modern'));
        expect(opened.filter(({ upstream }) => upstream.era === 'modern')).toHaveLength(1);
      }
    }
    // A server of one era has no other: its answer is handed on.
    const { pool, server, use } = setUp('modern', false, () => inOlder);
    await use(session);
    expect(await pool.call(server, { method: 'tools/call', params: {} }, { host: modern })).toBe(inOlder);
  });

  it('S8 CONN-3 where no place is left for the era of a host, it uses the connection that all share', async () => {
    const { use, pool, server, opened } = setUp('both');
    const shared = await use();
    const busy = Array.from({ length: 31 }, (_, at) =>
      pool.use(server, () => new Promise(() => {}), undefined, { host: host(`h${at}`, { roots: {} }) }),
    );
    await expect.poll(() => opened.length).toBe(32);
    void pool.use(server, () => new Promise(() => {}), undefined, {});
    expect(await use(host('one more', { roots: {} }))).toBe(shared);
    expect([busy.length, opened.length]).toEqual([31, 32]);
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
      message: expect.stringMatching(/^".+" already serves 32 hosts, the limit for one server\.$/) as string,
      delivered: false,
    });
    expect(busy).toHaveLength(32);
  });
});
