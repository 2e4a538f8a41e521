import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { serveMcpStdio } from '../../src/front/mcp/stdio/stdio.js';
import type { Gateway } from '../../src/gateway/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { silentLog } from '../../src/kernel/log.js';
import { fixture, isAlive, startListening, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { repetitions } from '../support/long-form.js';
import { openToolscout } from '../support/open-toolscout.js';
import { patient } from '../support/patience.js';

/** Calls in flight when a server is killed. */
const CALLS = 8;

/** What may be said of a call whose server was killed. */
const TYPED = new Set(['SERVER_CONNECTION_ERROR', 'SESSION_INIT_FAILED', 'CIRCUIT_OPEN']);

/** Retries are on: a call that may have run must not be among them. */
const RETRYING = { retryPolicy: { maxRetries: 3, initialDelayMs: 1, maxDelayMs: 10 } };

/** What a file has got since it was last looked at. */
function tailOf(path: string): () => string {
  let at = 0;
  let text = '';
  return () => {
    if (!existsSync(path)) return text;
    const size = statSync(path).size;
    const buffer = Buffer.alloc(size - at);
    const file = openSync(path, 'r');
    const read = readSync(file, buffer, 0, buffer.length, at);
    closeSync(file);
    at += read;
    text += buffer.toString('utf8', 0, read);
    return text;
  };
}

/** A host that counts the answers to each of its requests. */
async function countingHost(gateway: Gateway) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const info = { name: 'toolscout', version: '1' };
  const front = serveMcpStdio({ gateway, info, log: silentLog, clock: systemClock, input, output });
  onTestFinished(() => front.close());
  const answers = new Map<unknown, JsonObject[]>();
  let rest = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const message = JSON.parse(line) as JsonObject;
      if (message['id'] !== undefined) answers.set(message['id'], [...(answers.get(message['id']) ?? []), message]);
    }
  });
  const send = (message: JsonObject): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'counter', version: '1' };
  send({ id: 'hello', method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
  send({ method: 'notifications/initialized' });
  await waitUntil(() => answers.has('hello'), { what: 'the handshake' });
  return { answers, send };
}

interface Outcome {
  readonly code?: string;
  readonly delivered?: false | 'unknown';
}

/** Success, or the failure that toolscout tells. */
function outcomeOf(answer: JsonObject): Outcome {
  const { isError, content } = answer['result'] as { isError?: boolean; content: Array<{ text: string }> };
  return isError ? (JSON.parse(content[0]!.text) as Outcome) : {};
}

interface Target {
  readonly entry: JsonObject;
  /** Ends the process that serves now. */
  kill(): Promise<void>;
}

/** Kills a process, which may have ended by itself meanwhile. */
function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

async function localTarget(folder: string, journal: string): Promise<Target> {
  const starts = join(folder, 'starts');
  return {
    entry: { ...fixture('effects', `--file=${journal}`, `--start-file=${starts}`) },
    async kill() {
      // The last one that started need not be the one that serves: a list may have been read again on a connection that has ended.
      const pids = readFileSync(starts, 'utf8').trim().split('\n').map(Number).filter(isAlive);
      for (const pid of pids) endNow(pid);
      await waitUntil(() => !pids.some(isAlive), { what: 'its end' });
    },
  };
}

async function remoteTarget(_folder: string, journal: string): Promise<Target> {
  let running = await startListening('effects', ['--http', `--file=${journal}`], 'mcp');
  onTestFinished(() => running.stop());
  const { port } = new URL(running.url);
  return {
    entry: { url: running.url },
    async kill() {
      await running.stop();
      running = await startListening('effects', ['--http', `--file=${journal}`, `--port=${port}`], 'mcp');
    },
  };
}

it.each([
  ['local', localTarget, () => repetitions(10, 1000)],
  ['remote', remoteTarget, () => repetitions(10, 200)],
] as const)(
  'R5 kill -9 of a %s server during calls: one answer or one typed error each, and nothing runs twice',
  { timeout: patient(1_800_000) },
  async (_kind, open, count) => {
    const folder = await temporaryDirectory();
    const journal = join(folder, 'journal');
    const target = await open(folder, journal);
    const limits = { breakerFailures: 1_000_000 };
    const servers = { fx: { ...target.entry, rateLimit: false as const } };
    const gateway = await openToolscout({ ...RETRYING, limits, servers });
    await gateway.servers.discover();
    const { answers, send } = await countingHost(gateway);
    const runs = tailOf(journal);
    const call = (id: string, tool: string, ms: number): void =>
      send({
        id,
        method: 'tools/call',
        params: { name: 'execute_tool', arguments: { server: 'fx', tool, arguments: { id, ms } } },
      });

    /** Calls until the server is up again. Calls that are sent before its end is noticed are lost with it, as they should be. */
    const expectUp = async (kill: number): Promise<void> => {
      for (let attempt = 0; attempt < 5; attempt++) {
        const id = `up ${kill}.${attempt}`;
        call(id, 'look', 0);
        await waitUntil(() => answers.has(id), { what: id });
        if (outcomeOf(answers.get(id)![0]!).code === undefined) return;
      }
      throw new Error(`The server did not come back after kill ${kill}.`);
    };
    const tally = { answered: 0, lost: 0, undelivered: 0 };
    const kills = count();
    for (let kill = 0; kill < kills; kill++) {
      await expectUp(kill);
      const ids = Array.from({ length: CALLS }, (_, at) => `${kill}:${at};`);
      for (const [at, id] of ids.entries()) call(id, at % 2 === 0 ? 'pay' : 'look', (at * 7 + kill) % 30);
      const least = 1 + (kill % CALLS);
      await waitUntil(() => ids.filter((id) => runs().includes(id)).length >= least, { what: `${least} runs` });
      await target.kill();
      await waitUntil(() => ids.every((id) => answers.has(id)), { what: `the answers of kill ${kill}` });
      const ran = runs().split('\n');
      for (const id of ids) {
        const times = ran.filter((line) => line === id).length;
        const [answer] = answers.get(id)!;
        const { code, delivered } = outcomeOf(answer!);
        const what = `${id} ran ${times} times: ${JSON.stringify(answer)}`;
        expect(times, what).toBeLessThanOrEqual(1);
        if (code === undefined) expect(times, what).toBe(1);
        else expect(TYPED.has(code), what).toBe(true);
        // What is said not to have arrived did not run.
        if (delivered === false) expect(times, what).toBe(0);
        tally[code === undefined ? 'answered' : delivered === false ? 'undelivered' : 'lost']++;
      }
    }
    const often = [...answers].filter(([, all]) => all.length !== 1).map(([id]) => id);
    expect(often).toEqual([]);
    // Otherwise the kills came too late or too early to show anything.
    expect(tally.lost).toBeGreaterThan(0);
    expect(tally.answered + tally.lost + tally.undelivered).toBe(kills * CALLS);
  },
);

it(
  'R5 a server that is killed in each call opens its breaker, and it is not started for every call',
  async () => {
    const folder = await temporaryDirectory();
    const starts = join(folder, 'starts');
    const servers = { fx: { ...fixture('legacy', `--start-file=${starts}`), rateLimit: false as const } };
    const gateway = await openToolscout({ ...RETRYING, servers });
    await gateway.servers.discover();
    const codes: Array<string | undefined> = [];
    const calls = repetitions(10, 200);
    for (let at = 0; at < calls; at++) codes.push((await gateway.call('fx', 'crash', {})).error?.code);
    expect(new Set(codes)).toEqual(new Set(['SERVER_CONNECTION_ERROR', 'CIRCUIT_OPEN']));
    expect(codes.filter((code) => code === 'SERVER_CONNECTION_ERROR').length).toBeLessThanOrEqual(6);
    expect(readFileSync(starts, 'utf8').trim().split('\n').length).toBeLessThanOrEqual(8);
  },
  patient(120_000),
);
