// How many calls a second can toolscout pass on, and what happens when it does so for minutes (R14)? For HTTP and for stdio: the
// most calls a second of toolscout and of a bare server of the SDK; then 70 % of what toolscout can do for a while: errors, what a call takes longer
// than without toolscout (at the same rate, or 70 % of what a bare server can take), and whether memory and open files grow. Needs a build.
// -- --minutes=10 --front=http --share=0.7 --ceiling-seconds=27 --direct-seconds=20
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { conclude, printTable, type Bound } from '../support/report.js';
import { callOverHttp, callOverStdio, type Caller, type Subject } from './callers.js';
import { closedLoop, openLoop, shareOf, type LoadReport } from './load.js';
import { WARM_UP_SHARE, watch, type Holdings } from './memory.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    front: { type: 'string', default: 'both' },
    share: { type: 'string', default: '0.7' },
    'ceiling-seconds': { type: 'string', default: '27' },
    'direct-seconds': { type: 'string', default: '20' },
  },
});
const minutes = Number(values.minutes);
const share = Number(values.share);
const ceilingMs = Number(values['ceiling-seconds']) * 1000;
const directMs = Number(values['direct-seconds']) * 1000;

/** What a run must keep. Memory is judged by how much it grows over the measured part, since a slope of a short run is mostly noise. */
const FLOORS = {
  errors: 0,
  sent: 0.99,
  addedP95Ms: 10,
  ceilingShare: 0.5,
  grownMb: 6,
  grownLiveMb: 3,
  grownFiles: 4,
  missed: 0,
} as const;

const IN_FLIGHT = [16, 32, 64] as const;
const TURNS = 3;
const WARM_UP_MS = 5000;

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'toolscout-soak-'));
const config = join(folder, 'toolscout.config.json');
const log = openSync(join(folder, 'log'), 'a');
const echoServer = path('../latency/echo-server.mjs');
writeFileSync(
  config,
  JSON.stringify({ servers: { echo: { command: process.execPath, args: [echoServer], rateLimit: false } } }),
);

const ECHO = { name: 'echo', arguments: { message: 'hello' } };
const serve = (...flags: string[]): string[] => [path('../../dist/cli.js'), 'serve', ...flags, '--config', config];
const through = { name: 'execute_tool', arguments: { server: 'echo', tool: 'echo', arguments: ECHO.arguments } };

interface Front {
  readonly open: (subject: Subject) => Promise<Caller>;
  readonly direct: Subject;
  readonly toolscout: Subject;
}

const FRONTS: Readonly<Record<string, Front>> = {
  http: {
    open: callOverHttp,
    direct: { args: [path('../http-mcp/bare.mjs')], call: ECHO, log },
    toolscout: { args: serve('--port', '0', '--state-dir', join(folder, 'http')), call: through, log },
  },
  stdio: {
    open: callOverStdio,
    direct: { args: [echoServer], call: ECHO, log },
    toolscout: { args: serve('--stdio', '--state-dir', join(folder, 'stdio')), call: through, log },
  },
};

interface Report {
  readonly ceiling: number;
  readonly bareCeiling: number;
  readonly rate: number;
  readonly load: LoadReport;
  readonly direct: readonly LoadReport[];
  readonly directP95Ms: number;
  readonly addedP95Ms: number;
  readonly holdings: Holdings;
  /** What the floor of resident memory grew by for each call, in bytes: an object that every call leaves behind is at least 50. */
  readonly grownPerCall: number;
}

/** The most calls a second of each of some servers: the best number of calls in flight, turn by turn, so that a slow moment meets all. */
async function ceilingsOf(callers: readonly Caller[]): Promise<number[]> {
  for (const caller of callers) await closedLoop(caller, IN_FLIGHT[0], WARM_UP_MS);
  const best = callers.map(() => 0);
  for (const inFlight of IN_FLIGHT) {
    const turns: number[][] = callers.map(() => []);
    for (let turn = 0; turn < TURNS; turn++) {
      for (const [at, caller] of callers.entries()) {
        turns[at]!.push(await closedLoop(caller, inFlight, ceilingMs / TURNS / IN_FLIGHT.length));
      }
    }
    for (const [at, found] of turns.entries()) best[at] = Math.max(best[at]!, shareOf(found, 0.5));
  }
  return best;
}

