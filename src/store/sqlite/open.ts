import { rmSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import type { StoreDoubt } from '../../model/store.js';
import { doubtNotice } from '../doubt-notice.js';
import { connect, type Connection, type Engine } from './connection.js';
import { DamagedFile, troubleOf } from './error.js';
import {
  identityOf,
  prepareDatabaseFile,
  preparePrivateDirectory,
  preparePrivateFile,
  setAside,
  type StoreFiles,
} from './files.js';
import { checkMark, type StoreMark } from './store-mark.js';
import { inspect, migrate } from './schema.js';

/** An open database, and which file it is. */
export interface OpenDatabase {
  readonly connection: Connection;
  readonly identity: number | undefined;
  readonly mark: StoreMark;
}

/** What opening needs. */
export interface Opening {
  readonly engine: Engine;
  readonly files: StoreFiles;
  readonly clock: Clock;
  readonly log: Log;
  /** Told in plain words what a person must know even where nothing is logged. */
  readonly notify?: (notice: string) => void;
  /** How long SQLite blocks for a lock before it says busy. */
  readonly busyMs: number;
}

/**
 * Opens the database of a store; a damaged one is set aside and rebuilt.
 *
 * All of it happens under one lock between processes. So the file that is set aside is the one that was found damaged,
 * never the good one another process has just put in its place, and no process opens a database whose companion files
 * are being moved.
 */
export function openDatabase(opening: Opening, seen?: StoreMark): OpenDatabase {
  const { engine, files, clock, log, busyMs, notify } = opening;
  preparePrivateDirectory(files, log);
  preparePrivateFile(files.lock);
  const lock = connect(engine, files.lock, busyMs);
  try {
    hold(lock, files);
    const suspect = identityOf(files.suspect) !== undefined;
    const now = clock.now();
    let opened: Marked;
    let keptAs: string | undefined;
    try {
      opened = openFile(opening, { suspect, seen, isRebuilt: false, now });
    } catch (thrown) {
      if (troubleOf(thrown) !== 'damaged') throw thrown;
      keptAs = setAside(files, now);
      log.warn('store.damaged', { file: files.database, keptAs, reason: String(thrown) });
      opened = openFile(opening, { suspect: false, seen, isRebuilt: true, now });
    }
    if (suspect) rmSync(files.suspect, { force: true });
    const { doubt } = opened;
    if (doubt) {
      const notice = doubtNotice(doubt, files.database, keptAs);
      log.warn('store.doubt', { file: files.database, reason: doubt, notice });
      notify?.(notice);
    }
    return opened;
  } finally {
    lock.close();
  }
}

function hold(lock: Connection, files: StoreFiles): void {
  try {
    lock.exec('begin exclusive');
  } catch (thrown) {
    if (troubleOf(thrown) !== 'damaged') throw thrown;
    throw new ToolscoutError(
      'STORE_ERROR',
      `Cannot use the lock file ${files.lock}: it has content that toolscout did not write.`,
      {
        suggestion: 'Remove that file; toolscout keeps it empty.',
        cause: thrown,
      },
    );
  }
}

/** An open database, and why it is not to be trusted as it is. */
type Marked = OpenDatabase & { readonly doubt?: StoreDoubt['reason'] };

function openFile(
  { engine, files, busyMs }: Opening,
  how: { readonly suspect: boolean } & Parameters<typeof checkMark>[2],
): Marked {
  prepareDatabaseFile(files);
  const connection = connect(engine, files.database, busyMs);
  try {
    inspect(connection, files.database);
    // In WAL mode `normal` survives the death of the process at any moment: what is committed is in
    // the kernel's hands. Only a power cut can take the last commits, and never the file.
    // Checkpoints are rare, because each makes the process wait for the disk.
    // Lists are read once and kept here, so pages of the file are left to the cache of the kernel.
    connection.exec(
      'pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = 4000; pragma journal_size_limit = 4194304; pragma cache_size = -256',
    );
    migrate(connection);
    if (how.suspect) checkWhole(connection);
    return { connection, identity: identityOf(files.database), ...checkMark(connection, files, how) };
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}

function checkWhole(connection: Connection): void {
  const complaint = connection.rows('pragma integrity_check(1)')[0]?.[0];
  if (complaint !== 'ok') throw new DamagedFile(String(complaint));
}
