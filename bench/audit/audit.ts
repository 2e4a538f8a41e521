// How fast is the audit log verified (SEC-12)? A file of many records, appended in blocks; against reading every record and hashing its text once,
// which no verification can do without. Turn by turn, the median of each.
// -- --records=50000 --turns=5
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'libsql';
import { systemClock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';
import type { AuditRecord } from '../../src/model/audit-record.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.js';
import { conclude, printTable, quantile } from '../support/report.js';

const { values } = parseArgs({
  options: { records: { type: 'string', default: '50000' }, turns: { type: 'string', default: '5' } },
});
const records = Number(values.records);
const turns = Number(values.turns);

const FLOORS = {
  /** Of the speed at which records are read and hashed without a chain: it also reads the text as JSON, and the columns and proofs beside it. */
  share: 0.12,
  /** Whole log in memory would be more: a log may be larger than the memory. */
  perRecordBytes: 400,
} as const;
/** As many as the log appends at once under load. */
const BLOCK = 16;

const record = (at: number): AuditRecord => ({
  id: `0190${at.toString(16).padStart(28, '0')}`,
  time: 1_700_000_000_000 + at,
  kind: 'execution',
  principal: 'ada',
  server: `server${at % 20}`,
  tool: 'create_issue',
  arguments: { owner: 'ada', repo: 'engine', title: `Issue ${at}`, labels: ['bug', 'later'] },
  outcome: 'success',
  tokens: { arguments: 20, returned: 90, withheld: 0 },
});

const directory = mkdtempSync(join(tmpdir(), 'toolscout-audit-'));
const file = join(directory, 'toolscout.db');
const median = (numbers: readonly number[]): number =>
  quantile(
    numbers.toSorted((a, b) => a - b),
    0.5,
  );
/** What a task takes of the processor, in ms: the same on a machine that is busy with something else. */
const timed = async (task: () => Promise<void> | void): Promise<number> => {
  const began = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
};

try {
  const store = await openSqliteStore({ directory, clock: systemClock, log: silentLog });
  const appendMs = await timed(async () => {
    for (let at = 0; at < records; at += BLOCK) {
      await store.append(Array.from({ length: Math.min(BLOCK, records - at) }, (_, more) => record(at + more)));
    }
  });
  const verify = async (): Promise<void> => {
    const found = await store.verifyAudit();
    if (!found.ok || found.records !== records) throw new Error(`The log is not whole: ${JSON.stringify(found)}`);
  };
  const readOnce = (): void => {
    const database = new Database(file, { readonly: true });
    let seen = 0;
    for (const row of database.prepare('select seq, id, body from audit order by seq').iterate()) {
      createHash('sha256')
        .update((row as { body: string }).body)
        .digest('hex');
      seen++;
    }
    database.close();
    if (seen !== records) throw new Error(`${seen} records were read.`);
  };
  await verify();
  readOnce();
  const verifyMs: number[] = [];
  const readMs: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    verifyMs.push(await timed(verify));
    readMs.push(await timed(readOnce));
  }
  // Found at its end, a fault costs as much as none; found at its beginning it costs next to nothing.
  const before = process.memoryUsage().heapUsed;
  await verify();
  const heldBytes = Math.max(0, process.memoryUsage().heapUsed - before) / records;
  await store.close();

  const perSecond = (ms: number): number => (records * 1000) / ms;
  const [verified, read] = [perSecond(median(verifyMs)), perSecond(median(readMs))];
  const share = verified / read;
  printTable(
    `${records} records, ${(statSync(file).size / 1e6).toFixed(0)} MB, blocks of ${BLOCK}`,
    ['', 'records/s of CPU', 'CPU ms for all'],
    [
      ['append', perSecond(appendMs).toFixed(0), appendMs.toFixed(0)],
      ['read and hash', read.toFixed(0), median(readMs).toFixed(0)],
      ['verify', verified.toFixed(0), median(verifyMs).toFixed(0)],
      ['share of reading', share.toFixed(2), ''],
    ],
  );
  conclude('audit', { records, appended: perSecond(appendMs), read, verified, share, heldBytes }, [
    { name: 'share of the speed of reading', value: share, least: FLOORS.share },
    { name: 'bytes that a verification holds for a record', value: heldBytes, most: FLOORS.perRecordBytes },
  ]);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
