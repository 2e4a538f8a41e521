import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/kernel/hash.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture, waitUntil } from '../support/fixture.js';
import { repetitions } from '../support/long-form.js';
import { envelope, modernPost } from '../support/modern-request.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { lineMatching, workplace, type Workplace } from '../support/toolscout.js';

const LONG = { timeout: 300_000 };
const READ: JsonObject = { name: 'read', description: 'Reads a note.', inputSchema: { type: 'object' } };

let postgres: TestPostgres;
let base: string;
let count = 0;
beforeAll(async () => {
  postgres = await startPostgres();
  base = await postgres.newDatabase();
}, 60_000);
afterAll(() => postgres.cleanup());

interface Replica {
  readonly url: string;
  readonly child: ChildProcess;
  get<T>(path: string): Promise<T>;
  post(path: string, body: object): Promise<{ readonly status: number; readonly body: JsonObject }>;
  /** A request of a 2026-era host. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
}

/** One `serve` process over the database, with a state directory of its own. */
async function replica(place: Workplace): Promise<Replica> {
  const child = place.start('serve', '--port', '0', '--admin');
  const [, url] = await lineMatching(child, /(http:\/\/127\.0\.0\.1:\d+)\/mcp/);
  return {
    url: url!,
    child,
    get: async <T>(path: string) => (await (await fetch(url + path)).json()) as T,
    async post(path, body) {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url + path, { method: 'POST', body: JSON.stringify(body), headers });
      return { status: answer.status, body: (await answer.json()) as JsonObject };
    },
    async ask(method, params) {
      const answer = await fetch(`${url}/mcp`, modernPost(method, params));
      const text = await answer.text();
      const json = text.startsWith('{') ? text : text.slice(text.indexOf('data: {"jsonrpc"') + 6).split('\n')[0]!;
      return JSON.parse(json) as JsonObject;
    },
  };
}

interface Cluster {
  readonly replicas: readonly [Replica, Replica, Replica];
  /** Starts one more replica. */
  grow(): Promise<Replica>;
  /** A folder whose commands use the same database. */
  readonly place: Workplace;
  /** The folders of the replicas, in their order, and what the config of each says. */
  readonly places: readonly [Workplace, Workplace, Workplace];
  readonly config: ConfigInput;
  show(description: string): Promise<void>;
}

/** Three processes over one database; `notes` shows what a file says. */
async function cluster(more: ConfigInput = {}): Promise<Cluster> {
  const place = await workplace({});
  const file = join(place.folder, 'shown.json');
  const show: Cluster['show'] = (description) => writeFile(file, JSON.stringify({ tools: [{ ...READ, description }] }));
  await show('Reads a note.');
  const store = `${base}?schema=processes${++count}`;
  const { servers, ...rest } = more;
  const config: ConfigInput = { servers: { notes: fixture('changing', `--file=${file}`), ...servers }, ...rest, store };
  await place.write(config);
  const grow = async (): Promise<Replica> => replica(await workplace(config));
  const places = await Promise.all([workplace(config), workplace(config), workplace(config)]);
  const [one, two, three] = places;
  return {
    replicas: await Promise.all([replica(one), replica(two), replica(three)]),
    grow,
    place,
    places,
    config,
    show,
  };
}

const CALL = { server: 'notes', tool: 'read', arguments: {} };
const outcomeOf = async ({ post }: Replica): Promise<unknown> => {
  const { status, body } = await post('/v1/call', CALL);
  return status === 200 ? 'ran' : body['code'];
};
const becomes = async (replicas: readonly Replica[], code: string): Promise<void> => {
  for (const each of replicas) {
    const isSo = async (): Promise<boolean> => (await outcomeOf(each)) === code;
    await waitUntil(isSo, { what: `a call that ends in ${code}`, timeoutMs: 30_000 });
  }
};
const execute = (server: string, tool: string, args: JsonObject = {}): JsonObject => ({
  name: 'execute_tool',
  arguments: { server, tool, arguments: args },
});

/** Calls replicas in turn, one call at a time, until it is told to stop; answers how each call ended. */
function load(inTurn: () => readonly Replica[]): { stop(): Promise<Map<string, number>> } {
  const state = { goesOn: true };
  const ends = new Map<string, number>();
  const run = async (): Promise<void> => {
    for (let at = 0; state.goesOn; at++) {
      const live = inTurn();
      const answer = await live[at % live.length]!.ask('tools/call', execute('notes', 'read')).catch(
        (thrown: Error) => ({ error: { message: String(thrown.cause ?? thrown) } }) as JsonObject,
      );
      const result = answer['result'] as JsonObject | undefined;
      const end = result && result['isError'] !== true ? 'ran' : JSON.stringify(answer).slice(0, 300);
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
  };
  const running = run();
  return {
    async stop() {
      state.goesOn = false;
      await running;
      return ends;
    },
  };
}

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

  it('STORE-4 while connections to the database are cut at random and it stops, calls go on', async () => {
    const { replicas } = await cluster();
    await becomes(replicas, 'ran');
    const { stop } = load(() => replicas);
    for (let round = 0; round < repetitions(3, 30); round++) {
      await postgres.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'toolscout' and random() < 0.5`,
      );
      await waitUntil(async () => (await outcomeOf(replicas[0])) === 'ran', { what: 'a call' });
    }
    await postgres.stop();
    try {
      await waitUntil(async () => (await replicas[1].get<JsonObject>('/ready'))['status'] === 'degraded', {
        what: 'degraded',
        timeoutMs: 30_000,
      });
      expect(await outcomeOf(replicas[1])).toBe('ran');
      expect(await replicas[2].post('/v1/approvals/notes:read/reject', {})).toMatchObject({
        status: 503,
        body: { code: 'STORE_ERROR', retry_after_ms: expect.any(Number) as number },
      });
    } finally {
      await postgres.start();
    }
    for (const each of replicas) {
      await waitUntil(async () => (await each.get<JsonObject>('/ready'))['status'] === 'ready', {
        what: 'recovery',
        timeoutMs: 30_000,
      });
    }
    expect([...(await stop()).keys()]).toEqual(['ran']);
    await becomes(replicas, 'ran');
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
    await places[0].write({ ...config, http: { auth: { keys: keys.slice(0, 1) } } });
    for (const each of replicas) {
      await waitUntil(async () => (await status(each, 'bob')) === 401, { what: 'a refusal', timeoutMs: 30_000 });
      expect(await status(each, 'ann')).toBe(200);
    }
    // Brought back where it was taken away, it is good again everywhere.
    await places[0].write(config);
    for (const each of replicas) {
      await waitUntil(async () => (await status(each, 'bob')) === 200, { what: 'an answer', timeoutMs: 30_000 });
    }
  });

  it('STORE-3 R7 replicas are replaced one after the other under load without a failed call of a 2026-era host', async () => {
    const { replicas, grow } = await cluster();
    await becomes(replicas, 'ran');
    // As a load balancer does it: a replica that is to go gets no new requests, and is told to stop.
    let live: readonly Replica[] = replicas;
    const { stop } = load(() => live);
    for (const old of replicas) {
      const next = await grow();
      await becomes([next], 'ran');
      live = [...live.filter((each) => each !== old), next];
      old.child.kill('SIGTERM');
      const [code] = (await once(old.child, 'close')) as [number | null];
      expect(code).toBe(0);
    }
    const ends = await stop();
    expect([...ends.keys()]).toEqual(['ran']);
  });
});
