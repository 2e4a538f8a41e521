import { CONCEPT_FIELD } from '../index/fields.js';
import { frequencyIn } from '../index/posting-lists.js';
import type { Postings, Segment } from '../index/postings.js';
import type { Query } from '../query.js';
import type { QueryTerm } from '../query-term.js';
import type { Actions } from '../words/actions.js';
import type { Candidate } from './candidates.js';
import type { Lookup } from './lookup.js';
import { rarity } from './score.js';

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
function at(name: string): number {
  return FEATURES.findIndex((feature) => feature.name === name);
}

const SIGNALS = at('signals');
const MENTION = at('mention');
const ANY_MENTION = at('any mention');
const CLAUSE_FOUND = at('clause found');
const CONCEPTS = at('concepts');
const CONCEPTS_OF_BEST = at('concepts of best');
const BEST_CONCEPT = at('best concept');
const BEST_NAMED_CONCEPT = at('best named concept');
const FIRST_ACTION = at('first action');
const ANY_ACTION = at('any action');
const ACTION_KIND = at('action kind');
const MEANING = at('meaning');
const MEANING_OF_BEST = at('meaning of best');
const CLAUSE_MEANING = at('clause meaning');

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
  const wantedKind = actions.kindOf(firstAction);

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
    rows[row + ACTION_KIND] = wantedKind * actions.kindOf(action);
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

/** What word vectors say of the candidates. */
export interface Meaning {
  /** The nearness of each candidate to the query. */
  readonly whole: ArrayLike<number>;
  /** The nearness of each to the nearest clause. */
  readonly clauses: ArrayLike<number>;
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

/** Clauses that are rated by their meaning. */
const MAX_CLAUSES = 8;

/** The terms of each clause of a query that has several. */
export function clauseTerms({ own, clauses }: Query, { vocabulary }: Postings): string[][] {
  if (clauses < 2) return [];
  return Array.from({ length: Math.min(clauses, MAX_CLAUSES) }, (_, clause) =>
    own.filter((term) => ((term.clauses ?? 0) & (1 << clause)) !== 0).map(({ id }) => vocabulary.text(id)),
  );
}
