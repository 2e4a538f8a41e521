// What do replicas over one PostgreSQL cost and bring? Calls per second with 1, 2 and 4 replicas beside as many bare clients of the same
// server, the store's share of a call, how often searches and menus ask the database, how fast a decision, a quarantine, a
// revoked key and the work of a killed replica reach the others, and whether a rate limit holds for all of them together (STORE-3).
// -- --seconds=3 --parallel=16
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { modernPost } from '../../test/support/modern-request.js';
import { isAuditBatch, isBackground, startPostgres } from '../../test/support/postgres.js';
import { conclude, printTable, quantile } from '../support/report.js';
import { cpuMsOf, startReplica, type Replica } from './processes.js';
import { measureReach } from './reach.js';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '3' }, parallel: { type: 'string', default: '16' } },
});
const [seconds, parallel] = [Number(values.seconds), Number(values.parallel)];
const SERVER = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../../test/fixtures/servers/legacy.mjs', import.meta.url))],
};
/** Turns in which a replica with a database is compared with one without. */
const STORE_TURNS = 7;
const ECHO = { message: 'hello' };
const CALL = { name: 'execute_tool', arguments: { server: 'one', tool: 'echo', arguments: ECHO } };

const postgres = await startPostgres();
const base = await postgres.newDatabase();
let schemas = 0;
const newStore = (): string => `${base}?schema=bench${++schemas}`;

async function ask(url: string, method: string, params: object): Promise<string> {
  const answer = await fetch(`${url}/mcp`, modernPost(method, params as never));
  const text = await answer.text();
  if (!answer.ok || text.includes('"isError":true')) throw new Error(`${method} failed: ${answer.status} ${text}`);
  return text;
}

/** Runs calls in parallel for a while, each worker one after the other; answers calls per second. */
async function rate(call: (worker: number) => Promise<unknown>): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let done = 0;
  const work = async (worker: number): Promise<void> => {
    while (performance.now() < until) {
      await call(worker);
      done++;
    }
  };
  await Promise.all(Array.from({ length: parallel }, (_, worker) => work(worker)));
  return done / seconds;
}

const startAll = (count: number, store: string, more: object = {}): Promise<Replica[]> =>
  Promise.all(Array.from({ length: count }, () => startReplica({ servers: { one: SERVER }, store, ...more })));
const stopAll = (replicas: readonly Replica[]): Promise<unknown> => Promise.all(replicas.map((each) => each.stop()));

async function throughReplicas(count: number, store: string): Promise<number> {
  const replicas = await startAll(count, store);
  for (const { url } of replicas) await ask(url, 'tools/call', CALL);
  const call = (worker: number): Promise<string> => ask(replicas[worker % count]!.url, 'tools/call', CALL);
  await rate(call);
  const perSecond = await rate(call);
  await stopAll(replicas);
  return perSecond;
}

async function throughClients(count: number): Promise<number> {
  const clients = await Promise.all(
    Array.from({ length: count }, async () => {
      const client = new Client({ name: 'bare', version: '1' });
      await client.connect(new StdioClientTransport(SERVER));
      return client;
    }),
  );
  const call = (worker: number): Promise<unknown> =>
    clients[worker % count]!.callTool({ name: 'echo', arguments: ECHO });
  await rate(call);
  const perSecond = await rate(call);
  await Promise.all(clients.map((client) => client.close()));
  return perSecond;
}

const counts = [1, 2, 4];
const rows: string[][] = [];
const throughput: Record<string, number> = {};
for (const count of counts) {
  const bare = await throughClients(count);
  const perSecond = await throughReplicas(count, newStore());
  throughput[count] = perSecond / bare;
  rows.push([String(count), bare.toFixed(0), perSecond.toFixed(0), (perSecond / bare).toFixed(2)]);
}
printTable('Calls per second', ['replicas', 'bare clients', 'through toolscout, over HTTP', 'share'], rows);

