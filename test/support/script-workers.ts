import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterAll } from 'vitest';
import { systemClock } from '../../src/kernel/clock.js';
import { createWorkers, openOptions, type Workers } from '../../src/scripts/workers.js';
import { bundled } from './bundled.js';

/** Workers for the tests of one file, from a bundle that is made once: many of these tests end workers. */
export async function testWorkers(): Promise<Workers> {
  const file = await bundled(fileURLToPath(new URL('../../src/scripts/worker.ts', import.meta.url)));
  const workers = createWorkers({ clock: systemClock, open: () => new Worker(file, openOptions) });
  afterAll(() => workers.close());
  return workers;
}
