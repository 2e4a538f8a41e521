import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { Connection } from './connection.js';
import { toStoreError, troubleOf } from './error.js';
import { identityOf, markSuspect } from './files.js';
import type { StoreMark } from './store-mark.js';
import { openDatabase, type OpenDatabase, type Opening } from './open.js';

/** A file that is replaced again and again under our hands is given up after so many turns. */
const MAX_MOVES = 5;

/**
 * The work on one database over the life of a store: it waits for its turn without stopping the
 * process, and moves to the new file when the old one was set aside or deleted.
 */
export interface DatabaseSession {
  /** Reads; sees everything that was acknowledged. */
  read<Result>(task: (connection: Connection) => Result): Promise<Result>;
  /** Runs a task as one transaction, in the order of the calls. It may run again, so it must only use the connection. */
  write<Result>(task: (connection: Connection) => Result): Promise<Result>;
  /** Reads at once, for a poll: no waiting for a lock. The number distinguishes one opened file from the next. */
  peek<Result>(task: (connection: Connection, generation: number) => Result): Result;
  /** Which database is open, and the newest that was seen of it. */
  readonly mark: StoreMark | undefined;
  /** Notes how far the open database has come. One that comes after it and is behind was restored from an older copy. */
  noteSeen(versions: ReadonlyMap<string, number>): void;
  /** Resolves when every write that was asked for is done or has failed. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the database and keeps it open. Waits at most `waitMs` for other processes, here and later. */
export async function openDatabaseSession(opening: Opening, waitMs: number): Promise<DatabaseSession> {
  const { files, log, busyMs } = opening;
  const turns = Math.max(1, Math.ceil(waitMs / busyMs));
  let open: OpenDatabase | undefined;
  let generation = 0;
  let seen: StoreMark | undefined;
  let closed = false;
  let waiting = 0;
  let tail: Promise<unknown> = Promise.resolve();

  const drop = (): void => {
    open?.connection.close();
    open = undefined;
  };
  const isMoved = (): boolean => open !== undefined && identityOf(files.database) !== open.identity;
  const current = (): Connection => {
    if (closed)
      throw new ToolscoutError('STORE_ERROR', `The store ${files.database} is closed.`, {
        suggestion: 'Start toolscout again; in the library, create a new gateway.',
      });
    if (!open) {
      open = openDatabase(opening, seen);
      seen = open.mark;
      generation += 1;
    }
    return open.connection;
  };
  const noteDamage = (thrown: unknown): void => {
    if (troubleOf(thrown) !== 'damaged' || !open) return;
    try {
      // A new file in the same place did not cause the damage in the old one.
      if (!isMoved()) markSuspect(files);
    } catch (failure) {
      log.warn('store.mark-failed', { file: files.suspect, error: messageOf(failure) });
    }
    log.error('store.damage-found', { file: files.database, error: messageOf(thrown) });
    drop();
  };

  /** SQLite sleeps for a lock in short slices; between them the event loop gets its turn. */
  const attempt = async <Result>(act: string, task: () => Result): Promise<Result> => {
    for (let turn = 1; ; turn++) {
      try {
        return task();
      } catch (thrown) {
        if (troubleOf(thrown) !== 'busy' || turn >= turns) {
          noteDamage(thrown);
          throw toStoreError(act, files.database, thrown);
        }
      }
      await nextTurn();
    }
  };
  const commit = <Result>(task: (connection: Connection) => Result): Result => {
    for (let move = 0; ; move++) {
      const connection = current();
      const result = connection.transaction(() => task(connection));
      // Checked after the commit: a file that was set aside before the commit holds our write, which is lost.
      if (!isMoved()) return result;
      drop();
      if (move >= MAX_MOVES) throw new Error('the file is being replaced all the time');
      log.warn('store.moved', { file: files.database });
    }
  };

  const noteSeen: DatabaseSession['noteSeen'] = (versions) => {
    if (!seen) return;
    const isBehind = [...seen.versions].some(([space, version]) => (versions.get(space) ?? 0) < version);
    // Overwritten in place by an older copy: opening it again detects that.
    if (isBehind) return drop();
    seen = { id: seen.id, versions: new Map(versions) };
  };

  await attempt('open', current);

  return {
    get mark() {
      return seen;
    },
    noteSeen,
    read: (task) => attempt('read', () => task(current())),
    write<Result>(task: (connection: Connection) => Result) {
      const work = (): Promise<Result> => attempt('write to', () => commit(task));
      waiting += 1;
      const done = (waiting === 1 ? work() : tail.then(work)).finally(() => (waiting -= 1));
      tail = done.catch(() => undefined);
      return done;
    },
    peek(task) {
      try {
        if (isMoved()) drop();
        return task(current(), generation);
      } catch (thrown) {
        noteDamage(thrown);
        throw toStoreError('read', files.database, thrown);
      }
    },
    async settled() {
      await tail;
    },
    async close() {
      if (closed) return;
      await tail;
      if (closed) return;
      closed = true;
      try {
        // Statements keep the file open until they are collected, so SQLite does not empty the WAL itself.
        if (open && !isMoved()) open.connection.rows('pragma wal_checkpoint(truncate)');
      } catch (thrown) {
        log.debug('store.checkpoint-failed', { file: files.database, error: messageOf(thrown) });
      }
      drop();
    },
  };
}
