import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { rolldown } from 'rolldown';
import { afterAll } from 'vitest';
import { systemClock } from '../../src/kernel/clock.js';
import { createWorkers, openOptions, type Workers } from '../../src/scripts/workers.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Workers for the tests of one file, from a bundle that is made once: tests that end many workers would otherwise spend their time on
 * compiling the source for each.
 */
export async function testWorkers(): Promise<Workers> {
  // Packages are found from where the bundle lies.
  const folder = join(ROOT, 'node_modules', '.cache', 'toolscout', `worker-${process.pid}-${performance.now()}`);
  await mkdir(folder, { recursive: true });
  const bundle = await rolldown({
    input: join(ROOT, 'src/scripts/worker.ts'),
    platform: 'node',
    external: ['quickjs-wasi', /^node:/],
  });
  const file = join(folder, 'worker.mjs');
  await bundle.write({ file, format: 'esm' });
  await bundle.close();
  const workers = createWorkers({ clock: systemClock, open: () => new Worker(file, openOptions) });
  afterAll(async () => {
    await workers.close();
    await rm(folder, { recursive: true, force: true });
  });
  return workers;
}
