import { createModel } from '../../src/search/rank/rank.js';
import { FAMILIES, type Example, type ExampleSet } from './examples.js';
import { learn, type Settings, type Weights } from './learn.js';

/** nDCG@10 of one left-out set: of all its queries, and of the two halves of its servers. */
export interface LeftOut {
  readonly set: string;
  readonly before: number;
  readonly all: number;
  readonly halves: readonly [number, number];
  readonly each: readonly number[];
}

/**
 * Learns from all sets but those of one author and judges by these, author by author. Queries that want a tool which the
 * left-out sets hold too are not learned from either.
 */
export function leaveOneOut(sets: readonly ExampleSet[], settings: Settings): LeftOut[] {
  const results: LeftOut[] = [];
  for (const family of new Set(sets.map(({ name }) => FAMILIES[name]!))) {
    const left = sets.filter(({ name }) => FAMILIES[name] === family);
    const model = createModel(learn(lessonsWithout(sets, left), settings));
    for (const { name, examples, searchWith } of left) results.push(judgeSet(name, examples, searchWith(model)));
  }
  return results;
}

/** Sums up the figures of one set. */
function judgeSet(name: string, examples: readonly Example[], each: readonly number[]): LeftOut {
  const half = (wanted: 0 | 1): number => mean(each.filter((_, i) => examples[i]!.half === wanted));
  return {
    set: name,
    before: mean(examples.map((one) => one.before)),
    all: mean(each),
    halves: [half(0), half(1)],
    each,
  };
}

function lessonsWithout(sets: readonly ExampleSet[], left: readonly ExampleSet[]): Example[] {
  const texts = new Set(left.flatMap((set) => [...set.texts]));
  return sets
    .filter((set) => !left.includes(set))
    .flatMap(({ examples }) => examples.filter(({ wanted }) => !wanted.some((text) => texts.has(text))));
}

/** Learns from every set: what ships. */
export function learnFromAll(sets: readonly ExampleSet[], settings: Settings): Weights {
  return learn(
    sets.flatMap(({ examples }) => examples),
    settings,
  );
}

/** The mean of some numbers. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
