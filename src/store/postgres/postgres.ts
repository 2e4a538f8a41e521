import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { cooperatively } from '../../kernel/async/cooperative.js';
import type { Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { CLOCK_SLACK_MS } from '../../kernel/expiry.js';
import type { Log } from '../../kernel/log.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Entry, Store } from '../../model/store.js';
import { createAuditSums } from '../audit-sums.js';
import { verifyChain } from '../chain/verify.js';
import { pageSize } from '../page-size.js';
import { fromText, toText } from '../stored-text.js';
import type { PostgresAddress } from './address.js';
import { pageStatement, PRUNED_AT_ONCE, readRecord, readSum, selectStatement, sumStatement } from './audit.js';
import { createAuditChain, readyRecords } from './chain.js';
import { createChangeWatch } from './changes.js';
import { entryStatements } from './entries.js';
import { indexedName, readName } from './names.js';
import { createReadMemory, type EntryRow } from './read-memory.js';
import { newer, NEWEST_VERSION, prepareSchema, replaced } from './schema.js';
import { type Seal, SEALED_SPACES } from './seal.js';
import { openSession, type Result, type Session } from './session.js';

/** What the shared store needs. */
export interface PostgresStoreOptions {
  readonly address: PostgresAddress;
  readonly clock: Clock;
  readonly log: Log;
  /** Encrypts what must not stand in the database as it is; without it such values are refused. */
  readonly seal?: Seal;
  /** A number from 0 to 1, to spread what several replicas would do at once. */
  readonly random?: () => number;
  /** How long one statement may take; 5 s unless said otherwise. */
  readonly timeoutMs?: number;
  /** How long the first connection is tried for; 5 s unless said otherwise. */
  readonly openWaitMs?: number;
}

const areApart = (ms: number): boolean => Math.abs(ms) > CLOCK_SLACK_MS;

/** A store in a PostgreSQL database that many replicas share (STORE-3). */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { address, clock, log, seal, random = Math.random, timeoutMs = 5000, openWaitMs = 5000 } = options;
  const { schema, location } = address;
  const session = await openSession({ address, clock, log, random, timeoutMs, openWaitMs });
  try {
    const { id } = await session.transaction('open', (query) =>
      prepareSchema(query, { schema, location, keyCheck: seal?.check }),
    );
    return await makeStore(session, { address, clock, log, seal, id });
  } catch (thrown) {
    await session.close();
    throw thrown;
  }
}

