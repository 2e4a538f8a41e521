// How fast is GET /v1/tools, whole and unchanged (304), beside a bare route that gives the same bytes in the same run?
// -- --servers=1000 --connections=16 --seconds=1 --rounds=9
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { conclude, printTable } from '../support/report.js';

const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '1000' },
    connections: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '9' },
  },
});
const [connections, seconds, rounds] = [Number(values.connections), Number(values.seconds), Number(values.rounds)];

/** The aim is 0.7; the floor leaves room for the noise of a machine that also makes the requests. */
const FLOOR = 0.6;

interface Measured {
  readonly perSecond: number;
  readonly p99: number;
}

const requestFor = (url: string, etag?: string): string =>
  `GET /v1/tools HTTP/1.1\r\nHost: ${new URL(url).host}\r\n${etag ? `If-None-Match: ${etag}\r\n` : ''}\r\n`;

async function dial(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  return socket;
}

/** Answers of one target are all of one length: what comes until it falls silent is one of them. */
async function lengthOf(url: string, request: string): Promise<number> {
  const socket = await dial(url);
  const sizes: number[] = [];
  socket.on('data', (chunk) => sizes.push(chunk.length));
  socket.write(request);
  let seen: number;
  do {
    seen = sizes.length;
    await delay(100);
  } while (seen === 0 || sizes.length > seen);
  socket.destroy();
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function load(url: string, request: string): Promise<Measured> {
  const length = await lengthOf(url, request);
  const times: number[] = [];
  const started = performance.now();
  const until = started + seconds * 1000;
  const drive = async (): Promise<void> => {
    const socket = await dial(url);
    await new Promise<void>((resolve, reject) => {
      let received = 0;
      let sent = performance.now();
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        received += chunk.length;
        if (received < length) return;
        const now = performance.now();
        times.push(now - sent);
        received -= length;
        if (now > until) return resolve();
        sent = now;
        socket.write(request);
      });
      socket.write(request);
    });
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, drive));
  const elapsed = (performance.now() - started) / 1000;
  const sorted = times.toSorted((a, b) => a - b);
  return { perSecond: times.length / elapsed, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0 };
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Starts a program and waits until it says where it listens. */
async function start(args: readonly string[], says: RegExp): Promise<{ url: string; child: ChildProcess }> {
  const env = { ...process.env, TOOLS_YAML_PATH: inventory };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const place = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      const found = says.exec(output)?.[1];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code}: ${output}`)));
  });
  return { url: `http://127.0.0.1:${place}`, child };
}

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'toolscout-bench-'));
const config = join(folder, 'toolscout.config.json');
// Addresses that the guard refuses without a packet: nothing but requests goes on while requests are counted.
const listed = Array.from({ length: Number(values.servers) }, (_, at) => ({
  id: `server-${at}`,
  base_url: `http://10.0.0.1:${1024 + at}`,
  tags: ['bench', `group-${at % 10}`],
}));
const inventory = join(folder, 'tools.yaml');
writeFileSync(inventory, JSON.stringify({ tools: listed }));
writeFileSync(config, '{}');
const children: ChildProcess[] = [];
try {
  const flags = ['--port', '0', '--config', config, '--state-dir', 'memory'];
  const ours = await start([path('../../dist/cli.js'), 'serve', ...flags], /127\.0\.0\.1:(\d+)/);
  children.push(ours.child);
  await delay(3000);
  const answer = await fetch(`${ours.url}/v1/tools`);
  if (answer.status !== 200) throw new Error(`toolscout answered ${answer.status}: ${await answer.text()}`);
  const etag = answer.headers.get('etag') ?? '';
  const body = Buffer.from(await answer.arrayBuffer());
  writeFileSync(join(folder, 'body'), body);
  const bare = await start([path('bare.mjs'), join(folder, 'body'), etag], /listening (\d+)/);
  children.push(bare.child);
  const place = { ours: ours.url, bare: bare.url, etag, bytes: body.length };
  const rows: string[][] = [];
  const shares: Record<string, number> = {};
  for (const [what, etag] of [
    ['whole', undefined],
    ['unchanged (304)', place.etag],
  ] as const) {
    const measured: Measured[] = [];
    const floor: Measured[] = [];
    await load(place.ours, requestFor(place.ours, etag));
    await load(place.bare, requestFor(place.bare, etag));
    // One after the other, again and again, so that whatever else the machine does befalls both.
    for (let round = 0; round < rounds; round++) {
      floor.push(await load(place.bare, requestFor(place.bare, etag)));
      measured.push(await load(place.ours, requestFor(place.ours, etag)));
    }
    // Round by round, and then the middle one: the best of each may come from different weather.
    const share = median(measured.map(({ perSecond }, round) => perSecond / floor[round]!.perSecond));
    shares[what] = share;
    for (const [name, runs] of [
      ['bare Hono', floor],
      ['toolscout', measured],
    ] as const) {
      rows.push([
        what,
        name,
        Math.round(median(runs.map(({ perSecond }) => perSecond))).toString(),
        median(runs.map(({ p99 }) => p99)).toFixed(2),
        name === 'toolscout' ? `${Math.round(share * 100)} %` : '',
      ]);
    }
  }
  printTable(
    `GET /v1/tools, ${values.servers} servers, ${place.bytes} bytes, ${connections} connections`,
    ['answer', 'server', 'requests/s', 'p99 ms', 'share'],
    rows,
  );
  conclude('http', { servers: Number(values.servers), bytes: place.bytes, connections, shares }, [
    { name: 'share of a bare route, whole', value: shares['whole']!, least: FLOOR },
    { name: 'share of a bare route, unchanged', value: shares['unchanged (304)']!, least: FLOOR },
  ]);
} finally {
  for (const child of children) {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}
