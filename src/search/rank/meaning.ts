import type { SegmentTable } from '../index/segment-table.js';
import type { Postings, Segment } from '../index/postings.js';
import type { Query } from '../query.js';
import type { Candidate } from './candidates.js';
import { clauseTerms, type Meaning } from './features.js';
import type { Signal } from './rank.js';
import { selectBest } from './top.js';

/** What nearness of meaning counts, against the words themselves, where there are no learned weights. */
export const MEANING_WEIGHT = 0.3;

/** How many tools are found by meaning alone, how near they must be, and up to which size of catalog all tools are rated. */
const NEAREST = 50;
const MIN_NEARNESS = 0.25;
const MAX_RATED = 20_000;

/** Tools whose sketches are nearest, among which the nearest are: of all others the rows are not read. */
const SKETCHED = 250;

/** What the word vectors say of one query, as far as there are any. */
export interface QueryMeaning {
  /** One signal, where there are no learned weights. */
  signals(): Signal[];
  /** What the features of candidates are made of; `undefined` without word vectors. */
  features(candidates: readonly Candidate[]): Meaning | undefined;
  /** The documents nearest to the query, among all where they are not too many, or those of one server. */
  nearest(accept: (document: number) => boolean, within?: Segment): number[];
}

/** Reads the meaning of a query. */
export function meaningOf(query: Query, table: SegmentTable, postings: Postings): QueryMeaning {
  const { meaning } = table;
  const whole = meaning?.read(query.meant);

  function rate(terms: Iterable<string> | undefined, candidates: readonly Candidate[]): Float32Array {
    const meant = terms === undefined ? whole : meaning?.read(terms);
    const rates = new Float32Array(candidates.length);
    if (!meant) return rates;
    for (let i = 0; i < rates.length; i++) {
      const { document, segment } = candidates[i]!;
      rates[i] = meant.nearness(segment.rows, document - segment.first);
    }
    return rates;
  }

  return {
    signals() {
      if (!meaning) return [];
      return [{ name: 'meaning', weight: MEANING_WEIGHT, rate: (candidates) => [...rate(undefined, candidates)] }];
    },
    features(candidates) {
      if (!meaning) return undefined;
      const all = rate(undefined, candidates);
      const clauses = clauseTerms(query, postings).map((terms) => rate(terms, candidates));
      if (clauses.length < 2) return { whole: all, clauses: all };
      const best = new Float32Array(candidates.length);
      for (const rates of clauses) for (let i = 0; i < best.length; i++) best[i] = Math.max(best[i]!, rates[i]!);
      return { whole: all, clauses: best };
    },
    nearest(accept, within) {
      const { end } = postings;
      if (!whole || postings.size > MAX_RATED) return [];
      const estimates = new Float32Array(end);
      whole.estimate(postings.sketches, estimates);
      const first = within?.first ?? 0;
      const last = within ? first + within.tools.length : end;
      const documents = new Uint32Array(last - first);
      let near = 0;
      for (let document = first; document < last; document++) {
        if (estimates[document] !== 0) documents[near++] = document;
      }
      const values = new Float32Array(SKETCHED);
      const looked = selectBest(documents.subarray(0, near), estimates, SKETCHED, (a, b) => a - b, accept);
      for (const [i, document] of looked.entries()) {
        const segment = postings.segmentOf(document)!;
        values[i] = whole.nearness(segment.rows, document - segment.first);
      }
      const places = Uint32Array.from(looked.keys()).filter((place) => values[place]! >= MIN_NEARNESS);
      return selectBest(places, values, NEAREST, (a, b) => looked[a]! - looked[b]!).map((place) => looked[place]!);
    },
  };
}
