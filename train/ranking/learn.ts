import { FEATURES } from '../../src/search/rank/rank.js';
import { createRandom } from '../contrast.js';
import { WIDTH, type Example } from './examples.js';

/** How weights are learned. */
export interface Settings {
  readonly seed: number;
  /** Queries of one set that are learned from, and tools of one query. */
  readonly mostQueries: number;
  readonly mostTools: number;
  /** The weight of a set is the number of its queries to this power. */
  readonly evenness: number;
  readonly steps: number;
  readonly rate: number;
  /** How strongly every weight but that of the signals is drawn to 0. */
  readonly decay: number;
}

/** One weight for each feature. */
export type Weights = Float32Array;

/** What is learned from: rows of all queries, one after the other. */
interface Lesson {
  readonly rows: Float32Array;
  readonly count: number;
  /** Where each query's rows end. */
  readonly ends: Uint32Array;
  /** The share of its query's wanted tools that each row is: 0 for one that is not wanted. */
  readonly targets: Float32Array;
  readonly weights: Float32Array;
}

/**
 * Learns weights: the softmax over the scores of a query's candidates shall fall on what is wanted. The weights are drawn to those that rank without learning: the sum of signals is
 * free, everything beside it has to earn its place. The same examples give the same weights.
 */
export function learn(examples: readonly Example[], settings: Settings): Weights {
  const lesson = drawLesson(examples, settings);
  const { rows, count, ends } = lesson;
  const scale = scalesOf(lesson);
  const weights = new Float64Array(WIDTH);
  const mean = new Float64Array(WIDTH);
  const squares = new Float64Array(WIDTH);
  const scores = new Float64Array(count);
  const slopes = new Float64Array(count);
  for (let step = 1; step <= settings.steps; step++) {
    for (let i = 0; i < count; i++) {
      let sum = 0;
      for (let f = 0; f < WIDTH; f++) sum += weights[f]! * scale[f]! * rows[i * WIDTH + f]!;
      scores[i] = sum;
    }
    slopesOf(lesson, scores, slopes);
    const slope = new Float64Array(WIDTH);
    for (let i = 0; i < count; i++) {
      for (let f = 0; f < WIDTH; f++) slope[f] = slope[f]! + slopes[i]! * scale[f]! * rows[i * WIDTH + f]!;
    }
    for (const [f, { name, rising }] of FEATURES.entries()) {
      const g = slope[f]! / ends.length + (name === 'signals' ? 0 : settings.decay * weights[f]!);
      mean[f] = 0.9 * mean[f]! + 0.1 * g;
      squares[f] = 0.99 * squares[f]! + 0.01 * g * g;
      const size = Math.sqrt(squares[f]! / (1 - 0.99 ** step)) + 1e-8;
      weights[f] = weights[f]! - (settings.rate * mean[f]!) / (1 - 0.9 ** step) / size;
      if (rising) weights[f] = Math.max(0, weights[f]!);
    }
  }
  return Float32Array.from(weights, (weight, f) => weight * scale[f]!);
}

/** Fills in the slope of the loss by each score. */
function slopesOf({ ends, targets, weights }: Lesson, scores: Float64Array, slopes: Float64Array): void {
  let begin = 0;
  for (const [query, end] of ends.entries()) {
    let highest = -Infinity;
    for (let i = begin; i < end; i++) highest = Math.max(highest, scores[i]!);
    let total = 0;
    for (let i = begin; i < end; i++) total += Math.exp(scores[i]! - highest);
    for (let i = begin; i < end; i++) {
      slopes[i] = weights[query]! * (Math.exp(scores[i]! - highest) / total - targets[i]!);
    }
    begin = end;
  }
}

/** What brings each feature to one scale. */
function scalesOf({ rows, count }: Lesson): Float64Array {
  return Float64Array.from(FEATURES, (_, f) => {
    let sum = 0;
    let squares = 0;
    for (let i = 0; i < count; i++) {
      const value = rows[i * WIDTH + f]!;
      sum += value;
      squares += value * value;
    }
    return 1 / Math.sqrt(Math.max(squares / count - (sum / count) ** 2, 1e-6));
  });
}

/** Draws what is learned from. Queries of which nothing wanted is among the candidates teach nothing. */
function drawLesson(examples: readonly Example[], settings: Settings): Lesson {
  const random = createRandom(settings.seed);
  const bySet = new Map<string, Example[]>();
  for (const one of examples) if (one.labels.includes(1)) bySet.set(one.set, [...(bySet.get(one.set) ?? []), one]);
  const chosen = [...bySet.values()].flatMap((all) => {
    const drawn = shuffled(all, random).slice(0, settings.mostQueries);
    return drawn.map((example) => ({ example, weight: drawn.length ** (settings.evenness - 1) }));
  });
  const mean = chosen.reduce((sum, { weight }) => sum + weight, 0) / chosen.length;
  const picks = chosen.map(({ example }) => pick(example, settings.mostTools, random));
  const count = picks.reduce((sum, places) => sum + places.length, 0);
  const rows = new Float32Array(count * WIDTH);
  const targets = new Float32Array(count);
  const ends = new Uint32Array(picks.length);
  let at = 0;
  for (const [i, places] of picks.entries()) {
    const { labels, rows: from } = chosen[i]!.example;
    const wanted = places.filter((place) => labels[place] === 1).length;
    for (const place of places) {
      rows.set(from.subarray(place * WIDTH, (place + 1) * WIDTH), at * WIDTH);
      targets[at++] = labels[place] === 1 ? 1 / wanted : 0;
    }
    ends[i] = at;
  }
  return { rows, count, ends, targets, weights: Float32Array.from(chosen, ({ weight }) => weight / mean) };
}

/** Wanted tools, as many of the best by words as make half, and others by chance. */
function pick({ labels }: Example, most: number, random: () => number): number[] {
  const places = [...labels.keys()];
  const wanted = places.filter((place) => labels[place] === 1);
  const others = places.filter((place) => labels[place] === 0);
  const first = others.slice(0, most >> 1);
  return [...wanted, ...first, ...shuffled(others.slice(first.length), random).slice(0, most - first.length)];
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const order = [...items];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
