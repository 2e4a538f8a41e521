import type { Tool } from '../../model/tool.js';
import { FIELDS } from '../index/fields.js';
import { compareAddresses } from '../index/names.js';
import { FREQUENCY_BITS, frequencyIn, HIGHEST_FREQUENCY, POSTING_WORDS } from '../index/posting-lists.js';
import type { Postings, Segment } from '../index/postings.js';

/** A term to look for, what it counts, and the word of the query it stands for. */
export interface QueryTerm {
  readonly id: number;
  readonly weight: number;
  readonly word: string;
  /** Whether the query writes it as a name. */
  readonly proper?: boolean;
  /** The clauses of the query it stands in, as bits. */
  readonly clauses?: number;
}

/** How fast repetitions of a term stop counting (BM25's k1). */
export const K1 = 1.2;

/**
 * Postings one query reads before only its best documents are looked at any further. Queries of people do
 * not reach it in catalogs of some ten thousand tools; it is what keeps a search in a million bounded.
 */
const MAX_READ = 100_000;

/** Documents that are looked at for the words that were not read, and how many such words, the weightiest. */
const LOOKED_AT = 1000;
const MAX_UNREAD = 48;

/** A sweep over all scores costs no more than going to every so many, one by one. */
const SWEPT = 16;

/** How much a term says: rare ones a lot, ones that every tool holds nearly nothing. */
export function rarity(uses: number, size: number): number {
  return Math.log(1 + (size - uses + 0.5) / (uses + 0.5));
}

/** Scores of documents, in arrays that the next query uses again. */
export interface Scores {
  /** Documents that hold any of the terms; removed ones may be among them. */
  readonly documents: Uint32Array;
  /** The score of each document, by its number. */
  readonly values: Float32Array;
}

/**
 * The first stage of ranking: BM25F over the postings of the query's terms, of all documents or of one segment's.
 * Rare terms are read first. Common ones, once the allowance is spent, can no longer bring new documents in; they
 * still count for those that the rare terms put first.
 */
export type Scorer = (terms: readonly QueryTerm[], postings: Postings, within?: Segment) => Scores;

/** A scorer with the arrays it uses for every query; `maxRead` is its allowance of postings. */
export function createScorer(maxRead = MAX_READ): Scorer {
  let values = new Float32Array(0);
  let documents = new Uint32Array(0);
  let count = 0;

  /** Puts the documents in ascending order, so that their scores are read from memory in sequence. */
  function gather(end: number): void {
    count = 0;
    for (let document = 0; document < end; document++) if (values[document] !== 0) documents[count++] = document;
  }

  /** Sets back what the last query scored: one by one, or all in one sweep when they are not few. */
  function forget(): void {
    if (count > values.length / SWEPT) values.fill(0);
    else for (let i = 0; i < count; i++) values[documents[i]!] = 0;
    count = 0;
  }

  function begin({ owners: { length: end } }: Postings): void {
    forget();
    if (values.length >= end) return;
    values = new Float32Array(end + (end >>> 2));
    documents = new Uint32Array(values.length);
  }

  return (terms, postings, within) => {
    begin(postings);
    const { lists, lengths } = postings;
    const { arena } = lists;
    const fields = FIELDS.length;
    const worth = fieldWorth(postings);

    const unread: QueryTerm[] = [];
    let allowance = maxRead;
    for (const term of rarestFirst(terms, postings, maxRead)) {
      const { id, weight } = term;
      const most = weight * rarity(postings.vocabulary.uses(id), postings.size);
      let at = lists.start(id);
      let end = lists.end(id);
      if (within) {
        at = lists.seek(id, within.first, at);
        end = lists.seek(id, within.first + within.tools.length, at);
      }
      allowance -= (end - at) / POSTING_WORDS;
      // The rarest term is always read: without it there would be nothing to look at.
      if (allowance < 0 && count > 0) {
        unread.push(term);
        continue;
      }
      for (; at < end; at += POSTING_WORDS) {
        const document = arena[at]!;
        let packed = arena[at + 1]!;
        let frequency = 0;
        for (let field = 0; packed !== 0; field++, packed >>>= FREQUENCY_BITS) {
          const inField = packed & HIGHEST_FREQUENCY;
          if (inField !== 0) frequency += inField * worth[(field << 8) | lengths[document * fields + field]!]!;
        }
        if (values[document] === 0) documents[count++] = document;
        values[document] = values[document]! + (most * frequency) / (K1 + frequency);
      }
    }
    const end = postings.owners.length;
    if (count > end / SWEPT) gather(end);
    const scored = documents.subarray(0, count);
    if (unread.length > 0) lookAtBest(scored, values, unread, postings);
    return { documents: scored, values };
  };
}

