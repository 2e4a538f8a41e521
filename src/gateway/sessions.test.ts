import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.js';
import { createAudit } from '../audit/index.js';
import { sha256 } from '../kernel/hash.js';
import { silentLog } from '../kernel/log.js';
import type { Store } from '../model/store.js';
import { createMemoryStore } from '../store/index.js';
import { createSessions } from './sessions.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';

const HOUR = 3_600_000;
const ADA = { by: 'key', principal: 'ada', scopes: ['read', 'call'], servers: ['old'], credential: 'key:1' } as const;

function open(clock: FakeClock = createFakeClock(), store: Store = createMemoryStore({ clock })) {
  const audit = createAudit({ store, clock, log: silentLog, redact: (value) => value });
  return { clock, store, sessions: createSessions({ store, clock, log: silentLog, audit }) };
}

/** Leaves as many more of one that is kept in the store as another process might have: each that is opened here looks at all. */
async function repeat(store: Store, space: string, token: string, times: number): Promise<void> {
  const { value, expiresAt } = (await store.get(space, sha256(token)))!;
  for (let each = 0; each < times; each++) await store.put(space, sha256(`${token} ${each}`), value, { expiresAt });
}

describe('sessions', COMPUTES_LONG, () => {
  it('STUDIO-6 finds a session by its token; the store has only a hash of it', async () => {
    const { sessions, store } = open();
    const token = await sessions.open(ADA);
    const found = await sessions.find(token);
    expect(found).toMatchObject({ ...ADA, id: sha256(token) });
    expect(sessions.isLive(found!.id)).toBe(true);
    const kept = JSON.stringify(await store.list('sessions'));
    expect(kept).toContain(sha256(token));
    expect(kept).not.toContain(token);
    expect((await store.audit({ kind: 'session-open' }))[0]).toMatchObject({ principal: 'ada', detail: { by: 'key' } });
    for (const other of ['', 'x'.repeat(43), `${token}x`, sha256(token)]) {
      expect(await sessions.find(other)).toBeUndefined();
    }
  });

  it('STUDIO-6 it ends after an hour without a request, and after twelve hours in any case', async () => {
    const { sessions, clock } = open();
    const idle = await sessions.open(ADA);
    const busy = await sessions.open(ADA);
    for (let hour = 0; hour < 24; hour++) {
      await clock.advance(HOUR / 2);
      const found = await sessions.find(busy);
      expect(found === undefined, `${hour}`).toBe(hour >= 23);
    }
    expect(await sessions.find(idle)).toBeUndefined();
    const brief = await sessions.open({ ...ADA, until: clock.now() + 1000 });
    const { id } = (await sessions.find(brief))!;
    await clock.advance(1000);
    expect([await sessions.find(brief), sessions.isLive(id)]).toEqual([undefined, false]);
  });

  it('STUDIO-6 sign-out ends it at once, also for a request that has read the store already', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let isSlow = false;
    const slow: Store = {
      ...store,
      async get(space, key) {
        const isHeld = isSlow && space === 'sessions';
        const entry = await store.get(space, key);
        if (isHeld) await held;
        return entry;
      },
    };
    const { sessions } = open(clock, slow);
    const token = await sessions.open(ADA);
    const { id } = (await sessions.find(token))!;
    const ended: string[] = [];
    sessions.onEnd((each) => ended.push(each));
    isSlow = true;
    const racing = sessions.find(token);
    isSlow = false;
    await sessions.end(token);
    release();
    expect([await racing, sessions.isLive(id), ended]).toEqual([undefined, false, [id]]);
    expect(await sessions.find(token)).toBeUndefined();
    expect(await store.audit({ kind: 'session-end' })).toHaveLength(1);
    await sessions.end(token);
    expect(await store.audit({ kind: 'session-end' })).toHaveLength(1);
  });

  it('STUDIO-6 a session that was ended is not brought back by a request that notes that it was seen', async () => {
    const { sessions, clock, store } = open();
    const token = await sessions.open(ADA);
    await clock.advance(HOUR / 2);
    const put = store.put.bind(store);
    store.put = async (space, key, value, options) => {
      if (space === 'sessions') await store.delete('sessions', key);
      return put(space, key, value, options);
    };
    await sessions.find(token);
    expect(await store.list('sessions')).toEqual([]);
  });

  it('STUDIO-6 an invalid stored session signs no one in, and an unreadable field grants nothing', async () => {
    const { sessions, store, clock } = open();
    const token = 'a'.repeat(43);
    const until = clock.now() + HOUR;
    for (const value of [
      'text',
      {},
      { by: 'guess', principal: 'x', until, seenAt: until },
      { by: 'key', principal: 'x', until: 'soon', seenAt: until },
    ]) {
      await store.put('sessions', sha256(token), value);
      expect(await sessions.find(token)).toBeUndefined();
    }
    await store.put('sessions', sha256(token), {
      by: 'key',
      principal: 'x',
      scopes: ['root', 7, 'read'],
      servers: 'all',
      until,
      seenAt: clock.now(),
    });
    expect(await sessions.find(token)).toMatchObject({ scopes: ['read'], servers: [] });
    await store.put('sessions', sha256(token), { by: 'code', principal: 'x', until, seenAt: clock.now() });
    expect(await sessions.find(token)).toMatchObject({ scopes: [] });
  });

  it('STUDIO-6 A43 sessions do not pile up: what has expired goes, then the oldest', async () => {
    const { sessions, clock, store } = open();
    const first = await sessions.open(ADA);
    await sessions.find(first);
    await clock.advance(2 * HOUR);
    const old = await sessions.open(ADA);
    expect(await store.list('sessions')).toHaveLength(1);
    await clock.advance(1);
    await repeat(store, 'sessions', await sessions.open(ADA), 900);
    for (let each = 0; each < 99; each++) await sessions.open(ADA);
    expect(await store.list('sessions')).toHaveLength(1000);
    expect(await sessions.find(old)).toBeUndefined();
  });

  it('STUDIO-6 A43 a principal that opens many sessions ends its own, and none of others', async () => {
    const { sessions, clock, store } = open();
    const root = await sessions.open({ ...ADA, principal: 'root' });
    await clock.advance(1);
    const first = await sessions.open(ADA);
    await clock.advance(1);
    await repeat(store, 'sessions', await sessions.open(ADA), 900);
    for (let each = 0; each < 99; each++) await sessions.open(ADA);
    expect(await store.list('sessions')).toHaveLength(1000);
    expect([await sessions.find(root), await sessions.find(first)]).toEqual([
      expect.objectContaining({ principal: 'root' }),
      undefined,
    ]);
  });

  it('STUDIO-6 another process over the same store is notified of the end', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    const told: Array<(space: string) => void> = [];
    const watched: Store = { ...store, onChange: (listener) => (told.push(listener), () => undefined) };
    const { sessions: here } = open(clock, watched);
    const { sessions: there } = open(clock, store);
    const [kept, gone] = [await there.open(ADA), await there.open(ADA)];
    const ids = [(await here.find(kept))!.id, (await here.find(gone))!.id];
    const ended: string[] = [];
    here.onEnd((id) => ended.push(id));
    await there.end(gone);
    for (const tell of told) tell('tools');
    for (const tell of told) tell('sessions');
    await expect.poll(() => ended).toEqual([ids[1]]);
    expect(ids.map((id) => here.isLive(id))).toEqual([true, false]);
    here.close();
  });

  it('STUDIO-6 A43 many tickets of one kind push out none of another', async () => {
    const { sessions, clock, store } = open();
    const code = await sessions.issueTicket('code', { a: 1 }, HOUR);
    await clock.advance(1);
    const first = await sessions.issueTicket('oauth', {}, HOUR);
    await clock.advance(1);
    await repeat(store, 'session-tickets', await sessions.issueTicket('oauth', {}, HOUR), 900);
    for (let each = 0; each < 99; each++) await sessions.issueTicket('oauth', {}, HOUR);
    expect([await sessions.takeTicket('code', code), await sessions.takeTicket('oauth', first)]).toEqual([
      { a: 1 },
      undefined,
    ]);
  });

  it('STUDIO-6 a ticket is good once, for its kind and for its time', async () => {
    const { sessions, clock } = open();
    const ticket = await sessions.issueTicket('code', { a: 1 }, 1000);
    expect(await sessions.takeTicket('oauth', ticket)).toBeUndefined();
    const taken = await Promise.all([sessions.takeTicket('code', ticket), sessions.takeTicket('code', ticket)]);
    expect(taken.filter((value) => value !== undefined)).toEqual([{ a: 1 }]);
    const late = await sessions.issueTicket('code', 1, 1000);
    await clock.advance(1000);
    expect(await sessions.takeTicket('code', late)).toBeUndefined();
    expect(await sessions.takeTicket('code', 'nonsense')).toBeUndefined();
  });
});
