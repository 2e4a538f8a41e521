import { ToolscoutError } from '../../kernel/errors.js';
import { checksum } from '../checksum.js';
import { SKETCH_WORDS } from '../index/draft.js';
import { createWordTable } from '../words/word-table.js';

/**
 * Word vectors: terms that mean something similar point in a similar direction, and a term that
 * says much is long. Rows are bytes; a row times its scale is the vector.
 */
export interface WordVectors {
  readonly dimension: number;
  /** How many terms have a vector. */
  readonly size: number;
  /** The row of a term; -1 for one that has none. */
  row(term: string): number;
  readonly rows: Int8Array;
  readonly scales: Float32Array;
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

/** `TSWV` in ASCII, the first bytes of the file. */
const MAGIC = 0x56575354;
const VERSION = 1;

/** Magic, version and dimension, count, bytes of words, checksum of all that follows. */
const HEADER_BYTES = 20;

/** A file that asks for more is not ours. */
const MAX_WORDS = 1_000_000;
const MAX_DIMENSIONS = 1024;
const LARGEST_SCALE = 1e6;

/**
 * What each field counts in a tool's vector, in the order of `FIELDS`: name, server, description, names of
 * parameters, their texts, rest of the description.
 */
const FIELD_WEIGHTS: readonly number[] = [3, 1.5, 2, 0.3, 0, 0];

/** How long the row of a tool is for each root of a dimension, so that no number is larger than a byte but in the rarest case, and how finely a query is measured. */
const LENGTH_OF_ROOT = 40;
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
  if (dimension === 0 || dimension > MAX_DIMENSIONS || size > MAX_WORDS) throw damaged('its size is impossible');
  const rowsAt = HEADER_BYTES + size * 4;
  const wordsAt = rowsAt + size * dimension;
  if (bytes.length !== wordsAt + wordBytes) throw damaged('its length is not what its header says');
  if (checksum(bytes.subarray(HEADER_BYTES)) !== view.getUint32(16, true)) throw damaged('its checksum is wrong');

  const scales = new Float32Array(size);
  for (let i = 0; i < size; i++) scales[i] = view.getFloat32(HEADER_BYTES + i * 4, true);
  if (!scales.every((scale) => scale >= 0 && scale < LARGEST_SCALE)) throw damaged('a scale is impossible');
  const words = createWordTable(bytes.subarray(wordsAt));
  if (words.size !== size) throw damaged('it does not hold a word for each row');
  return {
    dimension,
    size,
    row: words.find,
    rows: new Int8Array(bytes.buffer, bytes.byteOffset + rowsAt, size * dimension),
    scales,
  };
}

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

function damaged(reason: string): ToolscoutError {
  return new ToolscoutError(
    'INTERNAL_ERROR',
    `The file of word vectors is damaged: ${reason}. Install toolscout again.`,
  );
}
