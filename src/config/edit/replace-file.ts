import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';

/** Bytes of a file that is edited; more is nothing a person wrote. */
const MAX_BYTES = 32 * 1024 * 1024;

/** A file that is about to be replaced. */
export interface OpenedFile {
  /** The file itself: a link, as many keep their settings behind, stays a link. */
  readonly path: string;
  /** What it holds; `undefined` when it does not exist. */
  readonly text?: string;
}

function refusal(path: string, reason: string, cause?: unknown): ToolscoutError {
  return new ToolscoutError('CONFIGURATION_ERROR', `${path} ${reason}`, {
    suggestion: 'Nothing was changed. Check the file and its permissions, then try again.',
    cause,
  });
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw thrown;
  }
}

/** Opens a file for a change. */
export async function openFile(path: string): Promise<OpenedFile> {
  try {
    if (!(await exists(path))) return { path };
    const real = await realpath(path);
    const info = await stat(real);
    if (!info.isFile()) throw refusal(path, 'is not a regular file.');
    if (info.size > MAX_BYTES) throw refusal(path, `is larger than ${MAX_BYTES} bytes.`);
    return { path: real, text: await readFile(real, 'utf8') };
  } catch (thrown) {
    if (thrown instanceof ToolscoutError) throw thrown;
    throw refusal(path, `cannot be opened: ${messageOf(thrown)}`, thrown);
  }
}

/** Copies what is there to the first free name beside it; never over anything. */
async function backUp(path: string): Promise<string> {
  for (let n = 1; ; n++) {
    const copy = `${path}.toolscout-backup-${n}`;
    try {
      await copyFile(path, copy, constants.COPYFILE_EXCL);
      return copy;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST' || n >= 1000) throw thrown;
    }
  }
}

/** Puts a text in the place of a file, all or nothing. A file that changed since it was opened is left alone. */
export async function replaceFile(opened: OpenedFile, text: string): Promise<void> {
  await replace(opened, text, false);
}

/** The same, and what was there is kept in a file beside it. Answers the name of that copy; `onBackup` runs before the file changes. */
export function replaceWithBackup(
  opened: OpenedFile,
  text: string,
  onBackup?: (copy: string) => Promise<void>,
): Promise<string | undefined> {
  return replace(opened, text, true, onBackup);
}

async function replace(
  opened: OpenedFile,
  text: string,
  keepsOld: boolean,
  onBackup?: (copy: string) => Promise<void>,
): Promise<string | undefined> {
  const { path } = opened;
  const temporary = join(dirname(path), `.${basename(path)}.toolscout-${newId()}`);
  try {
    await mkdir(dirname(path), { recursive: true });
    const now = await openFile(path);
    if (now.text !== opened.text) throw refusal(path, 'was changed by another program at the same time.');
    // These files may hold credentials: a new one is for its owner only.
    const mode = opened.text === undefined ? 0o600 : (await stat(path)).mode & 0o777;
    const backup = keepsOld && opened.text !== undefined ? await backUp(path) : undefined;
    if (backup !== undefined) await onBackup?.(backup);
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.chmod(mode);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    return backup;
  } catch (thrown) {
    await rm(temporary, { force: true });
    if (thrown instanceof ToolscoutError) throw thrown;
    throw refusal(path, `cannot be written: ${messageOf(thrown)}`, thrown);
  }
}
