import type { ToolscoutError } from '../../kernel/errors.js';
import { brokenAsset } from '../../kernel/package-file.js';
import { checksum } from '../checksum.js';
import { createWordTable } from './lexicon.js';

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

function damaged(reason: string): ToolscoutError {
  return brokenAsset('words.bin', `damaged: ${reason}`);
}
