import { describe, expect, it } from 'vitest';
import { buildLexicon, conceptNumber, readWordLists } from './lexicon.js';

describe('the lexicon of findings', () => {
  it('A11 is read by language and concept, and plain words apart', () => {
    const { lists, plain } = readWordLists(
      '# why\n[english]\nsend: send, post*\n\n[german]\nsend: schick*\n[plain]\na an\n',
    );
    expect(lists.map(({ language, words }) => [language, ...words])).toEqual([
      ['english', ['send', 'send, post*']],
      ['german', ['send', 'schick*']],
    ]);
    expect([...plain]).toEqual(['a', 'an']);
  });

  it.each(['sendd: send', 'send send', 'send:'])('A11 the line %j names no concept', (line) => {
    expect(() => readWordLists(`[english]\n${line}\n`)).toThrow('Line 2 of the lexicon of findings names no concept');
  });

  it('A11 a word that English has keeps its English meaning', () => {
    const { words, stems } = buildLexicon();
    expect(words.get('note')?.isForeign ?? false).toBe(false);
    expect(stems.get('schicke')).toEqual({ concepts: [conceptNumber('send')], isForeign: true });
  });
});
