import { describe, expect, it } from 'vitest';
import { createPlaceholders } from './placeholders.js';

describe('placeholders', () => {
  it('STUDIO-8 CFG-4 hide credentials in a text and bring back exactly what was there', () => {
    const secrets = ['hunter2-hunter2', 'hunter2-hunter2-longer', 'with "quotes"', 'short'];
    const { hide, restore } = createPlaceholders(() => secrets);
    const text = JSON.stringify({ a: secrets[0], b: [secrets[1]], c: secrets[2], d: 'short', e: 'x' });
    const hidden = hide(text);
    expect(hidden).not.toMatch(/hunter2|quotes/);
    expect(hidden).toContain('short');
    expect(restore(hidden)).toBe(text);
    expect(restore(JSON.parse(hide(JSON.stringify({ a: secrets[0], n: 1, l: [null, true] }))))).toEqual({
      a: secrets[0],
      n: 1,
      l: [null, true],
    });
  });

  it('STUDIO-8 mean the same credential however the others change, and nothing in another process', () => {
    let secrets = ['first-secret', 'second-secret'];
    const { hide, restore } = createPlaceholders(() => secrets);
    const hidden = hide('second-secret');
    secrets = ['new-secret', 'second-secret'];
    expect(restore(hidden)).toBe('second-secret');
    expect(() => createPlaceholders(() => secrets).restore(hidden)).toThrow('stands for no credential');
  });

  it('STUDIO-8 A33 a credential that is new does not break one that contains it, and the other way round', () => {
    const url = 'postgresql://app:Pa55word@db/prod';
    const { hide } = createPlaceholders(() => [url, 'known-token']);
    const shown = hide(`a ${url} b postgresql c known-token-and-more d known-token`, [
      'postgresql',
      'known-token-and-more',
    ]);
    expect(shown).toMatch(/^a TOOLSCOUT_SECRET_\w{12} b \*\*\* c \*\*\* d TOOLSCOUT_SECRET_\w{12}$/);
  });
});
