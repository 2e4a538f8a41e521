import { addressOf } from '../../kernel/ids.js';
import type { Tool } from '../../model/tool.js';
import { findMentions } from './mentions.js';
import { rateNeighbours } from './neighbours.js';
import type { Postings, Segment } from '../index/postings.js';
import type { Query } from '../query.js';
import type { QueryTerm } from '../query-term.js';
import { rarity, sharesOf, type Scores } from './score.js';
import { selectBest } from './top.js';

/** A document that reached the second stage. */
export interface Candidate {
  readonly document: number;
  readonly tool: Tool;
  readonly segment: Segment;
  /** What the words alone say: the first stage, raised when the query covers the name. */
  readonly words: number;
  /** What the best clause of the query says alone; 0 when there is only one. */
  readonly clause: number;
  /** How surely the query names the server, in [0,1]. */
  readonly mention: number;
  /** How much of the query the tools of its server hold between them. */
  readonly neighbours: number;
  /** What earlier queries that led to the tool add to its words. */
  readonly usage: number;
}

/** A candidate with its final place. */
export interface Placed {
  readonly document: number;
  readonly tool: Tool;
  readonly relevance: number;
  /** How much of the relevance each signal gave. */
  readonly parts: ReadonlyArray<{ readonly name: string; readonly share: number }>;
}

/**
 * One opinion about the candidates, a number of zero or more for each. Opinions are brought to one
 * scale by their own maximum and added by weight; fusing by rank instead loses when one is weaker.
 */
export interface Signal {
  readonly name: string;
  readonly weight: number;
  /** A maximum below this is not stretched to it: weak evidence stays weak. */
  readonly full?: number;
  rate(candidates: readonly Candidate[]): readonly number[];
}

/** What is asked about the candidates beside their words. */
const SIGNALS: readonly Signal[] = [
  { name: 'server', weight: 0.2, rate: rateServers },
  { name: 'mention', weight: 0.3, full: 1, rate: (candidates) => candidates.map(({ mention }) => mention) },
  { name: 'neighbours', weight: 0.25, rate: (candidates) => candidates.map(({ neighbours }) => neighbours) },
  { name: 'clause', weight: 0.4, rate: (candidates) => candidates.map(({ clause }) => clause) },
];

/** Documents of the first stage that are looked at again. */
const SECOND_STAGE = 300;

/** How much a name that the query covers entirely is raised. */
const NAME_COVERAGE = 0.4;

/** Best tools of a server that speak for the server. */
const SPEAKERS = 3;

/** Terms that are told apart by clause; a query at its longest holds some hundreds. */
const MOST_CLAUSE_TERMS = 200;

/** What an unknown word counts, against the rarest known one, when the best possible score is reckoned. */
const UNKNOWN_WEIGHT = 0.5;

/** What is known beside the words of the query. */
export interface Known {
  readonly further: readonly Signal[];
  /** What earlier queries add to the score of a document; those are looked at even without a word of this one. */
  readonly recalled: ReadonlyMap<number, number>;
}

/** The words of the query, and nothing beside them. */
export const NOTHING: Known = { further: [], recalled: new Map() };

/** The second stage: the best documents by every signal, best first, with relevance in [0,1]. */
export function rank(
  query: Query,
  scores: Scores,
  postings: Postings,
  limit: number,
  accept: (tool: Tool) => boolean,
  known: Known,
): Placed[] {
  const candidates = collect(query, scores, postings, Math.max(limit, SECOND_STAGE), accept, known.recalled);
  if (candidates.length === 0) return [];
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
    .map(({ document, tool }, i) => ({ document, tool, i, relevance: (strength * totals[i]!) / best }))
    .toSorted((a, b) => b.relevance - a.relevance || compareAddresses(a.tool, b.tool))
    .slice(0, limit)
    .map(({ document, tool, relevance, i }) => ({
      document,
      tool,
      relevance,
      parts: signals.map(({ name }, at) => ({ name, share: (strength * ratings[at]![i]!) / best })),
    }));
}

