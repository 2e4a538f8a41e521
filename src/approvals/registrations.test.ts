import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { createMemoryStore } from '../store/index.js';
import { createRegistrations, REGISTRATIONS, type Registration } from './registrations.js';

const registered = (id: string, by = 'ada'): Registration => ({
  id,
  entry: { command: 'x' },
  origin: 'registry',
  by,
  at: 1,
});

describe('registered servers', () => {
  it('SEC-9 are listed by id, replaced and removed, in every process over the store', async () => {
    const store = createMemoryStore({ clock: createFakeClock() });
    const one = createRegistrations({ store });
    const other = createRegistrations({ store });
    for (const id of ['c', 'a', 'b']) await one.put(registered(id));
    await other.put(registered('b', 'bob'));
    expect((await one.list()).map(({ id, by }) => `${id} ${by}`)).toEqual(['a ada', 'b bob', 'c ada']);
    expect(await other.remove('a')).toBe(true);
    expect(await other.remove('a')).toBe(false);
    expect((await one.list()).map(({ id }) => id)).toEqual(['b', 'c']);
  });

  it('SEC-9 ignores invalid stored registrations', async () => {
    const store = createMemoryStore({ clock: createFakeClock() });
    const good = registered('good');
    const bad = [
      'text',
      { ...good, id: 1 },
      { ...good, entry: 'x' },
      { ...good, by: null },
      { ...good, at: '1' },
      { ...good, origin: 'user' },
    ];
    for (const [at, value] of bad.entries()) await store.put(REGISTRATIONS, String(at), value);
    const registrations = createRegistrations({ store });
    await registrations.put({ ...good, origin: 'introspected' });
    expect(await registrations.list()).toEqual([{ ...good, origin: 'introspected' }]);
  });
});
