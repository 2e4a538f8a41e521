import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { patient, STARTS_PROCESSES } from '../../../test/support/patience.js';
import { systemClock } from '../../kernel/clock.js';
import { silentLog } from '../../kernel/log.js';
import type { Store } from '../../model/store.js';
import { readPostgresAddress } from './address.js';
import { openPostgresStore } from './postgres.js';
import { prepareSchema } from './schema.js';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
}, patient(60_000));
afterAll(() => postgres.cleanup());

interface Place {
  readonly store: Store;
  readonly database: string;
  sql(statement: string): Promise<unknown[]>;
}

/** A store in a database of its own, with one value. */
async function open(): Promise<Place> {
  const url = await postgres.newDatabase();
  const database = new URL(url).pathname.slice(1);
  const store = await openPostgresStore({ address: readPostgresAddress(url), clock: systemClock, log: silentLog });
  onTestFinished(() => store.close());
  await store.put('s', 'k', 1);
  return { store, database, sql: (statement) => postgres.query(statement, database) };
}
const refusal = (advice: string) => ({
  code: 'STORE_ERROR',
  retryAfterMs: expect.any(Number) as number,
  suggestion: expect.stringContaining(advice) as string,
});

describe('a database that goes bad while it is used', STARTS_PROCESSES, () => {
  it('STORE-4 R9 on a full disk writes are refused and reads go on, until there is space again', async () => {
    const { store, sql } = await open();
    await sql(`create function fill() returns trigger language plpgsql as $$ begin
      raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
      create trigger full_disk before insert or update on toolscout.entries for each row execute function fill()`);
    await expect(store.put('s', 'k', 2)).rejects.toMatchObject(refusal('disk of the database is full'));
    expect((await store.get('s', 'k'))?.value).toBe(1);
    await sql('drop trigger full_disk on toolscout.entries');
    expect(await store.put('s', 'k', 2)).toBe(true);
  });

  it('STORE-4 a server that becomes a standby refuses writes and answers reads; when it is primary again nothing is started anew', async () => {
    const { store, database } = await open();
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`;
    await postgres.query(`alter database ${database} set default_transaction_read_only = on`);
    await postgres.query(cut);
    await expect(store.put('s', 'k', 2)).rejects.toMatchObject(refusal('primary server'));
    expect((await store.get('s', 'k'))?.value).toBe(1);
    await postgres.query(`alter database ${database} reset default_transaction_read_only`);
    await postgres.query(cut);
    expect(await store.put('s', 'k', 2)).toBe(true);
  });

  it('STORE-4 tables that are gone are named, not made again behind the back of other replicas', async () => {
    const { store, sql } = await open();
    await sql('drop schema toolscout cascade');
    await expect(store.put('s', 'k', 2)).rejects.toMatchObject(refusal('Restore the database'));
    expect(await sql(`select 1 from pg_namespace where nspname = 'toolscout'`)).toEqual([]);
  });
});

describe('another database at the same address', STARTS_PROCESSES, () => {
  it('STORE-3 A40 is not used by a process that has opened the one before', async () => {
    const { store, sql } = await open();
    store.onChange(() => undefined);
    await sql(`update toolscout.about set id = 'another'; update toolscout.entries set value = '"theirs"'`);
    await expect
      .poll(() => store.get('s', 'k').catch((thrown: unknown) => thrown))
      .toMatchObject({
        code: 'STORE_ERROR',
        message: expect.stringContaining('is not the database that this process opened'),
      });
    await expect(store.put('s', 'k', 2)).rejects.toMatchObject({ suggestion: expect.stringContaining('restart') });
    expect(await sql('select value from toolscout.entries')).toEqual([{ value: '"theirs"' }]);
  });
});

describe('a server that is too old', () => {
  it('STORE-3 is refused before anything is changed', async () => {
    const asked: string[] = [];
    const query = async (sql: string): Promise<unknown[][]> => {
      asked.push(sql);
      return [[120_022, '12.22', 'UTF8', 'off']];
    };
    await expect(
      prepareSchema(query, { schema: 'toolscout', location: 'postgres://db', keyCheck: undefined }),
    ).rejects.toMatchObject({
      code: 'STORE_ERROR',
      message: 'Cannot use the store postgres://db: it is PostgreSQL 12.22.',
      suggestion: 'Use PostgreSQL 13 or newer.',
    });
    expect(asked).toHaveLength(1);
  });
});
