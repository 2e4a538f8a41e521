import { SKETCH_WORDS } from '../index/draft.js';
import type { Postings, Segment } from '../index/postings.js';
import type { Query } from '../query.js';
import type { WordVectors } from '../words/vector-file.js';
import type { Candidate } from './candidates.js';
import { selectBest } from './score.js';

/** How many tools are found by meaning alone, how near they must be, and up to which size of catalog all tools are rated. */
const NEAREST = 50;
const MIN_NEARNESS = 0.25;
const MAX_RATED = 20_000;

/** Tools whose sketches are nearest, among which the nearest are: of all others the rows are not read. */
const SKETCHED = 250;

/** What the word vectors say of one query, as far as there are any. */
export interface QueryMeaning {
  /** How near each candidate is to the query; zeros without word vectors. */
  rate(candidates: readonly Candidate[]): Float32Array;
  /** What the features of candidates are made of; `undefined` without word vectors. */
  features(candidates: readonly Candidate[]): Meaning | undefined;
  /** The documents nearest to the query, among all where they are not too many, or those of one server. */
  nearest(accept: (document: number) => boolean, within?: Segment): number[];
}

/** Reads the meaning of a query; `meaning` is missing without word vectors. */
export function meaningOf(query: Query, meaning: VectorSignal | undefined, postings: Postings): QueryMeaning {
  const whole = meaning?.read(query.meant);

  function rate(terms: Iterable<string> | undefined, candidates: readonly Candidate[]): Float32Array {
    const meant = terms === undefined ? whole : meaning?.read(terms);
    const rates = new Float32Array(candidates.length);
    if (!meant) return rates;
    for (let i = 0; i < rates.length; i++) {
      const { document, segment } = candidates[i]!;
      rates[i] = meant.nearness(segment.rows, document - segment.first);
    }
    return rates;
  }

  return {
    rate: (candidates) => rate(undefined, candidates),
    features(candidates) {
      if (!meaning) return undefined;
      const all = rate(undefined, candidates);
      const clauses = clauseTerms(query, postings).map((terms) => rate(terms, candidates));
      if (clauses.length < 2) return { whole: all, clauses: all };
      const best = new Float32Array(candidates.length);
      for (const rates of clauses) for (let i = 0; i < best.length; i++) best[i] = Math.max(best[i]!, rates[i]!);
      return { whole: all, clauses: best };
    },
    nearest(accept, within) {
      const end = postings.owners.length;
      if (!whole || postings.size > MAX_RATED) return [];
      const estimates = new Float32Array(end);
      whole.estimate(postings.sketches, estimates);
      const first = within?.first ?? 0;
      const last = within ? first + within.tools.length : end;
      const documents = new Uint32Array(last - first);
      let near = 0;
      for (let document = first; document < last; document++) {
        if (estimates[document] !== 0) documents[near++] = document;
      }
      const values = new Float32Array(SKETCHED);
      const looked = selectBest(documents.subarray(0, near), estimates, SKETCHED, (a, b) => a - b, accept);
      for (const [i, document] of looked.entries()) {
        const segment = postings.owners[document]!;
        values[i] = whole.nearness(segment.rows, document - segment.first);
      }
      const places = Uint32Array.from(looked.keys()).filter((place) => values[place]! >= MIN_NEARNESS);
      return selectBest(places, values, NEAREST, (a, b) => looked[a]! - looked[b]!).map((place) => looked[place]!);
    },
  };
}

/** What word vectors say of the candidates. */
export interface Meaning {
  /** The nearness of each candidate to the query. */
  readonly whole: ArrayLike<number>;
  /** The nearness of each to the nearest clause. */
  readonly clauses: ArrayLike<number>;
}

/** Clauses that are rated by their meaning. */
const MAX_CLAUSES = 8;

/** The terms of each clause of a query that has several. */
function clauseTerms({ own, clauses }: Query, { vocabulary }: Postings): string[][] {
  if (clauses < 2) return [];
  return Array.from({ length: Math.min(clauses, MAX_CLAUSES) }, (_, clause) =>
    own.filter((term) => ((term.clauses ?? 0) & (1 << clause)) !== 0).map(({ id }) => vocabulary.text(id)),
  );
}

/** What the meaning of words says about tools, where their letters say nothing. */
export interface VectorSignal {
  /** A row of bytes for a tool, out of its terms, one list for each field. */
  embed(fields: ReadonlyArray<readonly string[]>): Int8Array;
  /** The terms of a query added up; `undefined` when none of them has a vector. */
  read(queryTerms: Iterable<string>): Meant | undefined;
}

/** What a query means, to be compared with rows of tools. */
export interface Meant {
  /** How near a tool is, by its rows and its position in them: the cosine, zero at least. */
  nearness(rows: Int8Array, offset: number): number;
  /**
   * About how near every tool is, by their sketches: 0 for what is not, and else only the order means something. It tells which
   * tools are worth a closer look.
   */
  estimate(sketches: Uint32Array, into: Float32Array): void;
}

