import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formOf, repetitions } from '../../../test/support/long-form.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';
import { systemClock } from '../../kernel/clock.js';
import { silentLog } from '../../kernel/log.js';
import type { AuditVerification, ChainHead } from '../../model/audit-chain.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Store } from '../../model/store.js';
import { blockHash } from '../chain/block.js';
import { openSqliteStore } from './sqlite.js';

const record = (id: string, more: Partial<AuditRecord> = {}): AuditRecord => ({
  id,
  time: 1000,
  kind: 'execution',
  principal: 'ada',
  server: 'github',
  tool: 'list',
  arguments: { owner: 'ada', repo: id },
  outcome: 'success',
  tokens: { arguments: 1, returned: 2, withheld: 3 },
  ...more,
});

describe('the chain of a SQLite file', () => {
  let root: string;
  let directory: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'toolscout-chain-'));
    directory = join(root, 'state');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const withStore = async <Result>(task: (store: Store) => Promise<Result>): Promise<Result> => {
    const store = await openSqliteStore({ directory, clock: systemClock, log: silentLog });
    try {
      return await task(store);
    } finally {
      await store.close();
    }
  };
  const sabotage = (...statements: string[]): void => {
    const database = new Database(join(directory, 'toolscout.db'));
    for (const statement of statements) database.exec(statement);
    database.close();
  };
  const verify = (known: readonly ChainHead[] = []): Promise<AuditVerification> =>
    withStore((store) => store.verifyAudit(known));
  /** Three blocks: r0 to r3, r4, r5 to r8. */
  const fill = (): Promise<void> =>
    withStore(async (store) => {
      const all = Array.from({ length: 9 }, (_, i) => record(`r${i}`, { time: 1000 + i }));
      await store.append(all.slice(0, 4));
      await store.append(all.slice(4, 5));
      await store.append(all.slice(5));
    });

  it.each([
    ['the text of a record', `update audit set body = replace(body, 'ada', 'eve') where seq = 6`, 'changed', 'r5'],
    ['a space in it', `update audit set body = body || ' ' where seq = 6`, 'changed', 'r5'],
    ['text that is no JSON', `update audit set body = 'x' where seq = 6`, 'changed', 'r5'],
    ['bytes that are no text', `update audit set body = cast(x'ff00' as text) where seq = 6`, 'changed', 'r5'],
    ['what queries look at', `update audit set server = 'slack' where seq = 5`, 'changed', 'r4'],
    ['a count', `update audit set tokens_returned = 0 where seq = 1`, 'changed', 'r0'],
    ['a time', `update audit set time = 1 where seq = 1`, 'changed', 'r0'],
    ['an id', `update audit set id = 'other' where seq = 2`, 'changed', 'r1'],
    ['an id that is no text', `update audit set id = cast(x'ff' as text) where seq = 2`, 'changed', 'r1'],
  ])('SEC-12 A35 a change is found: %s', async (_what, statement, damage, id) => {
    await fill();
    expect((await verify()).ok).toBe(true);
    sabotage(statement);
    expect(await verify()).toMatchObject({ ok: false, problem: { damage, id } });
  });

  it.each([
    ['first', 1, 'r0'],
    ['in the middle', 3, 'r2'],
    ['alone in its block', 5, 'r4'],
    ['last', 9, 'r8'],
  ])('SEC-12 A35 a removed record is found: the one that is %s', async (_what, seq, id) => {
    await fill();
    sabotage(`delete from audit where seq = ${seq}`);
    expect((await verify()).problem).toMatchObject({ damage: 'removed', id });
  });

  const put = (seq: number): string =>
    `insert into audit (seq, id, time, kind, outcome, body, principal) values (${seq}, 'new', 1000, 'execution', 'success',
     '{"id":"new","time":1000,"kind":"execution","principal":"ada","outcome":"success"}', 'ada')`;
  it.each([
    ['in front', [put(0)]],
    ['in front of all places', [put(-5)]],
    [
      'in the middle',
      [
        'update audit set seq = seq + 100 where seq > 2',
        put(3),
        'update audit_blocks set last_seq = last_seq + 100 where number > 0',
      ],
    ],
  ])('SEC-12 A35 a record that is put in is found: %s', async (_where, statements) => {
    await fill();
    sabotage(...statements);
    expect((await verify()).problem).toMatchObject({ damage: 'inserted' });
  });

  it('SEC-12 records that are stored already are not chained twice, alone or among new ones', async () => {
    await fill();
    const before = await verify();
    await withStore((store) => store.append([record('r1'), record('r2')]));
    expect(await verify()).toEqual(before);
    await withStore((store) => store.append([record('r1'), record('new'), record('r2'), record('newer')]));
    expect(await verify()).toMatchObject({
      ok: true,
      records: 11,
      blocks: before.blocks + 1,
      unchained: { records: 0 },
    });
    await withStore((store) => store.append([record('newest'), record('r3')]));
    await withStore((store) => store.append([record('last')]));
    expect(await verify()).toMatchObject({ ok: true, records: 13, blocks: before.blocks + 3 });
  });

  it('SEC-12 retention keeps a block until all of its records are gone, and adds up what it took', async () => {
    await fill();
    const prune = (time: number): Promise<number> => withStore((store) => store.pruneAudit(time));
    const { blocks } = await verify();
    expect(await prune(1000)).toBe(0);
    expect((await verify()).blocks).toBe(blocks);
    expect(await prune(1002)).toBe(2);
    expect(await verify()).toMatchObject({ ok: true, records: 7, forgotten: 2, blocks: blocks + 1 });
    expect(await prune(1003)).toBe(1);
    expect(await verify()).toMatchObject({ ok: true, records: 6, forgotten: 3, blocks: blocks + 2 });
    // The first two blocks go, and the note of it is one more.
    expect(await prune(1005)).toBe(2);
    expect(await verify()).toMatchObject({ ok: true, records: 4, forgotten: 5, blocks: blocks + 1 });
    sabotage(`delete from audit where id = 'r5'`);
    expect((await verify()).problem).toMatchObject({ damage: 'removed', id: 'r5' });
  });

  it('SEC-12 A35 a record that an older version writes behind the last block, or between two, is unchained, and the rest is verified', async () => {
    await fill();
    sabotage(put(10));
    const uncovered = { ok: false, records: 9, unchained: { records: 1, until: 1000 } };
    expect(await verify()).toMatchObject({ ...uncovered, problem: { damage: 'unchained', id: 'new' } });
    await withStore((store) => store.append([record('after')]));
    expect(await verify()).toMatchObject({ ...uncovered, records: 10, problem: { damage: 'unchained', id: 'new' } });
    // It hides nothing that is worse.
    sabotage(`update audit set body = replace(body, 'ada', 'eve') where id = 'after'`);
    expect((await verify()).problem).toMatchObject({ damage: 'changed', id: 'after' });
  });

  const swap = (one: number, other: number): string[] => [
    `update audit set seq = -1 where seq = ${one}`,
    `update audit set seq = ${one} where seq = ${other}`,
    `update audit set seq = ${other} where seq = -1`,
  ];
  it.each([
    ['within a block', swap(1, 3), 'r0'],
    ['between blocks', swap(4, 8), 'r3'],
    ['to the end', ['update audit set seq = 20 where seq = 5'], 'r4'],
  ])('SEC-12 A35 a record that is moved is found: %s', async (_where, statements, id) => {
    await fill();
    sabotage(...statements);
    expect((await verify()).problem).toMatchObject({ damage: 'reordered', id });
  });

  it.each([
    ['a block is removed', ['delete from audit_blocks where number = 2'], { damage: 'removed', id: 'r4' }],
    [
      'a block is removed with its records',
      ['delete from audit_blocks where number = 2', 'delete from audit where seq = 5'],
      { damage: 'removed', block: { number: 3 } },
    ],
    [
      'several blocks are removed',
      ['delete from audit_blocks where number in (1, 2)'],
      { damage: 'removed', id: 'r0' },
    ],
    [
      'the end is cut off',
      ['delete from audit_blocks where number = 3', 'delete from audit where seq > 5'],
      { damage: 'removed', detail: expect.stringContaining('ends at block 2') },
    ],
    ['the note of the end is removed', ['delete from audit_head'], { damage: 'removed' }],
    ['the beginning is removed', ['delete from audit_blocks where number = 0'], { damage: 'removed' }],
    [
      'the beginning claims more records without proof',
      [
        `update audit_blocks set hash = 'unchained:4:4', last_seq = 4 where number = 0`,
        'delete from audit_blocks where number = 1',
      ],
      { damage: 'removed' },
    ],
    [
      'the beginning says something else',
      [`update audit_blocks set hash = 'x' where number = 0`],
      { damage: 'changed' },
    ],
    [
      'proofs are changed',
      [`update audit_blocks set body = replace(body, 'r4', 'rX') where number = 2`],
      { damage: 'changed', id: 'rX' },
    ],
    ['proofs cannot be read', [`update audit_blocks set body = '[1]' where number = 2`], { damage: 'changed' }],
    ['proofs are no list', [`update audit_blocks set body = '[1,2,3]' where number = 2`], { damage: 'changed' }],
    ['proofs are no JSON', [`update audit_blocks set body = '{}' where number = 2`], { damage: 'changed' }],
    ['a block stands twice', [`update audit_blocks set number = 9 where number = 2`], { damage: 'removed', id: 'r4' }],
    ['a hash is changed', [`update audit_blocks set hash = 'x' where number = 3`], { damage: 'changed', id: 'r5' }],
    [
      'blocks change places',
      [
        'update audit_blocks set last_seq = 9 where number = 2',
        'update audit_blocks set last_seq = 5 where number = 3',
      ],
      { damage: 'reordered', id: 'r5' },
    ],
  ])('SEC-12 A35 the chain itself shows it when %s', async (_what, statements, problem) => {
    await fill();
    sabotage(...statements);
    expect((await verify()).problem).toMatchObject(problem);
  });

  it('SEC-12 a record that is changed together with its block is shown by the block behind it', async () => {
    await fill();
    const database = new Database(join(directory, 'toolscout.db'));
    const [block] = database.prepare('select * from audit_blocks where number = 2').all() as Array<
      Record<string, string>
    >;
    const body = block!['body']!.replace(/[0-9a-f]{32}/, 'f'.repeat(32));
    const hash = blockHash({ chain: 'main', number: 2, previous: block!['previous']!, joined: '', body });
    database.prepare('update audit_blocks set body = ?, hash = ? where number = 2').run(body, hash);
    database.close();
    expect((await verify()).problem).toMatchObject({ damage: 'changed', id: 'r4', block: { number: 2 } });
  });

  it('SEC-12 an end that is cut off with everything that speaks of it is shown by a head that was kept', async () => {
    await fill();
    const { heads } = await verify();
    sabotage(
      'delete from audit_blocks where number = 3',
      'delete from audit where seq > 5',
      'update audit_head set number = 2, last_seq = 5, hash = (select hash from audit_blocks where number = 2)',
    );
    expect((await verify()).ok).toBe(true);
    expect((await verify(heads)).problem).toMatchObject({ damage: 'removed', block: { number: 2 } });
  });

  it('SEC-12 A35 a chain that lost its end, or everything, goes on, and later appends do not cover that up', async () => {
    const cut = ['delete from audit where seq > 5', 'delete from audit_blocks where number > 2'];
    for (const lost of [[], cut, ['delete from audit_blocks'], ['delete from audit', 'delete from audit_blocks']]) {
      await fill();
      sabotage('delete from audit_head', ...lost);
      for (const id of ['on', 'and on']) await withStore((store) => store.append([record(id)]));
      expect(await withStore((store) => store.audit({ limit: 2 }))).toHaveLength(2);
      const { ok, problem } = await verify();
      expect([lost, ok, problem]).toMatchObject([lost, false, { damage: 'removed' }]);
      rmSync(directory, { recursive: true });
    }
  });

  it('SEC-12 what retention took is no damage, and what it did not take is', async () => {
    await fill();
    await withStore((store) => store.pruneAudit(1002));
    expect(await verify()).toMatchObject({ ok: true, records: 7, forgotten: 2 });
    sabotage('delete from audit where seq = 3');
    expect((await verify()).problem).toMatchObject({ damage: 'removed', id: 'r2' });
  });

  it('SEC-12 retention does not cover up what was removed before', async () => {
    await fill();
    sabotage('delete from audit where seq = 5');
    await withStore((store) => store.pruneAudit(1004));
    expect((await verify()).problem).toMatchObject({ damage: 'removed', id: 'r4' });
  });

  it('SEC-12 A35 retention does not cover up a newer record that was removed from a block whose others it takes', async () => {
    await fill();
    sabotage('delete from audit where seq = 9');
    await withStore((store) => store.pruneAudit(1008));
    expect((await verify()).problem).toMatchObject({ damage: 'removed', id: 'r8' });
  });

  it('SEC-12 a note of retention that is forged, moved or unreadable is found', async () => {
    await fill();
    await withStore((store) => store.pruneAudit(1005));
    sabotage(`update audit_blocks set body = replace(body, '1005', '1009') where note = 1`);
    expect((await verify()).problem).toMatchObject({ damage: 'changed' });
    sabotage(`update audit_blocks set body = '{}' where note = 1`);
    expect((await verify()).ok).toBe(false);
  });

  it('SEC-12 records of a file from before the chain are a beginning that nothing proves, and retention removes them', async () => {
    await fill();
    // As the version before left it: no tables of the chain.
    sabotage(
      'drop table audit_blocks',
      'drop table audit_head',
      'update audit set principal = null, tokens_arguments = null',
      'pragma user_version = 2',
    );
    const found = await verify();
    expect(found).toMatchObject({ ok: true, records: 0, blocks: 0, unchained: { records: 9, until: 1008 } });
    await withStore((store) => store.append([record('later', { time: 2000 })]));
    expect(await verify()).toMatchObject({ ok: true, records: 1, unchained: { records: 9 } });
    sabotage(put(0));
    expect((await verify()).problem).toMatchObject({
      damage: 'inserted',
      detail: expect.stringContaining('there were 9'),
    });
    await withStore((store) => store.pruneAudit(1500));
    expect(await verify()).toMatchObject({ ok: true, records: 1, unchained: { records: 0 } });
  });

  it(
    'SEC-12 A35 any single record that is changed, removed, put in or moved is found',
    { timeout: formOf(COMPUTES_LONG.timeout, 1_800_000) },
    async () => {
      const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 });
      const act = fc.constantFrom('change', 'remove', 'insert', 'move');
      await fc.assert(
        fc.asyncProperty(sizes, act, fc.nat(), fc.nat(), fc.boolean(), async (blocks, kind, one, other, isPruned) => {
          rmSync(directory, { recursive: true, force: true });
          let count = 0;
          await withStore(async (store) => {
            for (const size of blocks) {
              const added = Array.from({ length: size }, (_, at) => record(`r${count + at}`, { time: count + at }));
              await store.append(added);
              count += size;
            }
            if (isPruned) await store.pruneAudit(Math.floor(count / 3));
          });
          const left = isPruned ? Math.floor(count / 3) : 0;
          const pick = (number: number): number => left + 1 + (number % (count - left));
          const [seq, target] = [pick(one), pick(other)];
          if (kind === 'change') sabotage(`update audit set body = replace(body, 'ada', 'eve') where seq = ${seq}`);
          if (kind === 'remove') sabotage(`delete from audit where seq = ${seq}`);
          if (kind === 'insert') {
            // SQLite would meet places that are taken on the way.
            sabotage(
              `update audit set seq = -seq where seq >= ${seq}`,
              `update audit set seq = 1 - seq where seq < 0`,
              `update audit_blocks set last_seq = last_seq + 1 where last_seq >= ${seq}`,
              put(seq),
            );
          }
          if (kind === 'move') {
            if (seq === target) return;
            sabotage(...swap(seq, target));
          }
          const { ok, problem } = await verify();
          expect(ok).toBe(false);
          const named = {
            change: `r${seq - 1}`,
            remove: `r${seq - 1}`,
            insert: 'new',
            move: `r${Math.min(seq, target) - 1}`,
          };
          expect(problem?.id).toBe(named[kind as keyof typeof named]);
        }),
        { numRuns: repetitions(40, 1000) },
      );
    },
  );
});
