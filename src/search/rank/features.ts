import { CONCEPT_FIELD } from '../index/fields.js';
import { frequencyIn } from '../index/posting-lists.js';
import type { Postings, Segment } from '../index/postings.js';
import type { Query } from '../query.js';
import type { QueryTerm } from '../query-term.js';
import type { Actions } from '../words/actions.js';
import type { Candidate } from './candidates.js';
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

/** The position of each feature in a row. */
const AT: Readonly<Record<string, number>> = Object.fromEntries(FEATURES.map(({ name }, i) => [name, i]));

/** Terms of a query that are looked up in every candidate, the weightiest of each kind. */
const MOST_OWN = 64;
const MOST_CONCEPTS = 48;

/** What an unknown word counts, against the rarest known one. */
const UNKNOWN_WEIGHT = 0.5;

/** One row for each candidate. */
export function featuresOf(
  query: Query,
  candidates: readonly Candidate[],
  postings: Postings,
  actions: Actions,
  meaning: Meaning | undefined,
): Float32Array {
  const width = FEATURES.length;
  const rows = new Float32Array(candidates.length * width);
  const cosines = meaning?.whole ?? [];
  const worthOf = ({ id, weight }: QueryTerm): number => weight * rarity(postings.vocabulary.uses(id), postings.size);
  const own = weightiest(query.own, MOST_OWN, worthOf);
  const concepts = weightiest(query.concepts, MOST_CONCEPTS, worthOf);
  const known = own.reduce((sum, { worth }) => sum + worth, 0);
  const possible = known + query.unknown * UNKNOWN_WEIGHT * rarity(1, postings.size) || 1;
  const ascending = Uint32Array.from(candidates.keys()).sort(
    (a, b) => candidates[a]!.document - candidates[b]!.document,
  );
  const add = (place: number, feature: number, value: number): void => {
    const at = place * width + feature;
    rows[at] = rows[at]! + value;
  };
  const raise = (place: number, feature: number, value: number): void => {
    const at = place * width + feature;
    if (value > rows[at]!) rows[at] = value;
  };
  const visit = ({ term: { id } }: Weighed, use: (place: number, packed: number) => void): void => {
    const { lists } = postings;
    const end = lists.end(id);
    let at = lists.start(id);
    for (const place of ascending) {
      const { document } = candidates[place]!;
      at = lists.seek(id, document, at);
      if (at >= end) return;
      if (lists.arena[at] === document) use(place, lists.arena[at + 1]!);
    }
  };

  const clauseWorth = new Float32Array(query.clauses);
  const clauseFound = new Float32Array(candidates.length * query.clauses);
  for (const one of own) {
    const bits = one.term.clauses ?? 0;
    eachBit(bits, (clause) => (clauseWorth[clause] = clauseWorth[clause]! + one.worth));
    visit(one, (place) => {
      eachBit(bits, (clause) => {
        const at = place * query.clauses + clause;
        clauseFound[at] = clauseFound[at]! + one.worth;
      });
    });
  }
  for (const one of concepts) {
    visit(one, (place, packed) => {
      const isNamed = frequencyIn(packed, CONCEPT_FIELD) > 1;
      const worth = isNamed ? one.worth : one.worth / 2;
      add(place, AT['concepts']!, worth / possible);
      raise(place, AT['best concept']!, worth);
      if (isNamed) raise(place, AT['best named concept']!, worth);
    });
  }

  const most = (read: (candidate: Candidate, place: number) => number): number =>
    candidates.reduce((highest, candidate, place) => Math.max(highest, read(candidate, place)), Number.MIN_VALUE);
  const mostWords = most(({ words }) => words);
  const mostNeighbours = most(({ neighbours }) => neighbours);
  const mostClause = most(({ clause }) => clause);
  const mostMeaning = most((_, place) => cosines[place] ?? 0);
  const mostConcepts = most((_, place) => rows[place * width + AT['concepts']!]!);
  const servers = serverScores(candidates);
  const wantedKind = actions.kindOf(query.actions[0] ?? 0);

  for (const [place, candidate] of candidates.entries()) {
    const { segment, document } = candidate;
    const offset = document - segment.first;
    const set = (feature: string, value: number): void => {
      rows[place * width + AT[feature]!] = value;
    };
    const get = (feature: string): number => rows[place * width + AT[feature]!]!;
    const server = servers.get(segment)!;
    set('mention', candidate.mention);
    set('any mention', candidate.namedAnyhow);
    let clause = 0;
    for (let i = 0; i < query.clauses; i++) {
      if (clauseWorth[i]! > 0) clause = Math.max(clause, clauseFound[place * query.clauses + i]! / clauseWorth[i]!);
    }
    set('clause found', clause);
    set('concepts of best', get('concepts') / mostConcepts);
    const action = segment.actions[offset]!;

    set('first action', action !== 0 && action === query.actions[0] ? 1 : 0);
    set('any action', action !== 0 && query.actions.includes(action) ? 1 : 0);
    set('action kind', wantedKind * actions.kindOf(action));
    set('meaning', cosines[place] ?? 0);
    set('meaning of best', (cosines[place] ?? 0) / mostMeaning);
    set('clause meaning', meaning?.clauses[place] ?? 0);
    set(
      'signals',
      candidate.words / mostWords +
        (0.2 * server) / mostWords +
        0.3 * candidate.mention +
        (0.25 * candidate.neighbours) / mostNeighbours +
        (0.4 * candidate.clause) / mostClause +
        0.3 * get('meaning of best'),
    );
  }
  return rows;
}

/** What word vectors say of the candidates. */
export interface Meaning {
  /** The nearness of each candidate to the query. */
  readonly whole: readonly number[];
  /** The nearness of each to the nearest clause. */
  readonly clauses: readonly number[];
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
const MOST_CLAUSES = 8;

/** The terms of each clause of a query that has several. */
export function clauseTerms({ own, clauses }: Query, { vocabulary }: Postings): string[][] {
  if (clauses < 2) return [];
  return Array.from({ length: Math.min(clauses, MOST_CLAUSES) }, (_, clause) =>
    own.filter((term) => ((term.clauses ?? 0) & (1 << clause)) !== 0).map(({ id }) => vocabulary.text(id)),
  );
}
