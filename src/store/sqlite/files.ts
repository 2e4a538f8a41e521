import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';

/** The files of one store. */
export interface StoreFiles {
  readonly directory: string;
  readonly database: string;
  /** Held while the database is opened or set aside. Its lock goes with the process, so it is never stale. */
  readonly lock: string;
  /** Exists after a query found damage: the next opening checks the whole file. */
  readonly suspect: string;
  /** What says which database was here; its name does not begin like the others, which people delete together. */
  readonly mark: string;
}

/** What SQLite keeps beside a database. */
const COMPANIONS = ['-wal', '-shm'] as const;

/** The files of a store in a directory. */
export function storeFiles(directory: string): StoreFiles {
  // `lstat` follows a link that is written with a slash at its end; a resolved path has none.
  const root = resolve(directory);
  const database = join(root, 'toolscout.db');
  const mark = join(root, 'store-mark.json');
  return { directory: root, database, lock: `${database}.lock`, suspect: `${database}.suspect`, mark };
}

/** Makes the directory private (0700), or refuses it. */
export function preparePrivateDirectory({ directory, database }: StoreFiles, log: Log): void {
  if (!lstatSync(directory, { throwIfNoEntry: false })) makeDirectory(directory);
  const stat = lstatSync(directory);
  if (stat.isSymbolicLink()) throw refusal(directory, 'it is a symbolic link');
  if (!stat.isDirectory()) throw refusal(directory, 'it is not a directory');
  if (process.platform === 'win32' || (stat.mode & 0o077) === 0) return;
  const names = readdirSync(directory);
  // A directory that holds things of others (`--state-dir /tmp`) must not be closed to them.
  if (names.length === 0 || names.includes(database.slice(directory.length + 1))) return chmodSync(directory, 0o700);
  if (stat.mode & 0o022) throw refusal(directory, 'other users may write to it and it holds other files');
  log.warn('store.directory-readable', { directory, mode: (stat.mode & 0o777).toString(8) });
}

/** One by one: asked to make all of them, Node.js never comes back from places like `/proc`. */
function makeDirectory(path: string): void {
  const parent = dirname(path);
  if (parent !== path && !statSync(parent, { throwIfNoEntry: false })) makeDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (thrown) {
    // Another process was faster.
    if (!isExisting(thrown)) throw thrown;
  }
}

/** Makes sure that a file exists, is a regular file and private (0600). Answers whether it was created. */
export function preparePrivateFile(path: string): boolean {
  if (!lstatSync(path, { throwIfNoEntry: false }) && createPrivate(path)) return true;
  // Never opened here: closing any descriptor of a database drops the locks this process has on it.
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) throw refusal(path, 'it is a symbolic link');
  if (!stat.isFile()) throw refusal(path, 'it is not a regular file');
  if (process.platform !== 'win32' && stat.mode & 0o077) chmodSync(path, 0o600);
  return false;
}

/** The database, created when it is missing, with its companions checked the same way. */
export function prepareDatabaseFile({ database }: StoreFiles): void {
  const created = preparePrivateFile(database);
  for (const companion of COMPANIONS.map((suffix) => database + suffix)) {
    // Left over from a file that is gone: a process may still be using them for that one, so that
    // sharing them would mix two databases.
    if (created) rmSync(companion, { force: true });
    else if (lstatSync(companion, { throwIfNoEntry: false })) preparePrivateFile(companion);
  }
}

/** Remembers that a query found damage. */
export function markSuspect({ suspect }: StoreFiles): void {
  createPrivate(suspect);
}

/** Moves a damaged database and its companions out of the way; answers the new name. */
export function setAside({ database }: StoreFiles, now: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, '-');
  let target = `${database}.damaged-${stamp}`;
  for (let n = 2; lstatSync(target, { throwIfNoEntry: false }); n++) target = `${database}.damaged-${stamp}-${n}`;
  renameSync(database, target);
  for (const suffix of COMPANIONS) {
    if (lstatSync(database + suffix, { throwIfNoEntry: false })) renameSync(database + suffix, target + suffix);
  }
  return target;
}

/** Which file stands at a path now; differs after it was set aside or deleted. */
export function identityOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ino;
}

function createPrivate(path: string): boolean {
  const { O_CREAT, O_EXCL, O_RDWR } = constants;
  try {
    // O_NOFOLLOW does not exist on Windows.
    closeSync(openSync(path, O_CREAT | O_EXCL | O_RDWR | (constants.O_NOFOLLOW ?? 0), 0o600));
    return true;
  } catch (thrown) {
    if (isExisting(thrown)) return false;
    throw thrown;
  }
}

function isExisting(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST';
}

function refusal(path: string, reason: string): ToolscoutError {
  return new ToolscoutError('STORE_ERROR', `toolscout does not open ${path}: ${reason}.`, {
    suggestion: 'Remove it, or choose another directory with --state-dir.',
  });
}
