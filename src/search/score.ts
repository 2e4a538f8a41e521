import { FIELDS } from './fields.js';
import { frequencyIn } from './posting-lists.js';
import { LONGEST_FIELD, type Postings } from './postings.js';
import type { QueryTerm } from './query.js';

/** How fast repetitions of a term stop counting (BM25's k1). */
const K1 = 1.2;

/** How much a term says: rare ones a lot, ones that every tool holds nearly nothing. */
export function rarity(uses: number, size: number): number {
  return Math.log(1 + (size - uses + 0.5) / (uses + 0.5));
}

/** Scores of documents, in arrays that are used again for the next query. */
export interface Scores {
  /** Documents that hold any of the terms; removed ones may be among them. */
  readonly documents: Uint32Array;
  of(document: number): number;
}

/** The first stage of ranking: BM25F over every posting of the query's terms. */
export function createScorer(): (terms: readonly QueryTerm[], postings: Postings) => Scores {
  let scores = new Float32Array(0);
  let touched = new Uint32Array(0);
  let count = 0;

  return (terms, postings) => {
    for (let i = 0; i < count; i++) scores[touched[i]!] = 0;
    count = 0;
    if (scores.length < postings.end) {
      scores = new Float32Array(postings.end + (postings.end >>> 2));
      touched = new Uint32Array(scores.length);
    }
    const { arena } = postings.lists;
    const { lengths } = postings;
    const worth = fieldWorth(postings);

    for (const { id, weight } of terms) {
      const most = weight * rarity(postings.vocabulary.uses(id), postings.size);
      const end = postings.lists.end(id);
      for (let at = postings.lists.start(id); at < end; at += 2) {
        const document = arena[at]!;
        const packed = arena[at + 1]!;
        let frequency = 0;
        for (let field = 0; field < FIELDS.length; field++) {
          const inField = frequencyIn(packed, field);
          if (inField === 0) continue;
          const length = lengths[document * FIELDS.length + field]!;
          frequency += inField * worth[field * (LONGEST_FIELD + 1) + length]!;
        }
        if (scores[document] === 0) touched[count++] = document;
        scores[document] = scores[document]! + (most * frequency) / (K1 + frequency);
      }
    }
    return { documents: touched.subarray(0, count), of: (document) => scores[document]! };
  };
}

/** What one occurrence counts in each field at each length: its weight, less in fields longer than the average. */
function fieldWorth(postings: Postings): Float32Array {
  const worth = new Float32Array(FIELDS.length * (LONGEST_FIELD + 1));
  for (const [field, { weight, b }] of FIELDS.entries()) {
    const average = postings.averageLength(field) || 1;
    for (let length = 0; length <= LONGEST_FIELD; length++) {
      worth[field * (LONGEST_FIELD + 1) + length] = weight / (1 - b + (b * length) / average);
    }
  }
  return worth;
}
