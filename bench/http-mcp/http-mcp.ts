// What does a call cost toolscout over HTTP, in processor time, one at a time and sixteen at once, for hosts of both eras? Rules,
// validation, audit and a key are on. In the same run: a bare server of the SDK that answers the same echo itself. And what
// a thousand idle sessions take in memory, with and without a stream that each listens on.
// -- --turns=5 --one=1000 --sixteen=4000 --sessions=1000 --starts=3
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { residentMb } from '../latency/host.js';
import { conclude, printTable } from '../support/report.js';
import { openHost, openIdle, type BenchHost, type Era, type Target } from './hosts.js';

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '5' },
    one: { type: 'string', default: '1000' },
    sixteen: { type: 'string', default: '4000' },
    sessions: { type: 'string', default: '1000' },
    starts: { type: 'string', default: '3' },
  },
});
const turns = Number(values.turns);
const calls = { 1: Number(values.one), 16: Number(values.sixteen) } as const;
const sessions = Number(values.sessions);
const starts = Number(values.starts);

/** Milliseconds of processor time for a call, and megabytes for the sessions. */
const AIMS = { 1: 0.35, 16: 0.15, sessionsMb: 30 } as const;
/** What a run must keep: also as a share of the bare server beside it, which a slow machine slows as much. */
const FLOORS = { 1: 0.8, 16: 0.45, share1: 1.6, share16: 1, sessionsMb: 30 } as const;

const ERAS: readonly Era[] = ['2025', '2026'];
const IN_FLIGHT = [1, 16] as const;
type InFlight = (typeof IN_FLIGHT)[number];

const KEY = 'a-key-of-the-bench-that-nobody-else-has';
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'toolscout-bench-'));
const config = join(folder, 'toolscout.config.json');
const rateLimit = { requestsPerSecond: 1_000_000, burstSize: 1_000_000 };
const echo = { command: process.execPath, args: [path('../latency/echo-server.mjs')], rateLimit };
const settings = {
  toolRules: [
    { pattern: ['*', '!*delete*'], tags: ['bench'] },
    { pattern: '*forbidden*', enabled: false },
  ],
  http: { auth: { keys: [{ name: 'bench', hash: createHash('sha256').update(KEY).digest('hex'), scopes: ['call'] }] } },
  servers: { echo },
};
writeFileSync(config, JSON.stringify(settings));

const serve = [path('../../dist/cli.js'), 'serve', '--port', '0', '--config', config];
const args = { message: 'hello' };
const SUBJECTS = {
  bare: { args: [path('bare.mjs')], call: { name: 'echo', arguments: args } },
  toolscout: {
    args: [...serve, '--state-dir', join(folder, 'state')],
    key: KEY,
    call: { name: 'execute_tool', arguments: { server: 'echo', tool: 'echo', arguments: args } },
  },
} as const;
type Name = keyof typeof SUBJECTS;
const NAMES: readonly Name[] = ['bare', 'toolscout'];

interface Started {
  readonly pid: number;
  readonly target: Target;
  stop(): Promise<void>;
}

const logFile = openSync(join(folder, 'log'), 'a');
const children = new Set<ChildProcess>();

