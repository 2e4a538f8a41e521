import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, open, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../kernel/clock.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import type { Log } from '../kernel/log.js';
import { withFolderLock } from './folder-lock.js';

/** Moves exported files of a server from `pending/` to `approved/`, earlier versions to `archived/` (SEC-9). */
export interface Promotion {
  /**
   * Promotes what is exported of a server, or of some of its tools; answers the folder in force, or
   * `undefined` when nothing was exported. Whenever the process dies, `approved/<server>` is wholly the
   * old version or wholly the new one.
   */
  promote(server: string, tools?: readonly string[]): Promise<string | undefined>;
  /** Whether something of a server is exported and not promoted. */
  isPending(server: string): Promise<boolean>;
}

/** How exported files are laid out. */
export interface PromotionOptions {
  /** The folder that is exported to; `approved` and `archived` stand beside it. */
  readonly pending: () => string;
  /** The name of a server's folder; `undefined` when it has none. */
  readonly folderOf: (server: string) => string | undefined;
  /** The name of a tool's file in it. */
  readonly fileOf: (server: string, tool: string) => string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Where the files of one server are. */
interface Places {
  readonly folder: string;
  readonly pending: string;
  readonly approved: string;
  readonly archived: string;
  readonly versions: string;
}

/** Versions stand here, beside the links that name the ones in force. */
const VERSIONS = '.versions';

/** Like the files that are exported: for the user alone. */
const PRIVATE = 0o700;

/** A name that cannot leave its folder. */
function isPlainName(name: string | undefined): name is string {
  return name !== undefined && name !== '' && !name.startsWith('.') && !/[/\\\0]/.test(name);
}

const codeOf = (thrown: unknown): string => (thrown as NodeJS.ErrnoException).code ?? '';

/** The plain files of a folder, sorted; none when there is no such folder. Links are not followed. */
async function filesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && isPlainName(entry.name));
    return files.map(({ name }) => name).toSorted();
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

/** Makes what was written to a file or folder survive the loss of power. */
async function sync(path: string): Promise<void> {
  // Windows cannot open a folder at all; a rename there is as durable as it gets.
  const handle = await open(path, constants.O_RDONLY).catch((thrown: unknown) => {
    if (['EISDIR', 'EPERM', 'EACCES'].includes(codeOf(thrown))) return undefined;
    throw thrown;
  });
  try {
    await handle?.sync();
  } catch (thrown) {
    if (!['EINVAL', 'EPERM', 'EISDIR'].includes(codeOf(thrown))) throw thrown;
  } finally {
    await handle?.close();
  }
}

/** A name for files that depends on nothing but their names and bytes. */
async function digestOf(folder: string, names: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const name of names) {
    const bytes = await readFile(join(folder, name));
    hash.update(`${Buffer.byteLength(name)}:${name}${bytes.length}:`).update(bytes);
  }
  return hash.digest('hex').slice(0, 32);
}

/** The version in force, or `undefined` when there is none. */
async function currentVersion({ approved, folder }: Places): Promise<string | undefined> {
  const link = join(approved, folder);
  try {
    if ((await lstat(link)).isSymbolicLink()) return join(approved, await readlink(link));
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
  throw new ToolscoutError('INVALID_REQUEST', `${link} was not made by toolscout; move it away and approve again.`);
}

/** Writes a version under a name of its own, complete before it has that name; answers the name. */
async function stage({ versions }: Places, files: ReadonlyMap<string, string>): Promise<string> {
  const draft = join(versions, `.draft-${newId()}`);
  await mkdir(draft, { mode: PRIVATE });
  for (const [name, path] of files) {
    await copyFile(path, join(draft, name), constants.COPYFILE_EXCL);
    await sync(join(draft, name));
  }
  await sync(draft);
  const digest = await digestOf(draft, [...files.keys()].toSorted());
  try {
    await rename(draft, join(versions, digest));
  } catch (thrown) {
    // The same files were staged before, perhaps by a process that died right after.
    if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(codeOf(thrown))) throw thrown;
    await rm(draft, { recursive: true, force: true });
  }
  await sync(versions);
  return digest;
}

