import { ToolscoutError } from '../../kernel/errors.js';
import { checksum } from '../checksum.js';
import { createWordTable } from './word-table.js';

/**
 * How people ask for things, written down by concept. A concept is an action, an object, both together, or a product: the words a
 * tool must hold to be about it, and the phrases that people use for it. Tools get their concepts when they are indexed,
 * queries when they are asked, and meet there.
 */
export interface Lexicon {
  /** How many concepts there are. */
  readonly size: number;
  /** The concepts of a tool: which of them its names show, and which only the beginning of its description. */
  conceptsOf(names: readonly string[], description: readonly string[]): ToolConcepts;
  /** The concepts that a query speaks of, by the stems of all its words in order, stop words too. */
  asked(stems: readonly string[]): AskedConcept[];
  /**
   * The plain words for phrases of a query such as phrasal verbs, each with the place of the phrase's first word. A word for
   * which `isInflected` holds may be another form of one in the lexicon.
   */
  rewrite(
    stems: readonly string[],
    isInflected?: (place: number) => boolean,
  ): ReadonlyArray<{ readonly at: number; readonly terms: readonly string[] }>;
}

/** The concepts of one tool, by number. */
export interface ToolConcepts {
  readonly named: readonly number[];
  readonly described: readonly number[];
}

/** A concept that a query speaks of. */
export interface AskedConcept {
  readonly concept: number;
  /** How surely it is meant, in [0,1]. */
  readonly weight: number;
  /** Where in the query the phrase for it begins. */
  readonly at: number;
}

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

/** The share of a phrase, by rarity of its words, that a query must hold, and how far its words may stand apart. */
const MIN_SHARE = 0.6;
const LOOSE_WORDS = 3;

/** A phrase whose words are as rare as this says all that a phrase can say. */
const FULL_RARITY = 5;

/** Words of a query that are looked at. */
const MAX_WORDS = 400;

/** Two forms of a word share at least so many letters, and this share of the longer one; neighbours in the order of letters are tried. */
const MIN_SHARED_LETTERS = 3;
const SHARED_FORM = 0.65;
const NEIGHBOURS = 4;

/** Words that may stand between the first word of a rewritten phrase and the next: chase _Bob_ up. */
const BETWEEN = 2;

