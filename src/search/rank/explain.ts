import type { Explanation } from '../../model/hit.js';
import { FIELDS } from '../index/fields.js';
import { frequencyIn } from '../index/posting-lists.js';
import type { Postings } from '../index/postings.js';
import type { Query } from '../query.js';
import { FEATURES, type Placed, type RankingModel } from './rank.js';
import { sharesOf } from './score.js';

/** Why a tool stands where it stands: which words met which fields, and what each signal gave to its relevance. */
export function explain(placed: Placed, query: Query, postings: Postings): Explanation {
  const terms = [...query.own, ...query.related, ...query.concepts];
  const concepts = new Set(query.concepts);
  const shares = sharesOf([placed.document], terms, postings);
  const whole = shares.reduce((sum, share) => sum + share, 0) || 1;
  const found = terms.map((asked, i) => ({
    word: asked.word,
    // A concept has no word of its own: it is shown as the word of the query that led to it.
    term: concepts.has(asked) ? asked.word : postings.vocabulary.text(asked.id),
    fields: fieldsWith(postings.lists.find(asked.id, placed.document)),
    share: shares[i]! / whole,
  }));
  return {
    terms: found.filter(({ fields }) => fields.length > 0).toSorted((a, b) => b.share - a.share),
    signals: placed.parts.filter(({ share }) => share > 0),
  };
}

function fieldsWith(packed: number): string[] {
  return FIELDS.filter((_, field) => frequencyIn(packed, field) > 0).map(({ name }) => name);
}

/** What the score of a row of features would lose without each signal. */
export function partsOf(row: Float32Array, score: number, model: RankingModel): Placed['parts'] {
  const signals = [...new Set(FEATURES.map(({ signal }) => signal))];
  const without = new Float32Array(signals.length * FEATURES.length);
  for (const [i, signal] of signals.entries()) {
    const left = row.map((value, at) => (FEATURES[at]!.signal === signal ? 0 : value));
    without.set(left, i * FEATURES.length);
  }
  const left = model.score(without);
  return signals.map((name, i) => ({ name, share: Math.max(0, score - left[i]!) }));
}
