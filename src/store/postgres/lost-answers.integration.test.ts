import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startDatabaseProxy, type DatabaseProxy } from '../../../test/support/database-proxy.js';
import { patient, STARTS_PROCESSES } from '../../../test/support/patience.js';
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { systemClock, type Clock } from '../../kernel/clock.js';
import { silentLog } from '../../kernel/log.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Store } from '../../model/store.js';
import { readPostgresAddress } from './address.js';
import { openPostgresStore, type PostgresStoreOptions } from './postgres.js';
import { openSession, type Session } from './session.js';

let postgres: TestPostgres;
let proxy: DatabaseProxy;
let base: string;
let count = 0;
beforeAll(async () => {
  postgres = await startPostgres();
  base = await postgres.newDatabase();
  proxy = await startDatabaseProxy(base);
}, patient(60_000));
afterAll(async () => {
  await proxy.stop();
  await postgres.cleanup();
});

const newPlace = (): string => `${base}?schema=lost${++count}`;
const open = async (place: string, more: Partial<PostgresStoreOptions> = {}): Promise<Store> => {
  const store = await openPostgresStore({
    address: readPostgresAddress(place),
    clock: systemClock,
    log: silentLog,
    ...more,
  });
  onTestFinished(() => store.close());
  return store;
};
const openRaw = async (place: string, more: Partial<PostgresStoreOptions> = {}): Promise<Session> => {
  const session = await openSession({
    address: readPostgresAddress(place),
    clock: systemClock,
    log: silentLog,
    random: () => 0.5,
    timeoutMs: 5000,
    openWaitMs: 0,
    ...more,
  });
  onTestFinished(() => session.close());
  return session;
};
const record = (id: string): AuditRecord => ({ id, time: 1, kind: 'k', principal: 'p', outcome: 'success' });
const sql = (statement: string): Promise<unknown[]> => postgres.query(statement, new URL(base).pathname.slice(1));
/** A clock on which pauses are a twentieth as long. */
const quickly: Clock = { ...systemClock, after: (ms, task, options) => systemClock.after(ms / 20, task, options) };
const CUT = 'select pg_terminate_backend(pg_backend_pid())';

describe('a connection that is cut', STARTS_PROCESSES, () => {
  it('STORE-4 a change that is announced while nothing can be read is read afterwards, without a further change', async () => {
    const place = newPlace();
    const [store, other] = [await open(proxy.address(place), { clock: quickly }), await open(place)];
    let read: unknown;
    store.onChange((space) => {
      const note = (value: unknown): unknown => (read = value);
      store.list(space).then((entries) => note(entries.map(({ value }) => value)), note);
    });
    await expect.poll(() => proxy.listening).toBe(1);
    // The second is heard because it is announced, and by nothing else.
    for (const value of ['first', 'before']) {
      await other.put('approvals', 'k', value);
      await expect.poll(() => read).toEqual([value]);
    }
    proxy.loseAnswers(Infinity);
    onTestFinished(() => proxy.loseAnswers(0));
    read = undefined;
    await other.put('approvals', 'k', 'after');
    // From memory: the database does not answer.
    await expect.poll(() => read).toEqual(['before']);
    proxy.loseAnswers(0);
    await expect.poll(() => read).toEqual(['after']);
  });

  it('STORE-4 a transaction is run again as long as it was not to be committed', async () => {
    const session = await openRaw(base);
    let runs = 0;
    const value = await session.transaction('write to', async (query) => {
      runs += 1;
      if (runs < 3) await query(CUT);
      return (await query('select 7'))[0]?.[0];
    });
    expect({ value, runs }).toEqual({ value: 7, runs: 3 });
    expect(session.outage()).toBeUndefined();
  });

  it('STORE-4 a transaction that was cut while it was committed is not run again: it may have come through', async () => {
    await sql(`create table fatal (n int); create function cut() returns trigger language plpgsql as $$ begin
      perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
      create constraint trigger late after insert on fatal deferrable initially deferred for each row execute function cut()`);
    const session = await openRaw(base);
    let runs = 0;
    const task = session.transaction('write to', async (query) => {
      runs += 1;
      await query('insert into fatal values (1)');
    });
    await expect(task).rejects.toMatchObject({ code: 'STORE_ERROR', retryAfterMs: expect.any(Number) });
    expect(runs).toBe(1);
  });

  it('STORE-4 several statements that fail at once are one failure: the first look comes soon', async () => {
    const pauses: number[] = [];
    const clock: Clock = {
      ...systemClock,
      after(ms, task, options) {
        if (options?.awaited) return systemClock.after(ms, task, options);
        pauses.push(ms);
        return { cancel: () => undefined };
      },
    };
    const session = await openRaw(proxy.address(base), { clock });
    proxy.isDown = true;
    onTestFinished(() => void (proxy.isDown = false));
    const failed = await Promise.allSettled(Array.from({ length: 5 }, () => session.run('read', 'select 1')));
    expect(failed.every(({ status }) => status === 'rejected')).toBe(true);
    expect(pauses).toEqual([250]);
  });

  it('STORE-4 a statement that takes too long is refused with a time, and the database does not count as lost', async () => {
    const session = await openRaw(proxy.address(base), { timeoutMs: 200 });
    const slow = session.run('read', 'select pg_sleep(1)');
    await expect(slow).rejects.toMatchObject({
      code: 'STORE_ERROR',
      retryAfterMs: expect.any(Number),
      suggestion: expect.stringContaining('locks'),
    });
    expect(session.outage()).toBeUndefined();
    await sql(
      `create role hurried login password 'secret-of-the-test'; alter role hurried set statement_timeout = 100`,
    );
    const hurried = await openRaw(base.replace('postgres:secret', 'hurried:secret'));
    await expect(hurried.run('read', 'select pg_sleep(1)')).rejects.toThrow('statement timeout');
    expect(hurried.outage()).toBeUndefined();
    proxy.isSilent = true;
    onTestFinished(() => void (proxy.isSilent = false));
    await expect(session.run('read', 'select 1')).rejects.toMatchObject({ code: 'STORE_ERROR' });
    expect(session.outage()).toMatchObject({ reason: expect.any(String) });
  });

  it('STORE-4 a replica that vanished in the middle of a transaction does not hold up the others', async () => {
    const place = newPlace();
    const store = await open(place, { timeoutMs: 2000 });
    const { schema } = readPostgresAddress(place);
    const vanished = await openRaw(place, { timeoutMs: 300 });
    let leave = (): void => undefined;
    const silence = new Promise<void>((resolve) => (leave = resolve));
    let hasLock = (): void => undefined;
    const locked = new Promise<void>((resolve) => (hasLock = resolve));
    const pruning = vanished.transaction('write to', async (query) => {
      await query(`select pg_advisory_xact_lock(hashtextextended('toolscout audit ${schema}', 0))`);
      hasLock();
      await silence;
    });
    pruning.catch(() => undefined);
    await locked;
    await store.append([record('a')]);
    leave();
    await expect(pruning).rejects.toMatchObject({ code: 'STORE_ERROR' });
  });
});

