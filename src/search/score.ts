import { FIELDS } from './fields.js';
import { FREQUENCY_BITS, frequencyIn, HIGHEST_FREQUENCY, POSTING_WORDS } from './posting-lists.js';
import type { Postings } from './postings.js';
import type { QueryTerm } from './query.js';

/** How fast repetitions of a term stop counting (BM25's k1). */
const K1 = 1.2;

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

/** The first stage of ranking: BM25F over every posting of the query's terms. */
export function createScorer(): (terms: readonly QueryTerm[], postings: Postings) => Scores {
  let values = new Float32Array(0);
  let documents = new Uint32Array(0);
  let count = 0;

  return (terms, postings) => {
    for (let i = 0; i < count; i++) values[documents[i]!] = 0;
    count = 0;
    if (values.length < postings.end) {
      values = new Float32Array(postings.end + (postings.end >>> 2));
      documents = new Uint32Array(values.length);
    }
    const { lists, lengths } = postings;
    const { arena } = lists;
    const fields = FIELDS.length;
    const worth = fieldWorth(postings);

    for (const { id, weight } of terms) {
      const most = weight * rarity(postings.vocabulary.uses(id), postings.size);
      const end = lists.end(id);
      for (let at = lists.start(id); at < end; at += POSTING_WORDS) {
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
    return { documents: documents.subarray(0, count), values };
  };
}

/** What each term adds to the scores of some documents: `shares[place * terms.length + term]`. */
export function sharesOf(documents: readonly number[], terms: readonly QueryTerm[], postings: Postings): Float32Array {
  const { lists, lengths } = postings;
  const shares = new Float32Array(documents.length * terms.length);
  const worth = fieldWorth(postings);
  const places = new Map(documents.map((document, place) => [document, place]));
  const ascending = Uint32Array.from(documents).toSorted();
  for (const [i, { id, weight }] of terms.entries()) {
    const most = weight * rarity(postings.vocabulary.uses(id), postings.size);
    let at = lists.start(id);
    for (const document of ascending) {
      at = lists.seek(id, document, at);
      if (at >= lists.end(id)) break;
      if (lists.arena[at] !== document) continue;
      const packed = lists.arena[at + 1]!;
      let frequency = 0;
      for (let field = 0; field < FIELDS.length; field++) {
        const length = lengths[document * FIELDS.length + field]!;
        frequency += frequencyIn(packed, field) * worth[(field << 8) | length]!;
      }
      shares[places.get(document)! * terms.length + i] = (most * frequency) / (K1 + frequency);
    }
  }
  return shares;
}

/** What one occurrence counts in each field at each length (0 to 255): its weight, less in fields longer than the average. */
function fieldWorth(postings: Postings): Float32Array {
  const worth = new Float32Array(FIELDS.length << 8);
  for (const [field, { weight, b }] of FIELDS.entries()) {
    const average = postings.averageLength(field) || 1;
    for (let length = 0; length < 256; length++) {
      worth[(field << 8) | length] = weight / (1 - b + (b * length) / average);
    }
  }
  return worth;
}

/** A term of a query that may have led somewhere before; -1 is the id of one that no tool holds. */
export interface AskedTerm {
  readonly id: number;
  readonly uses: number;
  readonly weight: number;
}

/**
 * What remembered queries add to the scores of documents: as if their words stood in one more field,
 * so that a word the tool has itself gains little, and one it lacks gains much. It counts by the share
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
    if (sum > 0) raised.set(document, sum * (covered / whole));
  }
  return raised;
}
