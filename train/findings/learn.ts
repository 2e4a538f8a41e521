import { scaleOf } from '../../src/approvals/findings/wording.js';
import { FEATURE_COUNT, rankFeature } from '../../src/approvals/findings/windows.js';
import { createRandom } from '../contrast.js';

/** What is learned from: the windows of one definition, each a list of features. */
export interface Example {
  readonly set: string;
  readonly kind: string;
  readonly isMalicious: boolean;
  /** How much a mistake costs. */
  readonly cost: number;
  readonly windows: readonly Int32Array[];
}

/** How weights are learned. */
export interface Settings {
  /** The weights are the mean of those of each seed: what one order of the examples makes up, the others do not. */
  readonly seeds: readonly number[];
  /** Times that the windows which speak most for malice are chosen anew. */
  readonly rounds: number;
  readonly epochs: number;
  readonly rate: number;
  /** How strongly small weights are drawn to 0, and all weights towards it: of one concept or part, of two parts, of what is more specific, of words. */
  readonly sparse: readonly [number, number, number, number];
  readonly decay: readonly [number, number, number, number];
}

/** A learned model: a number for each feature, and one for all. */
export interface Learned {
  readonly bias: number;
  readonly weights: Float64Array;
}

/** Windows that many definitions have count as often as this at most. */
const MAX_OF_ONE = 5;

/** Harmless windows that score less teach little; a quarter of them is enough. */
const NEAR = -4;

/** No feature takes more away than this: honest words must not outweigh an order that stands beside them. */
const LEAST = -1.5;

interface Row {
  readonly features: Int32Array;
  readonly label: 0 | 1;
  readonly cost: number;
}

/** The score of one window. */
function scoreOf({ bias, weights }: Learned, features: Int32Array): number {
  let sum = 0;
  for (let i = 0; i < features.length; i++) sum += weights[features[i]!]!;
  return bias + sum * scaleOf(features.length);
}

/** Authors who must use a word or a pair before it may speak for an order: what one of them likes to write says little of others. */
const LEAST_AUTHORS = 3;

/** For each feature whether it may speak for an order: concepts, and words that several authors of malicious definitions use. */
function speakersIn(malicious: readonly Example[], width: number): Uint8Array {
  const authors = new Map<number, Set<string>>();
  for (const { windows, set } of malicious) {
    for (const features of windows) {
      for (const feature of features) {
        if (feature < FEATURE_COUNT) continue;
        const known = authors.get(feature);
        if (known) known.add(set);
        else authors.set(feature, new Set([set]));
      }
    }
  }
  return Uint8Array.from({ length: width }, (_, feature) =>
    feature < FEATURE_COUNT || (authors.get(feature)?.size ?? 0) >= LEAST_AUTHORS ? 1 : 0,
  );
}

/** Learns with each seed, and takes the mean. */
export function learn(examples: readonly Example[], width: number, settings: Settings): Learned {
  const byKey = rowsOf(examples.filter(({ isMalicious }) => !isMalicious));
  // A window that a harmless definition has too says nothing.
  const malicious = examples
    .filter(({ isMalicious }) => isMalicious)
    .map(({ windows, cost }) => ({ cost, windows: windows.filter((features) => !byKey.has(keyOf(features))) }))
    .filter(({ windows }) => windows.length > 0);
  const harmless = [...byKey.values()];
  const speakers = speakersIn(
    examples.filter(({ isMalicious }) => isMalicious),
    width,
  );
  const models = settings.seeds.map((seed) => learnOnce(malicious, harmless, speakers, settings, seed));
  const mean = (pick: (model: Learned) => number): number =>
    models.reduce((sum, model) => sum + pick(model), 0) / models.length;
  return {
    bias: mean(({ bias }) => bias),
    weights: Float64Array.from({ length: width }, (_, feature) => mean(({ weights }) => weights[feature]!)),
  };
}

/**
 * Learns which windows are orders to a model. Of a malicious definition only one window needs to be one: which, is what the weights of the
 * round before say. All windows of harmless definitions are harmless. The same examples give the same weights.
 */
