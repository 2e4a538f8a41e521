import { splitWords, type Word } from '../text/analysis.js';
import { isStopWord } from '../text/stop-words.js';
import { FOREIGN_STOP_WORDS, FOREIGN_WORDS, FURTHER_STOP_WORDS } from './foreign-words.js';

/** Reads words of other languages. */
export interface Translator {
  /**
   * For the words of a query that are of another language, the English words tools are written in; none for
   * a word that only holds the sentence together. `isKnown` tells words that tools use themselves.
   */
  translate(words: readonly Word[], isKnown: (word: Word) => boolean): ReadonlyMap<string, readonly string[]>;
  /** Whether a query is in another language that is written in Latin letters, by the words that hold it together. */
  isForeign(words: readonly Word[]): boolean;
}

/** How many words of one language a query needs before words that tools also use are read as that language. */
const SURE = 2;

/** Endings that are removed from a word that is not in the list, and how many letters must be left. */
const ENDINGS = ['en', 'es', 'er', 'n', 's', 'e', 't', 'r'];
const MIN_STEM_LENGTH = 4;

/** A translator with its word lists. */
export function createTranslator(): Translator {
  const languages = FOREIGN_STOP_WORDS.map((line) => ({
    holders: new Set(line.split(' ')),
    words: new Map<string, string[]>(),
  }));
  const holding = [...FOREIGN_STOP_WORDS, ...FURTHER_STOP_WORDS].map((line) => new Set(line.split(' ')));
  const pairs = new Map<string, string[]>();
  for (const line of FOREIGN_WORDS) {
    const [english = '', ...columns] = line.split(' | ');
    for (const [i, column] of columns.entries()) {
      const dictionary = languages[i]?.words ?? pairs;
      for (const word of column
        .split(' ')
        .map(splitWords)
        .filter((parts) => parts.length === 1)
        .flat()) {
        dictionary.set(word, [...(dictionary.get(word) ?? []), ...english.split(' ')]);
      }
    }
  }

  return {
    translate(words, isKnown) {
      const counts = languages.map(({ holders }) => countHolders(words, holders));
      const most = Math.max(...counts);
      const spoken = most >= SURE ? languages[counts.indexOf(most)] : undefined;
      const found = new Map<string, readonly string[]>();
      for (const word of words) {
        const { text } = word;
        const pair = pairs.get(text);
        if (pair) found.set(text, pair);
        else if (spoken?.holders.has(text)) found.set(text, []);
        else if (spoken || !isKnown(word)) {
          for (const { words: dictionary } of spoken ? [spoken] : languages) {
            const english = lookUp(text, dictionary) ?? (isKnown(word) ? undefined : lookUpParts(text, dictionary));
            if (english) found.set(text, [...new Set([...(found.get(text) ?? []), ...english])]);
          }
        }
      }
      return found;
    },
    isForeign(words) {
      const most = Math.max(...holding.map((holders) => countHolders(words, holders)));
      return most >= SURE && most > new Set(words.map(({ text }) => text).filter(isStopWord)).size;
    },
  };
}

function countHolders(words: readonly Word[], holders: ReadonlySet<string>): number {
  return new Set(words.map(({ text }) => text).filter((text) => text.length > 1 && holders.has(text))).size;
}

function lookUp(word: string, dictionary: ReadonlyMap<string, string[]>): string[] | undefined {
  const exact = dictionary.get(word);
  if (exact) return exact;
  for (const ending of ENDINGS) {
    if (!word.endsWith(ending) || word.length - ending.length < MIN_STEM_LENGTH) continue;
    const english = dictionary.get(word.slice(0, -ending.length));
    if (english) return english;
  }
  return undefined;
}

/** Both halves of a compound: `Kalenderwoche` is a calendar and a week. */
function lookUpParts(word: string, dictionary: ReadonlyMap<string, string[]>): string[] | undefined {
  for (let at = MIN_STEM_LENGTH; at <= word.length - MIN_STEM_LENGTH; at++) {
    const head = lookUp(word.slice(0, at), dictionary);
    const tail = head && lookUp(word.slice(at), dictionary);
    if (tail) return [...head, ...tail];
  }
  return undefined;
}
