import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import { load, startCluster, type Replica } from '../support/cluster.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { countTrials, formOf } from '../support/long-form.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { workplace } from '../support/toolscout.js';
import { patient } from '../support/patience.js';

/** How long connections are cut, and how long the database is stopped. */
const CUT_MS = formOf(1500, 30_000);
const STOPPED_MS = formOf(1500, 30_000);

/** Each replica decides about one. */
const TOOLS = ['ants', 'bees', 'cats'];

interface Row {
  readonly body: string;
}

interface Decisions {
  /** Reasons of decisions that were acknowledged. */
  readonly done: string[];
  /** What was neither done nor refused as it should be. */
  readonly wrong: unknown[];
  refused: number;
  stop(): Promise<void>;
}

/** At every replica: rejects and approves a tool of its own in turn, each until it is done, as long as it is not told to stop. */
function decide(replicas: readonly Replica[]): Decisions {
  const state = { goesOn: true };
  const made: Decisions = {
    done: [],
    wrong: [],
    refused: 0,
    async stop() {
      state.goesOn = false;
      await running;
    },
  };
  const run = async ({ url, get }: Replica, place: number): Promise<void> => {
    let wasRefused = false;
    for (let turn = 0; state.goesOn; await delay(20)) {
      const reason = `${TOOLS[place]} ${turn}`;
      // What a process has not shown to its callers they cannot approve.
      const shown = await get(`/v1/approvals/other:${TOOLS[place]}/diff`);
      const act = turn % 2 === 0 ? 'reject' : 'approve';
      const answer = await fetch(`${url}/v1/approvals/other:${TOOLS[place]}/${act}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ reason }),
      });
      const body = (await answer.json()) as JsonObject;
      const wait = Math.min(Number(answer.headers.get('retry-after')), Number(body['retry_after_ms']));
      const isRefused = answer.status === 503 && body['code'] === 'STORE_ERROR' && wait > 0;
      // A decision whose answer was lost on the way from the database stands all the same.
      const stands = wasRefused && body['code'] === 'NOTHING_FOUND';
      if (answer.status === 200) made.done.push(reason);
      else if (isRefused) made.refused += 1;
      else if (!stands) made.wrong.push({ status: answer.status, reason, wasRefused, shown, body });
      if (!isRefused) turn += 1;
      wasRefused = isRefused;
    }
  };
  const running = Promise.all(replicas.map(run));
  return made;
}

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
}, patient(60_000));
afterAll(() => postgres.cleanup());

const statusOf = async ({ get }: Replica, path: string): Promise<unknown> => (await get<JsonObject>(path))['status'];
const becomesReady = async (replicas: readonly Replica[]): Promise<void> => {
  for (const each of replicas) {
    await waitUntil(async () => (await statusOf(each, '/ready')) === 'ready', { what: 'a replica to be ready' });
  }
};

describe('a database that cannot be used', { timeout: patient(120_000) }, () => {
  it('STORE-3 serve ends with a message, listens nowhere and changes nothing', async () => {
    const foreign = await postgres.newDatabase();
    const newer = await postgres.newDatabase();
    const nameOf = (url: string): string => new URL(url).pathname.slice(1);
    await postgres.query('create schema toolscout; create table toolscout.orders (id int)', nameOf(foreign));
    await postgres.query(
      `create schema toolscout; create table toolscout.about (id text, version int, oldest_reader int, key_check text);
       insert into toolscout.about values ('x', 99, 99, null)`,
      nameOf(newer),
    );
    const readonly = await postgres.newDatabase();
    await postgres.query(`alter database ${nameOf(readonly)} set default_transaction_read_only = on`);
    const cases = [
      [foreign, 'holds tables of another program'],
      [newer, 'was written by a newer toolscout'],
      [readonly, 'it is read-only'],
      [readonly.replace('secret-of-the-test', 'wrong'), 'password authentication failed'],
    ] as const;
    await Promise.all(
      cases.map(async ([store, reason]) => {
        const { code, stdout, stderr } = await (await workplace({ store })).run('serve', '--port', '0');
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
        expect(stderr).toContain('STORE_ERROR');
        expect(stderr).toContain(reason);
      }),
    );
    const tables = `select table_name from information_schema.tables where table_schema = 'toolscout'`;
    const left = await Promise.all([foreign, newer, readonly].map((url) => postgres.query(tables, nameOf(url))));
    expect(left.map((rows) => rows.length)).toEqual([1, 1, 0]);
  });
});

describe('a database that is lost', { timeout: patient(300_000) }, () => {
  it('STORE-4 R9 three replicas under load serve from memory and say so, refuse what must last, and lose nothing', async () => {
    const file = join(await temporaryDirectory(), 'shown.json');
    const tools = TOOLS.map((name) => ({ name, description: `Counts ${name}.`, inputSchema: { type: 'object' } }));
    await writeFile(file, JSON.stringify({ tools }));
    const store = await postgres.newDatabase();
    const { replicas } = await startCluster(store, {
      servers: { other: fixture('changing', `--file=${file}`) },
    });
    await becomesReady(replicas);
    const pids = replicas.map(({ child }) => child.pid);
    const calls = load(() => replicas, 15);
    const decisions = decide(replicas);

    // One in twenty connections, ten times a second.
    for (const until = performance.now() + CUT_MS; performance.now() < until; await delay(100)) {
      await postgres.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'toolscout' and random() < 0.05`,
      );
    }
    const refusedBefore = decisions.refused;
    await postgres.stop();
    const stoppedAt = performance.now();
    try {
      for (const each of replicas) {
        await waitUntil(async () => (await statusOf(each, '/ready')) === 'degraded', { what: 'degraded' });
        expect(await statusOf(each, '/health')).toBe('degraded');
        expect(await (await fetch(`${each.url}/metrics`)).text()).toContain('toolscout_store_writable 0');
        const { attention } = await each.get<{ attention: JsonObject[] }>('/v1/overview');
        expect(attention).toContainEqual(expect.objectContaining({ kind: 'store-failing' }));
        expect(JSON.stringify(await each.get('/v1/search?q=read%20a%20note'))).toContain('"read"');
      }
      await waitUntil(() => decisions.refused > refusedBefore + 2, { what: 'refusals' });
      await delay(Math.max(0, STOPPED_MS - (performance.now() - stoppedAt)));
    } finally {
      await postgres.start();
    }
    await becomesReady(replicas);
    const recovered = decisions.done.length;
    await waitUntil(() => decisions.done.length > recovered + 6, { what: 'decisions after the recovery' });
    await decisions.stop();
    const ends = await calls.stop();
    countTrials(ends.get('ran')! + decisions.done.length + decisions.refused);

    // Calls of hosts went on, every decision was done or refused with a time, and nothing was started again.
    expect([...ends.keys()]).toEqual(['ran']);
    expect(decisions.wrong).toEqual([]);
    expect(replicas.map(({ child }) => [child.pid, child.exitCode])).toEqual(pids.map((pid) => [pid, null]));

    // Nothing that was acknowledged is missing; records of calls waited in memory.
    const ask = async (sql: string): Promise<Row[]> =>
      (await postgres.query(sql, new URL(store).pathname.slice(1))) as Row[];
    const rows = await ask(`select body from toolscout.audit where kind in ('approve', 'reject')`);
    const reasons = new Set(rows.map(({ body }) => (JSON.parse(body) as { detail?: JsonObject }).detail?.['reason']));
    expect(decisions.done.filter((reason) => !reasons.has(reason))).toEqual([]);
    const recorded = `select count(*)::text as body from toolscout.audit where server = 'notes' and outcome = 'success'`;
    await waitUntil(async () => Number((await ask(recorded))[0]!.body) >= ends.get('ran')!, { what: 'every record' });
    expect(await replicas[0].get('/v1/audit/verification')).toMatchObject({ ok: true });

    // The last decision about each tool holds on all of them.
    for (const tool of TOOLS) {
      const last = decisions.done.findLast((reason) => reason.startsWith(tool))!;
      const code = Number(last.split(' ')[1]) % 2 === 0 ? 'APPROVAL_REQUIRED' : undefined;
      for (const { post } of replicas) {
        const call = () => post('/v1/call', { server: 'other', tool, arguments: {} });
        await waitUntil(async () => (await call()).body['code'] === code, { what: last });
      }
    }
  });
});
