import { randomUUID } from 'node:crypto';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Query } from './session.js';

/** Older servers are no longer maintained by their authors. */
const OLDEST_SERVER = 130_000;

/**
 * One step a version: step `n` leads from version `n` to `n + 1`. A step that was released is never edited again. During an
 * upgrade replicas of two versions work on one database, so a step only adds; one that older versions cannot work with
 * raises `OLDEST_READER`, and they stop.
 *
 * `changes.version` counts the writes of a space. It outlives deletions, and it is where revisions come from.
 *
 * The audit log is one table with an index by time, not partitions: retention deletes its oldest part in small portions,
 * which needs neither the right to create tables at run time nor a job that makes partitions ahead.
 */
const MIGRATIONS: readonly ((schema: string) => string)[] = [
  (schema) => `
    create table ${schema}.entries (
      space text collate "C" not null, key text collate "C" not null, name text,
      value text not null, stored_at bigint not null, expires_at bigint, revision bigint not null,
      primary key (space, key)
    );
    create table ${schema}.changes (space text collate "C" primary key, name text, version bigint not null);
    create table ${schema}.audit (
      seq bigint generated always as identity primary key, id text collate "C" not null unique, time bigint not null,
      kind text not null, server text, tool text, outcome text not null, body text not null
    );
    create index audit_time on ${schema}.audit (time);
    create index audit_server on ${schema}.audit (server, seq desc);`,
  // What is added up stands in columns. Replicas of the version before go on appending without them.
  (schema) => `
    alter table ${schema}.audit add column principal text, add column tokens_arguments bigint,
      add column tokens_returned bigint, add column tokens_withheld bigint;`,
  // The chains of the audit log, one for each replica (SEC-12). The block 0 says which records they do not cover.
  (schema) => `
    create table ${schema}.audit_blocks (
      place bigint generated always as identity primary key, chain text collate "C" not null, number bigint not null,
      last_seq bigint not null, previous text not null, joined text not null, body text not null, hash text not null,
      note boolean not null default false, unique (chain, number)
    );
    create index audit_notes on ${schema}.audit_blocks (place) where note;
    create index audit_last_seq on ${schema}.audit_blocks (last_seq);
    create table ${schema}.audit_heads (
      chain text collate "C" primary key, number bigint not null, hash text not null);
    insert into ${schema}.audit_blocks (chain, number, last_seq, previous, joined, body, hash)
      select 'genesis', 0, coalesce(max(seq), 0), '', '', '', 'unchained:' || count(*) || ':' || coalesce(max(seq), 0)
      from ${schema}.audit;
    insert into ${schema}.audit_heads select chain, number, hash from ${schema}.audit_blocks;`,
];

/** The oldest version of the tables that this program can work with after its own migrations. */
const OLDEST_READER = 1;

/** What the one row of `about` says. */
export interface About {
  readonly id: string;
  readonly version: number;
  readonly keyCheck: string | null;
}

interface Options {
  readonly schema: string;
  readonly location: string;
  /** Tells the key of sealed values apart from others; it is written when none is there. */
  readonly keyCheck: string | undefined;
  readonly newest?: number;
}

/** A lock that every toolscout takes for the time of one transaction, so that it also works behind a pooler. */
const LOCK_SQL = `select pg_advisory_xact_lock(hashtextextended($1, 0))`;

/**
 * Brings the tables of a database to the newest version, all steps or none, while no other process does. Runs in a transaction.
 *
 * @throws ToolscoutError `STORE_ERROR` for a database that is too old, of a newer toolscout, of another program or of another key.
 */
