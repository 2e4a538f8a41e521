import { link, readFile, rm, writeFile } from 'node:fs/promises';
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

/**
 * Takes a free lock. The file appears with the holder's name already in it, so a crash in between leaves no nameless
 * lock.
 */
async function take(path: string): Promise<boolean> {
  const own = `${path}-${newId()}`;
  try {
    await writeFile(own, String(process.pid), { flag: 'wx' });
    await link(own, path);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false;
    throw thrown;
  } finally {
    await rm(own, { force: true });
  }
}

/** Who holds a lock. */
async function holderOf(path: string): Promise<'none' | 'dead' | 'living'> {
  try {
    return isRunning(Number(await readFile(path, 'utf8'))) ? 'living' : 'dead';
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return 'none';
    throw thrown;
  }
}

/**
 * Removes the lock of a process that died; whether it can be taken again. One process at a time does so, and looks once more: one that
 * looked earlier would remove the lock that another has taken since, and both would hold it.
 */
async function removeStale(path: string): Promise<boolean> {
  const holder = await holderOf(path);
  if (holder !== 'dead') return holder === 'none';
  const broom = `${path}-stale`;
  if (!(await take(broom))) {
    if ((await holderOf(broom)) === 'dead') await rm(broom, { force: true });
    return false;
  }
  try {
    if ((await holderOf(path)) === 'dead') await rm(path);
    return true;
  } finally {
    await rm(broom, { force: true });
  }
}

/**
 * Runs a task while no other process does one under the same lock file. A killed process holds no lock: the file names
 * its holder, and the next process sees that the holder is gone.
 */
export async function withFolderLock<T>(path: string, clock: Clock, task: () => Promise<T>): Promise<T> {
  const until = clock.monotonic() + PATIENCE_MS;
  while (!(await take(path))) {
    if (clock.monotonic() > until) {
      throw new ToolscoutError('STORE_ERROR', `Another toolscout is changing the exported files (lock file ${path}).`, {
        suggestion: 'Try again; if no other toolscout is running, remove the lock file.',
      });
    }
    if (!(await removeStale(path))) await sleep(clock, LOOK_AGAIN_MS);
  }
  try {
    return await task();
  } finally {
    await rm(path, { force: true });
  }
}
