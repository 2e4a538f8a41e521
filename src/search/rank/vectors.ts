import { ToolscoutError } from '../../kernel/errors.js';
import { checksum } from '../checksum.js';

/**
 * Word vectors: terms that mean something similar point in a similar direction, and a term that
 * says much is long. Rows are bytes; a row times its scale is the vector.
 */
export interface WordVectors {
  readonly dimension: number;
  /** How many terms have a vector. */
  readonly size: number;
  /** The row of a term; `undefined` for one that has none. */
  row(term: string): number | undefined;
  readonly rows: Int8Array;
  readonly scales: Float32Array;
}

/** A tool among those to be rated: the rows of its server's tools, and which of them is its own. */
export interface EmbeddedTool {
  readonly vectors: Int8Array;
  readonly offset: number;
}

/** What the meaning of words says about tools, where their letters say nothing. */
export interface VectorSignal {
  /** One row of bytes for each tool of a server, out of its terms, one list for each field. */
  embed(tools: ReadonlyArray<ReadonlyArray<readonly string[]>>): Int8Array;
  /** How near each candidate is to the query: the cosine, zero at least. Terms without a vector do not count. */
  rate(queryTerms: readonly string[], candidates: readonly EmbeddedTool[]): number[];
  /** The same of every tool of some servers, one after the other, into an array from a place on; answers whether there is anything to rate by. */
  rateAll(queryTerms: readonly string[], servers: Iterable<RatedServer>, into: Float32Array): boolean;
}

/** The rows of a server's tools, and the place of the first of them. */
export interface RatedServer {
  readonly vectors: Int8Array;
  readonly first: number;
}

/** `TSWV` in ASCII, the first bytes of the file. */
const MAGIC = 0x56575354;
const VERSION = 1;

/** Magic, version and dimension, count, bytes of words, checksum of all that follows. */
const HEADER_BYTES = 20;

/** A file that asks for more is not ours. */
const MOST_WORDS = 1_000_000;
const MOST_DIMENSIONS = 1024;
const LARGEST_SCALE = 1e6;

/**
 * What each field counts in a tool's vector, in the order of `FIELDS`: name, server, description, names of
 * parameters, their texts, rest of the description.
 */
const FIELD_WEIGHTS: readonly number[] = [3, 1.5, 2, 0.3, 0, 0];

/** How long the row of a tool is, so that no number is larger than a byte but in the rarest case, and how finely a query is measured. */
const ROW_LENGTH = 320;
const QUERY_STEPS = 1000;

/**
 * Reads the file of word vectors: a header, one scale for each word (32-bit floats), the rows of
 * bytes, and the words in UTF-8, a line each; numbers are little-endian.
 */
export function readVectors(bytes: Uint8Array): WordVectors {
  if (bytes.length < HEADER_BYTES) throw damaged('it is shorter than its header');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== MAGIC) throw damaged('it does not begin like one');
  if (view.getUint16(4, true) !== VERSION) throw damaged(`its version is not ${VERSION}`);
  const dimension = view.getUint16(6, true);
  const size = view.getUint32(8, true);
  const wordBytes = view.getUint32(12, true);
  if (dimension === 0 || dimension > MOST_DIMENSIONS || size > MOST_WORDS) throw damaged('its size is impossible');
  const rowsAt = HEADER_BYTES + size * 4;
  const wordsAt = rowsAt + size * dimension;
  if (bytes.length !== wordsAt + wordBytes) throw damaged('its length is not what its header says');
  if (checksum(bytes.subarray(HEADER_BYTES)) !== view.getUint32(16, true)) throw damaged('its checksum is wrong');

  const scales = new Float32Array(size);
  for (let i = 0; i < size; i++) scales[i] = view.getFloat32(HEADER_BYTES + i * 4, true);
  if (!scales.every((scale) => scale >= 0 && scale < LARGEST_SCALE)) throw damaged('a scale is impossible');
  const words = new TextDecoder().decode(bytes.subarray(wordsAt)).split('\n');
  if (words.length !== size) throw damaged('it does not hold a word for each row');
  const numbers = new Map<string, number>();
  for (let i = 0; i < size; i++) numbers.set(words[i]!, i);
  return {
    dimension,
    size,
    row: (term) => numbers.get(term),
    rows: new Int8Array(bytes.buffer, bytes.byteOffset + rowsAt, size * dimension),
    scales,
  };
}