/** Starts a subject and waits until it says where it listens. */
async function start(name: Name): Promise<Started> {
  const { args: given, ...how } = SUBJECTS[name];
  // Every call is logged, as it is by default; the log goes into a file.
  const child = spawn(process.execPath, given, { stdio: ['ignore', 'pipe', logFile] });
  children.add(child);
  const port = await new Promise<number>((resolve, reject) => {
    let output = '';
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      const found = /(?:listening |127\.0\.0\.1:)(\d+)/.exec(output)?.[1];
      if (found) resolve(Number(found));
    });
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${output}`)));
  });
  return {
    pid: child.pid!,
    target: { port, ...how },
    async stop() {
      children.delete(child);
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

const TICK_MS = 10;

/** Processor time that a process has used so far, as its own `process.cpuUsage()` counts it; Linux only. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

interface Round {
  readonly cpuMs: number;
  readonly callsPerSecond: number;
}

type Rounds = Record<Era, Record<InFlight, Round[]>>;

/** Calls in turns, so that what else the machine does befalls all of them alike. */
async function measureCalls(): Promise<Record<Name, Rounds>> {
  const started = { bare: await start('bare'), toolscout: await start('toolscout') };
  const measured: Array<{
    readonly pid: number;
    readonly host: BenchHost;
    readonly rounds: Record<InFlight, Round[]>;
  }> = [];
  const result = {} as Record<Name, Rounds>;
  for (const name of NAMES) {
    const { pid, target } = started[name];
    result[name] = { 2025: { 1: [], 16: [] }, 2026: { 1: [], 16: [] } };
    for (const era of ERAS) {
      const host = await openHost(era, target);
      // Until the compiler is done with it.
      await host.run(calls[1], 1);
      await host.run(2 * calls[16], 16);
      measured.push({ pid, host, rounds: result[name][era] });
    }
  }
  for (let turn = 0; turn < turns; turn++) {
    for (const inFlight of IN_FLIGHT) {
      for (const { pid, host, rounds } of measured) {
        const count = calls[inFlight];
        const [before, began] = [cpuMs(pid), performance.now()];
        await host.run(count, inFlight);
        const seconds = (performance.now() - began) / 1000;
        rounds[inFlight].push({ cpuMs: (cpuMs(pid) - before) / count, callsPerSecond: count / seconds });
      }
    }
  }
  for (const name of NAMES) await started[name].stop();
  return result;
}

const SETTLED_MS = 500;

/** What sessions add to the memory of a fresh server that has answered calls. */
async function measureIdle(name: Name, listening: boolean): Promise<number> {
  const { pid, target, stop } = await start(name);
  const host = await openHost('2025', target);
  await host.run(calls[1], 16);
  await delay(SETTLED_MS);
  const before = residentMb(pid);
  const close = await openIdle(sessions, target, listening);
  await delay(SETTLED_MS);
  const added = residentMb(pid) - before;
  close();
  await stop();
  return added;
}

try {
  const measured = await measureCalls();
  const cpu = (name: Name, era: Era, inFlight: InFlight): number =>
    median(measured[name][era][inFlight].map((round) => round.cpuMs));
  const rate = (name: Name, era: Era, inFlight: InFlight): number =>
    median(measured[name][era][inFlight].map((round) => round.callsPerSecond));
  // Turn by turn: what the machine does besides then weighs on both sides alike.
  const share = (era: Era, inFlight: InFlight): number =>
    median(
      measured.toolscout[era][inFlight].map((round, turn) => round.cpuMs / measured.bare[era][inFlight][turn]!.cpuMs),
    );
  const idle = {} as Record<Name, { quiet: number; listening: number }>;
  if (sessions > 0) {
    for (const name of NAMES) {
      const quiet: number[] = [];
      const listening: number[] = [];
      for (let turn = 0; turn < starts; turn++) {
        quiet.push(await measureIdle(name, false));
        listening.push(await measureIdle(name, true));
      }
      idle[name] = { quiet: median(quiet), listening: median(listening) };
    }
  }
  printTable(
    `An echo over HTTP, medians of ${turns} turns of ${calls[1]} calls, ${calls[16]} at sixteen; CPU is that of the process the host talks to`,
    ['', 'CPU ms ×1', 'CPU ms ×16', 'of bare ×1', 'of bare ×16', 'calls/s ×1', 'calls/s ×16'],
    ERAS.flatMap((era) =>
      NAMES.map((name) => [
        `${era}, ${name}`,
        cpu(name, era, 1).toFixed(3),
        cpu(name, era, 16).toFixed(3),
        name === 'bare' ? '' : share(era, 1).toFixed(2),
        name === 'bare' ? '' : share(era, 16).toFixed(2),
        rate(name, era, 1).toFixed(0),
        rate(name, era, 16).toFixed(0),
      ]),
    ),
  );
  if (sessions > 0) {
    printTable(
      `${sessions} idle sessions, median of ${starts} starts`,
      ['', 'MB', 'MB, each with a stream'],
      NAMES.map((name) => [name, idle[name].quiet.toFixed(1), idle[name].listening.toFixed(1)]),
    );
  }
  printTable(
    'Against the aims',
    ['', 'measured', 'aim', 'floor'],
    [
      ...ERAS.flatMap((era) =>
        IN_FLIGHT.map((inFlight) => [
          `${era}: CPU per call at ${inFlight}, ms`,
          cpu('toolscout', era, inFlight).toFixed(3),
          `≤ ${AIMS[inFlight]}`,
          `≤ ${FLOORS[inFlight]}`,
        ]),
      ),
      ...(sessions > 0
        ? [
            [
              `${sessions} idle sessions, MB`,
              idle.toolscout.quiet.toFixed(1),
              `≤ ${AIMS.sessionsMb}`,
              `≤ ${FLOORS.sessionsMb}`,
            ],
          ]
        : []),
    ],
  );
  const figures = (name: Name): object =>
    Object.fromEntries(
      ERAS.map((era) => [
        era,
        { cpuMs1: cpu(name, era, 1), cpuMs16: cpu(name, era, 16), calls16: rate(name, era, 16) },
      ]),
    );
  conclude(
    'http-mcp',
    { bare: figures('bare'), toolscout: figures('toolscout'), sessions, ...(sessions > 0 && { idleMb: idle }) },
    [
      ...ERAS.flatMap((era) => [
        { name: `${era}: CPU per call at 1`, value: cpu('toolscout', era, 1), most: FLOORS[1] },
        { name: `${era}: CPU per call at 16`, value: cpu('toolscout', era, 16), most: FLOORS[16] },
        { name: `${era}: CPU per call at 1, share of bare`, value: share(era, 1), most: FLOORS.share1 },
        { name: `${era}: CPU per call at 16, share of bare`, value: share(era, 16), most: FLOORS.share16 },
      ]),
      ...(sessions > 0 ? [{ name: 'MB of idle sessions', value: idle.toolscout.quiet, most: FLOORS.sessionsMb }] : []),
    ],
  );
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
