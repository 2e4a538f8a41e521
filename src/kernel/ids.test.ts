import { describe, expect, it } from 'vitest';
import { addressOf, newId, newIdAt } from './ids.js';

describe('ids', () => {
  it('A13 an address is server:tool', () => {
    expect(addressOf('github', 'create_issue')).toBe('github:create_issue');
  });

  it('S5 ids are long, visible ASCII and never the same', () => {
    const ids = Array.from({ length: 2000 }, newId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => /^[\x21-\x7e]{32,64}$/.test(id))).toBe(true);
  });

  it('EXEC-5 ids with a time sort as their times do, and are as unguessable', () => {
    const times = [0, 1, 15, 16, 1_794_777_176_862, 1_794_777_176_862.9, Date.UTC(9999, 0)];
    const ids = times.map(newIdAt);
    expect(ids.toSorted().map((id) => id.slice(0, 12))).toEqual(ids.map((id) => id.slice(0, 12)));
    expect(newIdAt(5)).not.toBe(newIdAt(5));
    expect(newIdAt(5)).toMatch(/^000000000005-[0-9a-f]{32}$/);
  });
});
