import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAudit } from '../../src/audit/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { JsonObject, JsonValue } from '../../src/kernel/json.js';
import { silentLog } from '../../src/kernel/log.js';
import { createSecretMask } from '../../src/kernel/secrets.js';
import { RedactionConfig } from '../../src/model/config.js';
import { createRedaction } from '../../src/redact/index.js';
import { openSqliteStore } from '../../src/store/index.js';
import { conclude, printTable } from '../support/report.js';

const RECORDS = 10_000;
/** Redaction costs at most this share of writing the same records. */
const MAX_SHARE = 0.2;
/** A call under a configuration without rules for it pays at most this for asking whether there are any. */
const MAX_IDLE_MICROSECONDS = 0.5;
const ROUNDS = 5;

/** Arguments as calls have them: two kilobytes of ordinary fields, and a few sensitive ones. */
function argumentsOf(i: number): JsonObject {
  return {
    owner: 'octo',
    repo: `repository-${i}`,
    title: `Fix the handling of case ${i}`,
    body: `${'The quick brown fox jumps over the lazy dog. '.repeat(4)}${i}`.slice(0, 190),
    labels: ['bug', 'backend', 'needs triage', `area-${i % 7}`],
    options: { draft: false, maintainers: true, headers: { authorization: `Bearer abcdefgh${i}`, accept: 'json' } },
    rows: Array.from({ length: 18 }, (_, row) => ({ id: row, name: `row ${row} of ${i}`, value: row * 1.5, ok: true })),
    notes: Array.from({ length: 5 }, (_, note) => `note ${note}: ${'lorem ipsum dolor sit amet '.repeat(3)}`),
    api_key: `key-${i}`,
  };
}

const SETS: ReadonlyArray<readonly [name: string, rules: unknown[]]> = [
  ['default set', []],
  [
    'with ten rules on fields',
    Array.from({ length: 10 }, (_, i) => ({ match: [`**.budget_${i}`, `headers.x-${i}`], action: 'hash' })),
  ],
  ['with a pattern on values', [{ match: '/BUD-\\d{6}/' }]],
];

const args = Array.from({ length: RECORDS }, (_, i) => argumentsOf(i));
const bytes = JSON.stringify(args[0]).length;
const mask = createSecretMask();
mask.add(Array.from({ length: 20 }, (_, i) => `some-secret-value-${i}`));

/** Milliseconds of processor time: the wait for the disk would only flatter the share. */
const time = async (task: () => unknown): Promise<number> => {
  const started = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
};

/** What the whole way to the disk takes, with redaction that costs nothing. */
async function timeWriting(): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'toolscout-bench-'));
  const store = await openSqliteStore({ directory, clock: systemClock, log: silentLog });
  const audit = createAudit({
    store,
    clock: systemClock,
    log: silentLog,
    redact: (value: JsonValue) => value,
    maxBuffer: RECORDS,
  });
  const taken = await time(async () => {
    for (const each of args) {
      const [server, tool] = ['github', 'create_issue'];
      audit.record({ kind: 'execution', principal: 'local', outcome: 'success', server, tool, arguments: each });
    }
    await audit.flush();
  });
  await audit.close();
  await store.close();
  await rm(directory, { recursive: true, force: true });
  return taken;
}

const best = async (run: () => Promise<number>): Promise<number> => {
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round++) least = Math.min(least, await run());
  return least;
};

const writing = await best(timeWriting);
const rows: string[][] = [];
const shares: Record<string, number> = {};
for (const [name, rules] of SETS) {
  const redaction = createRedaction({ hide: (text) => mask.hide(text) });
  redaction.use(rules.map((rule) => RedactionConfig.parse(rule)));
  const taken = await best(() =>
    time(() => {
      for (const each of args) redaction.stored(each, 'github');
    }),
  );
  shares[name] = Math.round((taken / writing) * 1000) / 1000;
  rows.push([name, `${((taken / RECORDS) * 1000).toFixed(1)} µs`, `${(shares[name] * 100).toFixed(1)} %`]);
}
rows.push(['writing a record', `${((writing / RECORDS) * 1000).toFixed(1)} µs`, '100 %']);

const idle = createRedaction();
idle.use([RedactionConfig.parse({ match: '**.budget', where: 'logs' })]);
let touched = 0;
const asking = await best(() =>
  time(() => {
    for (const each of args)
      if (idle.outgoing('github') ?? idle.incoming('github')) touched += Object.keys(each).length;
  }),
);
const idleMicroseconds = Math.round((asking / RECORDS) * 1e5) / 100;
rows.push(['a call without rules for it', `${idleMicroseconds} µs`, '']);

printTable(`Redaction of ${RECORDS} records of ${bytes} bytes`, ['', 'each', 'of writing'], rows);
conclude('redaction', { bytes, writingMs: Math.round(writing), shares, idleMicroseconds, touched }, [
  { name: 'share of writing, default set', value: shares['default set'] ?? NaN, most: MAX_SHARE },
  { name: 'share of writing, rules on fields', value: shares['with ten rules on fields'] ?? NaN, most: MAX_SHARE },
  { name: 'a call without rules (µs)', value: idleMicroseconds, most: MAX_IDLE_MICROSECONDS },
]);
