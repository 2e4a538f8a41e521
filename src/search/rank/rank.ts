import type { Tool } from '../../model/tool.js';
import { CONCEPT_FIELD } from '../index/fields.js';
import { compareAddresses } from '../index/names.js';
import { frequencyIn } from '../index/posting-lists.js';
import type { Postings, Segment } from '../index/postings.js';
import type { Query } from '../query.js';
import type { Actions } from '../words/actions.js';
import type { Candidate, Lookup } from './candidates.js';
import type { Meaning } from './meaning.js';
import { rarity, selectTop, type QueryTerm } from './score.js';

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

/** One thing that is known of a candidate, in relation to the query and to the other candidates. */
export interface Feature {
  readonly name: string;
  /** What `explain` calls it. */
  readonly signal: string;
  /** Whether more of it can never speak against a tool. */
  readonly rising?: boolean;
}

const rising = (signal: string, ...names: string[]): Feature[] => names.map((name) => ({ name, signal, rising: true }));

/** What the learned weights are about, in the order of a row. */
export const FEATURES: readonly Feature[] = [
  { name: 'signals', signal: 'words' },
  ...rising('mention', 'mention', 'any mention'),
  ...rising('clause', 'clause found'),
  ...rising('ways of asking', 'concepts', 'concepts of best', 'best concept', 'best named concept'),
  ...rising('action', 'first action', 'any action', 'action kind'),
  ...rising('meaning', 'meaning', 'meaning of best', 'clause meaning'),
];

/** The position of a feature in a row. */
function positionOf(name: string): number {
  return FEATURES.findIndex((feature) => feature.name === name);
}

const SIGNALS = positionOf('signals');
const MENTION = positionOf('mention');
const ANY_MENTION = positionOf('any mention');
const CLAUSE_FOUND = positionOf('clause found');
const CONCEPTS = positionOf('concepts');
const CONCEPTS_OF_BEST = positionOf('concepts of best');
const BEST_CONCEPT = positionOf('best concept');
const BEST_NAMED_CONCEPT = positionOf('best named concept');
const FIRST_ACTION = positionOf('first action');
const ANY_ACTION = positionOf('any action');
const ACTION_KIND = positionOf('action kind');
const MEANING = positionOf('meaning');
const MEANING_OF_BEST = positionOf('meaning of best');
const CLAUSE_MEANING = positionOf('clause meaning');

/** Terms of a query that are looked up in every candidate, the weightiest of each kind. */
const MAX_OWN_TERMS = 64;
const MAX_CONCEPTS = 48;

/** What an unknown word counts, against the rarest known one. */
const UNKNOWN_WEIGHT = 0.5;

