/** What resampling says about the difference of two rankings on the same queries. */
export interface Comparison {
  /** The mean difference. */
  readonly mean: number;
  /** Between these lie 95 of 100 resampled means. */
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 2000;

/** Paired bootstrap: queries are drawn again and again with replacement, each with both of its values. */
export function comparePaired(ours: readonly number[], theirs: readonly number[]): Comparison {
  const differences = ours.map((value, query) => value - (theirs[query] ?? 0));
  const random = createRandom(7);
  const means = Array.from({ length: RESAMPLES }, () => {
    let total = 0;
    for (let i = 0; i < differences.length; i += 1)
      total += differences[Math.floor(random() * differences.length)] ?? 0;
    return total / differences.length;
  }).toSorted((a, b) => a - b);
  return {
    mean: differences.reduce((total, value) => total + value, 0) / differences.length,
    low: means[Math.floor(RESAMPLES * 0.025)] ?? 0,
    high: means[Math.floor(RESAMPLES * 0.975)] ?? 0,
  };
}

/** Numbers in [0,1) that are the same in every run (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
