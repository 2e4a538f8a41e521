import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import { cooperatively } from '../../kernel/async/cooperative.js';
import type { Entry, Store } from '../../model/store.js';
import { selectPage, selectRecords, sumSome } from './audit.js';
import { appendChained, chained, chainReader, pruneChained } from './chain.js';
import { verifyChain } from '../chain/verify.js';
import { pageSize } from '../page-size.js';
import { createAuditSums } from '../audit-sums.js';
import { createChangeWatch } from './changes.js';
import { unloadable } from './error.js';
import type { Column, Connection, Engine } from './connection.js';
import { storeFiles } from './files.js';
import { createMarkKeeper, GUARDED_SPACES } from './store-mark.js';
import { openDatabaseSession } from './session.js';
import { fromKey, fromText, toName, toText } from '../stored-text.js';

/** What the embedded store needs. */
export interface SqliteStoreOptions {
  /** Created when it is missing; private to the user. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Told in plain words that a damaged store was replaced. */
  readonly notify?: (notice: string) => void;
  /** How long an operation waits for other processes; 5 s unless said otherwise. */
  readonly busyTimeoutMs?: number;
}

/** How long SQLite may stop the process for a lock before the event loop gets its turn. */
const SLICE_MS = 20;

/** Rows that cannot be read and are named in the log once each; further ones are named each time. */
const MAX_NAMED = 1000;

// Text is read as bytes and numbers as numbers, whatever stands in the file: the engine aborts on text that is not UTF-8.
const COLUMNS =
  'cast(key as blob), cast(value as blob), cast(stored_at as integer), cast(expires_at as integer), cast(revision as integer)';
const GET = `select ${COLUMNS} from entries where space = ? and key = ?`;
const LIST = `select ${COLUMNS} from entries where space = ?`;
const REVISION = 'select cast(revision as integer) from entries where space = ? and key = ?';
const REVISIONS = 'select cast(key as blob), cast(revision as integer) from entries where space = ?';
const PUT = `insert into entries (space, key, value, stored_at, expires_at, revision) values (?, ?, ?, ?, ?, ?)
  on conflict (space, key) do update set value = excluded.value, stored_at = excluded.stored_at,
  expires_at = excluded.expires_at, revision = excluded.revision`;
const DELETE = 'delete from entries where space = ? and key = ?';
const CLEAR = 'delete from entries where space = ?';
const BUMP = `insert into changes (space, version) values (?, 1)
  on conflict (space) do update set version = version + 1 returning cast(version as integer)`;
const SPACES = 'select distinct cast(space as blob) from entries';
const VERSIONS = 'select cast(space as blob), cast(version as integer) from changes';

