import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { silentLog } from '../kernel/log.js';
import { sealBytes } from '../kernel/sealing.js';
import type { Store } from '../model/store.js';
import { createStoreKey } from '../model/store-key.js';
import { createMemoryStore } from '../store/index.js';
import { createRequestStates, type RequestStates } from './request-states.js';

const clock = createFakeClock();
const storeOf = (): Store => createMemoryStore({ clock });
const statesOf = (store = storeOf(), of = clock): RequestStates =>
  createRequestStates({ store, clock: of, log: silentLog });

describe('the state a host carries between rounds', () => {
  it('S8 comes back as what it was, once', async () => {
    const states = statesOf();
    const sealed = await states.seal({ call: 'x', deep: [1, { a: 'ü' }] }, 'ann');
    expect(await states.open(sealed, 'ann')).toEqual({ call: 'x', deep: [1, { a: 'ü' }] });
    expect(await states.open(sealed, 'ann')).toBeUndefined();
  });

  it('S8 STORE-3 another process over the same store opens it, and it is used once in all', async () => {
    const store = storeOf();
    const [one, two] = [statesOf(store), statesOf(store)];
    const sealed = await one.seal({ server: 'x' }, 'ann');
    const opened = await Promise.all([one.open(sealed, 'ann'), two.open(sealed, 'ann'), two.open(sealed, 'ann')]);
    expect(opened.filter((payload) => payload !== undefined)).toEqual([{ server: 'x' }]);
  });

  it('S8 a changed byte, another binding, another store and anything else is refused', async () => {
    const states = statesOf();
    const sealed = await states.seal({ call: 'x' }, 'ann');
    await fc.assert(
      fc.asyncProperty(
        fc.nat(sealed.length - 1),
        fc.constantFrom('A', 'b', '0', '.', '=', '-', 'é'),
        async (at, put) => {
          fc.pre(sealed[at] !== put);
          expect(await states.open(sealed.slice(0, at) + put + sealed.slice(at + 1), 'ann')).toBeUndefined();
        },
      ),
    );
    expect(await states.open(sealed, 'bob')).toBeUndefined();
    expect(await statesOf().open(sealed, 'ann')).toBeUndefined();
    for (const junk of [undefined, null, 1, {}, '', '.', '..', 'a.b', 'x'.repeat(600_000)]) {
      expect(await states.open(junk, 'ann')).toBeUndefined();
    }
    expect(await states.open(sealed, 'ann')).toEqual({ call: 'x' });
  });

  it('S8 NEG-6 the state of a server is opaque to the host', async () => {
    const sealed = await statesOf().seal({ server: 'ssn 123-45-6789' }, 'ann');
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('123-45');
    expect(sealed).toMatch(/^[\w-]+$/);
  });

  it('S8 R11 expires, also for a replica whose clock is a minute off; what was used is forgotten after that', async () => {
    const time = createFakeClock();
    const store = createMemoryStore({ clock: time });
    const states = statesOf(store, time);
    const [used, sealed] = [await states.seal({ call: 'x' }, 'ann'), await states.seal({ call: 'y' }, 'ann')];
    expect(await states.open(used, 'ann')).toBeDefined();
    await time.advance(600_001 + 60_000);
    expect(await states.open(sealed, 'ann')).toBeUndefined();
    // It is seen by one look and gone with the next, each after the life of a state and some more.
    for (const left of [2, 1]) {
      await time.advance(780_000);
      expect(await states.open(await states.seal({ call: 'z' }, 'ann'), 'ann')).toEqual({ call: 'z' });
      expect(await store.list('used-request-states')).toHaveLength(left);
    }
  });

  it('S8 R9 while the store fails, a process opens once what it sealed itself, and nothing of others', async () => {
    const store = storeOf();
    const broken: Store = {
      ...store,
      get: () => Promise.reject(new Error('disk')),
      put: () => Promise.reject(new Error('disk')),
      list: () => Promise.reject(new Error('disk')),
    };
    const time = createFakeClock();
    const states = statesOf(broken, time);
    const sealed = await states.seal({ call: 'x' }, 'ann');
    await time.advance(599_999);
    expect(await states.open(sealed, 'ann')).toEqual({ call: 'x' });
    await expect(states.open(sealed, 'ann')).rejects.toThrow('disk');
    const late = await states.seal({ call: 'y' }, 'ann');
    await time.advance(10);
    expect(await states.open(late, 'ann')).toEqual({ call: 'y' });
    const other = statesOf({ ...store, put: broken.put });
    await expect(other.open(await statesOf(store).seal({ call: 'z' }, 'ann'), 'ann')).rejects.toThrow('disk');
  });

  it('S8 STORE-4 what was used while the store failed is noted afterwards, so that no other process takes it', async () => {
    const time = createFakeClock();
    const store = createMemoryStore({ clock: time });
    let isDown = false;
    const put: Store['put'] = (...args) => (isDown ? Promise.reject(new Error('down')) : store.put(...args));
    const [one, two] = [statesOf({ ...store, put }, time), statesOf(store, time)];
    const sealed = await one.seal({ call: 'x' }, 'ann');
    isDown = true;
    expect(await one.open(sealed, 'ann')).toEqual({ call: 'x' });
    await time.advance(30_000);
    isDown = false;
    await time.advance(2000);
    expect(await two.open(sealed, 'ann')).toBeUndefined();
  });

  it('S8 A43 states that never come back are forgotten, oldest first', async () => {
    const store = storeOf();
    const states = statesOf(store);
    const first = await states.seal({ call: 'first' }, 'ann');
    for (let count = 0; count < 10_000; count++) await states.seal({}, 'ann');
    expect(await states.open(first, 'ann')).toEqual({ call: 'first' });
  });

  it('S8 R11 is good until its very end, and not when it ends later than it could', async () => {
    const time = createFakeClock();
    const store = createMemoryStore({ clock: time });
    const states = statesOf(store, time);
    const [exact, late] = [await states.seal({ call: 'x' }, 'ann'), await states.seal({ call: 'y' }, 'ann')];
    await time.advance(600_000 + 60_000);
    expect(await states.open(exact, 'ann')).toEqual({ call: 'x' });
    await time.advance(1);
    expect(await states.open(late, 'ann')).toBeUndefined();
    // Sealed by a process whose clock is ahead by as much as clocks may differ, and by more.
    const sealedAt = async (ahead: number): Promise<string> => {
      const other = createFakeClock(time.now() + ahead);
      return statesOf(store, other).seal({ call: 'z' }, 'ann');
    };
    expect(await states.open(await sealedAt(60_000), 'ann')).toEqual({ call: 'z' });
    expect(await states.open(await sealedAt(60_001), 'ann')).toBeUndefined();
  });

  it('S8 what is sealed with the right key and is no state is refused', async () => {
    const store = storeOf();
    const key = await createStoreKey(store, 'request-state-key')();
    const seal = (value: unknown): string =>
      sealBytes(key, Buffer.from(JSON.stringify(value)), 'ann').toString('base64url');
    const good = { payload: { call: 'x' }, until: clock.now(), once: 'once' };
    for (const wrong of [
      { payload: 'x' },
      { payload: null },
      { until: '9' },
      { until: null },
      { once: 1 },
      { once: null },
    ]) {
      expect(await statesOf(store).open(seal({ ...good, ...wrong }), 'ann')).toBeUndefined();
    }
    expect(await statesOf(store).open(seal(good), 'ann')).toEqual({ call: 'x' });
  });

  it('S8 A43 R9 while the store fails, the oldest of too many states is the one that is lost', async () => {
    const broken: Store = { ...storeOf(), put: () => Promise.reject(new Error('disk')) };
    const states = statesOf(broken);
    const [first, second] = [await states.seal({ call: 'first' }, 'ann'), await states.seal({ call: 'second' }, 'ann')];
    for (let count = 0; count < 9999; count++) await states.seal({}, 'ann');
    await expect(states.open(first, 'ann')).rejects.toThrow('disk');
    expect(await states.open(second, 'ann')).toEqual({ call: 'second' });
  });

  it('S8 R11 what was used is remembered until no clock could take it any more', async () => {
    const time = createFakeClock();
    const store = createMemoryStore({ clock: createFakeClock() });
    const states = statesOf(store, time);
    expect(await states.open(await states.seal({}, 'ann'), 'ann')).toEqual({});
    const [used] = await store.list('used-request-states');
    const left = async (): Promise<boolean> =>
      (await store.list('used-request-states')).some(({ key }) => key === used!.key);
    for (const ms of [600_000 + 180_000, 600_000 + 179_999]) {
      await time.advance(ms);
      expect(await states.open(await states.seal({}, 'ann'), 'ann')).toEqual({});
      expect(await left()).toBe(true);
    }
    await time.advance(1);
    expect(await states.open(await states.seal({}, 'ann'), 'ann')).toEqual({});
    expect(await left()).toBe(false);
  });

  it('S8 A43 sign-ins, which anyone may begin, take no place of the state of a call', COMPUTES_LONG, async () => {
    const broken: Store = { ...storeOf(), put: () => Promise.reject(new Error('disk')) };
    const states = statesOf(broken);
    const first = await states.seal({ call: 'first' }, 'ann');
    for (let count = 0; count < 10_000; count++) await states.seal({}, 'sign-in', 'sign-in');
    expect(await states.open(first, 'ann')).toEqual({ call: 'first' });
  });

  it('S8 what is sealed for a call opens for no sign-in, and the other way round', async () => {
    const states = statesOf();
    const [call, signIn] = [await states.seal({ a: 1 }, 'ann'), await states.seal({ b: 2 }, 'ann', 'sign-in')];
    expect([await states.open(call, 'ann', 'sign-in'), await states.open(signIn, 'ann')]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await states.open(call, 'ann')).toEqual({ a: 1 });
    expect(await states.open(signIn, 'ann', 'sign-in')).toEqual({ b: 2 });
  });

  it('S8 A43 that a call was used is not forgotten for sign-ins that were used later', COMPUTES_LONG, async () => {
    const time = createFakeClock();
    const store = createMemoryStore({ clock: time });
    const states = statesOf(store, time);
    await time.advance(600_000 + 180_000);
    const sealed = await states.seal({ call: 'x' }, 'ann');
    const last = await states.seal({}, 'sign-in', 'sign-in');
    const other = statesOf(store, time);
    expect(await other.open(sealed, 'ann')).toEqual({ call: 'x' });
    for (let count = 0; count < 20_000; count++) {
      const state = count === 0 ? last : await states.seal({}, 'sign-in', 'sign-in');
      await other.open(state, 'sign-in', 'sign-in');
    }
    // The process that has not swept yet does so now.
    await states.open(await states.seal({}, 'ann'), 'ann');
    expect(await other.open(sealed, 'ann')).toBeUndefined();
  });
});
