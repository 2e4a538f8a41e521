const IS_LONG = process.env['TOOLSCOUT_TEST_LONG'] === '1';

/** How often a test repeats: `short` times in `npm test`, `long` times in `npm run test:long` (TOOLSCOUT_TEST_LONG=1). */
export function repetitions(short: number, long: number): number {
  return IS_LONG ? long : short;
}
