import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { describeStore } from '../../../test/contract/store-contract.js';
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { systemClock } from '../../kernel/clock.js';
import { createLog, silentLog } from '../../kernel/log.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Store } from '../../model/store.js';
import { readPostgresAddress } from './address.js';
import { openPostgresStore, type PostgresStoreOptions } from './postgres.js';
import { createSeal } from './seal.js';
import { patient } from '../../../test/support/patience.js';

let postgres: TestPostgres;
let base: string;
let count = 0;
beforeAll(async () => {
  postgres = await startPostgres();
  base = await postgres.newDatabase();
}, patient(60_000));
afterAll(() => postgres.cleanup());

/** A place without tables; a schema is made faster than a database. */
const newPlace = (): string => `${base}?schema=place${++count}`;
const open = (place: string, more: Partial<PostgresStoreOptions> = {}): Promise<Store> =>
  openPostgresStore({
    address: readPostgresAddress(place),
    clock: systemClock,
    log: silentLog,
    openWaitMs: 0,
    ...more,
  });

describeStore('postgres', async () => {
  const place = newPlace();
  let store = await open(place);
  return {
    store,
    async reopen() {
      await store.close();
      return (store = await open(place));
    },
    cleanup: () => store.close(),
  };
});

describe('postgres', () => {
  const opened: Store[] = [];
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  const use = async (place: string, more: Partial<PostgresStoreOptions> = {}): Promise<Store> => {
    const store = await open(place, more);
    opened.push(store);
    return store;
  };
  const sql = (statement: string): Promise<unknown[]> => postgres.query(statement, new URL(base).pathname.slice(1));
  const record = (id: string): AuditRecord => ({ id, time: 1, kind: 'k', principal: 'p', outcome: 'success' });

  it('STORE-3 replicas that start at once make the tables once', async () => {
    const place = newPlace();
    const stores = await Promise.all(Array.from({ length: 5 }, () => use(place)));
    await stores[0]!.put('s', 'k', 1);
    expect((await stores[4]!.get('s', 'k'))?.value).toBe(1);
  });

  it('STORE-3 of the swaps of several replicas exactly one wins, and revisions stay distinct', async () => {
    const place = newPlace();
    const stores = await Promise.all(Array.from({ length: 3 }, () => use(place)));
    const created = await Promise.all(stores.map((store, at) => store.put('s', 'new', at, { ifRevision: 0 })));
    expect(created.filter(Boolean)).toHaveLength(1);
    const { revision } = (await stores[0]!.get('s', 'new'))!;
    const swapped = await Promise.all(
      Array.from({ length: 30 }, (_, at) => stores[at % 3]!.put('s', 'new', at, { ifRevision: revision })),
    );
    expect(swapped.filter(Boolean)).toHaveLength(1);
    await Promise.all(Array.from({ length: 60 }, (_, at) => stores[at % 3]!.put('s', `k${at}`, at)));
    const revisions = (await stores[0]!.list('s')).map((entry) => entry.revision);
    expect(new Set(revisions).size).toBe(61);
  });

  it('STORE-3 writers, deleters and clearers of one space do not block each other for good', async () => {
    const place = newPlace();
    const stores = await Promise.all(Array.from({ length: 3 }, () => use(place)));
    const acts = Array.from({ length: 90 }, (_, at): Promise<unknown> => {
      const store = stores[at % 3]!;
      if (at % 5 === 0) return store.delete('s', `k${at % 3}`);
      return at % 7 === 0 ? store.clear('s') : store.put('s', `k${at % 3}`, at);
    });
    await expect(Promise.all(acts)).resolves.toHaveLength(90);
  });

  it('STORE-3 a replica hears of the changes of others and not of its own', async () => {
    const place = newPlace();
    const [mine, other] = [await use(place), await use(place)];
    const heard: string[] = [];
    mine.onChange((space) => heard.push(space));
    await mine.put('own', 'k', 1);
    await other.put('theirs', 'k', 1);
    await expect.poll(() => heard).toEqual(['theirs']);
    await mine.put('own', 'k', 2);
    await other.put('x'.repeat(1000), 'k', 2);
    await expect.poll(() => heard).toEqual(['theirs', 'x'.repeat(1000)]);
    await other.delete('theirs', 'k');
    await expect.poll(() => heard.at(-1)).toBe('theirs');
    await other.clear('nothing');
    expect(heard).not.toContain('own');
  });

  it('STORE-3 a change between opening and listening is heard', async () => {
    const place = newPlace();
    const [mine, other] = [await use(place), await use(place)];
    await other.put('theirs', 'k', 1);
    const heard: string[] = [];
    mine.onChange((space) => heard.push(space));
    await expect.poll(() => heard).toEqual(['theirs']);
  });

  it('EXEC-5 STORE-3 records of several replicas are one log; each is there once and in the order of its writer', async () => {
    const place = newPlace();
    const stores = await Promise.all(Array.from({ length: 3 }, () => use(place)));
    await Promise.all(
      stores.map(async (store, at) => {
        for (let n = 0; n < 10; n++) await store.append([record(`${at}-${n}`), record(`${at}-${n}b`)]);
      }),
    );
    const ids = (await stores[0]!.audit({})).map(({ id }) => id);
    expect(new Set(ids).size).toBe(60);
    const ofFirst = ids.filter((id) => id.startsWith('0-')).toReversed();
    expect(ofFirst).toEqual(Array.from({ length: 10 }, (_, n) => [`0-${n}`, `0-${n}b`]).flat());
    const gone = await Promise.all(stores.map((store) => store.pruneAudit(2)));
    expect(gone.reduce((sum, one) => sum + one)).toBe(60);
  });

  it('STORE-3 tokens are encrypted in the database and readable to every replica with the key', async () => {
    const place = newPlace();
    const seal = createSeal('k'.repeat(40));
    const store = await use(place, { seal });
    await store.put('oauth', 'grant', { refreshToken: 'canary-token' });
    const { schema } = readPostgresAddress(place);
    expect(JSON.stringify(await sql(`select * from ${schema}.entries`))).not.toContain('canary');
    expect((await (await use(place, { seal })).get('oauth', 'grant'))?.value).toEqual({ refreshToken: 'canary-token' });
    await expect(use(place, { seal: createSeal('other'.repeat(10)) })).rejects.toMatchObject({
      code: 'STORE_ERROR',
      message: expect.stringContaining('another key'),
    });
    await sql(`update ${schema}.entries set key = 'moved'`);
    expect(await store.get('oauth', 'moved')).toMatchObject({ value: null, damaged: true });
  });

  it('STORE-3 without a key tokens are refused, not written as they are; everything else is written', async () => {
    const store = await use(newPlace());
    await expect(store.put('oauth', 'grant', 1)).rejects.toMatchObject({
      code: 'STORE_ERROR',
      suggestion: expect.stringContaining('TOOLSCOUT_STORE_KEY'),
    });
    expect(await store.put('approvals', 'k', 1)).toBe(true);
  });

  it('STORE-3 a database of a newer toolscout is refused, and one that becomes newer is used no more', async () => {
    const place = newPlace();
    const { schema } = readPostgresAddress(place);
    const old = await use(place);
    old.onChange(() => {});
    await sql(`update ${schema}.about set version = 99`);
    await (await use(place)).put('s', 'k', 'an upgrade that only adds');
    await sql(`update ${schema}.about set oldest_reader = 99`);
    const refusal = { code: 'STORE_ERROR', message: expect.stringContaining('newer toolscout (version 99') };
    await expect(use(place)).rejects.toMatchObject(refusal);
    await old.put('s', 'k', 1).catch(() => undefined);
    await expect.poll(() => old.put('s', 'k', 2).catch((thrown: unknown) => thrown)).toMatchObject(refusal);
  });

  it('STORE-3 a schema of another program is refused and left alone', async () => {
    const place = newPlace();
    const { schema } = readPostgresAddress(place);
    await sql(
      `create schema ${schema}; create table ${schema}.about (me text); create table ${schema}.entries (x int)`,
    );
    await expect(use(place)).rejects.toMatchObject({
      code: 'STORE_ERROR',
      message: expect.stringContaining('tables of another program'),
    });
    expect(await sql(`select table_name from information_schema.tables where table_schema = '${schema}'`)).toHaveLength(
      2,
    );
  });

  it('STORE-3 a database that is read-only or of another encoding is refused', async () => {
    await sql(
      `create role reader login password 'secret-of-the-test'; alter role reader set default_transaction_read_only = on`,
    );
    const readonly = base.replace('postgres:secret', 'reader:secret');
    await expect(use(readonly)).rejects.toMatchObject({ message: expect.stringContaining('read-only') });
    const latin = await postgres.newDatabase(`encoding 'LATIN1' template template0`);
    await expect(use(latin)).rejects.toMatchObject({ message: expect.stringContaining('LATIN1') });
  });

  it.each([
    ['a wrong password', (place: string) => place.replace('secret-of-the-test', 'canary-password')],
    ['no such database', (place: string) => place.replace(/\/d\d+/, '/nothing')],
    ['no listener', (place: string) => place.replace(/:\d+\//, ':1/')],
  ])('STORE-3 CFG-4 %s is a STORE_ERROR that names the database and no password', async (_, spoil) => {
    const place = spoil(base);
    const thrown: unknown = await use(place).catch((error: unknown) => error);
    expect(thrown).toMatchObject({
      code: 'STORE_ERROR',
      message: expect.stringContaining('postgres://postgres@127.0.0.1'),
    });
    expect(String(thrown)).not.toMatch(/canary-password|secret-of-the-test/);
  });

  it('R11 SEC-12 a replica whose clock is ahead deletes no record that is not old, and says how far its clock is off', async () => {
    const DAY_MS = 86_400_000;
    const lines: string[] = [];
    const log = createLog({ level: 'warn', now: () => 0, write: (line) => void lines.push(line) });
    const place = newPlace();
    const clock = { ...systemClock, now: () => systemClock.now() + 400 * DAY_MS };
    const [wrong, right] = [await use(place, { clock, log }), await use(place)];
    const [old, fresh] = [systemClock.now() - 40 * DAY_MS, systemClock.now() - 20 * DAY_MS];
    await right.append([
      { ...record('old'), time: old },
      { ...record('fresh'), time: fresh },
    ]);
    expect(await wrong.pruneAudit(clock.now() - 30 * DAY_MS)).toBe(1);
    expect((await right.audit({})).map(({ id }) => id)).toEqual(['fresh']);
    expect(await right.verifyAudit()).toMatchObject({ ok: true });
    expect(lines.filter((line) => line.includes('store.clock-differs'))).toHaveLength(1);
    expect(Math.round(wrong.aheadMs!() / DAY_MS)).toBe(400);
    expect(Math.abs(right.aheadMs!())).toBeLessThan(60_000);
  });

  it('STORE-4 connections that are cut lose nothing that was acknowledged, and no reader notices', async () => {
    const store = await use(newPlace());
    const acknowledged: number[] = [];
    const write = async (): Promise<void> => {
      for (let n = 0; n < 150; n++) {
        await store.put('s', `k${n}`, n);
        acknowledged.push(n);
        await store.get('s', `k${n}`);
      }
    };
    const cut = async (): Promise<void> => {
      for (let times = 0; times < 8; times++) {
        await sql(`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'toolscout' and datname = current_database() and pid <> pg_backend_pid()`);
      }
    };
    await Promise.all([write(), cut()]);
    expect((await store.list('s')).map(({ value }) => value).toSorted((a, b) => Number(a) - Number(b))).toEqual(
      acknowledged,
    );
  });

  it('STORE-4 without its database a store answers from memory, refuses writes with a time, and comes back by itself', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'info', now: () => 0, write: (line) => void lines.push(line) });
    const place = newPlace();
    const [store, other] = [await use(place, { log }), await use(place)];
    const heard: string[] = [];
    store.onChange((space) => heard.push(space));
    await store.put('approvals', 'written', { by: 'me' });
    await other.put('approvals', 'listed', 1);
    await store.list('approvals');
    await other.put('servers', 'read', 2);
    await store.get('servers', 'read');
    await expect.poll(() => heard).toContain('servers');

    await postgres.stop();
    const refusal = { code: 'STORE_ERROR', retryAfterMs: expect.any(Number) };
    await expect(store.put('approvals', 'written', 2)).rejects.toMatchObject(refusal);
    await expect(store.append([record('a')])).rejects.toMatchObject(refusal);
    await expect(store.audit({})).rejects.toMatchObject(refusal);
    expect(await store.get('approvals', 'written')).toMatchObject({ value: { by: 'me' } });
    expect(await store.get('approvals', 'absent')).toBeUndefined();
    expect((await store.list('approvals')).map(({ key }) => key)).toEqual(['listed', 'written']);
    expect(await store.get('servers', 'read')).toMatchObject({ value: 2 });
    await expect(store.get('servers', 'never asked for')).rejects.toMatchObject(refusal);
    await expect(store.list('servers')).rejects.toMatchObject(refusal);

    heard.length = 0;
    await postgres.start();
    await expect.poll(() => store.put('approvals', 'again', 3).catch(() => false)).toBe(true);
    await expect.poll(() => other.put('skills', 'late', 4).catch(() => false)).toBe(true);
    await expect.poll(() => heard).toContain('skills');
    expect(lines.filter((line) => line.includes('store.lost'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('store.recovered'))).toHaveLength(1);
  });
});
