import type { Tool } from '../../model/tool.js';
import type { Postings, Segment } from '../index/postings.js';
import type { Query } from '../query.js';
import { compareAddresses } from './addresses.js';
import type { Candidate } from './candidates.js';
import { rarity } from './score.js';
import { selectTop } from './top.js';

/** A candidate with its final place. */
export interface Placed {
  readonly document: number;
  readonly tool: Tool;
  readonly relevance: number;
  /** Whether the query names its server. */
  readonly isNamed: boolean;
  /** How much of the relevance each signal gave. */
  readonly parts: ReadonlyArray<{ readonly name: string; readonly share: number }>;
}

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

/** What an unknown word counts, against the rarest known one, when the best possible score is reckoned. */
const UNKNOWN_WEIGHT = 0.5;

/** What is known beside the words of the query. */
export interface Known {
  readonly further: readonly Signal[];
  /** What earlier queries add to the score of a document; those are looked at even without a word of this one. */
  readonly recalled: ReadonlyMap<number, number>;
  /** The learned order, in the place of the signals. */
  readonly learned?: Learned;
}

/** Rates candidates by learned weights. */
export interface Learned {
  /** What each candidate is worth, the best 1 and none less than 0, and what each signal gave to one of them. */
  rate(candidates: readonly Candidate[]): {
    readonly totals: ArrayLike<number>;
    partsOf(place: number): ReadonlyArray<{ readonly name: string; readonly share: number }>;
  };
}

/** The second stage: the best candidates by every signal, best first, with relevance in [0,1]. */
export function rank(
  query: Query,
  candidates: readonly Candidate[],
  postings: Postings,
  limit: number,
  known: Known,
): Placed[] {
  if (candidates.length === 0) return [];
  if (known.learned) return rankLearned(candidates, known.learned, strengthOf(query, candidates, postings), limit);
  // The words of a tool and those of its users are on one scale: they are the same words.
  const full = candidates.reduce((most, { words, usage }) => Math.max(most, words + usage), Number.MIN_VALUE);
  const signals: Signal[] = [
    { name: 'words', weight: 1, full, rate: (all) => all.map(({ words }) => words) },
    { name: 'usage', weight: 1, full, rate: (all) => all.map(({ usage }) => usage) },
    ...SIGNALS,
    ...known.further,
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

function rankLearned(candidates: readonly Candidate[], learned: Learned, strength: number, limit: number): Placed[] {
  const { totals, partsOf } = learned.rate(candidates);
  const inOrder = (a: number, b: number): number =>
    totals[b]! - totals[a]! || compareAddresses(candidates[a]!.tool, candidates[b]!.tool);
  return selectTop(candidates.keys(), limit, inOrder).map((i) => {
    const { document, tool, mention } = candidates[i]!;
    const relevance = strength * totals[i]!;
    const parts = partsOf(i);
    const whole = parts.reduce((sum, { share }) => sum + share, 0) || 1;
    return {
      document,
      tool,
      isNamed: mention > 0,
      relevance,
      parts: parts.map(({ name, share }) => ({ name, share: (relevance * share) / whole })),
    };
  });
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

/** What is found by its meaning alone is not worth nothing. */
const MIN_STRENGTH = 0.05;

/** How much of the best score the query could have is reached: 1 when a name says all of it, little for one stray word. */
function strengthOf(query: Query, candidates: readonly Candidate[], postings: Postings): number {
  let possible = query.unknown * UNKNOWN_WEIGHT * rarity(1, postings.size);
  for (const { id, weight } of query.own) possible += weight * rarity(postings.vocabulary.uses(id), postings.size);
  const reached = candidates.reduce((most, { words, usage }) => Math.max(most, words + usage), 0);
  return possible === 0 ? 1 : Math.min(1, Math.max(MIN_STRENGTH, reached / possible));
}
