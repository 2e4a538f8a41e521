import { POSTING_WORDS } from '../index/posting-lists.js';
import type { Postings, Segment } from '../index/postings.js';
import type { QueryTerm } from '../query-term.js';
import { rarity } from './score.js';

/** Words of a query that are counted in whole servers; the longest hold some hundreds. */
const MOST_COUNTED = 100;

/** The root that is taken of a share: that some tools of a server hold a word says more than how many do. */
const ROOT = 0.25;

/**
 * How much of a query the tools of each server hold between them: of every word, by its rarity, the share of the
 * tools that hold it. Among many tools that look alike, those of the server that is about the matter are meant.
 */
export function rateNeighbours(
  terms: readonly QueryTerm[],
  segments: ReadonlySet<Segment>,
  postings: Postings,
): ReadonlyMap<Segment, number> {
  const { lists, vocabulary, size } = postings;
  const ascending = [...segments].toSorted((a, b) => a.first - b.first);
  const ratings = new Float64Array(ascending.length);
  for (const { id, weight } of terms.slice(0, MOST_COUNTED)) {
    const worth = weight * rarity(vocabulary.uses(id), size);
    const end = lists.end(id);
    let at = lists.start(id);
    for (let i = 0; i < ascending.length; i++) {
      const { first, tools } = ascending[i]!;
      at = lists.seek(id, first, at);
      if (at >= end) break;
      // Most servers hold none of a word, and one look tells.
      if (lists.arena[at]! >= first + tools.length) continue;
      const begin = at;
      at = lists.seek(id, first + tools.length, at);
      const share = (at - begin) / POSTING_WORDS / tools.length;
      ratings[i] = ratings[i]! + worth * share ** ROOT;
    }
  }
  return new Map(ascending.map((segment, i) => [segment, ratings[i]!]));
}
