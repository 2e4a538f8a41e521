import type { Tool } from '../../model/tool.js';
import { compareAddresses } from '../index/names.js';
import type { Postings, Segment } from '../index/postings.js';
import type { Query } from '../query.js';
import type { Candidate } from './candidates.js';
import type { QueryMeaning } from './meaning.js';
import { strengthOf, type Placed } from './rank.js';

/**
 * One score for each candidate, a number of zero or more. Scores of one signal are divided by their
 * maximum and added by weight; fusing by rank instead loses when one is weaker.
 */
export interface Signal {
  readonly name: string;
  readonly weight: number;
  /** A maximum below this is not stretched to it: weak evidence stays weak. */
  readonly full?: number;
  rate(candidates: readonly Candidate[]): readonly number[];
}

/** Signals beside the words. They set the order only where there are no learned weights (`assets/ranking.json`). */
const SIGNALS: readonly Signal[] = [
  { name: 'server', weight: 0.2, rate: rateServers },
  { name: 'mention', weight: 0.3, full: 1, rate: (candidates) => candidates.map(({ mention }) => mention) },
  { name: 'neighbours', weight: 0.25, rate: (candidates) => candidates.map(({ neighbours }) => neighbours) },
  { name: 'clause', weight: 0.4, rate: (candidates) => candidates.map(({ clause }) => clause) },
];

/** How many of its best tools make up the score of a server. */
const TOOLS_OF_SERVER = 3;

/** The second stage without learned weights: the best candidates by every signal, best first, with relevance in [0,1]. */
export function rankBySignals(
  query: Query,
  candidates: readonly Candidate[],
  postings: Postings,
  limit: number,
  further: readonly Signal[],
): Placed[] {
  // The words of a tool and those of its users are on one scale: they are the same words.
  const full = candidates.reduce((most, { words, usage }) => Math.max(most, words + usage), Number.MIN_VALUE);
  const signals: Signal[] = [
    { name: 'words', weight: 1, full, rate: (all) => all.map(({ words }) => words) },
    { name: 'usage', weight: 1, full, rate: (all) => all.map(({ usage }) => usage) },
    ...SIGNALS,
    ...further,
  ];
  const ratings = signals.map(({ weight, full = Number.MIN_VALUE, rate }) => {
    const raw = rate(candidates);
    const highest = raw.reduce((a, b) => Math.max(a, b), full);
    return raw.map((rating) => (weight * rating) / highest);
  });
  const totals = candidates.map((_, i) => ratings.reduce((sum, rating) => sum + rating[i]!, 0));
  const best = totals.reduce((a, b) => Math.max(a, b), Number.MIN_VALUE);
  const strength = strengthOf(query, candidates, postings);
  return candidates
    .map(({ document, tool, mention }, i) => ({
      document,
      tool,
      i,
      isNamed: mention > 0,
      relevance: (strength * totals[i]!) / best,
    }))
    .toSorted((a, b) => totals[b.i]! - totals[a.i]! || compareAddresses(a.tool, b.tool))
    .slice(0, limit)
    .map(({ i, ...placed }) => ({
      ...placed,
      parts: signals.map(({ name }, at) => ({ name, share: (strength * ratings[at]![i]!) / best })),
    }));
}

/** A server several of whose tools fit is likelier the right one: the mean of its best. */
function rateServers(candidates: readonly Candidate[]): number[] {
  const best = new Map<Segment, number[]>();
  for (const { segment, words, usage } of candidates) {
    const chosen = best.get(segment) ?? [];
    chosen.push(words + usage);
    best.set(segment, chosen);
  }
  const ratings = new Map<Segment, number>();
  for (const [segment, all] of best) {
    const speakers = all.toSorted((a, b) => b - a).slice(0, TOOLS_OF_SERVER);
    ratings.set(segment, speakers.reduce((sum, words) => sum + words, 0) / speakers.length);
  }
  return candidates.map(({ segment }) => ratings.get(segment)!);
}

/** What nearness of meaning counts, against the words themselves. */
const MEANING_WEIGHT = 0.3;

/** The signals of the word vectors and of a sentence encoder. */
export function signalsOf(meaning: QueryMeaning, encoded?: (tool: Tool) => number | undefined): Signal[] {
  const rate = (candidates: readonly Candidate[]): number[] =>
    candidates.map(({ tool }) => Math.max(0, encoded?.(tool) ?? 0));
  return [
    { name: 'meaning', weight: MEANING_WEIGHT, rate: (candidates) => [...meaning.rate(candidates)] },
    { name: 'encoder', weight: MEANING_WEIGHT, rate },
  ];
}
