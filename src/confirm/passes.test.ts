import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { sha256 } from '../kernel/hash.js';
import type { Store } from '../model/store.js';
import { createMemoryStore } from '../store/index.js';
import { createPasses, isPass } from './passes.js';

function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore({ clock });
  return { clock, store, passes: createPasses({ store, clock }) };
}

describe('passes', () => {
  it('SEC-11 a pass is taken once, for the call it was made for, in whichever process', async () => {
    const { clock, store, passes } = setUp();
    const other = createPasses({ store, clock });
    const pass = await passes.issue('go-on', 'call-1', 1000, { owner: 'ann' });
    expect(isPass(pass)).toBe(true);
    expect(await other.take(pass, 'call-2')).toBeUndefined();
    const both = await Promise.all([passes.take(pass, 'call-1'), other.take(pass, 'call-1')]);
    expect(both.filter(Boolean)).toEqual([{ purpose: 'go-on' }]);
    expect(await passes.take(pass, 'call-1')).toBeUndefined();
    expect(JSON.stringify(await store.list('confirm-passes'))).not.toContain(pass.slice('confirm.'.length));
  });

  it('SEC-11 the state of the server travels with a pass, and cannot be changed, added or taken off', async () => {
    const { passes } = setUp();
    const pass = await passes.issue('answer', 'call', 1000, { owner: 'ann', inner: 'inner.state' });
    const bare = await passes.issue('answer', 'call', 1000, { owner: 'ann' });
    const forged = [
      pass.replace('inner.state', 'other'),
      pass.slice(0, -'.inner.state'.length),
      `${bare}.inner`,
      `${bare}inner`,
      bare.replace('confirm.', 'elsewhr.'),
      `confirm.${'0'.repeat(32)}`,
      'confirm.',
      '',
    ];
    for (const state of forged) expect([state, await passes.take(state, 'call')]).toEqual([state, undefined]);
    expect(await passes.take(pass, 'call')).toEqual({ purpose: 'answer', inner: 'inner.state' });
    expect(await passes.take(bare, 'call')).toEqual({ purpose: 'answer' });
  });

  it('SEC-11 a pass ends, and those that have ended go when the next is made', async () => {
    const { clock, store, passes } = setUp();
    const old = await passes.issue('answer', 'call', 1000, { owner: 'ann' });
    await clock.advance(1000);
    expect(await passes.take(old, 'call')).toBeUndefined();
    expect(await store.list('confirm-passes')).toHaveLength(1);
    const fresh = await passes.issue('answer', 'call', 1000, { owner: 'ann' });
    expect(await store.list('confirm-passes')).toHaveLength(1);
    expect(await passes.take(fresh, 'call')).toEqual({ purpose: 'answer' });
  });

  it('SEC-11 R11 a pass that comes from a time still ahead is over, unless clocks may differ by that much', async () => {
    const { clock, store, passes } = setUp();
    const behind = (ms: number) => createPasses({ store, clock: { ...clock, now: () => clock.now() - ms } });
    const pass = await passes.issue('answer', 'call', 900_000, { owner: 'ann' });
    expect(await behind(60_001).take(pass, 'call')).toBeUndefined();
    expect(await behind(60_000).take(pass, 'call')).toEqual({ purpose: 'answer' });
    await passes.issue('answer', 'more', 900_000, { owner: 'ann' });
    await behind(60_001).issue('answer', 'other', 900_000, { owner: 'ann' });
    expect(await store.list('confirm-passes')).toHaveLength(1);
  });

  it('SEC-11 ignores invalid stored passes', async () => {
    const { clock, store, passes } = setUp();
    const pass = await passes.issue('answer', 'call', 1000, { owner: 'ann' });
    const { key } = (await store.list('confirm-passes'))[0]!;
    await store.put('confirm-passes', key, 'text', { expiresAt: clock.now() + 1000 });
    expect(await passes.take(pass, 'call')).toBeUndefined();
    await clock.advance(1000);
    // Without an end it is over already.
    await store.put('confirm-passes', key, { purpose: 'answer', binding: 'call' });
    expect(await passes.take(pass, 'call')).toBeUndefined();
    await passes.issue('answer', 'call', 1000, { owner: 'ann' });
    expect(await store.get('confirm-passes', key)).toBeUndefined();
  });

  it('SEC-11 of too many passes those that end first go', async () => {
    const { clock, store, passes } = setUp();
    const last = await passes.issue('go-on', 'call', 900_000, { owner: 'ann' });
    for (let at = 1; at < 2000; at++) {
      const value = { purpose: 'answer', binding: 'b' };
      await store.put('confirm-passes', `k${at}`, value, { expiresAt: clock.now() + 2000 + at });
    }
    // A text that is not a pass has no owner.
    await store.put('confirm-passes', 'k3', null, { expiresAt: clock.now() + 2003 });
    await clock.advance(1000);
    await passes.issue('answer', 'next', 500_000, { owner: 'ann' });
    expect(await store.list('confirm-passes')).toHaveLength(2000);
    expect(await store.get('confirm-passes', 'k1')).toBeUndefined();
    expect(await store.get('confirm-passes', 'k2')).toBeDefined();
    expect(await passes.take(last, 'call')).toEqual({ purpose: 'go-on' });
  });

  it('SEC-11 A43 a caller with many passes loses its own, and none of others', async () => {
    const { clock, store, passes } = setUp();
    const first = await passes.issue('answer', 'call', 1500, { owner: 'ann' });
    for (let at = 1; at < 2000; at++) {
      const value = { purpose: 'answer', binding: 'b', owner: sha256('bob') };
      await store.put('confirm-passes', `k${at}`, value, { expiresAt: clock.now() + 2000 + at });
    }
    await clock.advance(1000);
    await passes.issue('answer', 'next', 500_000, { owner: 'bob' });
    expect(await store.get('confirm-passes', 'k1')).toBeUndefined();
    expect(await passes.take(first, 'call')).toEqual({ purpose: 'answer' });
  });

  it('A43 SEC-11 a caller that is asked many questions has not all of them read for each', async () => {
    const { clock, store } = setUp();
    let reads = 0;
    const counting: Store = { ...store, list: (...args) => (reads++, store.list(...args)) };
    const passes = createPasses({ store: counting, clock });
    for (let at = 0; at < 500; at++) await passes.issue('answer', 'call', 900_000, { owner: 'bob' });
    expect(reads).toBe(1);
  });
});
