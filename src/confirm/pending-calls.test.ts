import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.js';
import { stdioServer } from '../../test/support/test-server.js';
import type { JsonObject } from '../kernel/json.js';
import type { Store } from '../model/store.js';
import type { Tool } from '../model/tool.js';
import { createMemoryStore } from '../store/index.js';
import { duration } from './duration.js';
import { createPasses } from './passes.js';
import { createPendingCalls, type PendingCalls } from './pending-calls.js';
import { bindCall, type AskedCall } from './subject.js';

const MINUTE = 60_000;
const RULING = { by: 'bob', at: 1, via: 'operator' } as const;

function asked(args: JsonObject, principal = 'ann'): AskedCall {
  const viewer = { principal, scopes: new Set<never>(), isLimited: false, sees: () => true };
  const call = { server: 's', tool: 't', arguments: args, viewer, principal, route: 'mcp' as const };
  const tool = { name: 't', hash: 'h' } as Tool;
  return bindCall({ call, server: stdioServer('s', { command: 'x' }), tool }, { ask: true, reason: 'a rule' });
}

function open(): { clock: FakeClock; store: Store; calls(): PendingCalls } {
  const clock = createFakeClock();
  const store = createMemoryStore({ clock });
  // Each is what another process would have.
  const calls = (): PendingCalls =>
    createPendingCalls({ store, clock, pendingMs: () => 15 * MINUTE, redact: () => ({ redacted: true }) });
  return { clock, store, calls };
}

