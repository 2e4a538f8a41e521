import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.js';
import { DOUBT_KEY, STORE_SPACE, type Store } from '../model/store.js';
import { copyStore, type CopyTarget } from './copy-store.js';
import { createMemoryStore } from './memory.js';

let time = 0;
const clock = { ...systemClock, now: () => time };
const named = (name: string): Store => ({ ...createMemoryStore({ clock }), location: name });
const setTime = (now: number): void => {
  time = now;
};

describe('copyStore', () => {
  let from: Store;
  let to: CopyTarget;
  beforeEach(async () => {
    from = named('from');
    to = { store: named('to'), setTime };
    setTime(1111);
    await from.put('approvals', 'one', { a: 1 }, { expiresAt: 9 });
    setTime(2222);
    await from.put('tools', '__proto__', [null]);
    await from.put(STORE_SPACE, 'identity', { id: 'mine' });
    const record = { time: 1, kind: 'reload', principal: 'me', outcome: 'success' } as const;
    await from.append(Array.from({ length: 1500 }, (_, at) => ({ ...record, id: `r${at}` })));
  });

  it('STORE-5 copies every entry with its dates and every record in its order, and says what it copied', async () => {
    const report = await copyStore(from, to);
    expect(report).toMatchObject({ entries: 2, records: 1500, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(Object.entries(report.spaces)).toEqual([
      ['approvals', 1],
      ['tools', 1],
    ]);
    expect(await to.store.get('approvals', 'one')).toMatchObject({ value: { a: 1 }, storedAt: 1111, expiresAt: 9 });
    expect(await to.store.get('tools', '__proto__')).toMatchObject({ value: [null], storedAt: 2222 });
    expect((await to.store.audit({ limit: 2 })).map(({ id }) => id)).toEqual(['r1499', 'r1498']);
    expect(await to.store.get(STORE_SPACE, 'identity')).toBeUndefined();
    expect((await copyStore(to.store, { store: named('third'), setTime })).hash).toBe(report.hash);
  });

  it('STORE-5 refuses a target that holds entries or records, and leaves it alone', async () => {
    await to.store.put('usage', 'k', 1);
    await expect(copyStore(from, to)).rejects.toMatchObject({
      code: 'STORE_ERROR',
      message: expect.stringContaining('in use'),
    });
    expect(await to.store.spaces()).toEqual(['usage']);
    const logged = { store: named('logged'), setTime };
    await logged.store.append([{ id: 'a', time: 1, kind: 'reload', principal: 'me', outcome: 'success' }]);
    await expect(copyStore(from, logged)).rejects.toMatchObject({ message: expect.stringContaining('in use') });
    await expect(copyStore(from, { store: from, setTime })).rejects.toMatchObject({
      message: expect.stringContaining('same'),
    });
  });

  it('STORE-5 A48 refuses a source that is in doubt: copying it would accept it', async () => {
    await from.put(STORE_SPACE, DOUBT_KEY, { reason: 'replaced', at: 1 });
    await expect(copyStore(from, to)).rejects.toMatchObject({ suggestion: expect.stringContaining('store accept') });
    expect(await to.store.spaces()).toEqual([]);
  });

  it('STORE-5 A48 the target is in doubt until the copy is verified, so that half of it is never used as a whole', async () => {
    const doubts: unknown[] = [];
    const watched: Store = {
      ...to.store,
      put: async (...args) => {
        if (args[0] !== STORE_SPACE) doubts.push((await to.store.get(STORE_SPACE, DOUBT_KEY))?.value);
        return to.store.put(...args);
      },
      append: async (records) => {
        doubts.push((await to.store.get(STORE_SPACE, DOUBT_KEY))?.value);
        return to.store.append(records);
      },
    };
    await copyStore(from, { store: watched, setTime });
    expect(doubts).toEqual(Array.from({ length: 4 }, () => ({ reason: 'unfinished' })));
    expect(await to.store.get(STORE_SPACE, DOUBT_KEY)).toBeUndefined();
  });

  it('STORE-5 A48 a target in doubt, or of another copy, is left alone; after a failure it can be used', async () => {
    for (const reason of ['unfinished', 'vanished']) {
      const target = named(reason);
      await target.put(STORE_SPACE, DOUBT_KEY, { reason });
      await expect(copyStore(from, { store: target, setTime })).rejects.toMatchObject({
        message: expect.stringContaining('in doubt'),
      });
      expect((await target.get(STORE_SPACE, DOUBT_KEY))?.value).toEqual({ reason });
    }
    const full: Store = { ...to.store, append: () => Promise.reject(new Error('full')) };
    await expect(copyStore(from, { store: full, setTime })).rejects.toThrow('full');
    expect(await to.store.get(STORE_SPACE, DOUBT_KEY)).toBeUndefined();
    expect(await copyStore(from, to)).toMatchObject({ entries: 2 });
  });

  it('STORE-5 A35 refuses an audit log that was changed after it was written, unless a person accepts it: its copy would verify', async () => {
    const problem = { damage: 'changed', id: 'r7', detail: 'The record was changed.' } as const;
    const forged: Store = {
      ...from,
      verifyAudit: async () => ({ ...(await from.verifyAudit()), ok: false, problem }),
    };
    await expect(copyStore(forged, to)).rejects.toMatchObject({
      message: expect.stringContaining('The record was changed.'),
      suggestion: expect.stringContaining('--accept-audit'),
    });
    expect(await to.store.spaces()).toEqual([]);
    expect(await to.store.audit({})).toEqual([]);
    expect(await copyStore(forged, to, { acceptAudit: true })).toMatchObject({
      records: 1500,
      auditProblem: 'The record was changed.',
    });
    expect(await copyStore(from, { store: named('whole'), setTime })).not.toHaveProperty('auditProblem');
  });

  it.each([
    ['changes meanwhile', (source: Store): Store => ({ ...source, auditPages: changing(source) })],
    [
      'has an entry that cannot be read',
      (source: Store): Store => ({
        ...source,
        list: async (space) =>
          (await source.list(space)).map((entry) => ({ ...entry, value: null, damaged: true as const })),
      }),
    ],
  ])('STORE-5 a source that %s is an error, and the target is empty again', async (_, spoil) => {
    await expect(copyStore(spoil(from), to)).rejects.toMatchObject({ code: 'STORE_ERROR' });
    expect(await to.store.spaces()).toEqual([]);
    expect(await to.store.audit({})).toEqual([]);
  });
});

/** Another process writes to the source while its log is read. */
function changing(source: Store): Store['auditPages'] {
  return async function* () {
    yield* source.auditPages();
    await source.put('approvals', 'late', 1);
  };
}
