import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { splitWords } from '../src/search/text/analysis.js';
import { stem } from '../src/search/text/stem.js';
import { checksum } from '../src/search/checksum.js';
import {
  LEXICON_HEADER,
  LEXICON_MAGIC,
  LEXICON_VERSION,
  widthOf,
  type LexiconData,
} from '../src/search/words/lexicon-data.js';

/** The blocks of the lexicon, in the order of their names. */
export function readBlocks(folder: string): Array<{ readonly name: string; readonly text: string }> {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .toSorted()
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
}

/** Slots beyond these cannot be told apart. */
const MAX_SLOTS = 8;

/** Compiles blocks: every word becomes the number of its stem. */
export function compileLexicon(texts: readonly string[]): LexiconData {
  const words: string[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (term: string): number => {
    const known = numbers.get(term);
    if (known !== undefined) return known;
    numbers.set(term, words.length);
    return words.push(term) - 1;
  };
  const stemsOf = (text: string): number[] => splitWords(text).map((word) => numberOf(stem(word)));
  const concepts = createLists();
  const slots = createLists();
  const phrases = createLists();
  const conceptPhrases = createLists();
  const rewrites = createLists();
  const targets = createLists();
  for (const line of texts.flatMap((text) => text.split('\n')).map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const [left, right] = line.split('::').map((side) => side.trim());
    if (right === undefined) {
      const [phrase = '', plain = ''] = line.split('=>').map((side) => side.trim());
      if (plain === '' || phrase === '') throw new Error(`This line of the lexicon cannot be read: ${line}`);
      rewrites.add(stemsOf(phrase));
      targets.add(stemsOf(plain));
      continue;
    }
    const sides = left!.split(/\s+/).map((slot) => [...new Set(slot.split('/').flatMap(stemsOf))]);
    const asked = right
      .split(';')
      .map(stemsOf)
      .filter((phrase) => phrase.length > 0);
    if (left === '' || asked.length === 0 || sides.length > MAX_SLOTS || sides.some((slot) => slot.length === 0)) {
      throw new Error(`This line of the lexicon cannot be read: ${line}`);
    }
    concepts.add(sides);
    for (const slot of sides) slots.add(slot);
    conceptPhrases.add(asked);
    for (const phrase of asked) phrases.add(phrase);
  }
  return {
    words: new TextEncoder().encode(words.join('\n')),
    conceptSlots: concepts.ends(),
    slotEnds: slots.ends(),
    slotWords: slots.items(),
    conceptPhrases: conceptPhrases.ends(),
    phraseEnds: phrases.ends(),
    phraseWords: phrases.items(),
    rewriteEnds: rewrites.ends(),
    rewriteWords: rewrites.items(),
    targetEnds: targets.ends(),
    targetWords: targets.items(),
  };
}

interface Lists {
  add(items: readonly unknown[]): void;
  ends(): Uint32Array;
  items(): Uint16Array;
}

function createLists(): Lists {
  const ends: number[] = [];
  const all: number[] = [];
  let total = 0;
  return {
    add(items) {
      total += items.length;
      ends.push(total);
      for (const item of items) if (typeof item === 'number') all.push(item);
    },
    ends: () => Uint32Array.from(ends),
    items: () => Uint16Array.from(all),
  };
}

/** Writes a lexicon as the file that `readLexicon` reads. */
export function writeLexicon(data: LexiconData): Uint8Array {
  const { words } = data;
  const lists = [
    data.conceptSlots,
    data.slotEnds,
    data.slotWords,
    data.conceptPhrases,
    data.phraseEnds,
    data.phraseWords,
    data.rewriteEnds,
    data.rewriteWords,
    data.targetEnds,
    data.targetWords,
  ];
  const length = lists.reduce((sum, list, i) => sum + list.length * widthOf(i), LEXICON_HEADER + words.length);
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, LEXICON_MAGIC, true);
  view.setUint32(4, LEXICON_VERSION, true);
  view.setUint32(12, words.length, true);
  for (const [i, list] of lists.entries()) view.setUint32(16 + i * 4, list.length, true);
  bytes.set(words, LEXICON_HEADER);
  let at = LEXICON_HEADER + words.length;
  for (const [i, list] of lists.entries()) {
    for (const value of list) {
      if (widthOf(i) === 2) view.setUint16(at, value, true);
      else view.setUint32(at, value, true);
      at += widthOf(i);
    }
  }
  view.setUint32(8, checksum(bytes.subarray(12)), true);
  return bytes;
}