describe('pending calls', () => {
  it('SEC-11 a confirmation is used by one of many that try at once, over several processes', async () => {
    for (let round = 0; round < 20; round++) {
      const { calls } = open();
      const { pending } = await calls().ask(asked({ round }));
      await calls().decide(pending.id, 'approved', RULING);
      const tried = await Promise.all(Array.from({ length: 16 }, () => calls().ask(asked({ round }))));
      expect(tried.filter(({ state }) => state === 'used').map(({ isNew }) => isNew)).toEqual([false]);
      // All others wait for the same next yes.
      expect(new Set(tried.filter(({ state }) => state === 'waiting').map((each) => each.pending.id)).size).toBe(1);
    }
  });

  it('SEC-11 a waiting call and its decision name the host that asked, cut to a bounded length', async () => {
    const { calls } = open();
    const from = (hostName: string): AskedCall => {
      const plain = asked({ hostName });
      return { ...plain, call: { ...plain.call, hostName } };
    };
    const { pending } = await calls().ask(from('my-agent'));
    expect(pending.host).toBe('my-agent');
    expect(await calls().decide(pending.id, 'approved', RULING)).toMatchObject({ host: 'my-agent' });
    expect((await calls().ask(from('x'.repeat(5000)))).pending.host).toHaveLength(200);
    expect((await calls().ask(asked({}))).pending).not.toHaveProperty('host');
  });

  it('SEC-11 a yes to a pending call that an older version stored covers that call', async () => {
    const { calls, store } = open();
    const { pending } = await calls().ask(asked({}));
    const [entry] = await store.list('pending-calls');
    const { scope: _scope, ...old } = pending;
    await store.put('pending-calls', entry!.key, old as unknown as JsonObject);
    expect((await calls().list())[0]).toEqual(pending);
  });

  it.each<[string, (call: JsonObject) => JsonObject]>([
    ['without a caller', ({ principal: _principal, ...rest }) => rest],
    ['without arguments', ({ arguments: _arguments, ...rest }) => rest],
    ['with an id that is no text', (call) => ({ ...call, id: {} })],
    ['with a time that is no number', (call) => ({ ...call, requestedAt: 'x' })],
    ['with an unknown state', (call) => ({ ...call, state: '__proto__' })],
    ['with an unknown scope', (call) => ({ ...call, scope: 'all' })],
    ['rejected by no one', (call) => ({ ...call, state: 'rejected' })],
    ['decided through an unknown door', (call) => ({ ...call, ruling: { by: 'x', at: 1, via: 'x' } })],
  ])('SEC-11 A48 a stored call %s hides no other and is asked for anew', async (_what, damage) => {
    const { calls, store } = open();
    const { pending } = await calls().ask(asked({ bad: true }));
    const [entry] = await store.list('pending-calls');
    const good = await calls().ask(asked({ good: true }));
    await store.put('pending-calls', entry!.key, damage(entry!.value as JsonObject));
    expect((await calls().list()).map(({ id }) => id)).toEqual([good.pending.id]);
    await expect(calls().decide(pending.id, 'approved', RULING)).rejects.toMatchObject({ code: 'NOTHING_FOUND' });
    expect(await calls().ask(asked({ bad: true }))).toMatchObject({ state: 'waiting', isNew: true });
    expect(await calls().list()).toHaveLength(2);
  });

  it('SEC-11 A48 a yes to a row about another call, caller or skill covers only what the row says', async () => {
    for (const other of [asked({ other: true }), asked({}, 'bob')]) {
      const { calls, store } = open();
      const { pending } = await calls().ask(asked({}));
      const [entry] = await store.list('pending-calls');
      await store.put('pending-calls', other.binding, entry!.value);
      await store.delete('pending-calls', entry!.key);
      await calls().decide(pending.id, 'approved', RULING);
      expect(await calls().settled(other)).toBeUndefined();
      expect(await calls().ask(other)).toMatchObject({ state: 'waiting', isNew: true });
    }
  });

  it('SEC-11 of two decisions at once one counts, and the other gets an error that names it', async () => {
    const { calls } = open();
    const { pending } = await calls().ask(asked({}));
    const decided = await Promise.allSettled([
      calls().decide(pending.id, 'approved', RULING),
      calls().decide(pending.id, 'rejected', { ...RULING, by: 'eve' }),
    ]);
    expect(decided.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await expect(calls().decide(pending.id, 'approved', RULING)).rejects.toMatchObject({
      code: 'NOTHING_FOUND',
      message: expect.stringMatching(/it is (approved by bob|rejected by eve)/) as string,
    });
    await expect(calls().decide('call_000000000000', 'approved', RULING)).rejects.toMatchObject({
      message: expect.stringContaining('there is no such call') as string,
    });
  });

  it('SEC-11 questions and answers expire, and what is long over is forgotten', async () => {
    const { clock, store, calls } = open();
    const first = await calls().ask(asked({ a: 1 }));
    expect(first.pending).toMatchObject({ arguments: { redacted: true }, state: 'waiting', rule: 'a rule' });
    await clock.advance(14 * MINUTE);
    expect((await calls().ask(asked({ a: 1 }))).pending.id).toBe(first.pending.id);
    await calls().decide(first.pending.id, 'approved', RULING);
    await clock.advance(15 * MINUTE);
    expect((await calls().list()).map(({ state, was }) => [state, was])).toEqual([['expired', 'approved']]);
    expect(await calls().settled(asked({ a: 1 }))).toBeUndefined();
    const second = await calls().ask(asked({ a: 1 }));
    expect([second.state, second.isNew, second.pending.id === first.pending.id]).toEqual(['waiting', true, false]);
    await clock.advance(15 * MINUTE);
    expect((await calls().list()).map(({ state, was }) => [state, was])).toEqual([['expired', undefined]]);
    await expect(calls().decide(second.pending.id, 'approved', RULING)).rejects.toMatchObject({
      message: expect.stringContaining('it is expired') as string,
    });
    await clock.advance(60 * MINUTE);
    await calls().ask(asked({ a: 2 }));
    expect(await store.list('pending-calls')).toHaveLength(1);
    await clock.advance(80 * MINUTE);
    expect((await calls().ask(asked({ a: 2 }))).isNew).toBe(true);
  });

  it('SEC-11 a rejection is repeated until it expires; an unreadable one is asked again', async () => {
    const { clock, store, calls } = open();
    const { pending } = await calls().ask(asked({}));
    await calls().decide(pending.id, 'rejected', RULING);
    expect(await calls().ask(asked({}))).toMatchObject({ state: 'rejected', isNew: false });
    expect(await calls().settled(asked({}))).toMatchObject({ state: 'rejected' });
    await clock.advance(15 * MINUTE);
    expect((await calls().ask(asked({}))).state).toBe('waiting');
    expect(await calls().settled(asked({}))).toBeUndefined();
    await store.put('pending-calls', asked({}).binding, 'damaged');
    expect(await calls().list()).toEqual([]);
    expect((await calls().ask(asked({}))).isNew).toBe(true);
  });

  it('SEC-11 a caller that floods is stopped, and does not keep others out', async () => {
    const { calls } = open();
    const one = calls();
    for (let index = 0; index < 50; index++) await one.ask(asked({ index }));
    await expect(one.ask(asked({ index: 50 }))).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: '50 calls of this caller already wait for a confirmation; that is the limit.',
      remedy: { kind: 'list-pending-calls' },
    });
    expect((await one.ask(asked({ index: 49 }))).state).toBe('waiting');
    expect((await one.ask(asked({}, 'bob'))).state).toBe('waiting');
  });

  it('A43 SEC-11 a thousand calls of all callers wait at once, and no more', async () => {
    const { clock, store, calls } = open();
    const { pending } = await calls().ask(asked({}));
    for (let at = 1; at < 999; at++) {
      await store.put('pending-calls', `k${at}`, { ...pending, principal: `p${at}` } as never);
    }
    expect((await calls().ask(asked({ last: true }))).isNew).toBe(true);
    await expect(calls().ask(asked({ more: true }))).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: '1000 calls already wait for a confirmation; that is the limit.',
      retryAfterMs: 60_000,
      delivered: false,
    });
    // What has expired waits no longer.
    await clock.advance(15 * MINUTE);
    expect((await calls().ask(asked({ more: true }))).isNew).toBe(true);
  });

  it('A43 SEC-11 what a webhook decides at once does not pile up, and of one caller it takes no place of another', async () => {
    const { clock, store, calls } = open();
    const pending = calls();
    const quiet = await pending.ask(asked({}, 'quiet'));
    await pending.decide(quiet.pending.id, 'rejected', RULING);
    for (let n = 0; n < 260; n++) {
      await clock.advance(1);
      const { pending: made } = await pending.ask(asked({ n }, 'busy'));
      await pending.decide(made.id, 'rejected', RULING);
    }
    expect((await store.list('pending-calls')).length).toBeLessThanOrEqual(201);
    expect((await pending.ask(asked({}, 'quiet'))).state).toBe('rejected');
    expect((await pending.ask(asked({ n: 259 }, 'busy'))).state).toBe('rejected');
  });

  it('SEC-11 pending calls are listed in the order in which they were asked for, then by id', async () => {
    const { clock, store, calls } = open();
    const { pending } = await calls().ask(asked({}));
    expect(pending.id).toMatch(/^call_[0-9a-f]{12}$/);
    await clock.advance(1);
    const later = await calls().ask(asked({ later: true }));
    for (const id of ['call_c', 'call_a', 'call_b']) {
      await store.put('pending-calls', `0${id}`, { ...pending, requestedAt: pending.requestedAt - 1, id } as never);
    }
    const ids = (await calls().list()).map(({ id }) => id);
    expect(ids).toEqual(['call_a', 'call_b', 'call_c', pending.id, later.pending.id]);
  });

  it('SEC-11 a call that another process asks for in between is not asked for twice', async () => {
    const { clock, store, calls } = open();
    let isEarly = true;
    const late: Store = {
      ...store,
      async get(...args) {
        if (!isEarly) return store.get(...args);
        isEarly = false;
        await calls().ask(asked({}));
        return undefined;
      },
    };
    const mine = createPendingCalls({ store: late, clock, pendingMs: () => MINUTE, redact: (value) => value });
    const { pending, isNew } = await mine.ask(asked({}));
    expect([isNew, await calls().list()]).toEqual([false, [pending]]);
  });

  it('SEC-11 a store that never takes a write ends in an error', async () => {
    const { clock, store } = open();
    let writes = 0;
    const stubborn: Store = { ...store, put: async () => ((writes += 1), false) };
    const calls = createPendingCalls({ store: stubborn, clock, pendingMs: () => MINUTE, redact: (value) => value });
    const contested = { code: 'STORE_ERROR', suggestion: 'Try again.' };
    await expect(calls.ask(asked({}))).rejects.toMatchObject({ ...contested, delivered: false });
    expect(writes).toBe(16);
    const { pending } = await createPendingCalls({
      store,
      clock,
      pendingMs: () => MINUTE,
      redact: (value) => value,
    }).ask(asked({}));
    await expect(calls.decide(pending.id, 'approved', RULING)).rejects.toMatchObject(contested);
    expect(writes).toBe(32);
  });
});

describe('passes', () => {
  it('SEC-11 a pass is taken once by many that try at once, and expired ones are forgotten', async () => {
    const { clock, store } = open();
    const passes = createPasses({ store, clock });
    const state = await passes.issue('answer', 'b', MINUTE, { owner: 'ann' });
    const other = createPasses({ store, clock });
    const taken = await Promise.all([1, 2, 3, 4].map((n) => (n % 2 ? passes : other).take(state, 'b')));
    expect(taken.filter(Boolean)).toEqual([{ purpose: 'answer' }]);
    expect(await passes.take('something', 'b')).toBeUndefined();
    await clock.advance(MINUTE);
    await passes.issue('go-on', 'b', MINUTE, { owner: 'ann', inner: 'inner' });
    expect(await store.list('confirm-passes')).toHaveLength(1);
  });
});

describe('duration', () => {
  it.each([
    [999, '1 second'],
    [90_000, '90 seconds'],
    [899_000, '15 minutes'],
    [7_200_000, '2 hours'],
    [604_800_000, '7 days'],
  ])('SEC-11 %d ms is %s', (ms, text) => expect(duration(ms)).toBe(text));
});
