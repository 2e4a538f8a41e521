import { describe, expect, it } from 'vitest';
import { addressOf, newId } from './ids.js';

describe('ids', () => {
  it('A13 an address is server:tool', () => {
    expect(addressOf('github', 'create_issue')).toBe('github:create_issue');
  });

  it('S5 ids are long, visible ASCII and never the same', () => {
    const ids = Array.from({ length: 2000 }, newId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => /^[\x21-\x7e]{32,64}$/.test(id))).toBe(true);
  });
});