/**
 * What each field counts in a tool's vector, in the order of `FIELDS`: name, server, description, names of
 * parameters, their texts, rest of the description.
 */
const FIELD_WEIGHTS: readonly number[] = [3, 1.5, 3, 0.3, 0, 0];

/** How long the row of a tool is for each root of a dimension, so that no number is larger than a byte but in the rarest case, and how finely a query is measured. */
const LENGTH_OF_ROOT = 40;
const QUERY_STEPS = 1000;

/** The signal that some word vectors give. */
export function createVectorSignal(vectors: WordVectors): VectorSignal {
  const { dimension, rows, scales } = vectors;
  const whole = dimension & ~3;
  const rowLength = LENGTH_OF_ROOT * Math.sqrt(dimension);
  const sum = new Float32Array(dimension);

  function add(term: string, weight: number): void {
    const row = vectors.row(term);
    if (row < 0) return;
    const scale = weight * scales[row]!;
    const begin = row * dimension;
    for (let i = 0; i < dimension; i++) sum[i] = sum[i]! + scale * rows[begin + i]!;
  }

  function embed(fields: ReadonlyArray<readonly string[]>): Int8Array {
    const row = new Int8Array(dimension);
    sum.fill(0);
    for (const [field, terms] of fields.entries()) {
      const weight = FIELD_WEIGHTS[field] ?? 0;
      if (weight === 0) continue;
      for (const term of terms) add(term, weight / Math.sqrt(terms.length));
    }
    let square = 0;
    for (const value of sum) square += value * value;
    if (square === 0) return row;
    const scale = rowLength / Math.sqrt(square);
    for (let i = 0; i < dimension; i++) row[i] = Math.max(-127, Math.min(127, Math.round(scale * sum[i]!)));
    return row;
  }

  function read(queryTerms: Iterable<string>): Meant | undefined {
    sum.fill(0);
    for (const term of new Set(queryTerms)) add(term, 1);
    let square = 0;
    let largest = 0;
    for (const value of sum) {
      square += value * value;
      largest = Math.max(largest, Math.abs(value));
    }
    if (square === 0) return undefined;
    // Whole numbers and rows of one length: a product is a cosine but for a factor.
    const query = Int32Array.from(sum, (value) => Math.round((QUERY_STEPS * value) / largest));
    const share = largest / (QUERY_STEPS * rowLength * Math.sqrt(square));
    return {
      nearness(tools, offset) {
        let [one, two, three, four] = [0, 0, 0, 0];
        let i = 0;
        // Four sums side by side take half the time of one.
        for (let at = offset * dimension; i < whole; i += 4, at += 4) {
          one = (one + Math.imul(tools[at]!, query[i]!)) | 0;
          two = (two + Math.imul(tools[at + 1]!, query[i + 1]!)) | 0;
          three = (three + Math.imul(tools[at + 2]!, query[i + 2]!)) | 0;
          four = (four + Math.imul(tools[at + 3]!, query[i + 3]!)) | 0;
        }
        for (; i < dimension; i++) one = (one + Math.imul(tools[offset * dimension + i]!, query[i]!)) | 0;
        const product = one + two + three + four;
        return product <= 0 ? 0 : Math.min(1, product * share);
      },
      estimate(sketches, into) {
        const sums = byteSums(query);
        for (let tool = 0, at = 0; tool < into.length; tool++) {
          let estimate = 0;
          for (let base = 0; base < SKETCH_WORDS << 10; base += 1 << 10) {
            const bits = sketches[at++]! | 0;
            estimate =
              (estimate +
                sums[base | (bits & 255)]! +
                sums[base | 256 | ((bits >>> 8) & 255)]! +
                sums[base | 512 | ((bits >>> 16) & 255)]! +
                sums[base | 768 | (bits >>> 24)]!) |
              0;
          }
          into[tool] = estimate > 0 ? estimate : 0;
        }
      },
    };
  }

  return { embed, read };
}

/** For each byte of a sketch and each of its values what the numbers of a query add up to, each by the sign that its bit says. */
function byteSums(query: Int32Array): Int32Array {
  const parts = SKETCH_WORDS << 2;
  const sums = new Int32Array(parts << 8);
  for (let part = 0; part < parts; part++) {
    const from = part << 8;
    for (let i = part * 8; i < Math.min(query.length, part * 8 + 8); i++) sums[from] = sums[from]! - query[i]!;
    for (let value = 1; value < 256; value++) {
      const bit = 31 - Math.clz32(value);
      sums[from + value] = sums[from + (value ^ (1 << bit))]! + 2 * (query[part * 8 + bit] ?? 0);
    }
  }
  return sums;
}
