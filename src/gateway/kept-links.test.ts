import { beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { silentLog } from '../kernel/log.js';
import type { Store } from '../model/store.js';
import type { Viewer } from '../model/viewer.js';
import { createMemoryStore } from '../store/index.js';
import { createKeptLinks } from './kept-links.js';

const DAY_MS = 86_400_000;
const viewer = (principal: string): Viewer => ({ principal, scopes: new Set(), isLimited: false, sees: () => true });
const ann = viewer('ann');

describe('links in the store', () => {
  let clock: ReturnType<typeof createFakeClock>;
  let store: Store;
  const open = () => createKeptLinks({ store, clock, log: silentLog });
  beforeEach(() => {
    clock = createFakeClock();
    store = createMemoryStore({ clock });
  });

  it('A52 are found by every process, for the caller they were given to alone', async () => {
    await open().keep(ann, 'a', ['x://1', 'x://2']);
    await open().keep(ann, 'b', ['x://2']);
    const links = open();
    expect(await links.giversOf(ann, 'x://1')).toEqual(['a']);
    expect((await links.giversOf(ann, 'x://2')).toSorted()).toEqual(['a', 'b']);
    expect(await links.giversOf(ann, 'x://3')).toEqual([]);
    expect(await links.giversOf(viewer('eve'), 'x://1')).toEqual([]);
    expect(JSON.stringify(await store.list('links'))).not.toContain('x://');
  });

  it('A52 A43 of one server the oldest give way, and none of another', async () => {
    const links = open();
    await links.keep(ann, 'a', ['x://own']);
    for (let from = 0; from < 3000; from += 500)
      await links.keep(
        ann,
        'b',
        Array.from({ length: 500 }, (_, n) => `x://${from + n}`),
      );
    expect(await links.giversOf(ann, 'x://own')).toEqual(['a']);
    expect(await links.giversOf(ann, 'x://1999')).toEqual([]);
    expect(await links.giversOf(ann, 'x://2000')).toEqual(['b']);
  });

  it('A52 A28 end after a month unless they are given again, and callers that come and go do not pile up', async () => {
    const links = open();
    await links.keep(ann, 'a', ['x://1']);
    await links.keep(ann, 'b', ['x://2']);
    const { revision } = (await store.list('links'))[0]!;
    await links.keep(ann, 'a', ['x://1']);
    expect((await store.list('links')).map((entry) => entry.revision)).toContain(revision);
    await clock.advance(20 * DAY_MS);
    await links.keep(ann, 'a', ['x://1']);
    await clock.advance(20 * DAY_MS);
    expect(await links.giversOf(ann, 'x://1')).toEqual(['a']);
    expect(await links.giversOf(ann, 'x://2')).toEqual([]);
    for (let n = 0; n < 2100; n++) await links.keep(viewer(`caller ${n}`), 'a', ['x://1']);
    await clock.advance(60_000);
    await links.keep(ann, 'c', ['x://3']);
    expect((await store.list('links')).length).toBeLessThanOrEqual(2000);
  });

  it('A52 STORE-4 a store that fails costs no answer, and what it holds of others is ignored', async () => {
    await store.put('links', 'odd', [1]);
    await store.put('links', 'odder', { caller: 7, links: 'x' });
    expect(await open().giversOf(ann, 'x://1')).toEqual([]);
    const put = (): never => {
      throw new Error('no disk');
    };
    const failing = createKeptLinks({ store: { ...store, put }, clock, log: silentLog });
    await expect(failing.keep(ann, 'a', ['x://1'])).resolves.toBeUndefined();
    const contested = createKeptLinks({ store: { ...store, put: async () => false }, clock, log: silentLog });
    await expect(contested.keep(ann, 'a', ['x://1'])).resolves.toBeUndefined();
    expect(await open().giversOf(ann, 'x://1')).toEqual([]);
  });
});