describe('an answer that is lost', STARTS_PROCESSES, () => {
  it('STORE-4 whatever is written again stands once, and a count of the audit log is right', async () => {
    const place = newPlace();
    const [store, other] = [await open(proxy.address(place)), await open(place)];
    for (let n = 0; n < 4; n++) {
      proxy.loseAnswers(n);
      await store.put('s', `k${n}`, n);
      proxy.loseAnswers(n);
      await store.append([record(`a${n}`), record(`b${n}`)]);
    }
    expect((await other.list('s')).map(({ value }) => value)).toEqual([0, 1, 2, 3]);
    expect(await other.verifyAudit()).toMatchObject({ ok: true, records: 8 });
    proxy.loseAnswers(2);
    expect(await store.delete('s', 'k0')).toBe(false);
    expect(await other.get('s', 'k0')).toBeUndefined();
  });

  it('STORE-4 a swap is refused with a time, and what it wrote all the same is soon known here too', async () => {
    const place = newPlace();
    const [store, other] = [await open(proxy.address(place)), await open(place)];
    const heard: string[] = [];
    store.onChange((space) => heard.push(space));
    await other.put('first', 'k', 1);
    await expect.poll(() => heard).toEqual(['first']);
    // It listens: from here on only its own look can tell it.
    await expect.poll(() => proxy.listening).toBe(1);
    proxy.loseAnswers(1);
    const swap = store.put('s', 'k', 1, { ifRevision: 0 });
    await expect(swap).rejects.toMatchObject({ code: 'STORE_ERROR', retryAfterMs: expect.any(Number) });
    await expect.poll(() => heard, { timeout: 3000 }).toEqual(['first', 's']);
    expect((await other.get('s', 'k'))?.value).toBe(1);
  });
});

describe('announcements', STARTS_PROCESSES, () => {
  it('STORE-3 a connection that listens and is dead is noticed, and changes are heard again', async () => {
    const place = newPlace();
    const more = { clock: quickly, timeoutMs: 400 };
    const [store, other] = [await open(proxy.address(place), more), await open(place)];
    const heard: string[] = [];
    store.onChange((space) => heard.push(space));
    await expect.poll(() => proxy.listening).toBe(1);
    proxy.freezeListeners();
    expect(proxy.listening).toBe(0);
    await other.put('s', 'k', 1);
    await expect.poll(() => heard).toContain('s');
    await expect.poll(() => proxy.listening, { timeout: patient(60_000) }).toBe(1);
    proxy.freezeListeners();
    // Nor does it hold up the end.
    await store.close();
  });
});