/** The signal that some word vectors give. */
export function createVectorSignal(vectors: WordVectors): VectorSignal {
  const { dimension, rows, scales } = vectors;
  const sum = new Float32Array(dimension);

  function add(term: string, weight: number): void {
    const row = vectors.row(term);
    if (row === undefined) return;
    const scale = weight * scales[row]!;
    const begin = row * dimension;
    for (let i = 0; i < dimension; i++) sum[i] = sum[i]! + scale * rows[begin + i]!;
  }

  function embed(tools: ReadonlyArray<ReadonlyArray<readonly string[]>>): Int8Array {
    const embedded = new Int8Array(tools.length * dimension);
    for (const [tool, fields] of tools.entries()) {
      sum.fill(0);
      for (const [field, terms] of fields.entries()) {
        const weight = FIELD_WEIGHTS[field] ?? 0;
        if (weight === 0) continue;
        for (const term of terms) add(term, weight / Math.sqrt(terms.length));
      }
      let square = 0;
      for (const value of sum) square += value * value;
      if (square === 0) continue;
      const scale = ROW_LENGTH / Math.sqrt(square);
      for (let i = 0; i < dimension; i++) {
        embedded[tool * dimension + i] = Math.max(-127, Math.min(127, Math.round(scale * sum[i]!)));
      }
    }
    return embedded;
  }

  /** Adds up the words of a query; answers the squared length of the sum. */
  function sumUp(queryTerms: readonly string[]): number {
    sum.fill(0);
    for (const term of new Set(queryTerms)) add(term, 1);
    let length = 0;
    for (const value of sum) length += value * value;
    return length;
  }

  function rateAll(queryTerms: readonly string[], servers: Iterable<RatedServer>, into: Float32Array): boolean {
    const length = sumUp(queryTerms);
    if (length === 0) return false;
    // Whole numbers and rows of one length: a catalog is gone through in a fraction of a millisecond.
    const largest = sum.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const query = Int32Array.from(sum, (value) => Math.round((QUERY_STEPS * value) / largest));
    const share = largest / (QUERY_STEPS * ROW_LENGTH * Math.sqrt(length));
    for (const { vectors: tools, first } of servers) {
      const count = tools.length / dimension;
      let at = 0;
      for (let i = 0; i < count; i++) {
        let product = 0;
        for (let d = 0; d < dimension; d++) product = (product + Math.imul(tools[at++]!, query[d]!)) | 0;
        into[first + i] = product * share;
      }
    }
    return true;
  }

  function rate(queryTerms: readonly string[], candidates: readonly EmbeddedTool[]): number[] {
    const length = sumUp(queryTerms);
    if (length === 0) return candidates.map(() => 0);
    return candidates.map(({ vectors: tools, offset }) => cosine(tools, offset * dimension, length));
  }

  /** The cosine of the sum, whose squared length is known, and the row that begins at a place. */
  function cosine(tools: Int8Array, begin: number, length: number): number {
    let product = 0;
    let own = 0;
    for (let i = 0; i < dimension; i++) {
      const value = tools[begin + i]!;
      product += value * sum[i]!;
      own += value * value;
    }
    return product <= 0 || own === 0 ? 0 : product / Math.sqrt(own * length);
  }

  return { embed, rate, rateAll };
}

function damaged(reason: string): ToolscoutError {
  return new ToolscoutError(
    'INTERNAL_ERROR',
    `The file of word vectors is damaged: ${reason}. Install toolscout again.`,
  );
}