/** Orders tools by address. */
export function compareAddresses(a: Tool, b: Tool): number {
  if (a.server === b.server) return compareTexts(a.name, b.name);
  // Addresses are put together only where the shorter id ends and the colon decides.
  if (a.server.startsWith(b.server) || b.server.startsWith(a.server)) {
    return compareTexts(addressOf(a.server, a.name), addressOf(b.server, b.name));
  }
  return compareTexts(a.server, b.server);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function collect(
  query: Query,
  { documents, values }: Scores,
  postings: Postings,
  count: number,
  accept: (tool: Tool) => boolean,
  recalled: ReadonlyMap<number, number>,
): Candidate[] {
  const toolAt = (document: number): Tool | undefined => {
    const segment = postings.segmentOf(document);
    return segment?.tools[document - segment.first];
  };
  const byAddress = (a: number, b: number): number => {
    const [left, right] = [toolAt(a), toolAt(b)];
    return left && right ? compareAddresses(left, right) : 0;
  };
  const isWanted = (document: number): boolean => {
    const tool = toolAt(document);
    return tool !== undefined && accept(tool);
  };
  const chosen = selectBest(documents, values, count, byAddress, isWanted);
  if (recalled.size > 0) {
    const taken = new Set(chosen);
    for (const document of recalled.keys()) if (!taken.has(document) && isWanted(document)) chosen.push(document);
  }
  const terms = [...query.own, ...query.related];
  const asked = new Map(terms.map(({ id, weight }) => [id, Math.min(1, weight)]));
  const segments = new Set(chosen.map((document) => postings.segmentOf(document)!));
  const neighbours = rateNeighbours(terms, segments, postings);
  const mentions = findMentions(query.own, postings);
  const clauses = query.clauses > 1 ? rateClauses(query.clauses, terms, chosen, postings) : undefined;
  return chosen.map((document, i) => {
    const segment = postings.segmentOf(document)!;
    const offset = document - segment.first;
    const raised = 1 + NAME_COVERAGE * nameCoverage(offset, segment, asked, postings);
    return {
      document,
      tool: segment.tools[offset]!,
      segment,
      words: values[document]! * raised,
      clause: (clauses?.[i] ?? 0) * raised,
      mention: mentions.get(segment) ?? 0,
      neighbours: neighbours.get(segment) ?? 0,
      usage: (recalled.get(document) ?? 0) * raised,
    };
  });
}

/**
 * A long query asks for several things, a tool does one: the share of each document by its best clause alone. Clauses
 * are brought to one scale, or the one with the rarest words would speak for all.
 */
function rateClauses(
  clauses: number,
  all: readonly QueryTerm[],
  documents: readonly number[],
  postings: Postings,
): number[] {
  const terms = all.slice(0, MOST_CLAUSE_TERMS);
  const shares = sharesOf(documents, terms, postings);
  const sums = new Float32Array(documents.length * clauses);
  const highest = new Float32Array(clauses);
  for (let place = 0; place < documents.length; place++) {
    for (const [i, { clauses: bitset = 0 }] of terms.entries()) {
      const share = shares[place * terms.length + i]!;
      if (share === 0) continue;
      for (let bits = bitset; bits !== 0; bits &= bits - 1) {
        const clause = 31 - Math.clz32(bits & -bits);
        const at = place * clauses + clause;
        sums[at] = sums[at]! + share;
        highest[clause] = Math.max(highest[clause]!, sums[at]!);
      }
    }
  }
  return documents.map((_, place) => {
    let best = 0;
    for (let clause = 0; clause < clauses; clause++) {
      if (highest[clause] !== 0) best = Math.max(best, sums[place * clauses + clause]! / highest[clause]!);
    }
    return best;
  });
}

/** The share of a name, by rarity of its terms, that the query names; words related to those of the query count in part. */
function nameCoverage(
  offset: number,
  segment: Segment,
  asked: ReadonlyMap<number, number>,
  postings: Postings,
): number {
  let found = 0;
  let whole = 0;
  const begin = offset === 0 ? 0 : segment.nameEnds[offset - 1]!;
  for (let at = begin; at < segment.nameEnds[offset]!; at++) {
    const term = segment.nameTerms[at]!;
    const worth = rarity(postings.vocabulary.uses(term), postings.size);
    whole += worth;
    found += worth * (asked.get(term) ?? 0);
  }
  return whole === 0 ? 0 : found / whole;
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
    const speakers = all.toSorted((a, b) => b - a).slice(0, SPEAKERS);
    ratings.set(segment, speakers.reduce((sum, words) => sum + words, 0) / speakers.length);
  }
  return candidates.map(({ segment }) => ratings.get(segment)!);
}

/** How much of the best score the query could have is reached: 1 when a name says all of it, little for one stray word. */
function strengthOf(query: Query, candidates: readonly Candidate[], postings: Postings): number {
  let possible = query.unknown * UNKNOWN_WEIGHT * rarity(1, postings.size);
  for (const { id, weight } of query.own) possible += weight * rarity(postings.vocabulary.uses(id), postings.size);
  const reached = candidates.reduce((most, { words, usage }) => Math.max(most, words + usage), 0);
  return possible === 0 ? 1 : Math.min(1, reached / possible);
}
