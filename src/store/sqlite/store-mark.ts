import {
  closeSync,
  constants,
  fdatasync,
  lstatSync,
  open,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { Clock, Timer } from '../../kernel/clock.js';
import { messageOf } from '../../kernel/errors.js';
import { isObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import { DOUBT_KEY, STORE_SPACE, type StoreDoubt } from '../../model/store.js';
import type { Connection } from './connection.js';
import type { StoreFiles } from './files.js';
import { fromBytes, fromText, toText } from '../stored-text.js';

/**
 * Which database a state directory had, and how far its trust had come. It lies beside the database, so that a database
 * that vanished, was replaced or was restored from an older copy is noticed (A48).
 */
export interface StoreMark {
  readonly id: string;
  /** How often each guarded space was written, at least. */
  readonly versions: ReadonlyMap<string, number>;
}

/** The spaces that say what is trusted. Everything else in a store can be learned again. */
export const GUARDED_SPACES: ReadonlySet<string> = new Set(['approvals', 'servers']);

const FORMAT = 1;
const IDENTITY_KEY = 'identity';

const GET = 'select cast(value as blob) from entries where space = ? and key = ?';
const PUT = `insert into entries (space, key, value, stored_at, expires_at, revision) values (?, ?, ?, ?, null, ?)
  on conflict (space, key) do update set value = excluded.value, stored_at = excluded.stored_at, revision = excluded.revision`;
const BUMP = `insert into changes (space, version) values (?, 1)
  on conflict (space) do update set version = version + 1 returning cast(version as integer)`;
const VERSIONS = 'select cast(space as blob), cast(version as integer) from changes';
const HAS_ENTRIES = 'select 1 from entries limit 1';

/** How often each guarded space of a database was written. */
export function guardedVersions(connection: Connection): Map<string, number> {
  const rows = connection.rows(VERSIONS).map(([space, version]) => [fromBytes(space), Number(version)] as const);
  return new Map(rows.filter((row): row is [string, number] => row[0] !== undefined && GUARDED_SPACES.has(row[0])));
}

function readIdentity(connection: Connection): string | undefined {
  const value = fromText(connection.rows(GET, STORE_SPACE, IDENTITY_KEY)[0]?.[0])?.value;
  return isObject(value) && typeof value['id'] === 'string' ? value['id'] : undefined;
}

function put(connection: Connection, key: string, value: unknown, now: number): void {
  const revision = Number(connection.rows(BUMP, STORE_SPACE)[0]?.[0]);
  connection.run(PUT, STORE_SPACE, key, toText(value), now, revision);
}

/** The mark of a state directory; `unreadable` when there is one that says nothing. */
function readMark({ mark }: StoreFiles): StoreMark | 'unreadable' | undefined {
  let text: string;
  try {
    if (!lstatSync(mark).isFile()) return 'unreadable';
    text = readFileSync(mark, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
  const value = fromText(text)?.value;
  if (!isObject(value) || typeof value['id'] !== 'string' || !isObject(value['versions'])) return 'unreadable';
  const versions = Object.entries(value['versions']).filter((entry): entry is [string, number] => {
    return typeof entry[1] === 'number';
  });
  return { id: value['id'], versions: new Map(versions) };
}

/** Replaces the mark as a whole; a crash leaves the old one or the new one. */
function writeMark({ mark }: StoreFiles, { id, versions }: StoreMark): void {
  const next = `${mark}.${process.pid}.tmp`;
  rmSync(next, { force: true });
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  const file = openSync(next, O_CREAT | O_EXCL | O_WRONLY | (constants.O_NOFOLLOW ?? 0), 0o600);
  try {
    writeSync(file, `${JSON.stringify({ format: FORMAT, id, versions: Object.fromEntries(versions) })}\n`);
  } finally {
    closeSync(file);
  }
  renameSync(next, mark);
}

function later(one: StoreMark | undefined, other: StoreMark | undefined): StoreMark | undefined {
  if (!one || !other || one.id !== other.id) return one ?? other;
  const versions = new Map(one.versions);
  for (const [space, version] of other.versions) versions.set(space, Math.max(version, versions.get(space) ?? 0));
  return { id: one.id, versions };
}

/** What is wrong with a database, given what was there before. */
function compare(
  connection: Connection,
  before: StoreMark | 'unreadable' | undefined,
  id: string | undefined,
): StoreDoubt['reason'] | undefined {
  if (before === undefined) return undefined;
  if (id === undefined) return connection.rows(HAS_ENTRIES).length > 0 ? 'replaced' : 'vanished';
  // Marks are replaced atomically, so an unreadable one was changed by another program.
  if (before === 'unreadable') return 'replaced';
  if (before.id !== id) return 'replaced';
  const versions = guardedVersions(connection);
  const isBehind = [...before.versions].some(([space, version]) => (versions.get(space) ?? 0) < version);
  return isBehind ? 'rolled-back' : undefined;
}

/**
 * Compares a database that was just opened with the mark beside it and with what this process has seen of it. A doubt
 * is written into the database, where every process sees it until a person accepts it. Runs under the lock of the
 * store.
 */
export function checkMark(
  connection: Connection,
  files: StoreFiles,
  how: { readonly seen?: StoreMark; readonly isRebuilt: boolean; readonly now: number },
): { readonly mark: StoreMark; readonly doubt?: StoreDoubt['reason'] } {
  const known = readIdentity(connection);
  const stored = readMark(files);
  const before = stored === 'unreadable' ? (how.seen ?? stored) : later(stored, how.seen);
  const reason = how.isRebuilt ? 'damaged' : compare(connection, before, known);
  const id = known ?? randomUUID();
  if (known === undefined || reason !== undefined) {
    connection.transaction(() => {
      if (known === undefined) put(connection, IDENTITY_KEY, { id }, how.now);
      if (reason !== undefined) put(connection, DOUBT_KEY, { reason, at: how.now }, how.now);
    });
  }
  const mark: StoreMark = { id, versions: guardedVersions(connection) };
  const isWritten = stored !== undefined && stored !== 'unreadable' && stored.id === id && reason === undefined;
  if (!isWritten) writeMark(files, mark);
  return reason === undefined ? { mark } : { mark, doubt: reason };
}

/** Keeps the mark in step with what was written. */
export interface MarkKeeper {
  note(id: string, space: string, version: number): void;
  /** Writes what was noted; never rejects. */
  flush(): Promise<void>;
}

/** How long a write may be ahead of the mark: then the mark does not notice that it was taken back. */
const DELAY_MS = 100;

/** A keeper that writes the mark a moment after the last write, and only once the disk has what it speaks of. */
export function createMarkKeeper(files: StoreFiles, clock: Clock, log: Log): MarkKeeper {
  let noted: StoreMark | undefined;
  let timer: Timer | undefined;

  const flush = async (): Promise<void> => {
    timer?.cancel();
    timer = undefined;
    const next = noted;
    noted = undefined;
    if (!next) return;
    try {
      // A power cut must not take commits that the mark counts, or it would look as if the store had been restored from an older copy.
      await syncFile(`${files.database}-wal`);
      const stored = readMark(files);
      // Another file has taken the place of the one that was written to.
      if (stored === undefined || stored === 'unreadable' || stored.id !== next.id) return;
      const merged = later(stored, next);
      if (merged) writeMark(files, merged);
    } catch (thrown) {
      log.debug('store.mark-unsaved', { file: files.mark, error: messageOf(thrown) });
    }
  };
  return {
    note(id, space, version) {
      if (!GUARDED_SPACES.has(space)) return;
      noted = later({ id, versions: new Map([[space, version]]) }, noted?.id === id ? noted : undefined);
      timer ??= clock.after(DELAY_MS, () => void flush());
    },
    flush,
  };
}

/** Has the disk take what was written to a file. SQLite has no locks on its log, so closing it here drops none. */
async function syncFile(path: string): Promise<void> {
  const descriptor = await promisify(open)(path, 'r');
  try {
    await promisify(fdatasync)(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