/**
 * The embedded store: one SQLite file that several processes share (STORE-1). A write is on its way
 * to the disk when its promise resolves, and no death of a process takes it back.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { directory, clock, log, notify, busyTimeoutMs = 5000 } = options;
  const files = storeFiles(directory);
  const opening = { engine: loadEngine(), files, clock, log, notify, busyMs: SLICE_MS };
  const session = await openDatabaseSession(opening, busyTimeoutMs);
  const keeper = createMarkKeeper(files, clock, log);
  const watch = createChangeWatch(
    {
      stamp: () =>
        session.peek((connection, generation) => `${generation}:${connection.rows('pragma data_version')[0]?.[0]}`),
      versions: () =>
        session.peek((connection) => {
          const rows = connection.rows(VERSIONS);
          const versions = new Map(rows.map(([space, version]) => [fromKey(space) ?? '', Number(version)]));
          session.noteSeen(new Map([...versions].filter(([space]) => GUARDED_SPACES.has(space))));
          return versions;
        }),
    },
    clock,
    log,
  );

  const unreadable = new Set<string>();
  /** Named once: it stays where it is until something is written over it, and is read again and again. */
  const noteUnreadable = (space: string, key: string): void => {
    const name = `${space} ${key}`;
    if (unreadable.has(name)) return;
    if (unreadable.size < MAX_NAMED) unreadable.add(name);
    log.warn('store.unreadable', { file: files.database, space, key });
  };
  const toEntry = (
    space: string,
    [name, text, storedAt, expiresAt, revision]: readonly Column[],
  ): Entry | undefined => {
    const key = fromKey(name);
    const read = fromText(text);
    if (key === undefined || !read) noteUnreadable(space, String(name));
    if (key === undefined) return undefined;
    return {
      key,
      ...(read ? { value: read.value } : { value: null, damaged: true }),
      storedAt: Number(storedAt),
      expiresAt: expiresAt === null ? undefined : Number(expiresAt),
      revision: Number(revision),
    };
  };
  /** A write to one space. The task calls `bump` when it changes something; that is the new revision. */
  const change = async <Result>(
    space: string,
    task: (connection: Connection, bump: () => number) => Result,
  ): Promise<Result> => {
    let version: number | undefined;
    const result = await session.write((connection) => {
      version = undefined;
      return task(connection, () => (version = Number(connection.rows(BUMP, toName(space))[0]?.[0])));
    });
    if (version !== undefined) {
      watch.wrote(space, version);
      if (session.mark) keeper.note(session.mark.id, space, version);
    }
    return result;
  };

  return {
    location: files.database,
    async get(space, key) {
      const [row] = await session.read((connection) => connection.rows(GET, toName(space), toName(key)));
      return row && toEntry(space, row);
    },
    async spaces() {
      const rows = await session.read((connection) => connection.rows(SPACES));
      return rows.flatMap(([name]) => fromKey(name) ?? []).toSorted();
    },
    async list(space) {
      const rows = await session.read((connection) => connection.rows(LIST, toName(space)));
      const entries: Entry[] = [];
      // Reading a large value takes a while: between some of them others have their turn.
      await cooperatively(rows, (row) => {
        const entry = toEntry(space, row);
        if (entry) entries.push(entry);
      });
      return entries.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    },
    async revisions(space) {
      const rows = await session.read((connection) => connection.rows(REVISIONS, toName(space)));
      const named = rows.map(([name, revision]) => [fromKey(name), Number(revision)] as const);
      return new Map(named.filter((row): row is [string, number] => row[0] !== undefined));
    },
    async put(space, key, value, { expiresAt, ifRevision } = {}) {
      const text = toText(value, { space, key });
      const storedAt = clock.now();
      const names = [toName(space), toName(key)] as const;
      return change(space, (connection, bump) => {
        const stored = ifRevision === undefined ? undefined : (connection.rows(REVISION, ...names)[0]?.[0] ?? 0);
        if (stored !== ifRevision) return false;
        connection.run(PUT, ...names, text, storedAt, expiresAt ?? null, bump());
        return true;
      });
    },
    delete: (space, key) =>
      change(space, (connection, bump) => {
        if (connection.run(DELETE, toName(space), toName(key)) === 0) return false;
        bump();
        return true;
      }),
    clear: (space) =>
      change(space, (connection, bump) => {
        const count = connection.run(CLEAR, toName(space));
        if (count > 0) bump();
        return count;
      }),
    async append(records) {
      if (records.length === 0) return;
      const rows = records.map((record) => chained(record));
      await session.write((connection) => appendChained(connection, rows));
    },
    audit: (filter) =>
      session.read((connection) => selectRecords(connection, filter, (seq) => noteUnreadable('audit', String(seq)))),
    async *auditPages() {
      for (let after = 0; ;) {
        const page = await session.read((connection) =>
          selectPage(connection, after, (seq) => noteUnreadable('audit', String(seq))),
        );
        if (page.last === undefined) return;
        after = page.last;
        yield page.records;
      }
    },
    async auditAfter(position, limit) {
      const note = (seq: Column): void => noteUnreadable('audit', String(seq));
      const page = await session.read((connection) => selectPage(connection, position, note, pageSize(limit)));
      return { records: page.records, position: page.last ?? position };
    },
    async sumAudit(query) {
      const sums = createAuditSums();
      for (let seq = 0; ; await nextTurn()) {
        const from = seq;
        const { parts, last } = await session.read((connection) => sumSome(connection, query, from));
        for (const part of parts) sums.add(part);
        if (last === undefined) return sums.all();
        seq = last;
      }
    },
    async pruneAudit(before) {
      let gone = 0;
      for (;;) {
        const some = await session.write((connection) => pruneChained(connection, before));
        if (some === 0) return gone;
        gone += some;
        await nextTurn();
      }
    },
    verifyAudit: (known) => verifyChain(chainReader(session.read), known),
    onChange: (listener) => watch.on(listener),
    async close() {
      watch.stop();
      await session.settled();
      await keeper.flush();
      await session.close();
    },
  };
}

/**
 * Loaded only when a store is opened: it costs more than everything else here. `require`, since
 * `import` of a CommonJS package takes a third longer, and this stands on the way of every start.
 */
function loadEngine(): Engine {
  try {
    return createRequire(import.meta.url)('libsql') as Engine;
  } catch (thrown) {
    throw unloadable(thrown);
  }
}
