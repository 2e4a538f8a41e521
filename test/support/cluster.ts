import { setTimeout as delay } from 'node:timers/promises';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import type { JsonObject } from '../../src/kernel/json.js';
import type { ConfigInput } from '../../src/model/config.js';
import { onTestFinished } from 'vitest';
import { fixture, waitUntil } from './fixture.js';
import { modernPost } from './modern-request.js';
import { lineMatching, workplace, type Workplace, type WorkplaceOptions } from './toolscout.js';

const READ: JsonObject = { name: 'read', description: 'Reads a note.', inputSchema: { type: 'object' } };

/** One `serve` process of a cluster. */
export interface Replica {
  readonly url: string;
  readonly child: ChildProcess;
  get<T>(path: string): Promise<T>;
  post(path: string, body: object): Promise<{ readonly status: number; readonly body: JsonObject }>;
  /** A request of a 2026-era host. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
}

/** One `serve` process over the database, with a state directory of its own. */
export async function startReplica(place: Workplace): Promise<Replica> {
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

/** Three processes over one store. */
export interface Cluster {
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

/** Starts three processes over one store; the server `notes` shows what a file says. `each` says how each process is started. */
export async function startCluster(
  store: string,
  more: ConfigInput = {},
  each: readonly WorkplaceOptions[] = [],
  /** One for all of them, where the store is a file in it. */
  stateDir?: string,
): Promise<Cluster> {
  const place = await workplace({});
  const file = join(place.folder, 'shown.json');
  const show: Cluster['show'] = async (description) => {
    // By a rename: the server reads it at any time.
    await writeFile(`${file}.next`, JSON.stringify({ tools: [{ ...READ, description }] }));
    await rename(`${file}.next`, file);
  };
  await show('Reads a note.');
  const { servers, ...rest } = more;
  const config: ConfigInput = { servers: { notes: fixture('changing', `--file=${file}`), ...servers }, ...rest, store };
  await place.write(config);
  const grow = async (): Promise<Replica> => startReplica(await workplace(config));
  const places = await Promise.all([
    workplace(config, { stateDir, ...each[0] }),
    workplace(config, { stateDir, ...each[1] }),
    workplace(config, { stateDir, ...each[2] }),
  ]);
  const [one, two, three] = places;
  return {
    replicas: await Promise.all([startReplica(one), startReplica(two), startReplica(three)]),
    grow,
    place,
    places,
    config,
    show,
  };
}

const CALL = { server: 'notes', tool: 'read', arguments: {} };
export const outcomeOf = async ({ post }: Replica): Promise<unknown> => {
  const { status, body } = await post('/v1/call', CALL);
  return status === 200 ? 'ran' : body['code'];
};
export const becomes = async (replicas: readonly Replica[], code: string): Promise<void> => {
  for (const each of replicas) {
    const isSo = async (): Promise<boolean> => (await outcomeOf(each)) === code;
    await waitUntil(isSo, { what: `a call that ends in ${code}`, timeoutMs: 30_000 });
  }
};
export const execute = (server: string, tool: string, args: JsonObject = {}): JsonObject => ({
  name: 'execute_tool',
  arguments: { server, tool, arguments: args },
});

/** Calls replicas in turn, one call at a time, until it is told to stop; answers how each call ended. */
export function load(
  inTurn: () => readonly Replica[],
  pauseMs = 0,
  call: JsonObject = execute('notes', 'read'),
): { stop(): Promise<Map<string, number>> } {
  const state = { goesOn: true };
  const ends = new Map<string, number>();
  const run = async (): Promise<void> => {
    for (let at = 0; state.goesOn; at++) {
      const live = inTurn();
      const answer = await live[at % live.length]!.ask('tools/call', call).catch(
        (thrown: Error) => ({ error: { message: String(thrown.cause ?? thrown) } }) as JsonObject,
      );
      const result = answer['result'] as JsonObject | undefined;
      const end = result && result['isError'] !== true ? 'ran' : JSON.stringify(answer).slice(0, 300);
      ends.set(end, (ends.get(end) ?? 0) + 1);
      if (pauseMs > 0) await delay(pauseMs);
    }
  };
  const running = run();
  const end = (): void => void (state.goesOn = false);
  // A test that fails must not leave it running.
  onTestFinished(end);
  return {
    async stop() {
      end();
      await running;
      return ends;
    },
  };
}
