import { addressOf } from '../kernel/ids.js';
import type { Tool } from '../model/tool.js';
import type { Postings, Segment } from './postings.js';
import type { Query } from './query.js';
import { rarity, type Scores } from './score.js';
import { selectTop } from './top.js';

/** A document that reached the second stage. */
interface Candidate {
  readonly document: number;
  readonly tool: Tool;
  readonly segment: Segment;
  /** What the words alone say: the first stage, raised when the query covers the name. */
  readonly words: number;
}

/** A candidate with its final place. */
export interface Placed {
  readonly document: number;
  readonly tool: Tool;
  readonly relevance: number;
}

/**
 * One opinion about the candidates, a number of zero or more for each. Opinions are brought to one
 * scale by their own maximum and added by weight; fusing by rank instead loses when one is weaker.
 */
export interface Signal {
  readonly weight: number;
  rate(candidates: readonly Candidate[]): readonly number[];
}

const SIGNALS: readonly Signal[] = [
  { weight: 1, rate: (candidates) => candidates.map(({ words }) => words) },
  { weight: 0.3, rate: rateServers },
];

/** Documents of the first stage that are looked at again. */
const SECOND_STAGE = 300;

/** How much a name that the query covers entirely is raised. */
const NAME_COVERAGE = 0.4;

/** Best tools of a server that speak for the server. */
const SPEAKERS = 3;

/** What an unknown word counts, against the rarest known one, when the best possible score is reckoned. */
const UNKNOWN_WEIGHT = 0.5;

/** The second stage: the best documents by every signal, best first, with relevance in [0,1]. */
export function rank(
  query: Query,
  scores: Scores,
  postings: Postings,
  limit: number,
  accept: (tool: Tool) => boolean,
  signals: readonly Signal[] = [],
): Placed[] {
  const candidates = collect(query, scores, postings, Math.max(limit, SECOND_STAGE), accept);
  if (candidates.length === 0) return [];
  const totals = candidates.map(() => 0);
  for (const { weight, rate } of [...SIGNALS, ...signals]) {
    const ratings = rate(candidates);
    const highest = ratings.reduce((a, b) => Math.max(a, b), Number.MIN_VALUE);
    for (const [i, rating] of ratings.entries()) totals[i] = totals[i]! + (weight * rating) / highest;
  }
  const best = totals.reduce((a, b) => Math.max(a, b), Number.MIN_VALUE);
  const strength = strengthOf(query, candidates, postings);
  return candidates
    .map(({ document, tool }, i) => ({ document, tool, relevance: (strength * totals[i]!) / best }))
    .toSorted((a, b) => b.relevance - a.relevance || compareAddresses(a.tool, b.tool))
    .slice(0, limit);
}

/** Orders tools by address. */
export function compareAddresses(a: Tool, b: Tool): number {
  if (a.server === b.server) return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  const [left, right] = [addressOf(a.server, a.name), addressOf(b.server, b.name)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function collect(
  query: Query,
  { documents, values }: Scores,
  postings: Postings,
  count: number,
  accept: (tool: Tool) => boolean,
): Candidate[] {
  const toolAt = (document: number): Tool | undefined => {
    const segment = postings.segmentOf(document);
    return segment?.tools[document - segment.first];
  };
  const byScore = (a: number, b: number): number => {
    if (values[a] !== values[b]) return values[b]! - values[a]!;
    const [left, right] = [toolAt(a), toolAt(b)];
    return left && right ? compareAddresses(left, right) : 0;
  };
  const isWanted = (document: number): boolean => {
    const tool = toolAt(document);
    return tool !== undefined && accept(tool);
  };
  const asked = new Set(query.own.map(({ id }) => id));
  return selectTop(documents, count, byScore, isWanted).map((document) => {
    const segment = postings.segmentOf(document)!;
    const offset = document - segment.first;
    const raised = 1 + NAME_COVERAGE * nameCoverage(offset, segment, asked, postings);
    return { document, tool: segment.tools[offset]!, segment, words: values[document]! * raised };
  });
}

/** The share of a name, by rarity of its terms, that the query names. */
function nameCoverage(offset: number, segment: Segment, asked: ReadonlySet<number>, postings: Postings): number {
  let found = 0;
  let whole = 0;
  const begin = offset === 0 ? 0 : segment.nameEnds[offset - 1]!;
  for (let at = begin; at < segment.nameEnds[offset]!; at++) {
    const term = segment.nameTerms[at]!;
    const worth = rarity(postings.vocabulary.uses(term), postings.size);
    whole += worth;
    if (asked.has(term)) found += worth;
  }
  return whole === 0 ? 0 : found / whole;
}

/** A server several of whose tools fit is likelier the right one: the mean of its best. */
function rateServers(candidates: readonly Candidate[]): number[] {
  const best = new Map<Segment, number[]>();
  for (const { segment, words } of candidates) {
    const chosen = best.get(segment) ?? [];
    chosen.push(words);
    best.set(segment, chosen);
  }
  const ratings = new Map<Segment, number>();
  for (const [segment, all] of best) {
    const speakers = all.toSorted((a, b) => b - a).slice(0, SPEAKERS);
    ratings.set(segment, speakers.reduce((sum, words) => sum + words, 0) / speakers.length);
  }
  return candidates.map(({ segment }) => ratings.get(segment)!);
}

/** How much of the best score the query could have is reached: 1 when a name says all of it, little for one stray word. */
function strengthOf(query: Query, candidates: readonly Candidate[], postings: Postings): number {
  let possible = query.unknown * UNKNOWN_WEIGHT * rarity(1, postings.size);
  for (const { id, weight } of query.own) possible += weight * rarity(postings.vocabulary.uses(id), postings.size);
  const reached = candidates.reduce((most, { words }) => Math.max(most, words), 0);
  return possible === 0 ? 1 : Math.min(1, reached / possible);
}
