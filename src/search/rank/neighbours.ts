import type { Postings } from '../index/postings.js';
import type { QueryTerm } from '../query-term.js';
import type { Lookup } from './lookup.js';
import { rarity } from './score.js';

/** Words of a query that are counted in whole servers; the longest hold some hundreds. */
const MAX_COUNTED = 100;

/**
 * How much of a query the tools of each server hold between them: of every word, by its rarity, the fourth root of the share of the
 * tools that hold it, because that some tools of a server hold a word says more than how many do. Among many tools that look
 * alike, those of the server that is about the matter are meant.
 */
export function rateNeighbours(
  terms: readonly QueryTerm[],
  lookup: Lookup,
  { vocabulary, size }: Postings,
): Float64Array {
  const ratings = new Float64Array(lookup.segments.length);
  for (const { id, weight } of terms.slice(0, MAX_COUNTED)) {
    const worth = weight * rarity(vocabulary.uses(id), size);
    const spread = lookup.spread(id);
    for (let i = 0; i < ratings.length; i++) {
      if (spread[i] !== 0) ratings[i] = ratings[i]! + worth * Math.sqrt(Math.sqrt(spread[i]!));
    }
  }
  return ratings;
}
