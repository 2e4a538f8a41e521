import { leastEdits, letterSet } from '../text/letters.js';

/** Bits that hold one field's term frequency; more than the largest value adds nothing to a saturated score. */
export const FREQUENCY_BITS = 4;

/** The largest term frequency that is told apart. */
export const HIGHEST_FREQUENCY = (1 << FREQUENCY_BITS) - 1;

/** One occurrence in a field, to be added to a posting's packed frequencies. */
export function packedOnce(field: number): number {
  return 1 << (field * FREQUENCY_BITS);
}

/** How often a field holds the term, out of a posting's packed frequencies. */
export function frequencyIn(packed: number, field: number): number {
  return (packed >>> (field * FREQUENCY_BITS)) & HIGHEST_FREQUENCY;
}

/** Words of the arena that one posting takes: document, packed frequencies. */
export const POSTING_WORDS = 2;

/**
 * For every term the documents that hold it, ascending, all in one typed array. A full
 * list moves to a place of twice the size, one that another list has left or else at the end, so appending
 * is cheap and no objects are created.
 */
export interface PostingLists {
  /** The array all lists live in; appending replaces it, so read it anew for every query. */
  readonly arena: Uint32Array;
  /** Memory of all arrays. */
  readonly bytes: number;
  /** Where a term's list begins and ends in the arena, in words. */
  start(term: number): number;
  end(term: number): number;
  /** Adds a document that is higher than every one in the list. */
  append(term: number, document: number, packed: number): void;
  /** Says how many postings are about to come, so that the array does not grow for them step by step. */
  expect(postings: number): void;
  /** Adds many documents with their packed frequencies, one after the other; the numbers are counted from `first`. */
  extend(term: number, first: number, postings: readonly number[]): void;
  /** Makes room in a list for this many further postings, one at least, so that it moves but once. */
  reserve(term: number, postings: number): void;
  /** Takes everything out of a list. */
  empty(term: number): void;
  /** Where the first posting of a document or a higher one is, looked for from a place in the list on. */
  seek(term: number, document: number, from: number): number;
  /** The packed frequencies of a term in a document; 0 when it is not there. */
  find(term: number, document: number): number;
}

/** A typed array with at least `length` places and the old content. */
export function grown<T extends Uint8Array | Uint32Array>(array: T, length: number): T {
  if (length <= array.length) return array;
  const larger = new (array.constructor as new (length: number) => T)(
    Math.max(length, array.length + (array.length >>> 1), 64),
  );
  larger.set(array);
  return larger;
}

/** Empty lists; with an idea of how many postings will come, they are not moved as they grow to that. */
export function createPostingLists(expected = 0): PostingLists {
  let arena = new Uint32Array(expected * POSTING_WORDS);
  let used = 0;
  let starts = new Uint32Array(0);
  let ends = new Uint32Array(0);
  let rooms = new Uint32Array(0);

  /** Rooms that lists have left, by the power of two that is their size. */
  const vacant: number[][] = Array.from({ length: 32 }, () => []);

  /** Moves a list to a room of another size, a power of two. */
  function move(term: number, room: number): void {
    const length = ends[term]! - starts[term]!;
    let start = vacant[31 - Math.clz32(room)]!.pop();
    if (start === undefined) {
      start = used;
      used += room;
      arena = grown(arena, used);
    }
    arena.copyWithin(start, starts[term]!, ends[term]!);
    leave(term);
    starts[term] = start;
    ends[term] = start + length;
    rooms[term] = room;
  }

  function leave(term: number): void {
    if (rooms[term] !== 0) vacant[31 - Math.clz32(rooms[term]!)]!.push(starts[term]!);
    rooms[term] = 0;
  }

  function makeKnown(term: number): void {
    if (term < starts.length) return;
    starts = grown(starts, term + 1);
    ends = grown(ends, term + 1);
    rooms = grown(rooms, term + 1);
  }

  function reserve(term: number, postings: number): void {
    makeKnown(term);
    const needed = (ends[term]! - starts[term]!) / POSTING_WORDS + postings;
    const room = POSTING_WORDS << (32 - Math.clz32(needed - 1));
    if (room > rooms[term]!) move(term, room);
  }

  return {
    get arena() {
      return arena;
    },
    get bytes() {
      return [arena, starts, ends, rooms].reduce((sum, { byteLength }) => sum + byteLength, 0);
    },
    start: (term) => starts[term] ?? 0,
    end: (term) => ends[term] ?? 0,
    append(term, document, packed) {
      makeKnown(term);
      if (ends[term]! >= starts[term]! + rooms[term]!) move(term, Math.max(POSTING_WORDS, rooms[term]! * 2));
      const at = ends[term]!;
      arena[at] = document;
      arena[at + 1] = packed;
      ends[term] = at + POSTING_WORDS;
    },
    expect(postings) {
      arena = grown(arena, used + postings * POSTING_WORDS);
    },
    extend(term, first, postings) {
      reserve(term, postings.length / POSTING_WORDS);
      let at = ends[term]!;
      for (let i = 0; i < postings.length; i += POSTING_WORDS) {
        arena[at++] = first + postings[i]!;
        arena[at++] = postings[i + 1]!;
      }
      ends[term] = at;
    },
    reserve,
    empty(term) {
      if (term >= ends.length) return;
      leave(term);
      ends[term] = starts[term]!;
    },
    seek(term, document, from) {
      const end = ends[term] ?? 0;
      // Ever longer steps, then halving: next to nothing when the document is near.
      let step = POSTING_WORDS;
      let low = from;
      while (low + step < end && arena[low + step]! < document) {
        low += step;
        step *= 2;
      }
      let high = Math.min(low + step, end);
      while (low < high) {
        const middle = low + (((high - low) / POSTING_WORDS) >>> 1) * POSTING_WORDS;
        if (arena[middle]! < document) low = middle + POSTING_WORDS;
        else high = middle;
      }
      return low;
    },
    find(term, document) {
      let low = (starts[term] ?? 0) / POSTING_WORDS;
      let high = (ends[term] ?? 0) / POSTING_WORDS;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (arena[middle * POSTING_WORDS]! < document) low = middle + 1;
        else high = middle;
      }
      const at = low * POSTING_WORDS;
      return at < (ends[term] ?? 0) && arena[at] === document ? arena[at + 1]! : 0;
    },
  };
}

