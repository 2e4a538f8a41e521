import { describe, expect, it } from 'vitest';
import { createSeal } from './seal.js';

const KEY = 'k'.repeat(32);

describe('createSeal', () => {
  it('STORE-3 opens what it closed, and nothing can be read without it', () => {
    const seal = createSeal(KEY);
    const closed = seal.close('refresh-token 😀', 'place');
    expect(closed).not.toContain('refresh');
    expect(seal.open(closed, 'place')).toBe('refresh-token 😀');
    expect(seal.close('refresh-token 😀', 'place')).not.toBe(closed);
  });

  it('STORE-3 another key, another place and changed bytes open nothing', () => {
    const seal = createSeal(KEY);
    const closed = seal.close('token', 'place');
    expect(createSeal(`${KEY}!`).open(closed, 'place')).toBeUndefined();
    expect(seal.open(closed, 'elsewhere')).toBeUndefined();
    expect(seal.open(`${closed.slice(0, -4)}AAA=`, 'place')).toBeUndefined();
    for (const text of ['', 'token', 'sealed:1:', 'sealed:1:AAAA', '"plain"']) {
      expect(seal.open(text, 'place')).toBeUndefined();
    }
  });

  it('STORE-3 a key is told from another, and a short one is refused', () => {
    expect(createSeal(KEY).check).toBe(createSeal(KEY).check);
    expect(createSeal(KEY).check).not.toBe(createSeal(`${KEY}!`).check);
    expect(() => createSeal('short')).toThrow(expect.objectContaining({ code: 'CONFIGURATION_ERROR' }));
  });
});
