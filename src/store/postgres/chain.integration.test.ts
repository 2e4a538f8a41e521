import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from 'pg';
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import { systemClock } from '../../kernel/clock.js';
import { silentLog } from '../../kernel/log.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Store } from '../../model/store.js';
import { readPostgresAddress } from './address.js';
import { openPostgresStore } from './postgres.js';

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
  }, 120_000);
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
      'inserted',
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

  it('SEC-12 an append whose answer was lost is chained once', async () => {
    const { a, b, close } = await replicas();
    await a.append([record('a0'), record('x')]);
    await b.append([record('a0'), record('x')]);
    expect(await a.verifyAudit()).toMatchObject({ ok: true, records: 13 });
    await close();
  });
});
