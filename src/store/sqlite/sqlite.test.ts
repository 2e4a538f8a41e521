import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeStore } from '../../../test/contract/store-contract.js';
import { type Clock, systemClock } from '../../kernel/clock.js';
import { createLog, type Log, silentLog } from '../../kernel/log.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Store } from '../../model/store.js';
import { connect } from './connection.js';
import { unloadable } from './error.js';
import { inspect, migrate } from './schema.js';
import { openSqliteStore } from './sqlite.js';

const mode = (path: string): string => (lstatSync(path).mode & 0o777).toString(8);
const newDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'toolscout-store-'));

describeStore('sqlite', async () => {
  const directory = await newDirectory();
  const open = (): Promise<Store> => openSqliteStore({ directory, clock: systemClock, log: silentLog });
  let store = await open();
  return {
    store,
    async reopen() {
      await store.close();
      return (store = await open());
    },
    async cleanup() {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
});

describe('sqlite', () => {
  let root: string;
  let directory: string;
  let file: string;
  let lines: string[];
  let log: Log;
  const opened: Store[] = [];
  beforeEach(async () => {
    root = await newDirectory();
    directory = join(root, 'state');
    file = join(directory, 'toolscout.db');
    lines = [];
    log = createLog({ level: 'debug', now: () => 0, write: (line) => void lines.push(line) });
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    rmSync(root, { recursive: true });
  });
  const open = async (more: { clock?: Clock; directory?: string; busyTimeoutMs?: number } = {}): Promise<Store> => {
    const store = await openSqliteStore({ directory, clock: systemClock, log, ...more });
    opened.push(store);
    return store;
  };
  const damagedFiles = (): string[] => readdirSync(directory).filter((name) => /\.damaged-[^.]*Z(-\d+)?$/.test(name));
  /** A raw connection to the same file, as another process would have. */
  const sabotage = (sql: string): void => {
    const database = new Database(file);
    database.exec(sql);
    database.close();
  };

  /** A store with many entries, damaged where opening does not look. */
  const damageInside = async (): Promise<void> => {
    const store = await open();
    for (let at = 100; at < 400; at++) await store.put('s', `k${at}`, 'x'.repeat(1000));
    await store.close();
    const bytes = readFileSync(file);
    bytes.fill(0xff, Math.floor(bytes.length / 8192) * 4096);
    rmSync(file);
    writeFileSync(file, bytes);
  };

  it('STORE-2 directory 0700 and files 0600, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      const store = await open({ directory: join(directory, 'deep') });
      await store.put('s', 'k', 1);
    } finally {
      process.umask(umask);
    }
    expect(mode(directory)).toBe('700');
    expect(mode(join(directory, 'deep'))).toBe('700');
    const files = readdirSync(join(directory, 'deep'));
    expect(files).toEqual(expect.arrayContaining(['toolscout.db', 'toolscout.db-wal', 'toolscout.db-shm']));
    for (const name of files) expect([name, mode(join(directory, 'deep', name))]).toEqual([name, '600']);
  });

  it('STORE-2 a directory and file of ours that stand open are closed', async () => {
    mkdirSync(directory, { mode: 0o755 });
    await (await open()).close();
    expect(mode(directory)).toBe('700');
    chmodSync(directory, 0o777);
    chmodSync(file, 0o666);
    await open();
    expect([mode(directory), mode(file)]).toEqual(['700', '600']);
  });

  it('STORE-2 a directory that others write to and that holds other files is refused and left alone', async () => {
    mkdirSync(directory);
    chmodSync(directory, 0o777);
    writeFileSync(join(directory, 'theirs'), '');
    await expect(open()).rejects.toMatchObject({ code: 'STORE_ERROR', message: expect.stringContaining(directory) });
    expect(mode(directory)).toBe('777');
    expect(readdirSync(directory)).toEqual(['theirs']);
    chmodSync(directory, 0o755);
    await open();
    expect(mode(directory)).toBe('755');
    expect(lines.join('')).toContain('store.directory-readable');
  });

  it('STORE-2 A21 a symlink as directory is refused, also with a slash at its end', async () => {
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync(join(root, 'elsewhere'), directory);
    for (const path of [directory, `${directory}/`]) {
      await expect(open({ directory: path })).rejects.toMatchObject({
        code: 'STORE_ERROR',
        message: expect.stringContaining(directory),
      });
    }
    expect(readdirSync(join(root, 'elsewhere'))).toEqual([]);
  });

  it.each(['toolscout.db', 'toolscout.db-wal', 'toolscout.db-shm', 'toolscout.db.lock'])(
    'STORE-2 A21 a symlink as %s is refused, dangling or not',
    async (name) => {
      await (await open()).close();
      const victim = join(root, 'victim');
      for (const content of [undefined, 'precious']) {
        rmSync(join(directory, name), { force: true });
        if (content) writeFileSync(victim, content);
        symlinkSync(victim, join(directory, name));
        await expect(open()).rejects.toMatchObject({ code: 'STORE_ERROR', message: expect.stringContaining(name) });
      }
      expect(readFileSync(victim, 'utf8')).toBe('precious');
    },
  );

  it('STORE-2 a directory that cannot be made is refused at once', async () => {
    // The system says of this place that it is not there when something is to be made in it.
    await expect(open({ directory: '/proc/none/state' })).rejects.toMatchObject({
      code: 'STORE_ERROR',
      message: expect.stringContaining('/proc/none'),
    });
    await (await open({ directory: join(root, 'a', 'b', 'c') })).close();
    expect(mode(join(root, 'a'))).toBe('700');
  });

  it('STORE-2 what is not a regular file is refused', async () => {
    mkdirSync(file, { recursive: true });
    await expect(open()).rejects.toMatchObject({ code: 'STORE_ERROR', message: expect.stringContaining(file) });
  });

  it.each([
    ['text', () => Buffer.from('this is not a database, and long enough to look like one '.repeat(100))],
    ['random bytes', () => Buffer.from(Array.from({ length: 20_000 }, (_, i) => (i * 7919) % 251))],
    ['a truncated database', () => readFileSync(file).subarray(0, 6000)],
    ['a database of another program', () => foreignDatabase(root, 0)],
    ['a database without our tables', () => foreignDatabase(root, 1)],
  ])('STORE-1 A23 %s is set aside, named in the log and rebuilt', async (_, makeBytes) => {
    const first = await open();
    await first.put('s', 'k', 'x'.repeat(20_000));
    await first.close();
    const bytes = makeBytes();
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    writeFileSync(file, bytes);

    const store = await open();
    expect(await store.get('s', 'k')).toBeUndefined();
    await store.put('s', 'k', 'new');
    expect(damagedFiles()).toHaveLength(1);
    const [kept = ''] = damagedFiles();
    expect(readFileSync(join(directory, kept))).toEqual(bytes);
    expect(mode(join(directory, kept))).toBe('600');
    expect(lines.join('')).toContain(kept);
    await store.close();
    expect((await (await open()).get('s', 'k'))?.value).toBe('new');
    expect(damagedFiles()).toHaveLength(1);
  });

  it('STORE-1 two damaged files of the same moment are both kept', async () => {
    const clock = { ...systemClock, now: () => 1_700_000_000_000 };
    for (let round = 1; round <= 2; round++) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(file, 'damaged '.repeat(500));
      await (await open({ clock })).close();
      expect(damagedFiles()).toHaveLength(round);
    }
  });

  it('STORE-1 an empty file is a new store, not a damaged one', async () => {
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(file, '', { mode: 0o600 });
    await (await open()).put('s', 'k', 1);
    expect(damagedFiles()).toEqual([]);
  });

  it('STORE-1 A23 damage found later fails that operation, and the next opening repairs', async () => {
    await damageInside();
    const store = await open();
    await expect(store.list('s')).rejects.toMatchObject({ code: 'STORE_ERROR' });
    await store.close();
    expect(damagedFiles()).toEqual([]);

    const next = await open();
    expect(await next.list('s')).toEqual([]);
    expect(damagedFiles()).toHaveLength(1);
    await next.close();
    await open();
    expect(damagedFiles()).toHaveLength(1);
  });

  it('STORE-1 a store that found damage goes on with the rebuilt file', async () => {
    await damageInside();
    const store = await open();
    await expect(store.list('s')).rejects.toMatchObject({ code: 'STORE_ERROR' });
    await store.put('s', 'k', 'after');
    expect((await store.list('s')).map(({ key }) => key)).toEqual(['k']);
    expect(damagedFiles()).toHaveLength(1);
  });

  it('STORE-1 a false alarm costs nothing', async () => {
    const first = await open();
    await first.put('s', 'k', 1);
    await first.close();
    writeFileSync(`${file}.suspect`, '');
    expect((await (await open()).get('s', 'k'))?.value).toBe(1);
    expect(readdirSync(directory)).not.toContain('toolscout.db.suspect');
    expect(damagedFiles()).toEqual([]);
  });

  it('STORE-1 a write finds its way when the file was set aside or deleted under it', async () => {
    const store = await open();
    await store.put('s', 'old', 1);
    rmSync(directory, { recursive: true });
    await store.put('s', 'new', 2);
    expect((await (await open()).list('s')).map(({ key }) => key)).toEqual(['new']);
    expect((await store.list('s')).map(({ key }) => key)).toEqual(['new']);
    expect(lines.join('')).toContain('store.moved');
  });

  it('A23 A48 a value that does not parse is null and damaged, named in the log once, and stays', async () => {
    const store = await open();
    await store.put('s', 'good', 1);
    await store.put('s', 'bad', 2);
    await store.append([{ id: 'a', time: 1, kind: 'k', principal: 'p', outcome: 'success' }]);
    sabotage(`update entries set value = '{"cut' where key = 'bad'; update audit set body = '{'`);
    expect(await store.get('s', 'bad')).toMatchObject({ value: null, damaged: true });
    const listed = (await store.list('s')).map(({ key, damaged }) => [key, damaged]);
    expect(listed).toEqual([
      ['bad', true],
      ['good', undefined],
    ]);
    expect(await store.audit({})).toEqual([]);
    expect(lines.filter((line) => line.includes('store.unreadable'))).toHaveLength(2);
    expect(await store.clear('s')).toBe(2);
  });

  it('A48 bytes that are not UTF-8, and text where numbers belong, are set aside and the process lives', async () => {
    const store = await open();
    for (const key of ['good', 'value', 'key', 'number']) await store.put('s', key, 1);
    await store.append(
      ['a', 'b', 'c', 'd'].map((id) => ({ id, time: 1, kind: 'k', principal: 'p', outcome: 'success' as const })),
    );
    sabotage(`
      update entries set value = cast(x'22ff22' as text) where key = 'value';
      update entries set key = cast(x'ff6b' as text) where key = 'key';
      update entries set stored_at = cast(x'fe' as text), revision = cast(x'ff' as text) where key = 'number';
      insert into changes (space, version) values (cast(x'fffe' as text), cast(x'ff' as text));
      update audit set body = cast(x'7bff' as text) where id = 'a';
      update audit set body = '5' where id = 'b';
      update audit set body = '{"id":"c"}' where id = 'c'`);
    expect(await store.get('s', 'value')).toMatchObject({ value: null, damaged: true });
    expect((await store.list('s')).map(({ key }) => key)).toEqual(['good', 'number', 'value']);
    expect([...(await store.revisions('s')).keys()].toSorted()).toEqual(['good', 'number', 'value']);
    expect((await store.audit({})).map(({ id }) => id)).toEqual(['d']);
    expect(await store.put('s', 'value', 'new', { ifRevision: (await store.get('s', 'value'))!.revision })).toBe(true);
    expect((await store.get('s', 'value'))?.value).toBe('new');
    const other = await open();
    const heard: string[] = [];
    store.onChange((space) => heard.push(space));
    await other.put('s', 'good', 2);
    await expect.poll(() => heard).toContain('s');
  });

  it('A48 leaves out a row under another spelling of a key: it neither doubles the entry nor deletes it when that row is pruned', async () => {
    const store = await open();
    await store.put('s', 'good', 1);
    sabotage(`insert into entries (space, key, value, stored_at, expires_at, revision)
      values ('s', '\\u0067ood', '2', 1, 1, 9), ('\\u0073', 'other', '3', 1, 1, 9)`);
    expect((await store.list('s')).map(({ key, value }) => [key, value])).toEqual([['good', 1]]);
    expect([...(await store.revisions('s')).keys()]).toEqual(['good']);
    expect(await store.spaces()).toEqual(['about-store', 's']);
  });

  it('A48 EXEC-5 a record with a time that is no date hides neither the other records nor the sums', async () => {
    const store = await open();
    await store.append(
      ['a', 'b'].map((id) => ({ id, time: 1, kind: 'k', principal: 'p', outcome: 'success' as const })),
    );
    sabotage(`update audit set time = 9000000000000000, body = json_set(body, '$.time', 9e15) where id = 'a'`);
    expect((await store.audit({})).map(({ id }) => id)).toEqual(['b']);
    for (const by of ['day', 'hour'] as const) {
      const sums = await store.sumAudit({ by: [by] });
      expect(sums.map((sum) => sum[by]?.slice(0, 10) ?? 'none').toSorted()).toEqual(['1970-01-01', 'none']);
    }
  });

  it('R20 a file of a newer version is refused and not touched', async () => {
    await (await open()).close();
    sabotage('pragma user_version = 99');
    const before = readFileSync(file);
    await expect(open()).rejects.toMatchObject({ code: 'STORE_ERROR', message: expect.stringContaining('newer') });
    expect(readFileSync(file)).toEqual(before);
    expect(damagedFiles()).toEqual([]);
  });

  it('R20 an older version is migrated, all steps or none', () => {
    const path = join(root, 'old.db');
    const connection = connect(Database, path, 100);
    const tables = 'create table entries (a); create table changes (a); create table audit (a);';
    migrate(connection, [tables]);
    connection.exec('insert into entries values (1)');
    const steps = [tables, 'alter table entries add column b', 'this is not sql'];
    expect(() => migrate(connection, steps)).toThrow();
    expect(connection.rows('pragma user_version')).toEqual([[1]]);
    expect(connection.rows('select * from entries')).toEqual([[1]]);
    migrate(connection, [...steps.slice(0, 2), 'update entries set b = 2']);
    expect(connection.rows('pragma user_version')).toEqual([[3]]);
    expect(connection.rows('select a, b from entries')).toEqual([[1, 2]]);
    expect(() => inspect(connection, path, 2)).toThrow(/newer/);
    expect(() => inspect(connection, path, 3)).not.toThrow();
    expect(() => inspect(connection, path, 4)).not.toThrow();
    connection.close();
  });

  it('R20 ANS-7 a file of the first version keeps its audit records, which count without tokens, and is refused by that version then', async () => {
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
    const old = connect(Database, file, 100);
    // As the first version made it; a step that was released is never edited.
    old.exec(`create table entries (
        space text not null, key text not null, value text not null,
        stored_at integer not null, expires_at integer, revision integer not null,
        primary key (space, key)
      ) without rowid;
      create table changes (space text primary key, version integer not null) without rowid;
      create table audit (
        seq integer primary key, id text not null unique, time integer not null, kind text not null,
        server text, tool text, outcome text not null, body text not null
      );
      create index audit_server on audit (server);
      pragma user_version = 1`);
    const record = {
      id: 'old',
      time: 1000,
      kind: 'execution',
      principal: 'ann',
      server: 's',
      tool: 't',
      outcome: 'success',
    };
    const insert = (id: string): void =>
      old.exec(`insert into audit (id, time, kind, server, tool, outcome, body)
        values ('${id}', 1000, 'execution', 's', 't', 'success', '${JSON.stringify({ ...record, id })}')`);
    insert('old');

    const store = await open();
    expect(await store.audit({})).toEqual([record]);
    // A process of the version before that is still running goes on appending.
    insert('late');
    await store.append([{ ...record, id: 'new', tokens: { arguments: 1, returned: 2, withheld: 3 } } as AuditRecord]);
    expect((await store.audit({})).map(({ id }) => id).toSorted()).toEqual(['late', 'new', 'old']);
    const sums = await store.sumAudit({ by: ['server'] });
    expect(sums).toMatchObject([{ server: 's', records: 3, tokens: { arguments: 1, returned: 2, withheld: 3 } }]);
    expect(() => inspect(old, file, 1)).toThrow(/was written by a newer toolscout \(version 3; this one knows 1\)/);
    old.close();
  });

  it('R9 while another process holds the file, writes fail with STORE_ERROR and reads go on', async () => {
    const store = await open({ busyTimeoutMs: 60 });
    await store.put('s', 'k', 1);
    const other = new Database(file);
    other.exec('begin immediate');
    await expect(store.put('s', 'k', 2)).rejects.toMatchObject({ code: 'STORE_ERROR' });
    expect((await store.get('s', 'k'))?.value).toBe(1);
    other.exec('rollback');
    other.close();
    expect(await store.put('s', 'k', 3)).toBe(true);
  });

  it('STORE-1 a write waits for its turn without stopping the process', async () => {
    const store = await open();
    const other = new Database(file);
    other.exec('begin immediate');
    const writes = Promise.all([store.put('s', 'k', 1), store.put('s', 'k', 2)]);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    other.exec('rollback');
    other.close();
    expect(await writes).toEqual([true, true]);
    expect((await store.get('s', 'k'))?.value).toBe(2);
  });

  it('STORE-1 a write that waits is not overtaken by a later one', async () => {
    const store = await open();
    const other = new Database(file);
    other.exec('begin immediate');
    const first = store.put('s', 'k', 'first');
    other.exec('rollback');
    other.close();
    const second = store.put('s', 'k', 'second');
    expect(await Promise.all([first, second])).toEqual([true, true]);
    expect((await store.get('s', 'k'))?.value).toBe('second');
  });

  it('STORE-1 a new file does not share what SQLite kept beside the old one', async () => {
    const store = await open();
    await store.put('s', 'old', 1);
    const beside = ['-wal', '-shm'].map((suffix) => lstatSync(file + suffix).ino);
    rmSync(file);
    const other = await open();
    await other.put('s', 'theirs', 2);
    expect(['-wal', '-shm'].map((suffix) => lstatSync(file + suffix).ino)).not.toEqual(beside);
    await store.put('s', 'mine', 3);
    expect((await other.list('s')).map(({ key }) => key)).toEqual(['mine', 'theirs']);
    expect(damagedFiles()).toEqual([]);
  });

  it('STORE-1 reports changes by others, only those, and only with a listener', async () => {
    let tick: (() => void) | undefined;
    const clock: Clock = {
      ...systemClock,
      after(_, task) {
        tick = task;
        return { cancel: () => (tick = undefined) };
      },
    };
    const store = await open({ clock });
    const other = await open();
    expect(tick).toBeUndefined();
    await store.put('mine', 'before', 1);
    const heard: string[] = [];
    const stop = store.onChange((space) => heard.push(space));
    tick?.();
    expect(heard).toEqual([]);

    await store.put('mine', 'k', 1);
    await store.delete('mine', 'k');
    tick?.();
    expect(heard).toEqual([]);

    await other.put('theirs', 'k', 1);
    await other.put('theirs', 'k', 2);
    tick?.();
    expect(heard).toEqual(['theirs']);
    tick?.();
    expect(heard).toEqual(['theirs']);

    heard.length = 0;
    await store.put('both', 'k', 1);
    await other.put('both', 'k', 2);
    await store.put('both', 'k', 3);
    tick?.();
    expect(heard).toEqual(['both']);

    heard.length = 0;
    await other.append([{ id: 'a', time: 1, kind: 'k', principal: 'p', outcome: 'success' }]);
    await other.delete('theirs', 'nothing');
    tick?.();
    expect(heard).toEqual([]);

    await other.clear('theirs');
    tick?.();
    expect(heard).toEqual(['theirs']);

    stop();
    expect(tick).toBeUndefined();
    heard.length = 0;
    await store.put('mine', 'unheard', 1);
    store.onChange((space) => heard.push(space));
    await store.put('mine', 'k', 1);
    tick?.();
    expect(heard).toEqual([]);
  });

  it('STORE-1 a rebuilt file is a change of everything that was in it', async () => {
    let tick: (() => void) | undefined;
    const clock: Clock = { ...systemClock, after: (_, task) => ((tick = task), { cancel: () => (tick = undefined) }) };
    const store = await open({ clock });
    await store.put('s', 'k', 1);
    const heard: string[] = [];
    store.onChange(() => {
      throw new Error('a listener that fails');
    });
    store.onChange((space) => heard.push(space));
    rmSync(directory, { recursive: true });
    tick?.();
    expect(heard).toEqual(['about-store', 's']);
    expect(lines.join('')).toContain('a listener that fails');
    await expect(store.get('s', 'k')).resolves.toBeUndefined();
  });

  it('STORE-1 a lock file with something else in it is refused by name', async () => {
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(`${file}.lock`, 'not a lock '.repeat(200));
    await expect(open()).rejects.toMatchObject({ code: 'STORE_ERROR', message: expect.stringContaining('.lock') });
  });
});

/** A database that was not made by us. */
function foreignDatabase(root: string, version: number): Buffer {
  const path = join(root, 'foreign.db');
  const database = new Database(path);
  database.exec(`create table theirs (a); pragma user_version = ${version}`);
  database.close();
  return readFileSync(path);
}

it('STORE-1 EXEC-3 a SQLite that cannot be loaded is an error with the cause and both ways out', () => {
  expect(unloadable(new Error('GLIBC_2.99 not found (required by libsql.node).'))).toMatchObject({
    code: 'STORE_ERROR',
    message: 'Cannot load SQLite (package libsql): GLIBC_2.99 not found (required by libsql.node).',
    suggestion: 'Install toolscout again without --omit=optional, or use PostgreSQL.',
  });
});
