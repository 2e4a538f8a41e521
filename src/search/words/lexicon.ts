import { invert, ownersOf, rarities, type LexiconData } from './lexicon-data.js';

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

/** The term under which tools are indexed that are about a concept of the lexicon; no text holds it. */
export function conceptTerm(concept: number): string {
  return `\u0001${concept}`;
}

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

/** Words that are found by their letters. They stay the bytes of a file: a string for each of many thousands would cost more than all else that is known of them. */
export interface WordTable {
  /** How many there are. */
  readonly size: number;
  /** The number of a word, or -1. */
  find(word: string): number;
  text(number: number): string;
}

const LINE_END = 10;
const HIGHEST_ASCII = 127;

/** FNV-1a. */
const SEED = 0x811c9dc5;
const PRIME = 0x01000193;

/** Longer words, in bytes, are in no file. */
const LONGEST = 512;

/** The words in UTF-8, a line each, numbered in their order. Of a word that is there twice the later counts. */
export function createWordTable(bytes: Uint8Array): WordTable {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const scratch = new Uint8Array(LONGEST);
  const ends = endsOf(bytes);
  const size = ends.length;
  // At most half of the places are taken, so that most words are found at the first look.
  const mask = 2 ** Math.ceil(Math.log2(2 * size + 1)) - 1;
  const places = new Uint32Array(mask + 1);
  for (let number = 0; number < size; number++) {
    const place = placeOf(bytes, startOf(number), ends[number]!);
    places[place] = number + 1;
  }

  function startOf(number: number): number {
    return number === 0 ? 0 : ends[number - 1]! + 1;
  }

  /** Where a word stands, or would stand. */
  function placeOf(letters: Uint8Array, begin: number, end: number): number {
    let hash = SEED;
    for (let at = begin; at < end; at++) hash = Math.imul(hash ^ letters[at]!, PRIME);
    let place = (hash ^ (hash >>> 15)) & mask;
    while (places[place] !== 0 && !isSame(places[place]! - 1, letters, begin, end)) place = (place + 1) & mask;
    return place;
  }

  function isSame(number: number, letters: Uint8Array, begin: number, end: number): boolean {
    const start = startOf(number);
    if (ends[number]! - start !== end - begin) return false;
    for (let at = begin; at < end; at++) if (bytes[start + at - begin] !== letters[at]) return false;
    return true;
  }

  /** Writes a word into the scratch; answers its bytes, or -1 when it is too long. */
  function write(word: string): number {
    if (word.length > LONGEST) return -1;
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at);
      if (code > HIGHEST_ASCII) {
        const { read, written } = encoder.encodeInto(word, scratch);
        return read === word.length ? written : -1;
      }
      scratch[at] = code;
    }
    return word.length;
  }

  return {
    size,
    find(word) {
      const length = write(word);
      return length < 0 ? -1 : places[placeOf(scratch, 0, length)]! - 1;
    },
    text: (number) => decoder.decode(bytes.subarray(startOf(number), ends[number])),
  };
}

function endsOf(bytes: Uint8Array): Uint32Array {
  let count = 1;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === LINE_END) count++;
  const ends = new Uint32Array(count);
  let line = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === LINE_END) ends[line++] = at;
  ends[line] = bytes.length;
  return ends;
}
