import { describe, expect, it } from 'vitest';
import { LOOK_ALIKES } from '../../kernel/look-alikes.js';
import { createWordScripts } from './scripts-of-words.js';

describe('words of more than one script', () => {
  it('A11 every letter of the table is read as the Latin one, and makes a word mixed unless it is Latin itself', () => {
    const { latinOf, scriptsOf } = createWordScripts();
    for (const [letter, latin] of LOOK_ALIKES) {
      expect(letter).toHaveLength(1);
      expect(latinOf(`z${letter}z`)).toBe(`z${latin}z`);
      const isLatin = /\p{Script=Latin}/u.test(letter);
      expect(scriptsOf(`z${letter}z`)).toEqual({ isOther: !isLatin, isMixed: !isLatin });
    }
  });

  it('A11 a letter that is added to the table counts, whatever range it is in', () => {
    const letters = ['\u13A5', '\uA4F2', '\u0261', '\u1D0F'] as const;
    const { latinOf, scriptsOf } = createWordScripts(new Map(letters.map((letter) => [letter, 'o'])));
    for (const letter of letters) expect(latinOf(`ign${letter}re`)).toBe('ignore');
    expect(scriptsOf('ign\u13A5re')).toEqual({ isOther: true, isMixed: true });
    expect(scriptsOf('\uA4F2')).toEqual({ isOther: true, isMixed: false });
    // Latin letters, such as those of phonetics and Turkish, are no other script.
    expect(scriptsOf('i\u0261nore')).toEqual({ isOther: false, isMixed: false });
  });

  it('A11 letters of Greek, Cyrillic and Armenian that pass for none count for their script', () => {
    const { latinOf, scriptsOf } = createWordScripts();
    expect(scriptsOf('word\u0434')).toEqual({ isOther: true, isMixed: true });
    expect(latinOf('\u0434')).toBe('\u0434');
    expect(scriptsOf('word')).toEqual({ isOther: false, isMixed: false });
  });
});
