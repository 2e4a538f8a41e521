import type { Tool } from '../../model/tool.js';
import { FEATURES } from './features.js';
import type { Candidate } from './candidates.js';
import type { RankingModel } from './model.js';
import type { Learned } from './rank.js';

/** How much further a score must fall behind for the relevance to fall to a third. */
const FALL = 4;

/** What remembered queries add to a score at the most: chosen by left-out sets, see docs/search.md. */
const USAGE_WEIGHT = 8;

/** What a sentence encoder adds to a score at the most: chosen by left-out sets, see docs/search.md. */
const ENCODER_WEIGHT = 1;

/** What the encoder says of each candidate; one it does not know yet stands in the middle of the others. */
function encodedNearness(candidates: readonly Candidate[], encoded: (tool: Tool) => number | undefined): number[] {
  const cosines = candidates.map(({ tool }) => encoded(tool));
  const known = cosines.filter((cosine) => cosine !== undefined);
  if (known.length === 0) return candidates.map(() => 0);
  const middle = known.reduce((sum, cosine) => sum + cosine, 0) / known.length;
  const most = known.reduce((a, b) => Math.max(a, b), Number.MIN_VALUE);
  return cosines.map((cosine) => (ENCODER_WEIGHT * (cosine ?? middle)) / most);
}

/** The order that learned weights give; `featuresOf` makes the rows. With `explained`, each place says what it came from. */
export function createLearned(
  model: RankingModel,
  featuresOf: (candidates: readonly Candidate[]) => Float32Array,
  explained: boolean,
  encoded?: (tool: Tool) => number | undefined,
): Learned {
  return {
    rate(candidates) {
      const rows = featuresOf(candidates);
      const scores = model.score(rows);
      const full = candidates.reduce((most, { words, usage }) => Math.max(most, words + usage), Number.MIN_VALUE);
      const usages = Float64Array.from(candidates, ({ usage }) => (USAGE_WEIGHT * usage) / full);
      const nearness = encoded ? encodedNearness(candidates, encoded) : undefined;
      const sums = scores.map((score, i) => score + usages[i]! + (nearness?.[i] ?? 0));
      const best = sums.reduce((a, b) => Math.max(a, b), -Infinity);
      return {
        totals: sums.map((sum) => Math.exp((sum - best) / FALL)),
        partsOf: (place) =>
          explained ? partsOf(place, rows, model, scores[place]!, usages[place]!, nearness?.[place] ?? 0) : [],
      };
    },
  };
}

/** What the score of one candidate would lose without each signal. */
function partsOf(
  place: number,
  rows: Float32Array,
  model: RankingModel,
  score: number,
  usage: number,
  nearness: number,
): Array<{ name: string; share: number }> {
  const width = FEATURES.length;
  const signals = [...new Set(FEATURES.map(({ signal }) => signal))];
  const without = new Float32Array(signals.length * width);
  for (const [i, signal] of signals.entries()) {
    const row = rows.slice(place * width, (place + 1) * width);
    for (const [at, feature] of FEATURES.entries()) if (feature.signal === signal) row[at] = 0;
    without.set(row, i * width);
  }
  const left = model.score(without);
  const parts = signals.map((name, i) => ({ name, share: Math.max(0, score - left[i]!) }));
  const more = [
    { name: 'usage', share: usage },
    { name: 'encoder', share: Math.max(0, nearness) },
  ];
  return [...parts, ...more.filter(({ share }) => share > 0)];
}
