import { describe, expect, it } from 'vitest';
import { describeStore } from '../../test/contract/store-contract.js';
import { systemClock } from '../kernel/clock.js';
import { createMemoryStore } from './memory.js';

describeStore('memory', async () => {
  const store = createMemoryStore({ clock: systemClock });
  return { store, cleanup: () => store.close() };
});

describe('memory', () => {
  it('A28 keeps only the newest ten thousand audit records', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const records = Array.from({ length: 10_001 }, (_, i) => ({
      id: `r${i}`,
      time: i,
      kind: 'execution',
      principal: 'local',
      outcome: 'success' as const,
    }));
    await store.append(records);
    const kept = await store.audit({ limit: 20_000 });
    expect(kept).toHaveLength(10_000);
    expect(kept.at(-1)?.id).toBe('r1');
  });

  it('STORE-1 dates an entry with the clock it was given', async () => {
    const store = createMemoryStore({ clock: { ...systemClock, now: () => 42 } });
    await store.put('s', 'k', 1);
    expect((await store.get('s', 'k'))?.storedAt).toBe(42);
  });
});