function rarestFirst(terms: readonly QueryTerm[], { vocabulary }: Postings, maxRead: number): readonly QueryTerm[] {
  const uses = terms.map(({ id }) => vocabulary.uses(id));
  if (uses.reduce((sum, count) => sum + count, 0) <= maxRead) return terms;
  return terms
    .map((term, i) => ({ term, uses: uses[i]! }))
    .toSorted((a, b) => a.uses - b.uses)
    .map(({ term }) => term);
}

/** Adds the weight of the unread terms to the documents that rank first without them. */
function lookAtBest(scored: Uint32Array, values: Float32Array, unread: readonly QueryTerm[], postings: Postings): void {
  const worth = ({ id, weight }: QueryTerm): number => weight * rarity(postings.vocabulary.uses(id), postings.size);
  const terms = selectTop(unread, MAX_UNREAD, (a, b) => worth(b) - worth(a));
  const best = selectBest(scored, values, LOOKED_AT, (a, b) => a - b);
  const shares = sharesOf(best, terms, postings);
  for (const [place, document] of best.entries()) {
    for (let i = 0; i < terms.length; i++) values[document] = values[document]! + shares[place * terms.length + i]!;
  }
}

/** What each term adds to the scores of some documents: `shares[place * terms.length + term]`. */
export function sharesOf(documents: readonly number[], terms: readonly QueryTerm[], postings: Postings): Float32Array {
  const { lists, lengths } = postings;
  const shares = new Float32Array(documents.length * terms.length);
  const worth = fieldWorth(postings);
  const ascending = Uint32Array.from(documents.keys()).sort((a, b) => documents[a]! - documents[b]!);
  for (const [i, { id, weight }] of terms.entries()) {
    const most = weight * rarity(postings.vocabulary.uses(id), postings.size);
    const end = lists.end(id);
    let at = lists.start(id);
    for (const place of ascending) {
      const document = documents[place]!;
      at = lists.seek(id, document, at);
      if (at >= end) break;
      if (lists.arena[at] !== document) continue;
      const packed = lists.arena[at + 1]!;
      let frequency = 0;
      for (let field = 0; field < FIELDS.length; field++) {
        const length = lengths[document * FIELDS.length + field]!;
        frequency += frequencyIn(packed, field) * worth[(field << 8) | length]!;
      }
      shares[place * terms.length + i] = (most * frequency) / (K1 + frequency);
    }
  }
  return shares;
}

/** What one occurrence counts in each field at each length (0 to 255): its weight, less in fields longer than the average. */
export function fieldWorth(postings: Postings): Float32Array {
  const worth = new Float32Array(FIELDS.length << 8);
  for (const [field, { weight, b }] of FIELDS.entries()) {
    const average = averageLength(field, postings) || 1;
    for (let length = 0; length < 256; length++) {
      worth[(field << 8) | length] = weight / (1 - b + (b * length) / average);
    }
  }
  return worth;
}

/** The mean length of a field over the documents that are there; of a sparse one, over those that have any of it. */
export function averageLength(field: number, { size, totals, holders }: Postings): number {
  const documents = FIELDS[field]?.sparse ? holders[field]! : size;
  return documents === 0 ? 0 : totals[field]! / documents;
}

/** Documents that are near to the query by meaning, whether they hold a word of it or not. */
type Near = (accept: (document: number) => boolean) => readonly number[];

/** Documents of the first stage that are looked at again. */
export const SECOND_STAGE = 300;

/** The documents that are looked at: the best of the first stage, those that are remembered, and those that are near by meaning. */
export function choose(
  { documents, values }: Scores,
  postings: Postings,
  count: number,
  accept: (tool: Tool) => boolean,
  recalled: ReadonlyMap<number, number>,
  near: Near = () => [],
): number[] {
  const toolAt = (document: number): Tool | undefined => {
    const segment = postings.owners[document];
    return segment?.tools[document - segment.first];
  };
  const byAddress = (a: number, b: number): number => {
    const [left, right] = [toolAt(a), toolAt(b)];
    return left && right ? compareAddresses(left, right) : 0;
  };
  const isWanted = (document: number): boolean => {
    const tool = toolAt(document);
    return tool !== undefined && accept(tool);
  };
  const chosen = selectBest(documents, values, count, byAddress, isWanted);
  const taken = new Set(chosen);
  for (const document of [...recalled.keys(), ...near(isWanted)]) {
    if (taken.has(document) || !isWanted(document)) continue;
    taken.add(document);
    chosen.push(document);
  }
  return chosen;
}

