import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWordTable } from './lexicon.js';

const bytesOf = (words: readonly string[]): Uint8Array => new TextEncoder().encode(words.join('\n'));
const word = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));

describe('a table of words', () => {
  it('FIND-4 finds every word it holds, whatever its script, and no other', () => {
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 1 }), word, (words, other) => {
        const table = createWordTable(bytesOf(words));
        expect(table.size).toBe(words.length);
        for (const [i, one] of words.entries()) {
          expect([table.find(one), table.text(i)]).toEqual([i, one]);
        }
        if (!words.includes(other)) expect(table.find(other)).toBe(-1);
      }),
    );
  });

  it('FIND-4 the later of two equal words counts, and one that is too long is not there', () => {
    const table = createWordTable(bytesOf(['send', 'mail', 'send']));
    expect(table.find('send')).toBe(2);
    expect(table.find('x'.repeat(600))).toBe(-1);
    expect(table.find('ж'.repeat(400))).toBe(-1);
  });
});
