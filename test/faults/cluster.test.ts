import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/kernel/hash.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { ConfigInput } from '../../src/model/config.js';
import { becomes, execute, load, startCluster, type Cluster, type Replica } from '../support/cluster.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { formOf, repetitions } from '../support/long-form.js';
import { envelope, modernPost } from '../support/modern-request.js';
import { isBackground, startPostgres, type TestPostgres } from '../support/postgres.js';
import type { WorkplaceOptions } from '../support/toolscout.js';
import { startPgBouncer, type TransactionPooler } from '../support/transaction-pooler.js';
import { patient } from '../support/patience.js';

const LONG = { timeout: patient(300_000) };

let postgres: TestPostgres;
let pooler: TransactionPooler | undefined;
let base: string;
let count = 0;
beforeAll(async () => {
  postgres = await startPostgres();
  base = await postgres.newDatabase();
  // Through PgBouncer where it is named.
  const program = process.env['TOOLSCOUT_TEST_PGBOUNCER'];
  if (program === undefined) return;
  pooler = await startPgBouncer(program, base);
  base = pooler.address(base);
}, patient(60_000));
afterAll(async () => {
  await pooler?.stop();
  await postgres.cleanup();
});

const cluster = (more: ConfigInput = {}): Promise<Cluster> => startCluster(`${base}?schema=processes${++count}`, more);

