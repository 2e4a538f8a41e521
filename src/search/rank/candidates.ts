import type { Tool } from '../../model/tool.js';
import type { Postings, Segment } from '../index/postings.js';
import type { Query } from '../query.js';
import type { QueryTerm } from '../query-term.js';
import { compareAddresses } from './addresses.js';
import type { Lookup } from './lookup.js';
import { findMentions } from './mentions.js';
import { rateNeighbours } from './neighbours.js';
import { rarity, type Scores } from './score.js';
import { selectBest } from './top.js';

/** A document that reached the second stage. */
export interface Candidate {
  readonly document: number;
  /** Where it stands in the lookup. */
  readonly place: number;
  readonly tool: Tool;
  readonly segment: Segment;
  /** What the words alone say: the first stage, raised when the query covers the name. */
  readonly words: number;
  /** What the best clause of the query says alone; 0 when there is only one. */
  readonly clause: number;
  /** How surely the query names the server, in [0,1]. */
  readonly mention: number;
  /** The same, however the name is written. */
  readonly namedAnyhow: number;
  /** How much of the query the tools of its server hold between them. */
  readonly neighbours: number;
  /** What earlier queries that led to the tool add to its words. */
  readonly usage: number;
}

/** Documents that are near to the query by meaning, whether they hold a word of it or not. */
export type Near = (accept: (document: number) => boolean) => readonly number[];

/** Documents of the first stage that are looked at again. */
export const SECOND_STAGE = 300;

/** How much a name that the query covers entirely is raised. */
const NAME_COVERAGE = 0.4;

/** Terms that are told apart by clause; a query at its longest holds some hundreds. */
const MAX_CLAUSE_TERMS = 200;

/** The documents that are looked at: the best of the first stage, those that are remembered, and those that are near by meaning. */
export function choose(
  { documents, values }: Scores,
  postings: Postings,
  count: number,
  accept: (tool: Tool) => boolean,
  recalled: ReadonlyMap<number, number>,
  near: Near = () => [],
): number[] {
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
  const taken = new Set(chosen);
  for (const document of [...recalled.keys(), ...near(isWanted)]) {
    if (taken.has(document) || !isWanted(document)) continue;
    taken.add(document);
    chosen.push(document);
  }
  return chosen;
}

/** What is known of documents that were looked up. `scoreOf` is what the first stage says of each, by its place. */
export function candidatesOf(
  query: Query,
  documents: readonly number[],
  scoreOf: (document: number, place: number) => number,
  lookup: Lookup,
  postings: Postings,
  recalled: ReadonlyMap<number, number>,
): Candidate[] {
  const terms = [...query.own, ...query.related];
  const asked = new Map(terms.map(({ id, weight }) => [id, Math.min(1, weight)]));
  const neighbours = rateNeighbours(terms, lookup, postings);
  const mentions = findMentions(query.own, lookup, postings.vocabulary);
  const clauses = query.clauses > 1 ? rateClauses(query.clauses, terms, lookup) : undefined;
  return documents.map((document) => {
    const place = lookup.placeOf(document);
    const server = lookup.segmentAt[place]!;
    const segment = lookup.segments[server]!;
    const offset = document - segment.first;
    const raised = 1 + NAME_COVERAGE * nameCoverage(offset, segment, asked, postings);
    return {
      document,
      place,
      tool: segment.tools[offset]!,
      segment,
      words: scoreOf(document, place) * raised,
      clause: (clauses?.[place] ?? 0) * raised,
      mention: mentions.written.get(segment) ?? 0,
      namedAnyhow: mentions.any.get(segment) ?? 0,
      neighbours: neighbours[server]!,
      usage: (recalled.get(document) ?? 0) * raised,
    };
  });
}

/** What the first stage would say of each document that was looked up, by its place. */
export function scoreAll(terms: readonly QueryTerm[], lookup: Lookup): Float32Array {
  const sums = new Float32Array(lookup.documents.length);
  for (const { id, weight } of terms) {
    const shares = lookup.shares(id);
    for (let place = 0; place < sums.length; place++) sums[place] = sums[place]! + weight * shares[place]!;
  }
  return sums;
}

/**
 * A long query asks for several things, a tool does one: the share of each document by its best clause alone. Clauses
 * are brought to one scale, or the one with the rarest words would speak for all.
 */
function rateClauses(clauses: number, all: readonly QueryTerm[], lookup: Lookup): Float32Array {
  const count = lookup.documents.length;
  const sums = new Float32Array(count * clauses);
  for (const { id, weight, clauses: bitset = 0 } of all.slice(0, MAX_CLAUSE_TERMS)) {
    const shares = lookup.shares(id);
    for (let bits = bitset; bits !== 0; bits &= bits - 1) {
      const from = (31 - Math.clz32(bits & -bits)) * count;
      for (let place = 0; place < count; place++) {
        sums[from + place] = sums[from + place]! + weight * shares[place]!;
      }
    }
  }
  const best = new Float32Array(count);
  for (let from = 0; from < sums.length; from += count) {
    let highest = 0;
    for (let at = from; at < from + count; at++) if (sums[at]! > highest) highest = sums[at]!;
    if (highest === 0) continue;
    for (let place = 0; place < count; place++) best[place] = Math.max(best[place]!, sums[from + place]! / highest);
  }
  return best;
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
