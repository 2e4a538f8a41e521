import type { Tool } from '../../model/tool.js';
import type { Postings, Segment } from '../index/postings.js';
import type { Query } from '../query.js';
import type { QueryTerm } from '../query-term.js';
import { compareAddresses } from './addresses.js';
import { findMentions } from './mentions.js';
import { rateNeighbours } from './neighbours.js';
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
const MOST_CLAUSE_TERMS = 200;

/** The best documents of the first stage, with what is known of each. */
export function collect(
  query: Query,
  { documents, values }: Scores,
  postings: Postings,
  count: number,
  accept: (tool: Tool) => boolean,
  recalled: ReadonlyMap<number, number>,
  near: Near = () => [],
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
  const taken = new Set(chosen);
  for (const document of [...recalled.keys(), ...near(isWanted)]) {
    if (taken.has(document) || !isWanted(document)) continue;
    taken.add(document);
    chosen.push(document);
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
      mention: mentions.written.get(segment) ?? 0,
      namedAnyhow: mentions.any.get(segment) ?? 0,
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
