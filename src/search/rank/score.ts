import { FIELDS } from '../index/fields.js';
import { FREQUENCY_BITS, frequencyIn, HIGHEST_FREQUENCY, POSTING_WORDS } from '../index/posting-lists.js';
import type { Postings, Segment } from '../index/postings.js';
import type { QueryTerm } from '../query-term.js';
import { selectBest, selectTop } from './top.js';

/** How fast repetitions of a term stop counting (BM25's k1). */
export const K1 = 1.2;

/**
 * Postings one query reads before only its best documents are looked at any further. Queries of people do
 * not reach it in catalogs of some ten thousand tools; it is what keeps a search in a million bounded.
 */
const MAX_READ = 200_000;

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

  function begin({ end }: Postings): void {
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
    if (count > postings.end / SWEPT) gather(postings.end);
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
    const average = postings.averageLength(field) || 1;
    for (let length = 0; length < 256; length++) {
      worth[(field << 8) | length] = weight / (1 - b + (b * length) / average);
    }
  }
  return worth;
}

/** The power of the share of a query that led to a tool before: chosen by left-out sets, see docs/search.md. */
const CLOSENESS = 2;

/** A term of a query that may have led somewhere before; -1 is the id of one that no tool holds. */
export interface AskedTerm {
  readonly id: number;
  readonly uses: number;
  readonly weight: number;
}

/**
 * What remembered queries add to the scores of documents: as if their words stood in one more field,
 * so that a word the tool has itself gains little, and one it lacks gains much. It counts by the square of the share
 * of the query that led there before, or one common word would lead everything to where it led once.
 */
export function raisedBy(
  remembered: ReadonlyMap<number, readonly number[]>,
  asked: readonly AskedTerm[],
  postings: Postings,
): Map<number, number> {
  const documents = [...remembered.keys()];
  const terms = asked.map(({ id, weight }) => ({ id, weight, word: '' }));
  const shares = sharesOf(documents, terms, postings);
  const raised = new Map<number, number>();
  for (const [place, document] of documents.entries()) {
    let sum = 0;
    let covered = 0;
    let whole = 0;
    for (const [i, { uses, weight }] of asked.entries()) {
      const more = remembered.get(document)![i]!;
      const most = weight * rarity(uses, postings.size);
      whole += most;
      if (more === 0) continue;
      covered += most;
      const share = shares[place * asked.length + i]!;
      const room = most - share;
      if (room <= 0) continue;
      const own = (K1 * share) / room;
      sum += (most * (own + more)) / (K1 + own + more) - share;
    }
    if (sum > 0) raised.set(document, sum * (covered / whole) ** CLOSENESS);
  }
  return raised;
}
