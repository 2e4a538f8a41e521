import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { silentLog } from '../kernel/log.js';
import type { Store } from '../model/store.js';
import type { Viewer } from '../model/viewer.js';
import { createMemoryStore, openSqliteStore } from '../store/index.js';
import { createKeptResults } from './kept-results.js';

const viewer = (principal: string, more: Partial<Viewer> = {}): Viewer => ({
  principal,
  scopes: new Set(['call']),
  isLimited: false,
  sees: () => true,
  ...more,
});
const ann = viewer('ann');
const from = { server: 'web', tool: 'page' };
const result = (text: string) => ({ content: [{ type: 'text', text }] });

const STORES: ReadonlyArray<readonly [string, (clock: ReturnType<typeof createFakeClock>) => Promise<Store>]> = [
  ['memory', async (clock) => createMemoryStore({ clock })],
  ['SQLite', async (clock) => openSqliteStore({ directory: await temporaryDirectory(), clock, log: silentLog })],
];

describe.each(STORES)('kept results in %s', (_name, open) => {
  async function keeper(limits: { keepMs?: number; keepBytes?: number } = {}) {
    const clock = createFakeClock();
    const store = await open(clock);
    onTestFinished(() => store.close());
    const errors: unknown[] = [];
    const kept = createKeptResults({
      store,
      clock,
      limits: () => ({ keepMs: 1000, keepBytes: 10_000, ...limits }),
      onError: (thrown) => errors.push(thrown),
    });
    return { clock, store, kept, errors };
  }

  it('ANS-2 returns a kept result only to the caller that made the call', async () => {
    const { kept } = await keeper();
    const handle = (await kept.keep(ann, from, result('a')))!;
    expect(handle).toMatch(/^res_[A-Za-z0-9]{24}$/);
    expect(await kept.find(ann, handle)).toMatchObject({ ...from, result: result('a') });
    expect(await kept.find(viewer('eve'), handle)).toBeUndefined();
    expect(await kept.find(viewer('ann', { skill: { id: 's', caller: ann } }), handle)).toBeUndefined();
    expect(await kept.hasAny(viewer('eve'))).toBe(false);
    expect(await kept.hasAny(ann)).toBe(true);
    for (const wrong of ['', 'res_', '__proto__', `${handle}x`, handle.toLowerCase()]) {
      expect(await kept.find(ann, wrong)).toBeUndefined();
    }
  });

  it('ANS-2 is gone once its owner no longer sees the server or the tool', async () => {
    const { kept } = await keeper();
    const handle = (await kept.keep(ann, from, result('a')))!;
    const sees = (server: string, tool?: string): boolean => server === 'web' && tool !== 'page';
    expect(await kept.find(viewer('ann', { isLimited: true, sees: () => true }), handle)).toBeDefined();
    expect(await kept.find(viewer('ann', { isLimited: true, sees: () => false }), handle)).toBeUndefined();
    expect(await kept.find(viewer('ann', { isLimited: true, sees }), handle)).toBeUndefined();
  });

  it('ANS-2 expires', async () => {
    const { kept, clock } = await keeper();
    const handle = (await kept.keep(ann, from, result('a')))!;
    await clock.advance(1001);
    expect(await kept.find(ann, handle)).toBeUndefined();
    expect(await kept.hasAny(ann)).toBe(false);
  });

  it('ANS-2 bounds the bytes: the caller that keeps most loses its oldest result first', async () => {
    const { kept, clock, store } = await keeper();
    const mine = (await kept.keep(viewer('bob'), from, result('b'.repeat(1000))))!;
    const handles: string[] = [];
    for (let at = 0; at < 5; at++) {
      await clock.advance(1);
      handles.push((await kept.keep(ann, from, result('a'.repeat(2500))))!);
    }
    const found = await Promise.all(handles.map(async (handle) => (await kept.find(ann, handle)) !== undefined));
    expect(found).toEqual([false, false, true, true, true]);
    expect(await kept.find(viewer('bob'), mine)).toBeDefined();
    expect((await store.revisions('results')).size).toBe(4);
    expect(await kept.keep(ann, from, result('a'.repeat(11_000)))).toBeUndefined();
  });

  it('ANS-2 is bounded in number', COMPUTES_LONG, async () => {
    const { kept, store } = await keeper({ keepBytes: 1e9 });
    for (let at = 0; at < 505; at++) await kept.keep(ann, from, result('a'));
    expect((await store.revisions('results')).size).toBe(500);
  });

  it('A43 ANS-2 a caller with many small results takes no place of one with a large one', COMPUTES_LONG, async () => {
    const { kept, clock } = await keeper({ keepBytes: 1e9, keepMs: 1e6 });
    const large = (await kept.keep(viewer('bob'), from, result('b'.repeat(1_000_000))))!;
    for (let at = 0; at < 505; at++) {
      await clock.advance(1);
      await kept.keep(ann, from, result('a'));
    }
    expect(await kept.find(viewer('bob'), large)).toBeDefined();
  });

  it('ANS-2 a store that fails costs the handle, not the result', async () => {
    const { kept, store, errors } = await keeper();
    const failing = createKeptResults({
      store: { ...store, list: () => Promise.reject(new Error('disk full')) } as Store,
      clock: createFakeClock(),
      limits: () => ({ keepMs: 1000, keepBytes: 10_000 }),
      onError: (thrown) => errors.push(thrown),
    });
    expect(await failing.keep(ann, from, result('a'))).toBeUndefined();
    expect(errors).toHaveLength(1);
    expect(await kept.hasAny(ann)).toBe(false);
  });
});
