import { closeSync, constants, linkSync, lstatSync, readFileSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.js';
import { isOver } from '../../kernel/expiry.js';
import { openPrivate } from './place.js';

/** A start takes seconds; a lock that is older than this was left behind. */
const STALE_MS = 60_000;

/** The holder of a lock writes its name into it at once; an older one without a name belongs to a process that died in between. */
const UNNAMED_MS = 2000;

/** Whether a process exists, under any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The process that holds a lock; `undefined` when the lock is free or its holder is not known yet. */
export function holderOf(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    // It was released in this moment.
    return undefined;
  }
}

/** A lock that was left behind, by its holder; `undefined` when it is free or held. */
function findStale(file: string, clock: Pick<Clock, 'now'>): { readonly holder: number | undefined } | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found) return undefined;
  const holder = holderOf(file);
  if (holder !== undefined && !isAlive(holder)) return { holder };
  const lifeMs = holder === undefined ? UNNAMED_MS : STALE_MS;
  return isOver(found.mtimeMs + lifeMs, lifeMs, clock.now()) ? { holder } : undefined;
}

/** Removes a file that may be gone already; `rmSync` can do more and costs a forwarder memory. */
function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
  }
}

/** Moves a stale lock out of the way; a lock that another process has taken since it was found stale is put back. */
function clear(file: string, holder: number | undefined): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (holderOf(aside) !== holder) linkSync(aside, file);
  } catch {
    // Another process was faster: the next attempt shows who has it.
  }
  remove(aside);
}

/** Takes the lock; answers how to release it, or `undefined` while another process holds it. */
export function tryLock(file: string, clock: Pick<Clock, 'now'>): (() => void) | undefined {
  const stale = findStale(file, clock);
  if (stale) clear(file, stale.holder);
  let handle: number;
  try {
    handle = openPrivate(file, constants.O_CREAT | constants.O_EXCL);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw thrown;
  }
  writeSync(handle, String(process.pid));
  closeSync(handle);
  return () => {
    if (holderOf(file) === process.pid) remove(file);
  };
}
