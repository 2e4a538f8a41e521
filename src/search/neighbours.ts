import { POSTING_WORDS } from './posting-lists.js';
import type { Postings, Segment } from './postings.js';
import type { QueryTerm } from './query.js';
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
  const counted = terms.slice(0, MOST_COUNTED);
  const ratings = new Map<Segment, number>();
  const ascending = [...segments].toSorted((a, b) => a.first - b.first);
  for (const { id, weight } of counted) {
    const worth = weight * rarity(vocabulary.uses(id), size);
    let at = lists.start(id);
    for (const segment of ascending) {
      at = lists.seek(id, segment.first, at);
      const begin = at;
      at = lists.seek(id, segment.first + segment.tools.length, at);
      const share = (at - begin) / POSTING_WORDS / segment.tools.length;
      ratings.set(segment, (ratings.get(segment) ?? 0) + worth * share ** ROOT);
    }
  }
  return ratings;
}
