import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../../src/kernel/hash.js';
import { startReplica, type Replica } from './processes.js';

/** How long it takes until what one replica did holds on the others, in milliseconds; the worst of some rounds. */
export interface Reach {
  readonly decision: number;
  readonly quarantine: number;
  readonly revokedKey: number;
  /** From `kill -9` of the replica that learned a server until the others have its tools. */
  readonly killedWork: number;
}

const KEY = 'key-of-operations-0123456789';
const LOST_KEY = 'key-that-is-lost-0123456789';
const ROUNDS = 5;
const fixture = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(`../../test/fixtures/servers/${name}.mjs`, import.meta.url)), ...args],
});

async function send(
  { url }: Replica,
  path: string,
  body?: object,
  key = KEY,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const init = body ? { method: 'POST', body: JSON.stringify(body), headers } : { headers };
  const answer = await fetch(url + path, init);
  return { status: answer.status, text: await answer.text() };
}

/** Milliseconds until every one of them is so. */
async function until(replicas: readonly Replica[], isSo: (replica: Replica) => Promise<boolean>): Promise<number> {
  const since = performance.now();
  for (const each of replicas) while (!(await isSo(each))) await delay(5);
  return performance.now() - since;
}

async function must(answer: Promise<{ readonly status: number; readonly text: string }>): Promise<void> {
  const { status, text } = await answer;
  if (status !== 200) throw new Error(`refused with ${status}: ${text}`);
}

/** Measures with three replicas over a database, all of which are called meanwhile. */
export async function measureReach(newStore: () => string): Promise<Reach> {
  const folder = mkdtempSync(join(tmpdir(), 'toolscout-reach-'));
  const shown = join(folder, 'shown.json');
  let version = 0;
  const show = (): void => {
    const tool = { name: 'read', description: `Reads a note, ${++version}.`, inputSchema: { type: 'object' } };
    writeFileSync(`${shown}.next`, JSON.stringify({ tools: [tool] }));
    renameSync(`${shown}.next`, shown);
  };
  show();
  const keys = [
    { name: 'ops', hash: sha256(KEY), scopes: ['admin'] },
    { name: 'lost', hash: sha256(LOST_KEY), scopes: ['read'] },
  ];
  const config = {
    servers: { one: fixture('legacy'), notes: fixture('changing', `--file=${shown}`) },
    store: newStore(),
    http: { auth: { keys } },
  };
  const replicas = await Promise.all([1, 2, 3].map(() => startReplica(config)));
  const [first, ...others] = replicas as [Replica, Replica, Replica];
  const call = (server: string, tool: string) => ({ server, tool, arguments: { message: 'x' } });
  const endsIn = (code: string) => async (replica: Replica) =>
    (await send(replica, '/v1/call', call('notes', 'read'))).text.includes(code);
  const load = { goesOn: true };
  const press = async (replica: Replica): Promise<void> => {
    while (load.goesOn) await send(replica, '/v1/call', call('one', 'echo'));
  };
  await until(replicas, endsIn('"success":true'));
  const pressed = Promise.all(replicas.map(press));

  const decision: number[] = [];
  const quarantine: number[] = [];
  const revokedKey: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    show();
    await must(send(first, '/v1/servers/notes/discover', {}));
    quarantine.push(await until(others, endsIn('TOOL_CHANGED')));
    await send(first, '/v1/approvals/notes:read/diff');
    await must(send(first, '/v1/approvals/notes:read/approve', {}));
    decision.push(await until(others, endsIn('"success":true')));
    const opens = (isOpen: boolean) => async (replica: Replica) =>
      ((await send(replica, '/v1/servers', undefined, LOST_KEY)).status === 200) === isOpen;
    first.configure({ ...config, http: { auth: { keys: keys.slice(0, 1) } } });
    await until([first], opens(false));
    revokedKey.push(await until(others, opens(false)));
    first.configure(config);
    await until(replicas, opens(true));
  }
  load.goesOn = false;
  await pressed;
  await Promise.all(replicas.map((each) => each.stop()));
  const killedWork = await measureKilledWork(newStore(), folder);
  rmSync(folder, { recursive: true, force: true });
  return {
    decision: Math.max(...decision),
    quarantine: Math.max(...quarantine),
    revokedKey: Math.max(...revokedKey),
    killedWork,
  };
}

/** Kills the replica that learns a server which says nothing to it; the server answers whoever asks next. */
async function measureKilledWork(store: string, folder: string): Promise<number> {
  const script = `echo $PPID >> "$0/starts"; if mkdir "$0/first" 2>/dev/null; then exec sleep 60; fi; exec "$1" "$2"`;
  const { command, args } = fixture('modern');
  const late = { command: 'sh', args: ['-c', script, folder, command, ...args] };
  const config = { servers: { late }, store, http: { auth: { keys: [{ name: 'ops', hash: sha256(KEY) }] } } };
  const replicas = await Promise.all([1, 2, 3].map(() => startReplica(config)));
  const starts = (): string => {
    try {
      return readFileSync(join(folder, 'starts'), 'utf8');
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw thrown;
    }
  };
  while (starts() === '') await delay(5);
  const victim = replicas.find(({ pid }) => pid === Number(starts().split('\n')[0]))!;
  const left = replicas.filter((each) => each !== victim);
  await victim.stop('SIGKILL');
  const isKnown = async (replica: Replica): Promise<boolean> =>
    (await send(replica, '/v1/servers')).text.includes('"knowledge":"ready"');
  const ms = await until(left, isKnown);
  await Promise.all(left.map((each) => each.stop()));
  return ms;
}
