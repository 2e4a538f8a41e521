import { FIELDS, SERVER_FIELD } from '../index/fields.js';
import { FREQUENCY_BITS, frequencyIn, HIGHEST_FREQUENCY, POSTING_WORDS } from '../index/posting-lists.js';
import type { Postings, Segment } from '../index/postings.js';
import { fieldWorth, K1, rarity } from './score.js';

/**
 * What some documents hold of the terms of a query. A list is read once for each term, however many features, clauses and needs
 * ask for it.
 */
export interface Lookup {
  /** Ascending; the place of a document is its position here. */
  readonly documents: Uint32Array;
  /** The servers of the documents, ascending. */
  readonly segments: readonly Segment[];
  /** For each document the position of its server in {@link segments}. */
  readonly segmentAt: Uint32Array;
  placeOf(document: number): number;
  /** The packed frequencies of a term in each document; 0 where it is not. */
  frequencies(term: number): Uint32Array;
  /** What a term of weight 1 adds to the score of each document. */
  shares(term: number): Float32Array;
  /** The share of each server's tools that hold a term. */
  spread(term: number): Float32Array;
  /** The servers that have a term in their names. */
  named(term: number): Named;
}

/** Servers with a term in their names, and how many of the documents with the term are theirs. */
export interface Named {
  readonly servers: ReadonlySet<Segment>;
  readonly own: number;
}

/** A list that is so many times as long as what is looked for in it is not gone through. */
const GONE_THROUGH = 12;

/** Numbers that are kept for the next lookup: those of an ordinary query. */
const KEPT = 1 << 16;

/** Looks up documents, each once. A lookup is over when the next one begins: they share their memory. */
export type LookUp = (chosen: readonly number[], postings: Postings) => Lookup;

/** Lookups one after the other. */
export function createLookUp(): LookUp {
  const kept = new ArrayBuffer(KEPT * 4);
  return (chosen, postings) => createLookup(chosen, postings, kept);
}

function createLookup(chosen: readonly number[], postings: Postings, kept: ArrayBuffer): Lookup {
  let used = 0;

  /** Zeros: of the memory that is kept, or else of their own. */
  function numbers<T extends Uint32Array | Float32Array>(
    type: new (buffer: ArrayBuffer, from: number, length: number) => T,
    length: number,
  ): T {
    if (used + length > KEPT) return new type(new ArrayBuffer(length * 4), 0, length);
    const array = new type(kept, used * 4, length);
    used += length;
    array.fill(0);
    return array;
  }

  const { lists, lengths } = postings;
  const documents = Uint32Array.from(chosen).sort();
  const segments: Segment[] = [];
  const segmentAt = new Uint32Array(documents.length);
  for (let place = 0; place < documents.length; place++) {
    const segment = postings.segmentOf(documents[place]!)!;
    if (segments.at(-1) !== segment) segments.push(segment);
    segmentAt[place] = segments.length - 1;
  }
  let worth: Float32Array | undefined;

  function frequencies(term: number): Uint32Array {
    const { arena } = lists;
    const found = numbers(Uint32Array, documents.length);
    const end = lists.end(term);
    let at = lists.start(term);
    if (end - at <= POSTING_WORDS * GONE_THROUGH * documents.length) {
      for (let place = 0; at < end; at += POSTING_WORDS) {
        const document = arena[at]!;
        while (place < documents.length && documents[place]! < document) place++;
        if (place === documents.length) break;
        if (documents[place] === document) found[place] = arena[at + 1]!;
      }
      return found;
    }
    for (let place = 0; place < documents.length; place++) {
      at = lists.seek(term, documents[place]!, at);
      if (at >= end) break;
      if (arena[at] === documents[place]) found[place] = arena[at + 1]!;
    }
    return found;
  }

  function shares(term: number): Float32Array {
    worth ??= fieldWorth(postings);
    const packed = known(term, 'frequencies', frequencies);
    const most = rarity(postings.vocabulary.uses(term), postings.size);
    const sums = numbers(Float32Array, documents.length);
    for (let place = 0; place < packed.length; place++) {
      if (packed[place] === 0) continue;
      const from = documents[place]! * FIELDS.length;
      let frequency = 0;
      for (let field = 0, left = packed[place]!; left !== 0; field++, left >>>= FREQUENCY_BITS) {
        const inField = left & HIGHEST_FREQUENCY;
        if (inField !== 0) frequency += inField * worth[(field << 8) | lengths[from + field]!]!;
      }
      sums[place] = (most * frequency) / (K1 + frequency);
    }
    return sums;
  }

  function spread(term: number): Float32Array {
    const { arena } = lists;
    const found = numbers(Float32Array, segments.length);
    const end = lists.end(term);
    let at = lists.start(term);
    if (end - at <= POSTING_WORDS * GONE_THROUGH * segments.length) {
      for (let i = 0; at < end; at += POSTING_WORDS) {
        const document = arena[at]!;
        while (i < segments.length && segments[i]!.first + segments[i]!.tools.length <= document) i++;
        if (i === segments.length) break;
        if (document >= segments[i]!.first) found[i] = found[i]! + 1;
      }
    } else {
      for (let i = 0; i < segments.length; i++) {
        const { first, tools } = segments[i]!;
        at = lists.seek(term, first, at);
        if (at >= end) break;
        // Most servers hold none of a word, and one look tells.
        if (arena[at]! >= first + tools.length) continue;
        const begin = at;
        at = lists.seek(term, first + tools.length, at);
        found[i] = (at - begin) / POSTING_WORDS;
      }
    }
    for (let i = 0; i < segments.length; i++) found[i] = found[i]! / segments[i]!.tools.length;
    return found;
  }

  function named(term: number): Named {
    const { arena } = lists;
    const servers = new Set<Segment>();
    let own = 0;
    for (let at = lists.start(term), end = lists.end(term); at < end; at += POSTING_WORDS) {
      if (frequencyIn(arena[at + 1]!, SERVER_FIELD) === 0) continue;
      const segment = postings.segmentOf(arena[at]!);
      if (!segment) continue;
      own++;
      servers.add(segment);
    }
    return { servers, own };
  }

  const memory = {
    frequencies: new Map<number, Uint32Array>(),
    shares: new Map<number, Float32Array>(),
    spread: new Map<number, Float32Array>(),
    named: new Map<number, Named>(),
  };

  function known<K extends keyof typeof memory, T>(term: number, what: K, find: (term: number) => T): T {
    const map = memory[what] as unknown as Map<number, T>;
    const before = map.get(term);
    if (before !== undefined) return before;
    const now = find(term);
    map.set(term, now);
    return now;
  }

  return {
    documents,
    segments,
    segmentAt,
    placeOf(document) {
      let low = 0;
      let high = documents.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (documents[middle]! < document) low = middle + 1;
        else high = middle;
      }
      return low;
    },
    frequencies: (term) => known(term, 'frequencies', frequencies),
    shares: (term) => known(term, 'shares', shares),
    spread: (term) => known(term, 'spread', spread),
    named: (term) => known(term, 'named', named),
  };
}
