import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { ConfigInput } from '../../src/model/config.js';
import { commandLine } from '../support/command-line.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openHttpApp } from '../support/http-app.js';
import { openToolscout, startCounter } from '../support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';

const READ: JsonObject = { name: 'read', description: 'Reads a note.', inputSchema: { type: 'object' } };
const CHANGED: JsonObject = { ...READ, description: 'Reads a note and mails it.' };

let postgres: TestPostgres;
let base: string;
let count = 0;
beforeAll(async () => {
  postgres = await startPostgres();
  base = await postgres.newDatabase();
}, patient(60_000));
afterAll(() => postgres.cleanup());

interface Cluster {
  readonly store: string;
  readonly replicas: readonly [Gateway, Gateway, Gateway];
  show(tools: readonly JsonObject[]): Promise<void>;
}

/** Three replicas over one database, each with a state directory of its own. */
async function cluster(config: ConfigInput = {}, options: { readonly learnAtStart?: boolean } = {}): Promise<Cluster> {
  const file = join(await temporaryDirectory(), 'shown.json');
  const show: Cluster['show'] = (tools) => writeFile(file, JSON.stringify({ tools }));
  await show([READ]);
  const store = `${base}?schema=cluster${++count}`;
  const servers = { notes: fixture('changing', `--file=${file}`) };
  const open = (): Promise<Gateway> => openToolscout({ servers, ...config, store }, options);
  return { store, show, replicas: await Promise.all([open(), open(), open()]) };
}

const codeOf = async (gateway: Gateway): Promise<string> =>
  (await gateway.call('notes', 'read', {})).error?.code ?? 'ran';
/** Waits until a call ends in this way on every replica. */
const becomes = async (gateways: readonly Gateway[], code: string): Promise<void> => {
  for (const gateway of gateways) {
    await waitUntil(async () => (await codeOf(gateway)) === code, { what: `a call that ends in ${code}` });
  }
};

describe('three replicas over one database', STARTS_PROCESSES, () => {
  it('STORE-3 A40 a quarantine, an approval and a rejection on one replica hold on all', async () => {
    const { replicas, show } = await cluster();
    const [first, second, third] = replicas;
    await first.servers.discover();
    await becomes(replicas, 'ran');
    await show([CHANGED]);
    await second.servers.discover();
    await becomes(replicas, 'TOOL_CHANGED');
    expect((await third.search('read a note')).hits).toEqual([]);
    await third.approvals.approve('notes:read');
    await becomes(replicas, 'ran');
    await first.approvals.reject('notes:read');
    await becomes(replicas, 'APPROVAL_REQUIRED');
    const decided = (await second.audit.list({})).filter(({ kind }) => kind === 'approve' || kind === 'reject');
    expect(decided.map(({ kind }) => kind)).toEqual(['reject', 'approve']);
  });

  it('STORE-3 CONN-2 of replicas that start together one learns each server, and all offer its tools', async () => {
    const counters = await Promise.all(Array.from({ length: 4 }, () => startCounter()));
    const servers = Object.fromEntries(counters.map(({ flag }, at) => [`s${at}`, fixture('modern', flag)]));
    const { replicas } = await cluster({ servers }, { learnAtStart: true });
    for (const replica of replicas) {
      await replica.ready();
      await waitUntil(async () => (await replica.servers.list()).every(({ knowledge }) => knowledge === 'ready'), {
        what: 'every server to be known',
      });
    }
    for (const { pids } of counters) expect(await pids()).toHaveLength(1);
  });

  it('STORE-5 a store moves to PostgreSQL and back with its approvals, lists and records', async () => {
    const stateDir = await temporaryDirectory();
    const { flag, pids } = await startCounter();
    const servers = { notes: fixture('modern', flag) };
    const local = await openToolscout({ servers }, { stateDir });
    await local.servers.discover();
    await local.approvals.reject('notes:echo');
    const records = (await local.audit.list({})).length;
    await local.close();
    const store = `${base}?schema=moved`;
    const migrate = (from: string, to: string): ReturnType<typeof commandLine> =>
      commandLine(['store', 'migrate', from, to, '--json'], { process: { cwd: stateDir, env: {} } });

    const there = await migrate(`sqlite:${stateDir}`, store);
    expect(there).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(there.stdout)).toMatchObject({ spaces: { approvals: 1, tools: 1 }, records });
    expect(there.stdout).not.toContain('secret-of-the-test');
    const replica = await openToolscout({ servers, store });
    expect((await replica.call('notes', 'echo', {})).error?.code).toBe('APPROVAL_REQUIRED');
    expect(await pids()).toHaveLength(1);
    expect((await replica.audit.list({ kind: 'store-migrate' })).length).toBe(1);
    await replica.close();

    const used = await migrate(`sqlite:${stateDir}`, store);
    expect(used.code).toBe(1);
    expect(used.stdout).toContain('is in use');
    const back = await temporaryDirectory();
    expect(await migrate(store, `sqlite:${back}`)).toMatchObject({ code: 0, stderr: '' });
    const again = await openToolscout({ servers }, { stateDir: back });
    expect((await again.call('notes', 'echo', {})).error?.code).toBe('APPROVAL_REQUIRED');
    expect((await migrate('sqlite:/nothing/here', store)).stdout).toContain('no store in /nothing/here');
    expect((await migrate('memory', store)).code).toBe(64);
  });

  it('STORE-4 without the database calls and searches go on, what must be durable is refused, and all is well again afterwards', async () => {
    const { replicas } = await cluster();
    const [first, second] = replicas;
    await first.servers.discover();
    await becomes(replicas, 'ran');
    const { send } = await openHttpApp(first);
    const statusOf = async (path: string): Promise<unknown> =>
      ((await (await send(path)).json()) as JsonObject)['status'];
    expect([await statusOf('/ready'), await statusOf('/health')]).toEqual(['ready', 'ok']);

    await postgres.stop();
    try {
      expect(await codeOf(first)).toBe('ran');
      expect((await second.search('read a note')).hits).toHaveLength(1);
      await expect(first.approvals.reject('notes:read')).rejects.toMatchObject({
        code: 'STORE_ERROR',
        retryAfterMs: expect.any(Number),
      });
      await waitUntil(async () => (await statusOf('/ready')) === 'degraded', { what: 'ready to say degraded' });
      expect(await statusOf('/health')).toBe('degraded');
      expect(await (await send('/metrics')).text()).toContain('toolscout_store_writable 0');
      expect(await first.config.storeStatus()).toMatchObject({ writable: false, problem: expect.any(String) });
      expect(await codeOf(second)).toBe('ran');
    } finally {
      await postgres.start();
    }
    await waitUntil(async () => (await statusOf('/ready')) === 'ready', { what: 'ready again' });
    await waitUntil(async () => (await second.config.storeStatus()).writable, {
      what: 'the second replica to recover',
    });
    await first.approvals.reject('notes:read');
    await becomes(replicas, 'APPROVAL_REQUIRED');
    // What was recorded meanwhile waited in memory.
    await waitUntil(async () => (await second.audit.list({ tool: 'read', outcome: 'success' })).length >= 5);
  });
});
