import { checksum } from '../src/search/checksum.js';

/** Writes vectors as the file that `readVectors` reads: each row in bytes, with the scale that makes its largest value 127. */
export function writeVectors(words: readonly string[], vectors: Float32Array, dimension: number): Uint8Array {
  const text = new TextEncoder().encode(words.join('\n'));
  const rowsAt = 20 + words.length * 4;
  const wordsAt = rowsAt + words.length * dimension;
  const bytes = new Uint8Array(wordsAt + text.length);
  const view = new DataView(bytes.buffer);
  for (let row = 0; row < words.length; row++) {
    let largest = 0;
    for (let i = 0; i < dimension; i++) largest = Math.max(largest, Math.abs(vectors[row * dimension + i]!));
    const scale = Math.fround(largest / 127) || 1;
    view.setFloat32(20 + row * 4, scale, true);
    for (let i = 0; i < dimension; i++) {
      view.setInt8(rowsAt + row * dimension + i, Math.round(vectors[row * dimension + i]! / scale));
    }
  }
  bytes.set(text, wordsAt);
  bytes.set(new TextEncoder().encode('TSWV'));
  view.setUint16(4, 1, true);
  view.setUint16(6, dimension, true);
  view.setUint32(8, words.length, true);
  view.setUint32(12, text.length, true);
  view.setUint32(16, checksum(bytes.subarray(20)), true);
  return bytes;
}