/** One row for each candidate. */
export function featuresOf(
  query: Query,
  candidates: readonly Candidate[],
  lookup: Lookup,
  postings: Postings,
  actions: Actions,
  meaning: Meaning | undefined,
): Float32Array {
  const width = FEATURES.length;
  const rows = new Float32Array(candidates.length * width);
  const worthOf = ({ id, weight }: QueryTerm): number => weight * rarity(postings.vocabulary.uses(id), postings.size);
  const own = weightiest(query.own, MAX_OWN_TERMS, worthOf);
  const known = own.reduce((sum, { worth }) => sum + worth, 0);
  const possible = known + query.unknown * UNKNOWN_WEIGHT * rarity(1, postings.size) || 1;
  const clauses = clausesFound(query.clauses, own, lookup);
  const places = Uint32Array.from(candidates, ({ place }) => place);
  for (const { term, worth } of weightiest(query.concepts, MAX_CONCEPTS, worthOf)) {
    const frequencies = lookup.frequencies(term.id);
    for (let i = 0, row = 0; i < places.length; i++, row += width) {
      const packed = frequencies[places[i]!]!;
      if (packed === 0) continue;
      const isNamed = frequencyIn(packed, CONCEPT_FIELD) > 1;
      const counted = isNamed ? worth : worth / 2;
      rows[row + CONCEPTS] = rows[row + CONCEPTS]! + counted / possible;
      if (counted > rows[row + BEST_CONCEPT]!) rows[row + BEST_CONCEPT] = counted;
      if (isNamed && counted > rows[row + BEST_NAMED_CONCEPT]!) rows[row + BEST_NAMED_CONCEPT] = counted;
    }
  }

  let mostWords = Number.MIN_VALUE;
  let mostNeighbours = Number.MIN_VALUE;
  let mostClause = Number.MIN_VALUE;
  let mostMeaning = Number.MIN_VALUE;
  let mostConcepts = Number.MIN_VALUE;
  for (const [i, { words, neighbours, clause }] of candidates.entries()) {
    mostWords = Math.max(mostWords, words);
    mostNeighbours = Math.max(mostNeighbours, neighbours);
    mostClause = Math.max(mostClause, clause);
    mostMeaning = Math.max(mostMeaning, meaning?.whole[i] ?? 0);
    mostConcepts = Math.max(mostConcepts, rows[i * width + CONCEPTS]!);
  }
  const servers = serverScores(candidates);
  const [firstAction = 0] = query.actions;
  const wantedKind = actions.kinds[firstAction]!;

  for (let i = 0, row = 0; i < candidates.length; i++, row += width) {
    const candidate = candidates[i]!;
    const { segment, document } = candidate;
    const nearness = meaning?.whole[i] ?? 0;
    const action = segment.actions[document - segment.first]!;
    rows[row + MENTION] = candidate.mention;
    rows[row + ANY_MENTION] = candidate.namedAnyhow;
    rows[row + CLAUSE_FOUND] = clauses[candidate.place]!;
    rows[row + CONCEPTS_OF_BEST] = rows[row + CONCEPTS]! / mostConcepts;
    rows[row + FIRST_ACTION] = action !== 0 && action === firstAction ? 1 : 0;
    rows[row + ANY_ACTION] = action !== 0 && query.actions.includes(action) ? 1 : 0;
    rows[row + ACTION_KIND] = wantedKind * actions.kinds[action]!;
    rows[row + MEANING] = nearness;
    rows[row + MEANING_OF_BEST] = nearness / mostMeaning;
    rows[row + CLAUSE_MEANING] = meaning?.clauses[i] ?? 0;
    rows[row + SIGNALS] =
      candidate.words / mostWords +
      (0.2 * servers.get(segment)!) / mostWords +
      0.3 * candidate.mention +
      (0.25 * candidate.neighbours) / mostNeighbours +
      (0.4 * candidate.clause) / mostClause +
      0.3 * rows[row + MEANING_OF_BEST]!;
  }
  return rows;
}

/** The share of the clause that each document, by its place, holds the most of, by rarity of its terms. */
function clausesFound(clauses: number, own: readonly Weighed[], lookup: Lookup): Float32Array {
  const count = lookup.documents.length;
  const whole = new Float32Array(clauses);
  const found = new Float32Array(clauses * count);
  for (const { term, worth } of own) {
    const frequencies = lookup.frequencies(term.id);
    eachBit(term.clauses ?? 0, (clause) => {
      whole[clause] = whole[clause]! + worth;
      const from = clause * count;
      for (let place = 0; place < count; place++) {
        if (frequencies[place] !== 0) found[from + place] = found[from + place]! + worth;
      }
    });
  }
  const best = new Float32Array(count);
  for (let clause = 0; clause < clauses; clause++) {
    if (whole[clause] === 0) continue;
    for (let place = 0; place < count; place++) {
      best[place] = Math.max(best[place]!, found[clause * count + place]! / whole[clause]!);
    }
  }
  return best;
}

/** A term and what it is worth: its weight by its rarity. */
interface Weighed {
  readonly term: QueryTerm;
  readonly worth: number;
}

function weightiest(terms: readonly QueryTerm[], most: number, worthOf: (term: QueryTerm) => number): Weighed[] {
  return terms
    .map((term) => ({ term, worth: worthOf(term) }))
    .toSorted((a, b) => b.worth - a.worth || a.term.id - b.term.id)
    .slice(0, most);
}

function eachBit(bitset: number, use: (bit: number) => void): void {
  for (let bits = bitset; bits !== 0; bits &= bits - 1) use(31 - Math.clz32(bits & -bits));
}

