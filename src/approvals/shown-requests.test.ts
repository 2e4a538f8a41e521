import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { silentLog } from '../kernel/log.js';
import type { Approval } from '../model/approval.js';
import type { Store } from '../model/store.js';
import { createMemoryStore } from '../store/index.js';
import { createShownRequests } from './shown-requests.js';

const approval = (hash: string): Approval => ({ ref: 's:t', about: 'tool', hash, state: 'pending' }) as Approval;

describe('what was shown to a principal', () => {
  it('STORE-4 A40 holds in this process while the store fails, and for what was shown alone', async () => {
    const store = createMemoryStore({ clock: createFakeClock() });
    let isDown = true;
    const put: Store['put'] = (...args) => (isDown ? Promise.reject(new Error('down')) : store.put(...args));
    const shown = createShownRequests({ store: { ...store, put }, log: silentLog });
    const other = createShownRequests({ store, log: silentLog });
    await shown.note('ann', [approval('one')]);
    expect((await shown.recall('ann'))(approval('one'))).toBe('one');
    expect((await shown.recall('ann'))(approval('two'))).toBeUndefined();
    expect((await shown.recall('bob'))(approval('one'))).toBeUndefined();
    expect((await other.recall('ann'))(approval('one'))).toBeUndefined();
    isDown = false;
    await shown.note('ann', [approval('two')]);
    expect((await other.recall('ann'))(approval('two'))).toBe('two');
    expect((await shown.recall('ann'))(approval('two'))).toBe('two');
  });
});
