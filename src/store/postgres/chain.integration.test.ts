import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from 'pg';
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { patient, STARTS_PROCESSES } from '../../../test/support/patience.js';
import { systemClock } from '../../kernel/clock.js';
import { silentLog } from '../../kernel/log.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Store } from '../../model/store.js';
import { readPostgresAddress } from './address.js';
import { openPostgresStore } from './postgres.js';
import { NEWEST_VERSION, prepareSchema } from './schema.js';
import type { Query } from './session.js';

const record = (id: string, time = 1000): AuditRecord => ({
  id,
  time,
  kind: 'execution',
  principal: 'ada',
  outcome: 'success',
});

describe('the chains of replicas', STARTS_PROCESSES, () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, patient(120_000));
  afterAll(() => postgres.cleanup());

  /** Two replicas that have appended in turn: a0, b0, a1, b1, … */
  const replicas = async (): Promise<{
    a: Store;
    b: Store;
    sql: (text: string) => Promise<void>;
    close(): Promise<void>;
  }> => {
    const url = await postgres.newDatabase();
    const open = (): Promise<Store> =>
      openPostgresStore({ address: readPostgresAddress(url), clock: systemClock, log: silentLog });
    const [a, b] = [await open(), await open()];
    for (let at = 0; at < 4; at++) {
      await a.append([record(`a${at}`, 1000 + at), record(`a${at}+`, 1000 + at)]);
      await b.append([record(`b${at}`, 1000 + at)]);
    }
    const sql = async (text: string): Promise<void> => {
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query(`set search_path to toolscout, public; ${text}`);
      await client.end();
    };
    return { a, b, sql, close: async () => void (await Promise.all([a.close(), b.close()])) };
  };

  it('SEC-12 every replica has a chain of its own, and all of them are verified together', async () => {
    const { a, b, close } = await replicas();
    await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).append([record(`c${i}`)])));
    const found = await a.verifyAudit();
    expect(found).toMatchObject({ ok: true, records: 32 });
    expect(found.heads.filter(({ number }) => number > 0)).toHaveLength(2);
    expect(await b.verifyAudit(found.heads)).toEqual(found);
    // What one replica forgets, the other knows.
    expect(await a.pruneAudit(1003)).toBe(29);
    await b.append([record('later', 5000)]);
    expect(await b.pruneAudit(1004)).toBe(3);
    await a.append([record('last', 5000)]);
    expect(await b.verifyAudit()).toMatchObject({ ok: true, records: 2, forgotten: 32 });
    await close();
  });

  it.each([
    ['a record is changed', `update audit set body = replace(body, 'ada', 'eve') where id = 'a2'`, 'changed', 'a2'],
    ['a column is changed', `update audit set principal = 'eve' where id = 'b1'`, 'changed', 'b1'],
    ['a record is removed', `delete from audit where id = 'b2'`, 'removed', 'b2'],
    [
      'a record is put in',
      `insert into audit (id, time, kind, outcome, body, principal) values ('new', 1, 'execution', 'success', '{}', 'ada')`,
      'unchained',
      'new',
    ],
    [
      'records change places',
      `update audit set body = (select body from audit where id = 'b0'), id = 'tmp' where id = 'a0';
       update audit set body = '{}', id = 'a0' where id = 'b0'; update audit set id = 'b0' where id = 'tmp'`,
      'reordered',
      'a0',
    ],
    ['a block is removed', `delete from audit_blocks where body like '%"a1"%'`, 'removed', undefined],
    [
      'a whole chain is removed with its records',
      `delete from audit where id like 'b%';
       delete from audit_heads where chain = (select chain from audit_blocks where body like '%"b0"%');
       delete from audit_blocks where chain = (select chain from audit_blocks where body like '%"b0"%')`,
      'removed',
      undefined,
    ],
    [
      'the end of one chain is cut off',
      `delete from audit where id like 'b3'; delete from audit_blocks where body like '%"b3"%'`,
      'removed',
      undefined,
    ],
  ])('SEC-12 A35 it is found when %s', async (_what, statement, damage, id) => {
    const { a, sql, close } = await replicas();
    expect((await a.verifyAudit()).ok).toBe(true);
    await sql(statement);
    expect((await a.verifyAudit()).problem).toMatchObject({ damage, ...(id !== undefined && { id }) });
    await close();
  });

  /** The append of the version before the chain, as it was released. */
  const OLDER_APPEND = (schema: string, id: string): string => `
    with turn as materialized (select pg_advisory_xact_lock(hashtextextended('toolscout audit ${schema}', 0)))
    insert into ${schema}.audit (id, time, kind, server, tool, outcome, body, principal, tokens_arguments, tokens_returned, tokens_withheld)
    select given.* from turn, unnest(array['${id}'], array[1500]::bigint[], array['execution'], array[null], array[null], array['success'],
      array['{"id":"${id}","time":1500,"kind":"execution","principal":"ada","outcome":"success"}'], array['ada'],
      array[null]::bigint[], array[null]::bigint[], array[null]::bigint[]) as given
    on conflict (id) do nothing`;

  it('SEC-12 R7 during an upgrade records of an older version are kept, read and counted as unchained, and the others are proved', async () => {
    const { a, b, sql, close } = await replicas();
    const all = Array.from({ length: 30 }, (_, at) => at);
    await Promise.all(
      all.map((at) =>
        at % 3 === 2 ? sql(OLDER_APPEND('toolscout', `old${at}`)) : (at % 3 === 1 ? a : b).append([record(`new${at}`)]),
      ),
    );
    const found = await a.verifyAudit();
    expect(found).toMatchObject({
      ok: false,
      records: 32,
      unchained: { records: 10, until: 1500 },
      problem: { damage: 'unchained', id: expect.stringMatching(/^old/) as string },
    });
    expect(await b.verifyAudit(found.heads)).toEqual(found);
    const ids = (await b.audit({ limit: 100 })).map(({ id }) => id);
    expect(ids.filter((id) => id.startsWith('old'))).toHaveLength(10);
    expect(ids.filter((id) => id.startsWith('new'))).toHaveLength(20);
    await close();
  });

  it('STORE-3 SEC-12 a database of the version before is taken over while replicas of that version write on, and nothing of it is lost', async () => {
    const url = await postgres.newDatabase();
    const older = new Client({ connectionString: url });
    await older.connect();
    const query: Query = async (text, values = []) =>
      (await older.query({ text, values: [...values], rowMode: 'array' })).rows as unknown[][];
    await query('begin');
    const options = { schema: 'toolscout', location: 'here', keyCheck: undefined };
    await prepareSchema(query, { ...options, newest: NEWEST_VERSION - 1 });
    await query('commit');
    const olderPut = (key: string): Promise<unknown> =>
      older.query(
        `insert into toolscout.entries values ('space', $1, null, '"older"', 1, null, 1);`.replace('$1', `'${key}'`),
      );
    await olderPut('before');
    await older.query(OLDER_APPEND('toolscout', 'old-before'));
    const store = await openPostgresStore({
      address: readPostgresAddress(url),
      clock: systemClock,
      log: silentLog,
    });
    await store.append([record('new')]);
    await store.put('space', 'newer', 'newer');
    await older.query(OLDER_APPEND('toolscout', 'old-beside'));
    await olderPut('beside');
    await store.append([record('newest')]);
    expect(await store.verifyAudit()).toMatchObject({
      records: 2,
      unchained: { records: 2 },
      problem: { damage: 'unchained', id: 'old-beside' },
    });
    const ids = (await store.audit({ limit: 10 })).map(({ id }) => id);
    expect(ids.toReversed()).toEqual(['old-before', 'new', 'old-beside', 'newest']);
    const keys = (await store.list('space')).map(({ key }) => key);
    expect(keys.toSorted()).toEqual(['before', 'beside', 'newer']);
    await older.end();
    await store.close();
  });

  it('SEC-12 an append whose answer was lost is chained once', async () => {
    const { a, b, close } = await replicas();
    await a.append([record('a0'), record('x')]);
    await b.append([record('a0'), record('x')]);
    expect(await a.verifyAudit()).toMatchObject({ ok: true, records: 13 });
    await close();
  });
});
