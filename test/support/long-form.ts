import { TestRunner } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** How often the test tried what its title says; once unless it says so. */
    trials?: number;
  }
}

const IS_LONG = process.env['TOOLSCOUT_TEST_LONG'] === '1';

/** Notes how often the running test tries what its title says, for the table of `npm run test:attacks` and its siblings. */
export function countTrials(trials: number): number {
  const test = TestRunner.getCurrentTest();
  if (test) test.meta.trials = (test.meta.trials ?? 0) + trials;
  return trials;
}

/** The first in `npm test`, the second with TOOLSCOUT_TEST_LONG=1. */
export function formOf(short: number, long: number): number {
  return IS_LONG ? long : short;
}

/** How often a test repeats: `short` times in `npm test`, `long` times with TOOLSCOUT_TEST_LONG=1. */
export function repetitions(short: number, long: number): number {
  return countTrials(formOf(short, long));
}