type Compare<T> = (a: T, b: T) => number;

/**
 * The best `count` of many items, best first, in one pass: a heap keeps the worst of the chosen at
 * its root, so nearly every item costs one comparison. `compare` is negative when the first is better,
 * and must bear items that `accept` refuses.
 */
export function selectTop<T>(
  items: Iterable<T>,
  count: number,
  compare: Compare<T>,
  accept: (item: T) => boolean = () => true,
): T[] {
  const heap: T[] = [];
  if (count <= 0) return heap;
  for (const item of items) {
    const full = heap.length >= count;
    if ((full && compare(item, heap[0]!) >= 0) || !accept(item)) continue;
    if (full) replaceWorst(heap, item, compare);
    else raise(heap, item, compare);
  }
  return heap.toSorted(compare);
}

/**
 * The best `count` of very many documents by their scores, none below 0, best first; `compare` orders those that score the same.
 * What scores less than any of the best, nearly everything, costs two looks at one number.
 */
export function selectBest(
  documents: Uint32Array,
  scores: Float32Array,
  count: number,
  compare: Compare<number>,
  accept: (document: number) => boolean = () => true,
): number[] {
  if (count <= 0) return [];
  const byScore = (a: number, b: number): number => scores[b]! - scores[a]! || compare(a, b);
  const high = documents.length > Math.max(MANY, 2 * count) ? highest(documents, scores, count) : documents;
  const best = selectTop(high, count, byScore, accept);
  // Too many of the highest were not acceptable: then all are looked at.
  return best.length < count && high.length < documents.length ? selectTop(documents, count, byScore, accept) : best;
}

/** Documents beyond which their scores are counted first; fewer are looked at one by one. */
const MANY = 4000;

/** Bits of a score that are dropped when scores are counted: what is left tells them apart to a few hundredths. */
const DROPPED_BITS = 18;

/** All documents with the highest scores, at least `count` and not many more: numbers of one sign have the order of their bits. */
function highest(documents: Uint32Array, scores: Float32Array, count: number): Uint32Array {
  const bits = new Uint32Array(scores.buffer, scores.byteOffset, scores.length);
  const counts = new Uint32Array((0x7f800000 >>> DROPPED_BITS) + 1);
  let step = 0;
  for (let i = 0; i < documents.length; i++) {
    const own = bits[documents[i]!]! >>> DROPPED_BITS;
    counts[own] = counts[own]! + 1;
    if (own > step) step = own;
  }
  let kept = counts[step]!;
  while (kept < count && step > 0) kept += counts[--step]!;
  const high = new Uint32Array(kept);
  for (let i = 0, at = 0; at < kept; i++) {
    const document = documents[i]!;
    if (bits[document]! >>> DROPPED_BITS >= step) high[at++] = document;
  }
  return high;
}

/** The best `count` of many lists that are each sorted, best first: of a list no more is looked at than may be among them. */
export function firstOf<T>(
  lists: ReadonlyArray<readonly T[]>,
  count: number,
  compare: Compare<T>,
  accept: (item: T) => boolean,
): T[] {
  const heap: T[] = [];
  if (count <= 0) return heap;
  for (const list of lists) {
    for (const item of list) {
      const full = heap.length >= count;
      if (full && compare(item, heap[0]!) >= 0) break;
      if (!accept(item)) continue;
      if (full) replaceWorst(heap, item, compare);
      else raise(heap, item, compare);
    }
  }
  return heap.toSorted(compare);
}

function raise<T>(heap: T[], added: T, compare: Compare<T>): void {
  let at = heap.push(added) - 1;
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    if (compare(heap[parent]!, added) >= 0) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = added;
}

function replaceWorst<T>(heap: T[], added: T, compare: Compare<T>): void {
  let at = 0;
  for (;;) {
    let child = at * 2 + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && compare(heap[child + 1]!, heap[child]!) > 0) child++;
    if (compare(added, heap[child]!) >= 0) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = added;
}
