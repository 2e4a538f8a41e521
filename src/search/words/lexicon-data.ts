import type { ToolscoutError } from '../../kernel/errors.js';
import { brokenAsset } from '../../kernel/package-file.js';
import { checksum } from '../checksum.js';

/** What the file holds: words, and lists of lists of their numbers. Ends are running totals. */
export interface LexiconData {
  /** In UTF-8, a line each. */
  readonly words: Uint8Array;
  /** Slots of each concept, alternatives of each slot. */
  readonly conceptSlots: Uint32Array;
  readonly slotEnds: Uint32Array;
  readonly slotWords: Uint16Array;
  /** Phrases of each concept, words of each phrase. */
  readonly conceptPhrases: Uint32Array;
  readonly phraseEnds: Uint32Array;
  readonly phraseWords: Uint16Array;
  /** Words of each phrase that is rewritten, and the words it is rewritten to. */
  readonly rewriteEnds: Uint32Array;
  readonly rewriteWords: Uint16Array;
  readonly targetEnds: Uint32Array;
  readonly targetWords: Uint16Array;
}

/** `TSLX` in ASCII, the first bytes of the file. */
export const LEXICON_MAGIC = 0x584c5354;
/** The format of the file. */
export const LEXICON_VERSION = 1;

/** Magic, version, checksum of all that follows, then the length of each list and of the words in bytes. */
export const LEXICON_HEADER = 12 + 11 * 4;

/** Reads the file of the lexicon: a header, the words in UTF-8, a line each, then the lists; numbers are little-endian. */
export function readLexicon(bytes: Uint8Array): LexiconData {
  if (bytes.length < LEXICON_HEADER) throw damaged('it is shorter than its header');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== LEXICON_MAGIC) throw damaged('it does not begin like one');
  if (view.getUint32(4, true) !== LEXICON_VERSION) throw damaged(`its version is not ${LEXICON_VERSION}`);
  if (checksum(bytes.subarray(12)) !== view.getUint32(8, true)) throw damaged('its checksum is wrong');
  const lengths = Array.from({ length: 11 }, (_, i) => view.getUint32(12 + i * 4, true));
  let at = LEXICON_HEADER;
  const wordBytes = lengths[0]!;
  // A copy: the bytes of the file need not stay in memory for them.
  const words = new Uint8Array(bytes.subarray(at, at + wordBytes));
  at += wordBytes;
  const expected = lengths.slice(1).reduce((sum, length, i) => sum + length * widthOf(i), at);
  if (bytes.length !== expected) throw damaged('its length is not what its header says');
  let list = 1;
  const wide = (): Uint32Array => {
    const values = new Uint32Array(lengths[list++]!);
    for (let i = 0; i < values.length; i++, at += 4) values[i] = view.getUint32(at, true);
    return values;
  };
  const narrow = (): Uint16Array => {
    const values = new Uint16Array(lengths[list++]!);
    for (let i = 0; i < values.length; i++, at += 2) values[i] = view.getUint16(at, true);
    return values;
  };
  // In the order of the file.
  return {
    words,
    conceptSlots: wide(),
    slotEnds: wide(),
    slotWords: narrow(),
    conceptPhrases: wide(),
    phraseEnds: wide(),
    phraseWords: narrow(),
    rewriteEnds: wide(),
    rewriteWords: narrow(),
    targetEnds: wide(),
    targetWords: narrow(),
  };
}

/** Bytes of a number in each list, in their order in the file: words take two, ends four. */
export function widthOf(list: number): 2 | 4 {
  return [2, 5, 7, 9].includes(list) ? 2 : 4;
}

function damaged(reason: string): ToolscoutError {
  return brokenAsset('lexicon.bin', `damaged: ${reason}`);
}

/** For every item of a list of lists, the list it is in. */
export function ownersOf(ends: Uint32Array): Uint16Array {
  const owners = new Uint16Array(ends.at(-1) ?? 0);
  for (let i = 0; i < ends.length; i++) owners.fill(i, i === 0 ? 0 : ends[i - 1]!, ends[i]!);
  return owners;
}

/** For every word the items that hold it: those of a word stand between its start and that of the next. */
export interface Inverted {
  readonly starts: Uint32Array;
  readonly items: Uint32Array;
}

/** Inverts lists of words; `count` is the number of words. */
export function invert(ends: Uint32Array, words: Uint16Array, count: number): Inverted {
  const starts = new Uint32Array(count + 1);
  const each = (use: (word: number, item: number) => void): void => {
    for (let item = 0, at = 0; item < ends.length; item++) {
      // A word that stands twice in an item counts once.
      for (const begin = at; at < ends[item]!; at++) if (words.indexOf(words[at]!, begin) === at) use(words[at]!, item);
    }
  };
  each((word) => (starts[word + 1] = starts[word + 1]! + 1));
  for (let i = 0; i < count; i++) starts[i + 1] = starts[i + 1]! + starts[i]!;
  const items = new Uint32Array(starts[count]!);
  const next = starts.slice();
  each((word, item) => {
    items[next[word]!] = item;
    next[word] = next[word]! + 1;
  });
  return { starts, items };
}

/** How much a word says about which concept is meant: by the number of concepts that are asked for with it. */
export function rarities({ starts, items }: Inverted, owner: Uint16Array, concepts: number): Float32Array {
  const rarity = new Float32Array(starts.length - 1);
  for (let word = 0; word < rarity.length; word++) {
    let owners = 0;
    // Phrases of one concept are neighbours, and the items ascend.
    for (let at = starts[word]!; at < starts[word + 1]!; at++) {
      if (at === starts[word] || owner[items[at]!] !== owner[items[at - 1]!]) owners++;
    }
    rarity[word] = Math.log(1 + concepts / Math.max(1, owners));
  }
  return rarity;
}
