import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Store } from '../../model/store.js';
import { createMemoryStore } from '../../store/index.js';
import { examineStore } from './doctor.js';
import { createStoreWatch } from './store-status.js';

describe('the status of the store', () => {
  it('R9 A48 says that nothing can be written and why, and recovers by itself; it writes at most every two seconds', async () => {
    const clock = createFakeClock();
    const memory = createMemoryStore({ clock });
    let isFull = false;
    let writes = 0;
    const store: Store = {
      ...memory,
      put(...args) {
        writes += 1;
        return isFull ? Promise.reject(new Error('disk full: s3cret')) : memory.put(...args);
      },
    };
    const status = createStoreWatch({
      store,
      clock,
      hide: (text) => text.replace('s3cret', '***'),
      doubt: () => undefined,
    });
    expect(await status()).toEqual({ location: 'memory', writable: true });
    isFull = true;
    expect(await status()).toMatchObject({ writable: true });
    expect(writes).toBe(1);
    await clock.advance(2000);
    expect(await status()).toEqual({ location: 'memory', writable: false, problem: 'disk full: ***' });
    isFull = false;
    await clock.advance(2000);
    expect(await status()).toMatchObject({ writable: true });
  });

  it('R9 a store that does not answer is not waited for', async () => {
    const clock = createFakeClock();
    const store: Store = { ...createMemoryStore({ clock }), put: () => new Promise(() => undefined) };
    const status = createStoreWatch({
      store,
      clock,
      hide: (text) => text,
      doubt: () => ({ reason: 'damaged', at: 1 }),
    })();
    await clock.advance(1000);
    expect(await status).toMatchObject({ writable: false, doubt: { reason: 'damaged' } });
  });

  it('CLI-3 advice about a database that fails is that of the database, and names no directory', async () => {
    const clock = createFakeClock();
    const fault = new ToolscoutError('STORE_ERROR', 'The database does not answer.', { suggestion: 'Start it.' });
    const next = async (location: string): Promise<string | undefined> => {
      const store: Store = { ...createMemoryStore({ clock }), location, put: () => Promise.reject(fault) };
      return (await examineStore({ store, clock, hide: (text) => text, doubt: undefined }))[0]?.next;
    };
    expect(await next('postgres://db.example/toolscout')).toBe('Start it.');
    expect(await next('/state/toolscout.db')).toContain('--state-dir');
  });

  it.each([
    [90_400, 'the clock of this machine is 90 s ahead of that of the database'],
    [-7_200_000, 'the clock of this machine is 7200 s behind that of the database'],
    [60_000, undefined],
  ])(
    'R11 CLI-3 a clock that differs by %d ms from that of the database is a warning from a minute on',
    async (ms, message) => {
      const clock = createFakeClock();
      const store: Store = { ...createMemoryStore({ clock }), aheadMs: () => ms };
      const found = await examineStore({ store, clock, hide: (text) => text, doubt: undefined });
      expect(found.find(({ level }) => level === 'warning')?.message).toBe(message);
    },
  );
});
