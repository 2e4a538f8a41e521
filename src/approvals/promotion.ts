import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import {
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../kernel/clock.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import type { Log } from '../kernel/log.js';
import { withFolderLock } from './folder-lock.js';

/** The exported files of one server: what is approved of them, and what still waits. */
export interface ServerFiles {
  /** The approved files by name, whole; they replace the version in force. */
  readonly approved: ReadonlyMap<string, string>;
  /** Names of the files in `pending/` that wait for approval. */
  readonly pending: ReadonlySet<string>;
  /** Names that stay in force as they were approved: a tool that changed is quarantined, not withdrawn. */
  readonly kept?: ReadonlySet<string>;
}

/** What publishing changed. */
export interface Published {
  /** The folder in force; `undefined` when nothing of the server is approved. */
  readonly folder?: string;
  readonly written: number;
  readonly unchanged: number;
}

/** Moves exported files of a server from `pending/` to `approved/`, earlier versions to `archived/` (SEC-9). */
export interface Promotion {
  /**
   * Promotes what is exported of a server as it lies in `pending/`; answers the folder in force, or `undefined` when
   * nothing was exported. Whenever the process dies, `approved/<server>` is wholly the old version or wholly the new one.
   */
  promote(server: string): Promise<string | undefined>;
  /** Puts exactly the approved files of a server in force and takes them out of `pending/`; as safe as {@link promote}. */
  publish(server: string, files: ServerFiles, pending?: string): Promise<Published>;
  /** Takes everything of a server out of `pending/` and `approved/`; what was approved is archived. */
  withdraw(server: string): Promise<void>;
  /** Whether files of a server lie in `pending/`. */
  isPending(server: string): Promise<boolean>;
  /** Whether files of a server lie in `pending/` or `approved/`. */
  isExported(server: string): Promise<boolean>;
}

/** How exported files are laid out. */
export interface PromotionOptions {
  /** The folder that is exported to; `approved` and `archived` stand beside it. */
  readonly pending: () => string;
  /** The name of a server's folder; `undefined` when it has none. */
  readonly folderOf: (server: string) => string | undefined;
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
const PRIVATE_FILE = 0o600;

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
  throw new ToolscoutError('INVALID_REQUEST', `${link} exists and was not created by toolscout.`, {
    suggestion: 'Move it away and approve again.',
  });
}

/** A file of a version: one that is copied, or its text. */
type Content = { readonly path: string } | { readonly text: string };

/** Writes a version under a name of its own, complete before it has that name; answers the name. */
async function stage({ versions }: Places, files: ReadonlyMap<string, Content>): Promise<string> {
  const draft = join(versions, `.draft-${newId()}`);
  await mkdir(draft, { mode: PRIVATE });
  for (const [name, content] of files) {
    const target = join(draft, name);
    if ('path' in content) await copyFile(content.path, target, constants.COPYFILE_EXCL);
    else await writeFile(target, content.text, { flag: 'wx', mode: PRIVATE_FILE });
    await sync(target);
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
async function tidy({ approved, archived, versions, folder }: Places, version: string | undefined): Promise<void> {
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

/** Removes promoted files from `pending/`; one that was exported again meanwhile stays. */
async function clear({ pending, versions }: Places, names: readonly string[], version: string): Promise<void> {
  for (const name of names) {
    const [here, there] = await Promise.all([digestOf(pending, [name]), digestOf(join(versions, version), [name])]);
    if (here === there) await rm(join(pending, name), { force: true });
  }
  if ((await readdir(pending)).length === 0) await rm(pending, { recursive: true, force: true });
}

/** Makes one folder; a link in its place is refused, because it leads elsewhere (A21). */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: PRIVATE });
  if (!(await lstat(path)).isSymbolicLink()) return;
  throw new ToolscoutError('INVALID_REQUEST', `Nothing was written to ${path}: it is a symbolic link.`, {
    suggestion: 'Remove the link, or set another exportDirectory.',
  });
}

/** A promotion over a folder of exported files. Versions never change; one link names the one in force. */
export function createPromotion({ pending: configured, folderOf, clock, log }: PromotionOptions): Promotion {
  const placesOf = (server: string, pending: string): Places | undefined => {
    const folder = folderOf(server);
    if (!isPlainName(folder)) return undefined;
    const root = dirname(pending);
    const approved = join(root, 'approved');
    return {
      folder,
      pending: join(pending, folder),
      approved,
      archived: join(root, 'archived'),
      versions: join(approved, VERSIONS, folder),
    };
  };

  const locked = async <T>(places: Places, task: () => Promise<T>): Promise<T> => {
    await makeFolder(places.approved);
    return withFolderLock(join(places.approved, '.lock'), clock, async () => {
      await makeFolder(join(places.approved, VERSIONS));
      await makeFolder(places.versions);
      return task();
    });
  };

  /** What follows once a version is in force; a failure is logged, the next promotion takes care of what is left over. */
  const cleanUp = async (places: Places, task: () => Promise<void>): Promise<void> => {
    try {
      await task();
    } catch (thrown) {
      log.warn('promotion.untidy', { folder: places.folder, reason: messageOf(thrown) });
    }
  };

  const promoteOnce = async (places: Places): Promise<string | undefined> => {
    const exported = await filesIn(places.pending);
    if (exported.length === 0) return undefined;
    await currentVersion(places);
    const files = exported.map((name) => [name, { path: join(places.pending, name) }] as const);
    const version = await stage(places, new Map(files));
    await point(places, version);
    await cleanUp(places, async () => {
      await tidy(places, version);
      await clear(places, exported, version);
    });
    return join(places.approved, places.folder);
  };

  /** Removes the link; from then on nothing of the server is in force. */
  const unpoint = async ({ approved, folder }: Places): Promise<void> => {
    await rm(join(approved, folder), { force: true });
    await sync(approved);
  };

  /** Takes out of `pending/` what is approved by now, and the description of the server when nothing of it waits. */
  const clearPending = async (places: Places, { approved, pending }: ServerFiles): Promise<void> => {
    const left = await filesIn(places.pending);
    const isOver = (name: string): boolean => approved.has(name) && !pending.has(name);
    for (const name of left.filter(isOver)) await rm(join(places.pending, name), { force: true });
    const folder = await readdir(places.pending).catch((thrown: unknown) => {
      if (codeOf(thrown) === 'ENOENT') return undefined;
      throw thrown;
    });
    if (folder?.length === 0) await rm(places.pending, { recursive: true, force: true });
  };

  const publishOnce = async (places: Places, files: ServerFiles): Promise<Published> => {
    const old = await currentVersion(places);
    const before = old === undefined ? [] : await filesIn(old);
    const whole = new Map<string, Content>();
    for (const [name, text] of files.approved) if (isPlainName(name)) whole.set(name, { text });
    for (const name of before) {
      if (files.kept?.has(name) && !whole.has(name)) whole.set(name, { path: join(old!, name) });
    }
    if (whole.size === 0) {
      if (old !== undefined) await unpoint(places);
      await cleanUp(places, () => tidy(places, undefined));
      return { written: 0, unchanged: 0 };
    }
    let unchanged = 0;
    for (const [name, content] of whole) {
      const isSame =
        before.includes(name) && ('path' in content || (await readFile(join(old!, name), 'utf8')) === content.text);
      if (isSame) unchanged += 1;
    }
    const written = whole.size - unchanged;
    const isSame = written === 0 && before.length === whole.size;
    const version = isSame ? undefined : await stage(places, whole);
    if (version !== undefined) await point(places, version);
    await cleanUp(places, async () => {
      if (version !== undefined) await tidy(places, version);
      await clearPending(places, files);
    });
    return { folder: join(places.approved, places.folder), written, unchanged };
  };

  return {
    async isPending(server) {
      const places = placesOf(server, configured());
      return places !== undefined && (await filesIn(places.pending)).length > 0;
    },
    async isExported(server) {
      const places = placesOf(server, configured());
      if (!places) return false;
      return (await filesIn(places.pending)).length > 0 || (await currentVersion(places)) !== undefined;
    },
    async promote(server) {
      const places = placesOf(server, configured());
      if (!places || (await filesIn(places.pending)).length === 0) return undefined;
      return locked(places, () => promoteOnce(places));
    },
    async publish(server, files, pending = configured()) {
      const places = placesOf(server, pending);
      if (!places) return { written: 0, unchanged: 0 };
      // Nothing to approve and nothing that was: no folder is made for it.
      if (files.approved.size === 0 && (await currentVersion(places)) === undefined)
        return { written: 0, unchanged: 0 };
      return locked(places, () => publishOnce(places, files));
    },
    async withdraw(server) {
      const places = placesOf(server, configured());
      if (!places) return;
      await rm(places.pending, { recursive: true, force: true });
      if ((await currentVersion(places)) === undefined) return;
      await locked(places, () => publishOnce(places, { approved: new Map(), pending: new Set() }));
    },
  };
}