/** Processor time of a replica for a call, in turns: with state in memory, and with the database. */
async function measureStoreShare(turns: number): Promise<number> {
  const replicas = [...(await startAll(1, 'memory')), ...(await startAll(1, newStore()))];
  const cpuOfCall = async ({ pid, url }: Replica): Promise<number> => {
    const before = cpuMsOf(pid);
    const perSecond = await rate(() => ask(url, 'tools/call', CALL));
    return (cpuMsOf(pid) - before) / (perSecond * seconds);
  };
  const shares: number[] = [];
  // The first turn is for the compiler.
  for (let turn = 0; turn <= turns; turn++) {
    const [inMemory, inDatabase] = [await cpuOfCall(replicas[0]!), await cpuOfCall(replicas[1]!)];
    if (turn > 0) shares.push(1 - inMemory / inDatabase);
  }
  await stopAll(replicas);
  return quantile(
    shares.toSorted((a, b) => a - b),
    0.5,
  );
}

const storeShare = await measureStoreShare(STORE_TURNS);

const store = newStore();
const replicas = await startAll(3, store, {
  servers: { one: { ...SERVER, rateLimit: { requestsPerSecond: 10, burstSize: 1 } } },
});
const [first] = replicas as [Replica, Replica, Replica];
for (const { url } of replicas) await ask(url, 'tools/call', CALL);
const LOOKS = 500;
const searching = async (): Promise<void> => {
  for (let at = 0; at < LOOKS; at++) {
    await ask(first.url, 'tools/call', { name: 'search_tools', arguments: { query: 'repeat a message' } });
    await ask(first.url, 'tools/list', {});
  }
};
// What is remembered of a principal is read once.
await ask(first.url, 'tools/call', { name: 'search_tools', arguments: { query: 'repeat a message' } });
const statements = await postgres.statementsDuring(searching);
const perLook = statements.filter((statement) => !isBackground(statement)).length / (2 * LOOKS);
const batches = statements.filter(isAuditBatch).length;

// A limit of ten a second for three replicas that all want more.
const LIMIT_SECONDS = 10;
let served = 0;
const pressing = async (url: string, until: number): Promise<void> => {
  while (performance.now() < until) {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ server: 'one', tool: 'echo', arguments: ECHO, timeoutMs: 2000 });
    const { ok } = await fetch(`${url}/v1/call`, { method: 'POST', body, headers });
    if (ok && performance.now() < until) served++;
  }
};
// The shares settle first.
await Promise.all(replicas.flatMap(({ url }) => [1, 2, 3].map(() => pressing(url, performance.now() + 3000))));
served = 0;
await Promise.all(
  replicas.flatMap(({ url }) => [1, 2, 3].map(() => pressing(url, performance.now() + LIMIT_SECONDS * 1000))),
);
const limitRate = served / LIMIT_SECONDS;
await stopAll(replicas);
const reach = await measureReach(newStore);
await postgres.cleanup();

printTable(
  'What is shared',
  ['figure', 'value', 'bound'],
  [
    ["the store's share of a call's processor time", `${(storeShare * 100).toFixed(1)} %`, '< 10 %'],
    ['statements for one search or menu', perLook.toFixed(3), '0'],
    [`statements that wrote the records of ${LOOKS} searches`, String(batches), ''],
    ['an approval holds on the others after (worst of five)', `${reach.decision.toFixed(0)} ms`, '< 1000 ms'],
    ['a quarantine holds on the others after', `${reach.quarantine.toFixed(0)} ms`, '< 1000 ms'],
    ['a revoked key opens none of the others after', `${reach.revokedKey.toFixed(0)} ms`, '< 1000 ms'],
    ['the work of a killed replica is done by another after', `${reach.killedWork.toFixed(0)} ms`, '< 5000 ms'],
    ['a limit of 10/s on three replicas', `${limitRate.toFixed(1)}/s`, '9 to 11'],
  ],
);
conclude('cluster', { seconds, parallel, throughput, storeShare, perLook, batches, reach, limitRate }, [
  { name: "the store's share of a call", value: storeShare, most: 0.1 },
  { name: 'statements for a search or a menu', value: perLook, most: 0 },
  { name: 'milliseconds until an approval holds on all', value: reach.decision, most: 1000 },
  { name: 'milliseconds until a quarantine holds on all', value: reach.quarantine, most: 1000 },
  { name: 'milliseconds until a revoked key opens none', value: reach.revokedKey, most: 1000 },
  { name: 'milliseconds until the work of a killed replica moves', value: reach.killedWork, most: 5000 },
  { name: 'calls per second under a limit of ten', value: limitRate, most: 11, least: 9 },
]);