/** Every term once, numbered, with the number of tools that hold it. A number is never another's while its term is in use. */
export interface Vocabulary {
  /** One more than the highest number; some may belong to no term now. */
  readonly size: number;
  /** The number of a term, given to it now if it is new. */
  intern(term: string): number;
  /** The number of a term that at least one tool holds. */
  find(term: string): number | undefined;
  text(id: number): string;
  /** How many tools hold the term. */
  uses(id: number): number;
  addUses(id: number, count: number): void;
  /** Forgets a term that no tool holds any more; the next new term gets its number. */
  forget(id: number): void;
  /** Terms in use that may be within `limit` edits of a text; a cheap superset, for an exact look. */
  near(text: string, limit: number): number[];
}

/** The longest length of a term that is told apart. */
const LONGEST = 255;

/** An empty vocabulary. */
export function createVocabulary(): Vocabulary {
  const ids = new Map<string, number>();
  const texts: string[] = [];
  const vacant: number[] = [];
  let uses = new Uint32Array(0);
  let letters = new Uint32Array(0);
  let lengths = new Uint8Array(0);

  return {
    get size() {
      return texts.length;
    },
    intern(term) {
      const known = ids.get(term);
      if (known !== undefined) return known;
      const id = vacant.pop() ?? texts.length;
      texts[id] = term;
      ids.set(term, id);
      uses = grown(uses, id + 1);
      letters = grown(letters, id + 1);
      letters[id] = letterSet(term);
      lengths = grown(lengths, id + 1);
      lengths[id] = Math.min(term.length, LONGEST);
      return id;
    },
    find(term) {
      const id = ids.get(term);
      return id !== undefined && uses[id]! > 0 ? id : undefined;
    },
    text: (id) => texts[id]!,
    uses: (id) => uses[id]!,
    addUses(id, count) {
      uses[id] = uses[id]! + count;
    },
    forget(id) {
      ids.delete(texts[id]!);
      texts[id] = '';
      vacant.push(id);
    },
    near(text, limit) {
      const wanted = letterSet(text);
      const found: number[] = [];
      const [shortest, longest] = [text.length - limit, text.length + limit].map((length) => Math.min(length, LONGEST));
      for (let id = 0; id < texts.length; id++) {
        // Most terms have another length, which is cheaper to see than other letters.
        if (lengths[id]! < shortest! || lengths[id]! > longest!) continue;
        if (uses[id] !== 0 && leastEdits(wanted, letters[id]!) <= limit) found.push(id);
      }
      return found;
    },
  };
}
