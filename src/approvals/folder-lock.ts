import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
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
    // Gone when the previous holder removed it meanwhile.
    if (codeOf(thrown) === 'EEXIST' || codeOf(thrown) === 'ENOENT') return false;
    throw thrown;
  } finally {
    await rm(own, { force: true });
  }
}

/** Removes the lock of a process that died; whether it did. One that a living process took meanwhile is put back. */
async function removeStale(path: string): Promise<boolean> {
  const aside = `${path}-${newId()}`;
  try {
    const holder = await readFile(path, 'utf8');
    if (isRunning(Number(holder))) return false;
    await rename(path, aside);
    if ((await readFile(aside, 'utf8')) === holder) await rm(aside, { force: true });
    else await rename(aside, path);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return true;
    throw thrown;
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
