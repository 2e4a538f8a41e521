import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { sleep, type Clock } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';

/** How long another process may take before the wait is given up. */
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 20;

const codeOf = (thrown: unknown): string | undefined => (thrown as NodeJS.ErrnoException).code;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return codeOf(thrown) === 'EPERM';
  }
}

/** Removes the lock of a process that died; one that a living process took meanwhile is put back. */
async function removeStale(path: string): Promise<void> {
  const aside = `${path}-${newId()}`;
  try {
    const holder = await readFile(path, 'utf8');
    if (holder === '' || isRunning(Number(holder))) return;
    await rename(path, aside);
    if ((await readFile(aside, 'utf8')) === holder) await rm(aside, { force: true });
    else await rename(aside, path);
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT') throw thrown;
  }
}

/**
 * Runs a task while no other process does one under the same lock file. A process that was killed
 * holds nothing: its lock names it, and whoever comes next sees that it is gone.
 */
export async function withFolderLock<T>(path: string, clock: Clock, task: () => Promise<T>): Promise<T> {
  const until = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      break;
    } catch (thrown) {
      if (codeOf(thrown) !== 'EEXIST') throw thrown;
    }
    if (clock.monotonic() > until) {
      throw new ToolscoutError('STORE_ERROR', `${path} is held by another process; try again.`, {
        suggestion: 'Try again; if no other toolscout is running, remove the file.',
      });
    }
    await removeStale(path);
    await sleep(clock, LOOK_AGAIN_MS);
  }
  try {
    return await task();
  } finally {
    await rm(path, { force: true });
  }
}