describe('replicas that are processes, over one database', LONG, () => {
  it('STORE-3 A40 a quarantine, an approval and a rejection of one process hold in all', async () => {
    const { replicas, place, show } = await cluster();
    const [one, two] = replicas;
    await becomes(replicas, 'ran');
    await show('Reads a note and mails it.');
    expect((await place.run('discover', 'notes')).code).toBe(0);
    await becomes(replicas, 'TOOL_CHANGED');
    // The process has shown the request to its callers before they decide.
    await waitUntil(
      async () => (await one.get<{ approvals: unknown[] }>('/v1/approvals?state=pending')).approvals.length === 1,
      { what: 'the request' },
    );
    expect(await one.post('/v1/approvals/notes:read/approve', {})).toMatchObject({ status: 200 });
    await becomes(replicas, 'ran');
    expect(await two.post('/v1/approvals/notes:read/reject', {})).toMatchObject({ status: 200 });
    await becomes(replicas, 'APPROVAL_REQUIRED');
  });

  it('STORE-3 R4 kill -9 of a process loses nothing that it acknowledged, and the others go on', async () => {
    const { replicas, grow } = await cluster();
    await becomes(replicas, 'ran');
    let [victim, other] = replicas as readonly [Replica, Replica, Replica];
    for (let round = 0; round < repetitions(1, 10); round++) {
      const isReject = round % 2 === 0;
      const path = `/v1/approvals/notes:read/${isReject ? 'reject' : 'approve'}`;
      // What a process has not shown to its callers they cannot approve.
      await victim.get('/v1/approvals/notes:read/diff');
      await waitUntil(async () => (await victim.post(path, { reason: `round ${round}` })).status === 200, {
        what: 'a yes',
      });
      victim.child.kill('SIGKILL');
      await becomes([other], isReject ? 'APPROVAL_REQUIRED' : 'ran');
      const { records } = await other.get<{ records: JsonObject[] }>(
        `/v1/audit?kind=${isReject ? 'reject' : 'approve'}`,
      );
      expect(records[0]).toMatchObject({ outcome: 'success', detail: { reason: `round ${round}` } });
      [victim, other] = [other, await grow()];
      await becomes([other], isReject ? 'APPROVAL_REQUIRED' : 'ran');
    }
  });

  it('STORE-3 R4 CONN-2 a server that a killed process was asking is asked by one other, and all offer its tools', async () => {
    const folder = await temporaryDirectory();
    // The first start notes who made it and says nothing; later ones are a server.
    const script = `echo $PPID >> "$0/starts"; if mkdir "$0/first" 2>/dev/null; then exec sleep 600; fi; exec "$1" "$2"`;
    const { command, args } = fixture('modern');
    const { replicas } = await cluster({
      servers: { late: { command: 'sh', args: ['-c', script, folder, command, ...args] } },
    });
    const starts = async (): Promise<number[]> =>
      (await readFile(join(folder, 'starts'), 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
    await waitUntil(async () => (await starts()).length === 1, { what: 'a start' });
    const [asking] = await starts();
    const victim = replicas.find(({ child }) => child.pid === asking)!;
    victim.child.kill('SIGKILL');
    const isKnown = async ({ get }: Replica): Promise<boolean> => {
      const { servers } = await get<{ servers: Array<{ id: string; knowledge: string }> }>('/v1/servers');
      return servers.some(({ id, knowledge }) => id === 'late' && knowledge === 'ready');
    };
    for (const each of replicas.filter((replica) => replica !== victim)) {
      await waitUntil(() => isKnown(each), { what: 'the tools of the server' });
    }
    expect(await starts()).toHaveLength(2);
  });

  it('STORE-3 a search or a menu runs no statement; its records are written many at once', async () => {
    const { replicas } = await cluster();
    await becomes(replicas, 'ran');
    const [one] = replicas;
    const search = async (query: string): Promise<void> => {
      const { result } = await one.ask('tools/call', { name: 'search_tools', arguments: { query } });
      expect(JSON.stringify(result)).toContain('notes');
    };
    // The first search of a principal reads what is remembered of it.
    await search('read a note');
    // With the first one they fit into one page of the API.
    const looks = repetitions(100, 999);
    const statements = await postgres.statementsDuring(async () => {
      for (let at = 0; at < looks; at++) {
        await search(`read note ${at}`);
        expect(await one.ask('tools/list', {})).toHaveProperty('result.tools');
      }
    });
    expect(statements.filter((statement) => !isBackground(statement))).toEqual([]);
    const { records } = await one.get<{ records: JsonObject[] }>(`/v1/audit?kind=search&limit=${looks + 1}`);
    expect(records).toHaveLength(looks + 1);
  });

  it('STORE-3 R11 replicas whose clocks differ by an hour agree about lists and decisions', async () => {
    const at = (hours: number): WorkplaceOptions => ({
      nodeArgs: ['--import', `data:text/javascript,const%20n=Date.now;Date.now=()=>n()+${hours * 3_600_000}`],
    });
    const { replicas, show } = await startCluster(`${base}?schema=skewed`, {}, [at(0), at(1), at(-1)]);
    await becomes(replicas, 'ran');
    const [, ahead, behind] = replicas;
    for (const [turn, each] of [ahead, behind].entries()) {
      await show(`Reads a note, ${turn}.`);
      expect((await each.post('/v1/servers/notes/discover', {})).status).toBe(200);
      await becomes(replicas, 'TOOL_CHANGED');
      await each.get('/v1/approvals/notes:read/diff');
      expect(await each.post('/v1/approvals/notes:read/approve', {})).toMatchObject({ status: 200 });
      await becomes(replicas, 'ran');
    }
  });

  it('STORE-3 S8 a 2026-era host that was asked by one process answers another, once', async () => {
    const { replicas } = await cluster({ servers: { asks: fixture('asking', '--modern') } });
    const [one, two, three] = replicas;
    const call = execute('asks', 'elicit', { message: 'who' });
    const _meta = envelope({ elicitation: { form: {} } });
    const first = (await one.ask('tools/call', { ...call, _meta }))['result'] as JsonObject;
    expect(first).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) as string });
    const [id] = Object.keys(first['inputRequests'] as JsonObject);
    const again = {
      ...call,
      _meta,
      requestState: first['requestState']!,
      inputResponses: { [id!]: { action: 'accept', content: { name: 'Ann' } } },
    };
    expect(JSON.stringify(await two.ask('tools/call', again))).toContain('Ann');
    expect(await three.ask('tools/call', again)).toMatchObject({ error: { code: -32602 } });
  });

  it('STORE-3 A7 a key that one process has lost opens none of the others, and the other keys go on', async () => {
    const keys = ['ann', 'bob'].map((name) => ({
      name,
      hash: sha256(`key-of-${name}-0123456789`),
      scopes: ['call' as const],
    }));
    const { replicas, places, config } = await cluster({ http: { auth: { keys } } });
    const status = async ({ url }: Replica, name: string): Promise<number> =>
      (await fetch(`${url}/mcp`, modernPost('tools/list', {}, { authorization: `Bearer key-of-${name}-0123456789` })))
        .status;
    for (const each of replicas) expect([await status(each, 'ann'), await status(each, 'bob')]).toEqual([200, 200]);
    // One of the others cannot read its config just now: what it has in force still has the key.
    await writeFile(places[1].configFile, '{');
    await places[0].write({ ...config, http: { auth: { keys: keys.slice(0, 1) } } });
    for (const each of replicas) {
      await waitUntil(async () => (await status(each, 'bob')) === 401, { what: 'a refusal', timeoutMs: 30_000 });
      expect(await status(each, 'ann')).toBe(200);
    }
    // Brought back where it was taken away, it is good again everywhere.
    await Promise.all([places[0].write(config), places[1].write(config)]);
    for (const each of replicas) {
      await waitUntil(async () => (await status(each, 'bob')) === 200, { what: 'an answer', timeoutMs: 30_000 });
    }
  });

  it('STORE-3 R7 replicas are replaced one after the other under load without a failed call of a 2026-era host', async () => {
    const { replicas, grow } = await cluster({ servers: { slow: fixture('slow') } });
    await becomes(replicas, 'ran');
    // As a load balancer does it: a replica that is to go gets no new requests, and is told to stop.
    let live: readonly Replica[] = replicas;
    // Calls that last are in flight whenever that happens.
    const lasting = Array.from({ length: 4 }, () => load(() => live, 0, execute('slow', 'wait', { ms: 300 })));
    const loads = [load(() => live, 5), ...lasting];
    for (const old of replicas) {
      const next = await grow();
      await becomes([next], 'ran');
      live = [...live.filter((each) => each !== old), next];
      old.child.kill('SIGTERM');
      const [code] = (await once(old.child, 'close')) as [number | null];
      expect(code).toBe(0);
    }
    for (const { stop } of loads) expect([...(await stop()).keys()]).toEqual(['ran']);
  });

  it('STORE-3 CONN-7 a limit of 10 a second holds across three processes under load, however many calls each is asked for', async () => {
    const rateLimit = { requestsPerSecond: 10, burstSize: 1 };
    const { replicas } = await cluster({ servers: { limited: { ...fixture('legacy'), rateLimit } } });
    const call = { server: 'limited', tool: 'echo', arguments: { message: 'x' }, timeoutMs: 2000 };
    let served = 0;
    /** Asks every process for more than its share. */
    const press = async (ms: number): Promise<number> => {
      const since = performance.now();
      const run = async ({ post }: Replica): Promise<void> => {
        while (performance.now() - since < ms) if ((await post('/v1/call', call)).status === 200) served += 1;
      };
      await Promise.all(replicas.flatMap((each) => [run(each), run(each), run(each)]));
      return (performance.now() - since) / 1000;
    };
    // The shares settle first.
    await press(formOf(1000, 3000));
    served = 0;
    const seconds = await press(formOf(1500, 20_000));
    // Within a tenth, and what the three had left when it began.
    expect(served).toBeLessThanOrEqual(11 * seconds + replicas.length);
    expect(served).toBeGreaterThanOrEqual(formOf(1, 9 * seconds));
  });
});
