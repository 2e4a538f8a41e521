import { requireAsset } from '../../kernel/package-file.js';
import type { Reading } from './reading.js';
import { WORD_BUCKETS } from './word-features.js';
import { FEATURE_COUNT, FeatureSeer, nameFeature, windowsOf, type Window } from './windows.js';

/** How much the wording of a window speaks for an order to a model. */
export interface Judged extends Window {
  readonly score: number;
}

/** Learned weights: what each feature of a window says. */
export interface WordingModel {
  readonly bias: number;
  readonly concepts: Float32Array;
  /** Of words: so many steps. There are 130,000 of them, so those of a file are a byte each. */
  readonly words: Float32Array | Int8Array;
  readonly step: number;
}

/** Features of a window up to which each counts in full; those of longer ones say less. */
const FULL = 30;

/** What the features of a window count. */
export function scaleOf(features: number): number {
  return features <= FULL ? 1 : Math.sqrt(FULL / features);
}

/** A weight of a word is so many of these. */
export const WORD_STEP = 1 / 32;
const BYTE = 0x80;

/** Weights of words as they are written: for each that counts how far its bucket lies behind the one before, seven bits a byte, and one byte for the weight. */
export function packWords(weights: ArrayLike<number>): Uint8Array {
  const bytes: number[] = [];
  let before = 0;
  for (let bucket = 0; bucket < weights.length; bucket++) {
    const steps = Math.max(-128, Math.min(127, Math.round(weights[bucket]! / WORD_STEP)));
    if (steps === 0) continue;
    let gap = bucket - before;
    for (; gap >= BYTE; gap >>= 7) bytes.push((gap & (BYTE - 1)) | BYTE);
    bytes.push(gap, steps & 0xff);
    before = bucket;
  }
  return Uint8Array.from(bytes);
}

/** Reads what `packWords` wrote. */
function unpackWords(bytes: Uint8Array): Int8Array {
  const words = new Int8Array(WORD_BUCKETS);
  let bucket = 0;
  for (let at = 0; at < bytes.length; at++) {
    let gap = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      gap |= (byte & (BYTE - 1)) << shift;
      if (byte < BYTE) break;
    }
    bucket += gap;
    words[bucket] = bytes[at]!;
  }
  return words;
}

/** Reads weights as they are written in their files: a name and a number for each feature of concepts, separated by spaces, and those of words. */
export function readWeights(text: string, words: Uint8Array = new Uint8Array()): WordingModel {
  const byName = new Map<string, number>();
  for (const pair of text.trim().split(/\s+/)) {
    const cut = pair.lastIndexOf('=');
    byName.set(pair.slice(0, cut), Number(pair.slice(cut + 1)));
  }
  const concepts = Float32Array.from({ length: FEATURE_COUNT }, (_, feature) => byName.get(nameFeature(feature)) ?? 0);
  return { bias: byName.get('bias') ?? 0, concepts, words: unpackWords(words), step: WORD_STEP };
}

/** Judges the windows of texts. */
export class Wording {
  readonly #model: WordingModel;
  readonly #seer = new FeatureSeer();

  constructor(model: WordingModel) {
    this.#model = model;
  }

  /** The score of one window: above 0 it is more likely an order than not. */
  score(reading: Reading, window: Window): number {
    const { bias, concepts, words, step } = this.#model;
    let sum = 0;
    let count = 0;
    this.#seer.see(reading, window, (feature) => {
      sum += feature < FEATURE_COUNT ? concepts[feature]! : words[feature - FEATURE_COUNT]! * step;
      count++;
    });
    return bias + sum * scaleOf(count);
  }

  /** The windows of a text with their scores. */
  judge(reading: Reading, windows: readonly Window[] = windowsOf(reading)): Judged[] {
    return windows.map((window) => ({ ...window, score: this.score(reading, window) }));
  }

  /** The highest score among the windows of a text. */
  worst(reading: Reading, windows: readonly Window[] = windowsOf(reading)): number {
    return windows.reduce((most, window) => Math.max(most, this.score(reading, window)), this.#model.bias);
  }
}

let shipped: Wording | undefined;
/** The judge with the weights of this version, read when a definition is first judged. */
export const theWording = (): Wording =>
  (shipped ??= new Wording(
    readWeights(
      Buffer.from(requireAsset('findings-concepts.txt')).toString('latin1'),
      requireAsset('findings-words.bin'),
    ),
  ));
