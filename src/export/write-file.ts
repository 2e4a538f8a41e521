import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, realpath, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { LIMITS } from '../kernel/limits.js';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

const LEADS_OUT = 'it leads out of the place to export to';

/** Windows does not have this flag. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

function refuse(path: string, reason: string): ToolscoutError {
  return new ToolscoutError('INVALID_REQUEST', `Nothing was written to ${path}: ${reason}.`, {
    suggestion: 'Choose another path with --out, or move the existing file away.',
  });
}

function isMissing(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === 'ENOENT';
}

/** The most frequent system errors for a path of the user, in words. */
const REASONS: ReadonlyMap<string | undefined, string> = new Map([
  ['EEXIST', 'it is not a directory'],
  ['ENOTDIR', 'a component of the path is not a directory'],
  ['EACCES', 'this user may not write there'],
  ['EPERM', 'this user may not write there'],
  ['EROFS', 'nothing can be written there'],
  ['ENOSPC', 'the disk is full'],
]);

/** Runs a task on a path of the user; a system error becomes a refusal, not an internal error. */
async function at<Result>(path: string, task: () => Promise<Result>): Promise<Result> {
  try {
    return await task();
  } catch (thrown) {
    if (!(thrown instanceof Error) || !('syscall' in thrown)) throw thrown;
    throw refuse(path, REASONS.get((thrown as NodeJS.ErrnoException).code) ?? messageOf(thrown));
  }
}

/** Makes a directory and those above it. One by one: asked to make all, Node.js never comes back from places like `/proc`. */
async function makeDirectory(path: string): Promise<void> {
  const found = await stat(path).catch((thrown: unknown) => {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  });
  if (found?.isDirectory()) return;
  if (!found && dirname(path) !== path) await makeDirectory(dirname(path));
  await mkdir(path, { mode: DIRECTORY_MODE }).catch(async (thrown: unknown) => {
    // Another process was faster, or something else is in the way.
    if (
      !(await stat(path).then(
        (made) => made.isDirectory(),
        () => false,
      ))
    )
      throw thrown;
  });
}

/** What stands at a path, links not followed; `undefined` when nothing does. */
async function look(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

/** Whether a path is inside a root; both must be real. `/out-evil` is not inside `/out`. */
function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

async function readHandle(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | NO_FOLLOW);
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** A regular file that may be replaced; `undefined` when the path is free. Refuses anything else. */
async function lookAtFile(path: string): Promise<Stats | undefined> {
  const found = await look(path);
  if (found?.isSymbolicLink()) throw refuse(path, 'it is a symbolic link');
  if (found && !found.isFile()) throw refuse(path, 'it is not a file');
  return found;
}

/** The text of a file that is about to be replaced; `undefined` when it does not exist. */
export async function readPlainFile(path: string): Promise<string | undefined> {
  return at(path, async () => {
    const found = await lookAtFile(path);
    if (found && found.size > LIMITS.listBytes) throw refuse(path, `it is larger than ${LIMITS.listBytes} bytes`);
    return found && readHandle(path);
  });
}

/** Fills a new file that must be inside `root`, and closes it whatever happens. */
async function fill(file: FileHandle, path: string, text: string, to: Destination): Promise<void> {
  try {
    // Looked at with the file open: a directory that was swapped for a link shows itself now.
    if (!isInside(to.root, await realpath(path))) throw refuse(path, LEADS_OUT);
    await file.writeFile(text);
    await file.chmod(to.mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The real directory that must not be left, and the mode of a new file. */
interface Destination {
  readonly root: string;
  readonly mode: number;
}

/**
 * Puts a text at a path: written to a new file beside it, synced, then renamed, so that a reader sees
 * the old or the new one and never a half. `root` is the real directory that must not be left.
 */
async function replaceFile(path: string, text: string, root: string, keepMode: boolean): Promise<boolean> {
  const before = await lookAtFile(path);
  // A file of another size is not read: its size is not ours to bound.
  if (before?.size === Buffer.byteLength(text) && (await readHandle(path)) === text) return false;
  const mode = keepMode && before ? before.mode & 0o777 : FILE_MODE;
  const temporary = join(dirname(path), `.${newId()}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
  const file = await open(temporary, flags, FILE_MODE);
  try {
    await fill(file, temporary, text, { root, mode });
    await rename(temporary, path);
  } catch (thrown) {
    await unlink(temporary).catch((failed: unknown) => {
      // Gone already, or renamed: nothing is left to take away.
      if (!isMissing(failed)) throw failed;
    });
    throw thrown;
  }
  return true;
}

/** A directory that files are exported to, and that no file name leads out of (A20, A21). */
export interface ExportDirectory {
  /** Where it really is. */
  readonly root: string;
  /** Writes `folder/name`; false when the same text was there already. */
  write(folder: string, name: string, text: string): Promise<boolean>;
}

/** One name, not a way to somewhere: what the file names made for servers and tools always are. */
function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name) && basename(name) === name;
}

/** Opens a directory to export to, making it where it is missing. */
export async function openExportDirectory(path: string): Promise<ExportDirectory> {
  const root = await at(path, async () => {
    await makeDirectory(resolve(path));
    return realpath(path);
  });
  return {
    root,
    async write(folder, name, text) {
      if (!isName(folder) || !isName(name)) throw refuse(join(folder, name), 'it is not the name of a file');
      const directory = join(root, folder);
      return at(directory, async () => {
        const found = await look(directory);
        if (!found) await mkdir(directory, { mode: DIRECTORY_MODE });
        else if (found.isSymbolicLink()) throw refuse(directory, 'it is a symbolic link');
        else if (!found.isDirectory()) throw refuse(directory, 'it is not a directory');
        if (!isInside(root, await realpath(directory))) throw refuse(directory, LEADS_OUT);
        return replaceFile(join(directory, name), text, root, false);
      });
    },
  };
}

/** Writes one file that a user named; false when the same text was there already. */
export async function writeExportFile(path: string, text: string): Promise<boolean> {
  const whole = resolve(path);
  return at(path, async () => {
    await makeDirectory(dirname(whole));
    const root = await realpath(dirname(whole));
    return replaceFile(join(root, basename(whole)), text, root, true);
  });
}