async function makeStore(
  session: Session,
  options: Pick<PostgresStoreOptions, 'address' | 'clock' | 'log' | 'seal'> & { readonly id: string },
): Promise<Store> {
  const { address, clock, log, seal, id } = options;
  const { schema, location } = address;
  const writer = randomBytes(8).toString('hex');
  const channel = `toolscout_${schema}`;
  const sql = entryStatements({ schema, channel, writer });
  const memory = createReadMemory();
  const chain = createAuditChain(session, schema, writer);
  const tails = new Map<string, Promise<unknown>>();
  let closed: Promise<void> | undefined;

  let aheadMs = 0;
  const noteTime = (since: number, theirs: number): void => {
    const before = aheadMs;
    // The database read its clock at some moment in between.
    aheadMs = Math.round((since + clock.now()) / 2) - theirs;
    if (!areApart(aheadMs) || areApart(before)) return;
    log.warn('store.clock-differs', { store: location, aheadMs, next: 'set the clocks by NTP' });
  };
  const versions = async (): Promise<Map<string, number>> => {
    const since = clock.now();
    const { rows } = await session.run('read', sql.versions);
    const [about] = rows;
    noteTime(since, Number(about?.[6]));
    if (Number(about?.[3]) > NEWEST_VERSION) session.refuse(newer(location, Number(about?.[4])));
    if (about && about[5] !== id) session.refuse(replaced(location));
    const spaces = rows.map(([index, whole, version]) => [readName(index, whole), Number(version)] as const);
    return new Map(spaces.filter((row): row is [string, number] => row[0] !== undefined && row[1] > 0));
  };
  const watch = createChangeWatch(
    { versions, connect: () => session.connect(), channel, writer },
    {
      clock,
      log,
      readName: (index) => (index.startsWith('sha256:') ? undefined : readName(index, null)),
      baseline: await versions(),
    },
  );
  session.onRecovery(() => watch.look());

  const toEntry = (space: string, row: readonly unknown[]): Entry | undefined => {
    const [index, whole, text, storedAt, expiresAt, revision] = row;
    const key = readName(index, whole);
    const read = key === undefined ? undefined : fromText(unsealed(space, key, text));
    if (!read) log.warn('store.unreadable', { store: location, space, key: String(whole ?? index) });
    if (key === undefined) return undefined;
    return {
      key,
      ...(read ? { value: read.value } : { value: null, damaged: true }),
      storedAt: Number(storedAt),
      expiresAt: expiresAt === null ? undefined : Number(expiresAt),
      revision: Number(revision),
    };
  };
  const place = (space: string, key: string): string => JSON.stringify([space, key]);
  const unsealed = (space: string, key: string, text: unknown): unknown =>
    SEALED_SPACES.has(space) ? seal?.open(String(text), place(space, key)) : text;
  const sealed = (space: string, key: string, text: string): string => {
    if (!SEALED_SPACES.has(space)) return text;
    if (seal) return seal.close(text, place(space, key));
    throw new ToolscoutError('STORE_ERROR', `Tokens are not stored in ${location}: no encryption key is set.`, {
      suggestion:
        'Set TOOLSCOUT_STORE_KEY (openssl rand -base64 32), or TOOLSCOUT_STORE_KEY_FILE, the same for every replica.',
    });
  };

  /** Writes of one process to one space take effect in their order. */
  const inTurn = <Value>(space: string, task: () => Promise<Value>): Promise<Value> => {
    const before = tails.get(space);
    const done = before ? before.then(task, task) : task();
    const tail = done
      .catch(() => undefined)
      .finally(() => {
        if (tails.get(space) === tail) tails.delete(space);
      });
    tails.set(space, tail);
    return done;
  };
  /** A write to one space; the statement answers the new version of the space in its first row, or no row. */
  const change = <Value>(
    space: string,
    write: () => Promise<Result>,
    read: (result: Result) => Value,
  ): Promise<Value> =>
    inTurn(space, () =>
      watch.writing(space, async () => {
        const result = await write();
        const version = result.rows[0]?.[0];
        return { value: read(result), ...(version !== undefined && { version: Number(version) }) };
      }),
    );
  /** Reads rows of a space; while the database is away, those that were read before (STORE-4). */
  const rowsOf = async (
    space: string,
    statement: string,
    values: readonly string[],
    remember: (rows: readonly EntryRow[]) => void,
    recall: () => readonly EntryRow[] | 'unknown',
  ): Promise<readonly EntryRow[]> => {
    try {
      const { rows } = await session.run('read', statement, values);
      remember(rows);
      return rows;
    } catch (thrown) {
      // A reader that reacts to a change is not told of it again.
      watch.doubt(space);
      const known = session.outage() ? recall() : 'unknown';
      if (known === 'unknown') throw thrown;
      return known;
    }
  };
  const none = (): 'unknown' => 'unknown';
  const readRecords = (rows: readonly unknown[][]): AuditRecord[] =>
    rows.flatMap(([seq, body]) => {
      const record = readRecord(body);
      if (!record) log.warn('store.unreadable', { store: location, space: 'audit', key: String(seq) });
      return record ? [record] : [];
    });

  return {
    location,
    async get(name, key) {
      const [space, place] = [indexedName(name).index, indexedName(key).index];
      const [row] = await rowsOf(
        name,
        sql.get,
        [space, place],
        (rows) => memory.note(space, place, rows[0]),
        () => memory.get(space, place),
      );
      return row && toEntry(name, row);
    },
    async spaces() {
      const { rows } = await session.run('read', sql.spaces);
      return rows.flatMap(([index, whole]) => readName(index, whole) ?? []).toSorted();
    },
    async list(name) {
      const space = indexedName(name).index;
      const rows = await rowsOf(
        name,
        sql.list,
        [space],
        (all) => memory.noteAll(space, all),
        () => memory.list(space),
      );
      const entries: Entry[] = [];
      // Reading a large value takes a while: between some of them others have their turn.
      await cooperatively(rows, (row) => {
        const entry = toEntry(name, row);
        if (entry) entries.push(entry);
      });
      return entries.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    },
    async revisions(name) {
      const rows = await rowsOf(name, sql.revisions, [indexedName(name).index], () => {}, none);
      const named = rows.map(([index, whole, revision]) => [readName(index, whole), Number(revision)] as const);
      return new Map(named.filter((row): row is [string, number] => row[0] !== undefined));
    },
    async put(name, key, value, { expiresAt, ifRevision } = {}) {
      const text = sealed(name, key, toText(value, { space: name, key }));
      const [space, place] = [indexedName(name), indexedName(key)];
      const row = [place.index, place.whole, text, clock.now(), expiresAt ?? null];
      const values = [space.index, space.whole, ...row];
      const write = (): Promise<Result> => {
        if (ifRevision === undefined) return session.run('write to', sql.put, values);
        if (ifRevision === 0) return session.run('write to', sql.create, values, { twice: false });
        return session.run('write to', sql.replace, [...values, ifRevision], { twice: false });
      };
      return change(name, write, ({ rows }) => {
        if (!rows[0]) return false;
        memory.note(space.index, place.index, [...row, rows[0][0]]);
        return true;
      });
    },
    async delete(name, key) {
      const [space, place] = [indexedName(name).index, indexedName(key).index];
      return change(
        name,
        () => session.run('write to', sql.delete, [space, place]),
        ({ rows }) => {
          memory.note(space, place, undefined);
          return rows.length > 0;
        },
      );
    },
    async clear(name) {
      const space = indexedName(name).index;
      return change(
        name,
        () => session.run('write to', sql.clear, [space]),
        ({ rows }) => {
          memory.noteAll(space, []);
          return rows.length;
        },
      );
    },
    async append(records) {
      if (records.length === 0) return;
      const rows = readyRecords(records);
      await inTurn('\0audit', () => chain.append(rows));
    },
    async audit(filter) {
      const statement = selectStatement(schema, filter);
      const { rows } = await session.run('read', statement.sql, statement.values);
      return readRecords(rows);
    },
    async *auditPages() {
      for (let after: unknown = 0; ;) {
        const { rows } = await session.run('read', pageStatement(schema), [after]);
        if (rows.length === 0) return;
        after = rows.at(-1)![0];
        yield readRecords(rows);
      }
    },
    async auditAfter(position, limit) {
      const { rows } = await session.run('read', pageStatement(schema, pageSize(limit)), [position]);
      return { records: readRecords(rows), position: Number(rows.at(-1)?.[0] ?? position) };
    },
    async sumAudit(query) {
      const statement = sumStatement(schema, query);
      const { rows } = await session.run('read', statement.sql, statement.values);
      const sums = createAuditSums();
      for (const row of rows) sums.add(readSum(query.by, row));
      return sums.all();
    },
    aheadMs: () => aheadMs,
    async pruneAudit(before) {
      await versions();
      // A replica whose clock is ahead must not take records of others for old.
      const horizon = before - (areApart(aheadMs) ? Math.max(0, aheadMs) : 0);
      for (let gone = 0; ; await nextTurn()) {
        const count = await inTurn('\0audit', () => chain.prune(horizon));
        gone += count;
        if (count < PRUNED_AT_ONCE) return gone;
      }
    },
    verifyAudit: (known) => verifyChain(chain.reader, known),
    onChange: (listener) => watch.on(listener),
    close: () =>
      (closed ??= (async () => {
        await watch.stop();
        await Promise.all(tails.values());
        await session.close();
      })()),
  };
}