/** Puts a version in force by one rename, so that there is no moment without one. */
async function point({ approved, folder }: Places, version: string): Promise<void> {
  const fresh = join(approved, `.link-${newId()}`);
  const isWindows = process.platform === 'win32';
  await symlink(join(VERSIONS, folder, version), fresh, isWindows ? 'junction' : 'dir');
  // A link to a folder cannot be renamed over another one there.
  if (isWindows) await rm(join(approved, folder), { recursive: true, force: true });
  await rename(fresh, join(approved, folder));
  await sync(approved);
}

/** Moves versions that are not in force to `archived/`, and removes what a killed process left behind. */
async function tidy({ approved, archived, versions, folder }: Places, version: string): Promise<void> {
  for (const name of await readdir(versions)) {
    if (name === version) continue;
    if (name.startsWith('.')) {
      await rm(join(versions, name), { recursive: true, force: true });
      continue;
    }
    await mkdir(join(archived, folder), { recursive: true, mode: PRIVATE });
    await rm(join(archived, folder, name), { recursive: true, force: true });
    await rename(join(versions, name), join(archived, folder, name));
  }
  for (const name of await readdir(approved)) {
    if (name.startsWith('.link-') || name.startsWith('.lock-')) await rm(join(approved, name), { force: true });
  }
}

/** Takes promoted files out of `pending/`; one that was exported anew meanwhile stays. */
async function clear({ pending, versions }: Places, names: readonly string[], version: string): Promise<void> {
  for (const name of names) {
    const [here, there] = await Promise.all([digestOf(pending, [name]), digestOf(join(versions, version), [name])]);
    if (here === there) await rm(join(pending, name), { force: true });
  }
  if ((await readdir(pending)).length === 0) await rm(pending, { recursive: true, force: true });
}

/** A promotion over a folder of exported files. Versions never change; one link names the one in force. */
export function createPromotion({ pending, folderOf, fileOf, clock, log }: PromotionOptions): Promotion {
  const promoteOnce = async (places: Places, wanted: ReadonlySet<string> | undefined): Promise<string | undefined> => {
    const exported = await filesIn(places.pending);
    const chosen = exported.filter((name) => wanted === undefined || wanted.has(name));
    if (chosen.length === 0) return undefined;
    const old = await currentVersion(places);
    await mkdir(places.versions, { recursive: true, mode: PRIVATE });
    // Single tools join the version in force; a whole server replaces it.
    const kept = wanted && old ? await filesIn(old) : [];
    const files = new Map([
      ...kept.map((name) => [name, join(old!, name)] as const),
      ...chosen.map((name) => [name, join(places.pending, name)] as const),
    ]);
    const version = await stage(places, files);
    await point(places, version);
    try {
      await tidy(places, version);
      await clear(places, chosen, version);
    } catch (thrown) {
      // The new version is in force; what is left over is taken along by the next promotion.
      log.warn('promotion.untidy', { folder: places.folder, reason: messageOf(thrown) });
    }
    return join(places.approved, places.folder);
  };

  return {
    async isPending(server) {
      const folder = folderOf(server);
      return isPlainName(folder) && (await filesIn(join(pending(), folder))).length > 0;
    },
    async promote(server, tools) {
      const folder = folderOf(server);
      if (!isPlainName(folder)) return undefined;
      const root = dirname(pending());
      const approved = join(root, 'approved');
      const places: Places = {
        folder,
        pending: join(pending(), folder),
        approved,
        archived: join(root, 'archived'),
        versions: join(approved, VERSIONS, folder),
      };
      const wanted = tools && new Set(tools.map((tool) => fileOf(server, tool)).filter(isPlainName));
      if ((await filesIn(places.pending)).length === 0) return undefined;
      await mkdir(approved, { recursive: true, mode: PRIVATE });
      return withFolderLock(join(approved, '.lock'), clock, () => promoteOnce(places, wanted));
    },
  };
}