/** The lexicon that some data describe. */
export function createLexicon(data: LexiconData): Lexicon {
  const { conceptSlots, slotEnds, slotWords, conceptPhrases, phraseEnds, phraseWords } = data;
  const words = createWordTable(data.words);
  const size = conceptSlots.length;
  const slotOwner = ownersOf(conceptSlots);
  const slotsByWord = invert(slotEnds, slotWords, words.size);
  const phraseOwner = ownersOf(conceptPhrases);
  const phrasesByWord = invert(phraseEnds, phraseWords, words.size);
  const rarity = rarities(phrasesByWord, phraseOwner, size);
  const phraseRarity = new Float32Array(phraseEnds.length);
  for (let phrase = 0; phrase < phraseEnds.length; phrase++) {
    for (let at = startOf(phraseEnds, phrase); at < phraseEnds[phrase]!; at++) {
      phraseRarity[phrase] = phraseRarity[phrase]! + rarity[phraseWords[at]!]!;
    }
  }
  const { rewriteEnds, rewriteWords, targetEnds, targetWords } = data;
  const rewritesByWord = invert(rewriteEnds, rewriteWords, words.size);
  let rewritten: string[] | undefined;

  /** The words of phrases that are rewritten, in the order of their letters; only queries in other languages look for them. */
  function inOrder(): readonly string[] {
    rewritten ??= [...new Set(rewriteWords)].map(words.text).toSorted((a, b) => (a < b ? -1 : 1));
    return rewritten;
  }

  /** The word of a rewritten phrase that begins like a stem and differs from it in its ending only; -1 when there is none. */
  function formOf(stem: string): number {
    const all = inOrder();
    let best = '';
    let most = 0;
    let low = 0;
    let high = all.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (all[middle]! < stem) low = middle + 1;
      else high = middle;
    }
    // Words with the longest common beginning stand next to where the stem would stand.
    for (const word of all.slice(Math.max(0, low - NEIGHBOURS), low + NEIGHBOURS)) {
      const shared = sharedLength(stem, word);
      const longer = Math.max(stem.length, word.length);
      if (shared >= MIN_SHARED_LETTERS && shared >= longer * SHARED_FORM && shared > most) {
        most = shared;
        best = word;
      }
    }
    return words.find(best);
  }

  // Bits of the slots that were met, for names alone and with the description.
  const namedBits = new Uint8Array(size);
  const allBits = new Uint8Array(size);
  const found = new Float32Array(phraseEnds.length);

  /** Marks the slots that a term fills; concepts met for the first time are added to `touched`. */
  function meet(term: string, isName: boolean, touched: number[]): void {
    const word = words.find(term);
    if (word < 0) return;
    for (let at = slotsByWord.starts[word]!; at < slotsByWord.starts[word + 1]!; at++) {
      const slot = slotsByWord.items[at]!;
      const concept = slotOwner[slot]!;
      const bit = 1 << (slot - startOf(conceptSlots, concept));
      if (allBits[concept] === 0) touched.push(concept);
      allBits[concept] = allBits[concept]! | bit;
      if (isName) namedBits[concept] = namedBits[concept]! | bit;
    }
  }

  function conceptsOf(names: readonly string[], description: readonly string[]): ToolConcepts {
    const touched: number[] = [];
    for (let i = 0; i < names.length; i++) meet(names[i]!, true, touched);
    for (let i = 0; i < description.length; i++) meet(description[i]!, false, touched);
    const named: number[] = [];
    const described: number[] = [];
    for (const concept of touched) {
      const whole = (1 << (conceptSlots[concept]! - startOf(conceptSlots, concept))) - 1;
      if (namedBits[concept] === whole) named.push(concept);
      else if (allBits[concept] === whole) described.push(concept);
      namedBits[concept] = 0;
      allBits[concept] = 0;
    }
    return { named, described };
  }

  function asked(stems: readonly string[]): AskedConcept[] {
    const places = placesOf(stems);
    const touched: number[] = [];
    for (const word of places.keys()) {
      for (let at = phrasesByWord.starts[word]!; at < phrasesByWord.starts[word + 1]!; at++) {
        const phrase = phrasesByWord.items[at]!;
        if (found[phrase] === 0) touched.push(phrase);
        found[phrase] = found[phrase]! + rarity[word]!;
      }
    }
    const best = new Map<number, AskedConcept>();
    for (const phrase of touched) {
      const reached = found[phrase]!;
      found[phrase] = 0;
      const share = reached / phraseRarity[phrase]!;
      if (share < MIN_SHARE) continue;
      const at = together(wordsOf(phraseEnds, phraseWords, phrase), places);
      if (at === undefined) continue;
      const concept = phraseOwner[phrase]!;
      const weight = share * Math.min(1, reached / FULL_RARITY);
      if (weight > (best.get(concept)?.weight ?? 0)) best.set(concept, { concept, weight, at });
    }
    return [...best.values()];
  }

  function placesOf(stems: readonly string[]): ReadonlyMap<number, readonly number[]> {
    const places = new Map<number, number[]>();
    for (const [i, stem] of stems.slice(0, MAX_WORDS).entries()) {
      const word = words.find(stem);
      if (word < 0) continue;
      const known = places.get(word);
      if (known) known.push(i);
      else places.set(word, [i]);
    }
    return places;
  }

  function rewrite(
    stems: readonly string[],
    isInflected: (place: number) => boolean = () => false,
  ): Array<{ at: number; terms: string[] }> {
    const ids = stems.slice(0, MAX_WORDS).map((stem, place) => {
      const word = words.find(stem);
      return word < 0 && isInflected(place) ? formOf(stem) : word;
    });
    const answers: Array<{ at: number; terms: string[] }> = [];
    for (const [at, id] of ids.entries()) {
      if (id < 0) continue;
      for (let i = rewritesByWord.starts[id]!; i < rewritesByWord.starts[id + 1]!; i++) {
        const one = rewritesByWord.items[i]!;
        const phrase = wordsOf(rewriteEnds, rewriteWords, one);
        if (phrase[0] !== id || !follows(ids, at, phrase)) continue;
        answers.push({ at, terms: [...wordsOf(targetEnds, targetWords, one)].map(words.text) });
      }
    }
    return answers;
  }

  return { size, conceptsOf, asked, rewrite };
}

/** Where the words of a phrase that a query holds begin to stand together; `undefined` when they are scattered. */
function together(phrase: Uint16Array, places: ReadonlyMap<number, readonly number[]>): number | undefined {
  const held = [...new Set(phrase)].map((word) => places.get(word)).filter((list) => list !== undefined);
  const [first, ...rest] = held.toSorted((a, b) => a.length - b.length);
  const reach = phrase.length + LOOSE_WORDS;
  return first?.find((at) => rest.every((list) => list.some((other) => Math.abs(other - at) <= reach)));
}

function sharedLength(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/** Whether a phrase begins at a place: its words one after the other, with a little room after the first. */
function follows(ids: readonly number[], at: number, phrase: Uint16Array): boolean {
  for (let gap = 0; gap <= (phrase.length === 2 ? BETWEEN : 0); gap++) {
    let i = 1;
    while (i < phrase.length && ids[at + gap + i] === phrase[i]) i++;
    if (i === phrase.length) return true;
  }
  return false;
}

function startOf(ends: Uint32Array, i: number): number {
  return i === 0 ? 0 : ends[i - 1]!;
}

function wordsOf(ends: Uint32Array, words: Uint16Array, i: number): Uint16Array {
  return words.subarray(startOf(ends, i), ends[i]!);
}

/** For every item of a list of lists, the list it is in. */
function ownersOf(ends: Uint32Array): Uint16Array {
  const owners = new Uint16Array(ends.at(-1) ?? 0);
  for (let i = 0; i < ends.length; i++) owners.fill(i, startOf(ends, i), ends[i]!);
  return owners;
}

/** For every word the items that hold it. */
interface Inverted {
  readonly starts: Uint32Array;
  readonly items: Uint32Array;
}

function invert(ends: Uint32Array, words: Uint16Array, count: number): Inverted {
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
function rarities({ starts, items }: Inverted, owner: Uint16Array, concepts: number): Float32Array {
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
  return new ToolscoutError(
    'INTERNAL_ERROR',
    `The file of the lexicon is damaged: ${reason}. Install toolscout again.`,
  );
}