/** The mean of the three best tools of each server. */
function serverScores(candidates: readonly Candidate[]): ReadonlyMap<Segment, number> {
  const all = new Map<Segment, number[]>();
  for (const { segment, words } of candidates) {
    const list = all.get(segment);
    if (list) list.push(words);
    else all.set(segment, [words]);
  }
  return new Map(
    [...all].map(([segment, list]) => {
      const best = list.toSorted((a, b) => b - a).slice(0, 3);
      return [segment, best.reduce((sum, one) => sum + one, 0) / best.length];
    }),
  );
}

/** Learned weights: what the features of a candidate say about whether it is wanted. */
export interface RankingModel {
  /** The score of each row of features; only their order and distance within one query mean something. */
  score(rows: Float32Array): Float64Array;
}

/** A model that adds up the features by weight. */
export function createModel(weights: Float32Array): RankingModel {
  const width = weights.length;
  return {
    score(rows) {
      const scores = new Float64Array(rows.length / width);
      for (let row = 0; row < scores.length; row++) {
        let sum = 0;
        for (let i = 0; i < width; i++) sum += weights[i]! * rows[row * width + i]!;
        scores[row] = sum;
      }
      return scores;
    },
  };
}

/** How much further a score must fall behind for the relevance to fall to a third. */
const FALL = 4;

/** What remembered queries add to a score at the most: chosen by left-out sets, see docs/search.md. */
const USAGE_WEIGHT = 8;

/** What a sentence encoder adds to a score at the most: chosen by left-out sets, see docs/search.md. */
const ENCODER_WEIGHT = 1;

/** What an order by learned weights goes by. */
export interface Learned {
  readonly model: RankingModel;
  /** The features of the candidates, see {@link featuresOf}. */
  readonly rows: Float32Array;
  /** The opinion of a sentence encoder. */
  readonly encoded?: ((tool: Tool) => number | undefined) | undefined;
  /** What each signal gave to the score of a row; without it no place says what it came from. */
  readonly partsOf?: ((row: Float32Array, score: number) => Placed['parts']) | undefined;
}

