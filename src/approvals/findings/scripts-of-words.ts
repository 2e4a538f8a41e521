import { LOOK_ALIKES } from '../../kernel/look-alikes.js';

/** How words are read whose letters come from more than one script. */
export interface WordScripts {
  /** The word with the Latin letter for each that passes for one. */
  latinOf(word: string): string;
  /** Whether a small word has letters of another script than Latin, as far as letters of that script pass for Latin ones, and whether it has Latin ones too. */
  scriptsOf(word: string): { readonly isOther: boolean; readonly isMixed: boolean };
}

/** Greek, Cyrillic and Armenian: a word of one of them counts by each of its letters. */
const FIRST_OTHER = 0x370;
const LAST_OTHER = 0x58f;
const LATIN = /\p{Script=Latin}/u;

/** The reading of words by a table of look-alikes; a letter that is added to the table counts at once. */
export function createWordScripts(lookAlikes: ReadonlyMap<string, string> = LOOK_ALIKES): WordScripts {
  const letters = [...lookAlikes.keys()];
  const lookAlike = new RegExp(`[${letters.join('')}]`, 'gu');
  /** Letters of the table beyond the ranges above. */
  const elsewhere = new Set(
    letters
      .filter((letter) => !LATIN.test(letter))
      .map((letter) => letter.codePointAt(0)!)
      .filter((code) => code < FIRST_OTHER || code > LAST_OTHER),
  );
  return {
    latinOf: (word) => word.replace(lookAlike, (letter) => lookAlikes.get(letter)!),
    scriptsOf(word) {
      let isOther = false;
      let isLatin = false;
      for (let i = 0; i < word.length; i++) {
        const code = word.charCodeAt(i);
        if (code >= FIRST_OTHER && code <= LAST_OTHER) isOther = true;
        else if (code >= 97 && code <= 122) isLatin = true;
        else if (elsewhere.size > 0 && elsewhere.has(code)) isOther = true;
      }
      return { isOther, isMixed: isOther && isLatin };
    },
  };
}
