import { fold } from './fold.js';
import { ASIAN } from './words/asian.js';
import { CONCEPTS, type Concept, type Words } from './words/concepts.js';
import { ENGLISH } from './words/english.js';
import { EUROPEAN } from './words/european.js';
import { OTHER_THEMES } from './words/other-themes.js';
import { PLAIN_ENGLISH } from './words/plain.js';
import { ENGLISH_SYNONYMS } from './words/synonyms.js';
import { ENGLISH_THEMES } from './words/themes.js';

/** What a word, or a phrase that ends with it, stands for. */
export interface Entry {
  readonly concepts: readonly number[];
  readonly isForeign: boolean;
}

/** Words and phrases of all languages. */
export interface Lexicon {
  /** Words, and phrases with a space between their words. */
  readonly words: ReadonlyMap<string, Entry>;
  /** Beginnings of words, and of the last word of a phrase. */
  readonly stems: ReadonlyMap<string, Entry>;
  /** The lengths of the stems that begin with some letters, the longest first. */
  readonly stemLengths: ReadonlyMap<string, readonly number[]>;
  /** The number of words of the longest phrase that starts with a word. */
  readonly starts: ReadonlyMap<string, number>;
}

const NUMBER_OF: ReadonlyMap<Concept, number> = new Map(CONCEPTS.map((concept, at) => [concept, at]));

/** The number of a concept. */
export function conceptNumber(concept: Concept): number {
  return NUMBER_OF.get(concept)!;
}

/** Letters by which stems are found. */
export const STEM_KEY = 2;

interface Growing {
  readonly concepts: number[];
  isForeign: boolean;
}

/** Makes the lexicon from the lists of all languages. */
export function buildLexicon(): Lexicon {
  const words = new Map<string, Growing>();
  const stems = new Map<string, Growing>();
  const starts = new Map<string, number>();
  const take = (language: Words, isForeign: boolean, isTaken: (key: string) => boolean): void => {
    for (const [concept, list] of Object.entries(language) as Array<[Concept, string]>) {
      const number = conceptNumber(concept);
      for (const each of list.split(',')) {
        const word = fold(each.trim()).replace(/[-']/g, ' ');
        const isStem = word.endsWith('*');
        const key = isStem ? word.slice(0, -1) : word;
        if (key === '' || isTaken(key)) continue;
        const target = isStem ? stems : words;
        const entry = target.get(key) ?? { concepts: [], isForeign };
        // A word that English has too is read as English.
        if (!isForeign) entry.isForeign = false;
        if (!entry.concepts.includes(number)) entry.concepts.push(number);
        target.set(key, entry);
        const parts = key.split(' ');
        if (parts.length > 1) starts.set(parts[0]!, Math.max(starts.get(parts[0]!) ?? 0, parts.length));
      }
    }
  };
  const never = (): boolean => false;
  take(ENGLISH, false, never);
  take(ENGLISH_THEMES, false, never);
  take(ENGLISH_SYNONYMS, false, never);
  // What means something in English keeps that meaning: "no" and "note" are no Spanish here.
  const english = new Set(words.keys());
  for (const language of [...EUROPEAN, ...ASIAN, OTHER_THEMES])
    take(language, true, (key) => english.has(key) || PLAIN_ENGLISH.has(key));
  const lengths = new Map<string, Set<number>>();
  for (const key of stems.keys()) {
    if (key.includes(' ')) continue;
    const start = key.slice(0, STEM_KEY);
    lengths.set(start, (lengths.get(start) ?? new Set()).add(key.length));
  }
  const stemLengths = new Map([...lengths].map(([start, all]) => [start, [...all].toSorted((a, b) => b - a)] as const));
  return { words, stems, stemLengths, starts };
}
