import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';
import type { AuditProblem, AuditVerification } from '../../src/model/audit-chain.js';
import type { AuditRecord } from '../../src/model/audit-record.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.js';
import { formOf, repetitions } from '../support/long-form.js';

const RECORDS = 3000;
/** Blocks of one to forty records, as appends under changing load leave them. */
const BLOCK_SIZES = [1, 16, 3, 40, 7, 1, 25, 12];

const record = (at: number): AuditRecord => ({
  id: `r${at}`,
  time: 1_000_000 + at,
  kind: at % 9 === 0 ? 'search' : 'execution',
  principal: `user${at % 5}`,
  server: `server${at % 11}`,
  tool: `tool${at % 17}`,
  arguments: { owner: 'ada', number: at, text: `ünï ${at} \u{1F511}` },
  outcome: at % 7 === 0 ? 'failure' : 'success',
  tokens: { arguments: at % 50, returned: at % 70, withheld: at % 3 },
});

/** The columns of a record besides its text, with a value that none of them has. */
const COLUMNS = {
  id: `'other'`,
  time: '42',
  kind: `'approve'`,
  server: `'evil'`,
  tool: `'evil'`,
  outcome: `'denied'`,
  principal: `'eve'`,
  tokens_arguments: '99',
  tokens_returned: '99',
  tokens_withheld: '99',
};

const withSpace = (seq: number): string[] => [
  // SQLite would meet places that are taken on the way.
  `update audit set seq = -seq where seq >= ${seq}`,
  `update audit set seq = 1 - seq where seq < 0`,
  `update audit_blocks set last_seq = last_seq + 1 where last_seq >= ${seq}`,
  `update audit_head set last_seq = last_seq + 1`,
];

describe('the audit log of thousands of records', { timeout: formOf(120_000, 3_600_000) }, () => {
  let root: string;
  const whole = (): string => join(root, 'whole');
  const tried = (): string => join(root, 'tried');
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'toolscout-audit-chain-'));
    const store = await openSqliteStore({ directory: whole(), clock: systemClock, log: silentLog });
    for (let at = 0, block = 0; at < RECORDS; block++) {
      const size = Math.min(BLOCK_SIZES[block % BLOCK_SIZES.length]!, RECORDS - at);
      await store.append(Array.from({ length: size }, (_, more) => record(at + more)));
      at += size;
    }
    await store.close();
  });
  afterAll(() => rmSync(root, { recursive: true }));

  /** What a verification says of the log after somebody has changed it with these statements. */
  const verifyAfter = async (...statements: string[]): Promise<AuditVerification> => {
    rmSync(tried(), { recursive: true, force: true });
    cpSync(whole(), tried(), { recursive: true });
    const database = new Database(join(tried(), 'toolscout.db'));
    for (const statement of statements) database.exec(statement);
    database.close();
    const store = await openSqliteStore({ directory: tried(), clock: systemClock, log: silentLog });
    try {
      return await store.verifyAudit();
    } finally {
      await store.close();
    }
  };
  const expectFound = (found: AuditVerification, problem: Partial<AuditProblem>): void => {
    expect(found.ok).toBe(false);
    expect(found.problem).toMatchObject(problem);
  };
  const seqs = fc.integer({ min: 1, max: RECORDS });

  it('SEC-12 A35 untouched it is whole', async () => {
    expect(await verifyAfter()).toMatchObject({ ok: true, records: RECORDS, unchained: { records: 0 } });
  });

  it('SEC-12 A35 any record with one changed byte or column is found and named', async () => {
    const column = fc.constantFrom('body', 'body', ...Object.keys(COLUMNS));
    await fc.assert(
      fc.asyncProperty(
        seqs,
        column,
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        async (seq, name, place) => {
          const at = `1 + cast(${place} * length(body) as integer)`;
          // Another character of the same place, whatever stands there.
          const body = `substr(body, 1, ${at} - 1) || case substr(body, ${at}, 1) when 'x' then 'y' else 'x' end || substr(body, ${at} + 1)`;
          const value = name === 'body' ? body : COLUMNS[name as keyof typeof COLUMNS];
          const found = await verifyAfter(`update audit set ${name} = ${value} where seq = ${seq}`);
          expectFound(found, { damage: 'changed', id: `r${seq - 1}` });
        },
      ),
      { numRuns: repetitions(3, 1000) },
    );
  });

  it('SEC-12 A35 any record that is removed is found and named, also with the places behind it closed up', async () => {
    await fc.assert(
      fc.asyncProperty(seqs, fc.boolean(), async (seq, isClosedUp) => {
        const closeUp = [
          `update audit set seq = -seq where seq > ${seq}`,
          `update audit set seq = -1 - seq where seq < 0`,
          `update audit_blocks set last_seq = last_seq - 1 where last_seq >= ${seq}`,
          `update audit_head set last_seq = last_seq - 1`,
        ];
        const found = await verifyAfter(`delete from audit where seq = ${seq}`, ...(isClosedUp ? closeUp : []));
        expectFound(found, { damage: 'removed', id: `r${seq - 1}` });
      }),
      { numRuns: repetitions(3, 1000) },
    );
  });

  it('SEC-12 A35 any record that is put in is found and named, a copy of another one too', async () => {
    await fc.assert(
      fc.asyncProperty(seqs, seqs, fc.boolean(), async (seq, model, isCopy) => {
        const from = model >= seq ? model + 1 : model;
        const columns = `time, kind, server, tool, outcome, principal, tokens_arguments, tokens_returned, tokens_withheld`;
        const body = isCopy ? 'body' : `replace(body, 'ada', 'eve')`;
        const put = `insert into audit (seq, id, body, ${columns}) select ${seq}, 'new', ${body}, ${columns} from audit where seq = ${from}`;
        const found = await verifyAfter(...withSpace(seq), put);
        expectFound(found, { id: 'new' });
        // Between two blocks it looks like one of a version that knows no chain.
        expect(['inserted', 'unchained']).toContain(found.problem?.damage);
      }),
      { numRuns: repetitions(3, 1000) },
    );
  });

  it('SEC-12 A35 any two records that changed places are found, and the first of them is named', async () => {
    await fc.assert(
      fc.asyncProperty(seqs, seqs, async (one, other) => {
        fc.pre(one !== other);
        const found = await verifyAfter(
          `update audit set seq = -1 where seq = ${one}`,
          `update audit set seq = ${one} where seq = ${other}`,
          `update audit set seq = ${other} where seq = -1`,
        );
        expectFound(found, { damage: 'reordered', id: `r${Math.min(one, other) - 1}` });
      }),
      { numRuns: repetitions(3, 1000) },
    );
  });
});