export async function prepareSchema(query: Query, options: Options): Promise<About> {
  const { schema, location, keyCheck, newest = MIGRATIONS.length } = options;
  await checkServer(query, location);
  await query(LOCK_SQL, [`toolscout migration ${schema}`]);
  const before = await readAbout(query, schema);
  if (!before) {
    await refuseForeign(query, schema, location);
    const [exists] = await query('select 1 from pg_namespace where nspname = $1', [schema]);
    if (!exists) await query(`create schema ${schema}`);
    await query(`create table ${schema}.about (
      id text not null, version integer not null, oldest_reader integer not null, key_check text)`);
    await query(`insert into ${schema}.about values ($1, 0, $2, null)`, [randomUUID(), OLDEST_READER]);
  }
  const about = before ?? (await readAbout(query, schema))!;
  if (about.oldestReader > newest) throw newer(location, about.version, newest);
  for (let version = about.version; version < newest; version++) {
    for (const statement of MIGRATIONS[version]!(schema).split(/;\s*(?:\n|$)/)) {
      if (statement.trim() !== '') await query(statement);
    }
    await query(`update ${schema}.about set version = $1, oldest_reader = greatest(oldest_reader, $2)`, [
      version + 1,
      OLDEST_READER,
    ]);
  }
  if (keyCheck !== undefined && about.keyCheck === null) {
    await query(`update ${schema}.about set key_check = $1`, [keyCheck]);
  } else if (keyCheck !== undefined && about.keyCheck !== keyCheck) {
    throw new ToolscoutError(
      'STORE_ERROR',
      `The store ${location} was encrypted with another key than the one this process has.`,
      { suggestion: 'Give every replica the same TOOLSCOUT_STORE_KEY. Nothing was changed.' },
    );
  }
  return { id: about.id, version: Math.max(about.version, newest), keyCheck: about.keyCheck ?? keyCheck ?? null };
}

/** Says that this program is too old for the tables. */
export function newer(location: string, version: number, known = MIGRATIONS.length): ToolscoutError {
  return new ToolscoutError(
    'STORE_ERROR',
    `The store ${location} was written by a newer toolscout (version ${version}; this one knows ${known}).`,
    { suggestion: 'Update toolscout, or use another database or schema. Nothing was changed.' },
  );
}

/** Says that another database answers under the address: what it holds was decided elsewhere. */
export function replaced(location: string): ToolscoutError {
  return new ToolscoutError('STORE_ERROR', `${location} is not the database that this process opened.`, {
    suggestion:
      'Point the address at the original database again and restart toolscout; or restart it to use this database.',
  });
}

/** The newest version of the tables that this program knows. */
export const NEWEST_VERSION = MIGRATIONS.length;

async function checkServer(query: Query, location: string): Promise<void> {
  const [row] = await query(
    `select current_setting('server_version_num')::int, current_setting('server_version'),
       current_setting('server_encoding'), current_setting('transaction_read_only')`,
  );
  const [number, version, encoding, readonly] = row ?? [];
  const refuse = (reason: string, suggestion: string): never => {
    throw new ToolscoutError('STORE_ERROR', `Cannot use the store ${location}: ${reason}.`, { suggestion });
  };
  if (!(Number(number) >= OLDEST_SERVER)) {
    refuse(`it is PostgreSQL ${String(version)}`, 'Use PostgreSQL 13 or newer.');
  }
  if (encoding !== 'UTF8') {
    refuse(`its encoding is ${String(encoding)}, and UTF8 is needed`, "Create the database with: encoding 'UTF8'.");
  }
  if (readonly === 'on') refuse('it is read-only', 'Connect to the primary server, as a user that may write.');
}

async function readAbout(
  query: Query,
  schema: string,
): Promise<(About & { readonly oldestReader: number }) | undefined> {
  const [table] = await query(
    `select count(*) from information_schema.columns where table_schema = $1 and table_name = 'about'
       and column_name in ('id', 'version', 'oldest_reader', 'key_check')`,
    [schema],
  );
  if (Number(table?.[0]) !== 4) return undefined;
  const [row] = await query(`select id, version, oldest_reader, key_check from ${schema}.about`);
  if (!row) return undefined;
  const [id, version, oldestReader, keyCheck] = row;
  return {
    id: String(id),
    version: Number(version),
    oldestReader: Number(oldestReader),
    keyCheck: keyCheck === null ? null : String(keyCheck),
  };
}

/** Our tables and their version come in one transaction, so tables without a version are not ours. */
async function refuseForeign(query: Query, schema: string, location: string): Promise<void> {
  const [table] = await query('select table_name from information_schema.tables where table_schema = $1 limit 1', [
    schema,
  ]);
  if (!table) return;
  throw new ToolscoutError(
    'STORE_ERROR',
    `Cannot use the store ${location}: its schema "${schema}" holds tables of another program, such as "${String(table[0])}".`,
    { suggestion: 'Name another schema: postgres://…?schema=NAME. Nothing was changed.' },
  );
}