/** The second stage: the best candidates by learned weights, best first, with relevance in [0,1]. */
export function rankLearned(
  query: Query,
  candidates: readonly Candidate[],
  postings: Postings,
  limit: number,
  { model, rows, encoded, partsOf }: Learned,
): Placed[] {
  const scores = model.score(rows);
  const full = candidates.reduce((most, { words, usage }) => Math.max(most, words + usage), Number.MIN_VALUE);
  const usages = Float64Array.from(candidates, ({ usage }) => (USAGE_WEIGHT * usage) / full);
  const nearness = encoded ? encodedNearness(candidates, encoded) : undefined;
  const sums = scores.map((score, i) => score + usages[i]! + (nearness?.[i] ?? 0));
  const best = sums.reduce((a, b) => Math.max(a, b), -Infinity);
  const totals = sums.map((sum) => Math.exp((sum - best) / FALL));
  const strength = strengthOf(query, candidates, postings);
  const inOrder = (a: number, b: number): number =>
    totals[b]! - totals[a]! || compareAddresses(candidates[a]!.tool, candidates[b]!.tool);
  const given = (i: number): Placed['parts'] => {
    if (!partsOf) return [];
    const row = rows.subarray(i * FEATURES.length, (i + 1) * FEATURES.length);
    const more = [
      { name: 'usage', share: usages[i]! },
      { name: 'encoder', share: Math.max(0, nearness?.[i] ?? 0) },
    ];
    return [...partsOf(row, scores[i]!), ...more.filter(({ share }) => share > 0)];
  };
  return selectTop(candidates.keys(), limit, inOrder).map((i) => {
    const { document, tool, mention } = candidates[i]!;
    const relevance = strength * totals[i]!;
    const parts = given(i);
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

/** What the encoder says of each candidate; one it does not know yet stands in the middle of the others. */
function encodedNearness(candidates: readonly Candidate[], encoded: (tool: Tool) => number | undefined): number[] {
  const cosines = candidates.map(({ tool }) => encoded(tool));
  const known = cosines.filter((cosine) => cosine !== undefined);
  if (known.length === 0) return candidates.map(() => 0);
  const middle = known.reduce((sum, cosine) => sum + cosine, 0) / known.length;
  const most = known.reduce((a, b) => Math.max(a, b), Number.MIN_VALUE);
  return cosines.map((cosine) => (ENCODER_WEIGHT * (cosine ?? middle)) / most);
}

/** What is found by its meaning alone is not worth nothing. */
const MIN_STRENGTH = 0.05;

/** How much of the best score the query could have is reached: 1 when a name says all of it, little for one stray word. */
export function strengthOf(query: Query, candidates: readonly Candidate[], postings: Postings): number {
  let possible = query.unknown * UNKNOWN_WEIGHT * rarity(1, postings.size);
  for (const { id, weight } of query.own) possible += weight * rarity(postings.vocabulary.uses(id), postings.size);
  const reached = candidates.reduce((most, { words, usage }) => Math.max(most, words + usage), 0);
  return possible === 0 ? 1 : Math.min(1, Math.max(MIN_STRENGTH, reached / possible));
}

/** Tools alike that may stand together before further ones step back. */
const TOGETHER = 4;

/** What is left of the relevance of each further one. */
const STEP_BACK = 0.8;

/** How many tools of one server keep their place where other servers fit too, and the factor on the relevance of each further one. */
const OF_ONE_SERVER = 2;
const SERVER_STEPS_BACK = 0.94;

/** Another server could serve too when a tool of it reaches this share of the best relevance. */
const COMES_NEAR = 0.7;

/** Names that share this many terms, all but one of each, are alike. */
const SHARED_TERMS = 2;

/** What decides whether two tools are alike. */
interface Kind {
  readonly server: string;
  readonly terms: ReadonlySet<number>;
  /** Equal for tools that two servers describe with the same words. */
  readonly words: string;
}

/**
 * Keeps near-twins and single servers from filling an answer: of tools that are alike the first few keep their place,
 * and each further one steps back a little more. So do further tools of one server, where several servers could do it and the
 * query names none of them. Nothing is hidden: where no other tool takes
 * the place, they follow as before.
 */
export function diversify<T extends Placed>(
  placed: readonly T[],
  termsOf: (placed: Placed) => ReadonlySet<number>,
): T[] {
  const seen: Kind[] = [];
  const isOpen = couldServe(placed).size > 1;
  const moved = placed.map((one) => {
    const kind = { server: one.tool.server, terms: termsOf(one), words: wordsOf(one.tool) };
    const before = seen.reduce((count, other) => (isAlike(kind, other) ? count + 1 : count), 0);
    seen.push(kind);
    const ofServer = seen.reduce((count, { server }) => (server === kind.server ? count + 1 : count), 0) - 1;
    const steps = isOpen && !one.isNamed ? Math.max(0, ofServer - OF_ONE_SERVER + 1) : 0;
    const factor = STEP_BACK ** Math.max(0, before - TOGETHER + 1) * SERVER_STEPS_BACK ** steps;
    if (factor === 1) return one;
    return {
      ...one,
      relevance: one.relevance * factor,
      parts: one.parts.map(({ name, share }) => ({ name, share: share * factor })),
    };
  });
  return moved.toSorted((a, b) => b.relevance - a.relevance || compareAddresses(a.tool, b.tool));
}

/** The servers whose best tools are not far from the best of all. */
function couldServe(placed: readonly Placed[]): ReadonlySet<string> {
  const least = (placed[0]?.relevance ?? 0) * COMES_NEAR;
  return new Set(placed.filter(({ relevance }) => relevance >= least).map(({ tool }) => tool.server));
}

function wordsOf({ name, summary }: Tool): string {
  return `${name}\n${summary}`;
}

function isAlike(a: Kind, b: Kind): boolean {
  if (a.server !== b.server) return a.words === b.words;
  let shared = 0;
  for (const term of a.terms) if (b.terms.has(term)) shared++;
  const longer = Math.max(a.terms.size, b.terms.size);
  return shared === longer || (shared >= SHARED_TERMS && shared >= longer - 1);
}
