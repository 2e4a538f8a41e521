import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import type { Store } from '../../model/store.js';
import { createMemoryStore } from '../../store/index.js';
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
});