function learnOnce(
  malicious: ReadonlyArray<Pick<Example, 'windows' | 'cost'>>,
  harmless: readonly Row[],
  speakers: Uint8Array,
  settings: Settings,
  seed: number,
): Learned {
  let learned: Learned | undefined;
  for (let round = 0; round < settings.rounds; round++) {
    const rows = malicious.flatMap(({ windows, cost }): Row[] => {
      if (!learned) return windows.map((features) => ({ features, label: 1, cost: cost / windows.length }));
      const model = learned;
      const best = windows.reduce((a, b) => (scoreOf(model, b) > scoreOf(model, a) ? b : a));
      return [{ features: best, label: 1, cost }];
    });
    const model = learned;
    const near = model
      ? harmless.filter(({ features }, index) => index % 4 === round % 4 || scoreOf(model, features) > NEAR)
      : harmless.filter((_, index) => index % 4 === 0);
    learned = fit([...rows, ...near], speakers, settings, seed);
  }
  return learned!;
}

/** Two windows with the same features have the same key. */
function keyOf(features: Int32Array): string {
  return Buffer.from(features.buffer, features.byteOffset, features.byteLength).toString('latin1');
}

/** The windows of harmless definitions, those with the same features once. */
function rowsOf(examples: readonly Example[]): Map<string, Row> {
  const byKey = new Map<string, { features: Int32Array; label: 0; cost: number }>();
  for (const { windows, cost } of examples) {
    for (const features of windows) {
      const key = keyOf(features);
      const known = byKey.get(key);
      if (known) known.cost = Math.min(known.cost + cost, MAX_OF_ONE * cost);
      else byKey.set(key, { features, label: 0, cost });
    }
  }
  return byKey;
}

/** Logistic regression over sparse features (FTRL-proximal). The last place is that of the number for all. */
function fit(
  rows: readonly Row[],
  speakers: Uint8Array,
  { epochs, rate, sparse, decay }: Settings,
  seed: number,
): Learned {
  const width = speakers.length;
  const random = createRandom(seed);
  const ranks = Uint8Array.from({ length: width }, (_, feature) => rankFeature(feature));
  const pulls = new Float64Array(width + 1);
  const squares = new Float64Array(width + 1);
  /** The roots of the squares, which the next step needs again. */
  const roots = new Float64Array(width + 1);
  const weights = new Float64Array(width + 1);
  const inverse = 1 / rate;
  const order = Int32Array.from(rows, (_, index) => index);
  const move = (feature: number, slope: number, l1: number, l2: number, least: number): void => {
    const square = squares[feature]! + slope * slope;
    const root = Math.sqrt(square);
    const pull = pulls[feature]! + slope - (root - roots[feature]!) * inverse * weights[feature]!;
    squares[feature] = square;
    roots[feature] = root;
    pulls[feature] = pull;
    const weight = Math.abs(pull) <= l1 ? 0 : -(pull - Math.sign(pull) * l1) / ((1 + root) * inverse + l2);
    weights[feature] = weight > 0 && speakers[feature] === 0 ? 0 : Math.max(weight, least);
  };
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (let i = order.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    for (const index of order) {
      const { features, label, cost } = rows[index]!;
      const scale = scaleOf(features.length);
      let sum = 0;
      for (let i = 0; i < features.length; i++) sum += weights[features[i]!]!;
      sum = weights[width]! + sum * scale;
      const slope = (1 / (1 + Math.exp(-Math.max(-30, Math.min(30, sum)))) - label) * cost;
      if (Math.abs(slope) < 1e-4) continue;
      move(width, slope, 0, 0, -Infinity);
      for (let i = 0; i < features.length; i++) {
        const rank = ranks[features[i]!]!;
        move(features[i]!, slope * scale, sparse[rank]!, decay[rank]!, LEAST);
      }
    }
  }
  return { bias: weights[width]!, weights: weights.slice(0, width) };
}
