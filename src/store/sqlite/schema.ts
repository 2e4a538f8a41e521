import { ToolscoutError } from '../../kernel/errors.js';
import type { Connection } from './connection.js';
import { DamagedFile } from './error.js';

/**
 * One step a version: step `n` leads from version `n` to `n + 1`. A step that was released is never
 * edited again.
 *
 * `changes.version` counts the writes of a space. It outlives deletions, and it is where revisions
 * come from, so that the revision of a key that was deleted and written again is a new one.
 */
const MIGRATIONS: readonly string[] = [
  `create table entries (
     space text not null, key text not null, value text not null,
     stored_at integer not null, expires_at integer, revision integer not null,
     primary key (space, key)
   ) without rowid;
   create table changes (space text primary key, version integer not null) without rowid;
   create table audit (
     seq integer primary key, id text not null unique, time integer not null, kind text not null,
     server text, tool text, outcome text not null, body text not null
   );
   create index audit_server on audit (server);`,
  // What is added up stands in columns, since reading it out of the bodies takes ten times as long. Processes of the version
  // before go on appending without them.
  `alter table audit add column principal text;
   alter table audit add column tokens_arguments integer;
   alter table audit add column tokens_returned integer;
   alter table audit add column tokens_withheld integer;`,
  // The chain of the audit log (SEC-12). Block 0 says which records it does not cover: those of the versions before.
  `create table audit_blocks (
     number integer primary key, last_seq integer not null, previous text not null, body text not null, hash text not null,
     note integer not null default 0
   );
   create index audit_notes on audit_blocks (number) where note = 1;
   create table audit_head (chain text primary key, number integer not null, last_seq integer not null, hash text not null) without rowid;
   insert into audit_blocks (number, last_seq, previous, body, hash)
     select 0, coalesce(max(seq), 0), '', '', 'unchained:' || count(*) || ':' || coalesce(max(seq), 0) from audit;
   insert into audit_head select 'main', number, last_seq, hash from audit_blocks;`,
];

/** Reads one row of every table: a file that is not ours, or torn at its roots, fails here. */
const LOOK = `select (select 1 from entries limit 1), (select 1 from changes limit 1), (select 1 from audit limit 1)`;

const versionOf = (connection: Connection): number => Number(connection.rows('pragma user_version')[0]?.[0]);

/**
 * Looks at a file before anything is written to it: one of a newer toolscout is refused, one that is
 * not ours at all counts as damaged.
 */
export function inspect(connection: Connection, path: string, newest = MIGRATIONS.length): void {
  const version = versionOf(connection);
  if (version > newest) {
    throw new ToolscoutError(
      'STORE_ERROR',
      `The store ${path} was written by a newer toolscout (version ${version}; this one knows ${newest}).`,
      { suggestion: 'Update toolscout, or choose another directory with --state-dir. Nothing was changed.' },
    );
  }
  if (version > 0) look(connection);
  // Tables and version come in one transaction, so a file with tables and no version is not ours.
  else if (version === 0 && connection.rows('select 1 from sqlite_schema limit 1').length > 0) {
    throw new DamagedFile('it is a database of another program');
  }
}

/** Brings the file to the newest version, all steps or none. */
export function migrate(connection: Connection, migrations = MIGRATIONS): void {
  if (versionOf(connection) >= migrations.length) return;
  connection.transaction(() => {
    // Read again inside the transaction: another process may have been faster.
    for (let version = versionOf(connection); version < migrations.length; version++) {
      connection.exec(migrations[version]!);
      connection.exec(`pragma user_version = ${version + 1}`);
    }
  });
}

function look(connection: Connection): void {
  try {
    connection.rows(LOOK);
  } catch (thrown) {
    if (thrown instanceof Error && thrown.message.includes('no such table')) throw new DamagedFile(thrown.message);
    throw thrown;
  }
}