async function soak({ open, direct, toolscout }: Front): Promise<Report> {
  const [bare, ours] = [await open(direct), await open(toolscout)];
  try {
    const [bareCeiling = NaN, ceiling = NaN] = await ceilingsOf([bare, ours]);
    const rate = share * ceiling;
    // Over HTTP a bare server of the SDK can take fewer calls than toolscout: it gets what it can take.
    const directRate = Math.min(rate, share * bareCeiling);
    // Before and after, both counted: a machine that got slower or faster meanwhile counts half.
    const before = await openLoop(bare, directRate, directMs);
    const watched = watch(ours);
    const { report: load } = await openLoop(ours, rate, minutes * 60_000);
    const holdings = watched.stop();
    const after = await openLoop(bare, directRate, directMs);
    const directP95Ms = shareOf([...before.latencies, ...after.latencies], 0.95);
    const measuredCalls = load.calls * (1 - WARM_UP_SHARE);
    return {
      ceiling,
      bareCeiling,
      rate,
      load,
      direct: [before.report, after.report],
      directP95Ms,
      addedP95Ms: load.p95Ms - directP95Ms,
      holdings,
      grownPerCall: (holdings.rss.grown * 1e6) / measuredCalls,
    };
  } finally {
    await Promise.all([bare.close(), ours.close()]);
  }
}

const reports: Record<string, Report> = {};
try {
  for (const [name, front] of Object.entries(FRONTS)) {
    if (values.front === 'both' || values.front === name) reports[name] = await soak(front);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const fixed = (value: number | undefined, digits = 1): string => (value === undefined ? '–' : value.toFixed(digits));
const rows = Object.entries(reports);
printTable(
  `${minutes} minutes at ${share * 100} % of what toolscout can do`,
  [
    'front',
    'ceiling/s',
    'of bare',
    'rate/s',
    'calls',
    'errors',
    'p50 ms',
    'p95 ms',
    'worst p95',
    'direct p95',
    'added p95',
  ],
  rows.map(([name, { ceiling, bareCeiling, load, directP95Ms, addedP95Ms }]) => [
    name,
    fixed(ceiling, 0),
    fixed(ceiling / bareCeiling, 2),
    fixed(load.callsPerSecond, 0),
    String(load.calls),
    String(load.errors),
    fixed(load.p50Ms, 2),
    fixed(load.p95Ms, 2),
    fixed(Math.max(...load.windowsP95Ms), 2),
    fixed(directP95Ms, 2),
    fixed(addedP95Ms, 2),
  ]),
);
printTable(
  'what it held meanwhile, without the first 30 %',
  [
    'front',
    'RSS MB',
    'floor MB/h',
    'B/call',
    'live heap MB',
    'live MB/h',
    'whole heap MB',
    'full collections',
    'files',
  ],
  rows.map(([name, { holdings, grownPerCall }]) => [
    name,
    holdings.rssRange.map((mb) => fixed(mb)).join('–'),
    fixed(holdings.rss.perHour),
    fixed(grownPerCall),
    fixed(holdings.live?.least),
    fixed(holdings.live?.perHour),
    `${fixed(holdings.heapTotal?.least)}–${fixed(holdings.heapTotal?.most)}`,
    fixed(holdings.fullCollections, 0),
    String(holdings.grownFiles),
  ]),
);
for (const [name, { load }] of rows) if (load.error !== undefined) console.error(`${name}: ${load.error}`);
const bounds = rows.flatMap(([name, each]): Bound[] => [
  { name: `${name}: errors`, value: each.load.errors, most: FLOORS.errors },
  {
    name: `${name}: share of the calls that were due`,
    value: each.load.callsPerSecond / each.rate,
    least: FLOORS.sent,
  },
  { name: `${name}: added p95 in ms`, value: each.addedP95Ms, most: FLOORS.addedP95Ms },
  { name: `${name}: growth of the floor of memory in MB`, value: each.holdings.rss.grown, most: FLOORS.grownMb },
  { name: `${name}: growth of what is alive in MB`, value: each.holdings.live?.grown ?? 0, most: FLOORS.grownLiveMb },
  { name: `${name}: looks at its memory that failed`, value: each.holdings.missed, most: FLOORS.missed },
  { name: `${name}: growth of open files`, value: each.holdings.grownFiles, most: FLOORS.grownFiles },
]);
// A bare server over stdio answers the same echo without a second process: only over HTTP are the two alike.
const { http } = reports;
if (http) {
  bounds.push({
    name: 'http: share of the bare ceiling',
    value: http.ceiling / http.bareCeiling,
    least: FLOORS.ceilingShare,
  });
}
conclude('soak', { minutes, share, reports }, bounds);
