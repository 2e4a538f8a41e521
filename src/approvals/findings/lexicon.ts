import { requireAsset } from '../../kernel/package-file.js';
import { CONCEPTS, type Concept } from './concepts.js';
import { fold } from './fold.js';

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
  /** English words that look like words of other languages and stand for nothing. */
  readonly plain: ReadonlySet<string>;
}

const NUMBER_OF: ReadonlyMap<Concept, number> = new Map(CONCEPTS.map((concept, at) => [concept, at]));

/** The number of a concept. */
export function conceptNumber(concept: Concept): number {
  return NUMBER_OF.get(concept)!;
}

/** Letters by which stems are found. */
export const STEM_KEY = 2;

/** Entries of which each is made once: nine thousand words stand for some hundred combinations. */
function createEntries(): (concepts: readonly number[], isForeign: boolean) => Entry {
  const made = new Map<string, Entry>();
  return (concepts, isForeign) => {
    const key = `${concepts.join()} ${isForeign}`;
    const entry = made.get(key) ?? { concepts, isForeign };
    made.set(key, entry);
    return entry;
  };
}

/** One list of the file: the words of each concept, with commas between them. */
interface WordList {
  readonly language: string;
  readonly words: ReadonlyMap<Concept, string>;
}

/** Reads the lists of the file: `[language]`, then a line for each concept; `[plain]` holds words alone. */
export function readWordLists(text: string): { readonly lists: WordList[]; readonly plain: ReadonlySet<string> } {
  const lists: Array<{ readonly language: string; readonly words: Map<Concept, string> }> = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const language = /^\[(.+)\]$/.exec(line)?.[1];
    const [, concept, words] = /^(\w+): (.+)$/.exec(line) ?? [];
    if (language !== undefined) lists.push({ language, words: new Map() });
    else if (lists.at(-1)?.language === 'plain') return { lists: lists.slice(0, -1), plain: new Set(line.split(' ')) };
    else if (words !== undefined && NUMBER_OF.has(concept as Concept))
      lists.at(-1)!.words.set(concept as Concept, words);
    else throw new Error(`Line ${at + 1} of the lexicon of findings names no concept: ${line.slice(0, 40)}`);
  }
  return { lists, plain: new Set() };
}

/** Makes the lexicon from the lists of all languages, which are a file of the package. */
export function buildLexicon(): Lexicon {
  const { lists, plain } = readWordLists(Buffer.from(requireAsset('findings-lexicon.txt')).toString());
  const words = new Map<string, Entry>();
  const stems = new Map<string, Entry>();
  const entryOf = createEntries();
  const starts = new Map<string, number>();
  const take = (list: WordList, isForeign: boolean, isTaken: (key: string) => boolean): void => {
    for (const [concept, all] of list.words) {
      const number = conceptNumber(concept);
      // The list as a whole: to fold each of nine thousand words takes several times as long.
      for (const each of fold(all).replace(/[-']/g, ' ').split(',')) {
        // A part of a text keeps all of it in memory; what is decoded anew does not.
        const word = Buffer.from(each.trim()).toString();
        const isStem = word.endsWith('*');
        const key = isStem ? word.slice(0, -1) : word;
        if (key === '' || isTaken(key)) continue;
        const target = isStem ? stems : words;
        const known = target.get(key);
        const concepts = known?.concepts ?? [];
        // A word that English has too is read as English.
        const isStillForeign = isForeign && known?.isForeign !== false;
        target.set(key, entryOf(concepts.includes(number) ? concepts : [...concepts, number], isStillForeign));
        const parts = key.split(' ');
        if (parts.length > 1) starts.set(parts[0]!, Math.max(starts.get(parts[0]!) ?? 0, parts.length));
      }
    }
  };
  const isEnglish = ({ language }: WordList): boolean => language === 'english';
  for (const list of lists.filter(isEnglish)) take(list, false, () => false);
  // What means something in English keeps that meaning: "no" and "note" are no Spanish here.
  const english = new Set(words.keys());
  const isTaken = (key: string): boolean => english.has(key) || plain.has(key);
  for (const list of lists) if (!isEnglish(list)) take(list, true, isTaken);
  const lengths = new Map<string, Set<number>>();
  for (const key of stems.keys()) {
    if (key.includes(' ')) continue;
    const start = key.slice(0, STEM_KEY);
    lengths.set(start, (lengths.get(start) ?? new Set()).add(key.length));
  }
  const stemLengths = new Map([...lengths].map(([start, all]) => [start, [...all].toSorted((a, b) => b - a)] as const));
  return { words, stems, stemLengths, starts, plain };
}
