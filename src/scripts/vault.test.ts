import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { createMemoryStore } from '../store/index.js';
import { createVault } from './vault.js';

describe('what is stored of scripts', () => {
  it('CODE-5 S8 is opened by every process of the store under the same binding, and by nothing else', async () => {
    const store = createMemoryStore({ clock: createFakeClock() });
    const bytes = Buffer.from('the memory of a script');
    const sealed = await createVault(store).seal(bytes, 'script 1 of ann');
    expect(Buffer.from(sealed, 'base64').includes(bytes)).toBe(false);
    const other = createVault(store);
    expect(await other.open(sealed, 'script 1 of ann')).toEqual(bytes);
    expect(await other.open(sealed, 'script 1 of bob')).toBeUndefined();
    expect(await other.open(`A${sealed.slice(1)}`, 'script 1 of ann')).toBeUndefined();
    expect(await other.open('', 'script 1 of ann')).toBeUndefined();
    const elsewhere = createVault(createMemoryStore({ clock: createFakeClock() }));
    expect(await elsewhere.open(sealed, 'script 1 of ann')).toBeUndefined();
  });
});
