/** Handed to the workers by `vitest.config.ts`, which measures it once. Variables that begin with TOOLSCOUT are settings of what is tested. */
const VARIABLE = 'SLOWNESS_OF_TESTS';
/** CPU that is spent to measure. */
const SAMPLE_MS = 100;
/** A test that never ends must still be reported within the hour. */
const MAX_SLOWNESS = 12;

/**
 * How many times longer work takes because other programs have the processors: 1 on a machine that does nothing else, about 10 for
 * `nice npm test` beside a busy loop on each processor.
 */
export function measureSlowness(): number {
  const cpu = process.cpuUsage();
  const began = performance.now();
  for (let spent = 0; spent < SAMPLE_MS;) {
    const { user, system } = process.cpuUsage(cpu);
    spent = (user + system) / 1000;
  }
  return Math.min(Math.max((performance.now() - began) / SAMPLE_MS, 1), MAX_SLOWNESS);
}

/** Measures once, for this process and those that it starts. */
export function shareSlowness(): void {
  process.env[VARIABLE] ??= String(measureSlowness());
}

/** A limit of time for a test, on this machine, now. */
export function patient(ms: number): number {
  return Math.round(ms * Number(process.env[VARIABLE] ?? 1));
}

/** For tests that start processes or listen on ports: on a busy machine every start takes seconds. */
export const STARTS_PROCESSES = { timeout: patient(240_000) };

/** For tests that compute for a good part of a second where nothing else runs: on a busy machine that takes ten times as long. */
export const COMPUTES_LONG = { timeout: patient(240_000) };
