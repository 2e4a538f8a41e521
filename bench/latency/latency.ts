// What toolscout adds to a call: the same echo direct, through a bare proxy, and through toolscout with
// rules, validation and audit on, in one run; memory with a thousand tools; time to the first tools/list; a reload with
// a thousand tools, the worst query over ten thousand, and how long reading everything in blocks the thread.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { conclude, printTable } from '../support/report.js';
import { firstList, measure, residentMb, start, type Measurement } from './host.js';
import { measureLimits } from './limits.js';

/** The aims of the project, and the floors that fail a run: machines are noisy, ratios less so. */
const AIMS = {
  cpuMs1: 0.6,
  cpuMs16: 0.2,
  throughput16: 0.45,
  rssMb: 95,
  firstListMs: 300,
  reloadMs: 500,
  hostileQueryCpuMs: 100,
  heldUpCpuMs: 100,
};
const FLOORS = {
  throughput16: 0.3,
  ofBare16: 0.7,
  cpuMs1: 0.6,
  cpuMs16: 0.2,
  rssMb: 102,
  // Of a plain server on the SDK: milliseconds of a start differ by half between machines.
  firstListShare: 2,
  firstListCpuShare: 1.6,
  reloadMs: 1000,
  hostileQueryCpuMs: 100,
  heldUpCpuMs: 100,
};

const LIMITS = [
  { name: 'reload with 1,000 tools, ms (best of 5)', key: 'reloadMs' },
  { name: 'worst hostile query over 10,000 tools, CPU ms', key: 'hostileQueryCpuMs' },
  { name: 'longest hold-up while reading in the corpus, CPU ms', key: 'heldUpCpuMs' },
] as const;

/** Sixteen at once go on for most of a second: within a tenth, where the processes happen to run decides half of it. */
const CALLS = { one: 2000, sixteen: 8000 };
const TURNS = 7;
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const cli = path('../../dist/cli.js');
const echo = path('echo-server.mjs');
const folder = mkdtempSync(join(tmpdir(), 'toolscout-bench-'));
const config = join(folder, 'toolscout.config.json');
const free = { requestsPerSecond: 1_000_000, burstSize: 1_000_000 };
const huge = path('../../test/fixtures/servers/huge.mjs');
const settings = {
  toolRules: [
    { pattern: ['*', '!*delete*'], tags: ['bench'] },
    { pattern: '*forbidden*', enabled: false },
  ],
  servers: {
    echo: { command: process.execPath, args: [echo], rateLimit: free },
    huge: { command: process.execPath, args: [huge, '--tools=1000'] },
  },
};
writeFileSync(config, JSON.stringify(settings));
const serve = [cli, 'serve', '--stdio', '--config', config, '--state-dir', join(folder, 'state')];
const call = { name: 'echo', arguments: { message: 'hello' } };
const through = { name: 'execute_tool', arguments: { server: 'echo', tool: 'echo', arguments: { message: 'hello' } } };

/** Learns both servers, so that what follows meets a warm store. */
async function warm(): Promise<void> {
  const client = new Client({ name: 'bench', version: '1' });
  const [command, ...args] = [process.execPath, ...serve];
  await client.connect(new StdioClientTransport({ command: command!, args, stderr: 'inherit' }));
  for (const server of ['echo', 'huge']) {
    const result = await client.callTool({ name: 'list_tools', arguments: { server } });
    if (result.isError) throw new Error(JSON.stringify(result));
  }
  await client.close();
}

/** Memory of a gateway that has searched its thousand tools and run calls. */
async function loadedMb(): Promise<number> {
  const transport = new StdioClientTransport({ command: process.execPath, args: serve, stderr: 'ignore' });
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(transport);
  for (let i = 0; i < 50; i++) {
    await client.callTool({ name: 'search_tools', arguments: { query: `create report number ${i}` } });
    await client.callTool(through);
  }
  const rss = residentMb(transport.pid!);
  await client.close();
  return rss;
}

try {
  await warm();
  const subjects = [
    await start({ name: 'direct', args: [echo], call }, CALLS.one),
    await start({ name: 'bare proxy', args: [path('bare-proxy.mjs'), process.execPath, echo], call }, CALLS.one),
    await start({ name: 'toolscout', args: serve, call: through }, CALLS.one),
  ];
  const [direct, bare, ours] = (await measure(subjects, CALLS, TURNS)) as [Measurement, Measurement, Measurement];
  await Promise.all(subjects.map((subject) => subject.close()));
  const plain = { ms: Infinity, cpuMs: Infinity };
  const first = { ms: Infinity, cpuMs: Infinity };
  for (let i = 0; i < 7; i++) {
    for (const [best, args] of [
      [plain, [echo]],
      [first, serve],
    ] as const) {
      const { ms, cpuMs } = await firstList(args);
      best.ms = Math.min(best.ms, ms);
      best.cpuMs = Math.min(best.cpuMs, cpuMs);
    }
  }
  const firstListShare = first.ms / plain.ms;
  const firstListCpuShare = first.cpuMs / plain.cpuMs;
  // When the collector last ran decides some megabytes, so the middle of three starts counts.
  const rssMb = [await loadedMb(), await loadedMb(), await loadedMb()].toSorted((a, b) => a - b)[1]!;
  const limits = await measureLimits(settings, folder);

  const row = (name: string, m: Measurement): string[] => [
    name,
    m.p50Ms.toFixed(3),
    (m.p50Ms - direct.p50Ms).toFixed(3),
    m.callsPerSecond1.toFixed(0),
    m.callsPerSecond16.toFixed(0),
    (m.callsPerSecond16 / direct.callsPerSecond16).toFixed(2),
    m.cpuMs1.toFixed(3),
    m.cpuMs16.toFixed(3),
    m.rssMb.toFixed(0),
  ];
  printTable(
    `An echo over stdio, best of ${TURNS} turns of ${CALLS.one} calls, ${CALLS.sixteen} at sixteen; CPU is that of the process the host talks to`,
    ['', 'p50 ms', 'added', 'calls/s ×1', 'calls/s ×16', 'of direct', 'CPU ms ×1', 'CPU ms ×16', 'MB'],
    [row('direct', direct), row('bare proxy', bare), row('toolscout', ours)],
  );
  // Turn by turn: what the machine does besides then weighs on both sides alike, and one lucky turn decides nothing.
  const share = (of: Measurement): number => {
    const paired = ours.turns16.map((calls, turn) => calls / of.turns16[turn]!).toSorted((a, b) => a - b);
    return paired[Math.floor(paired.length / 2)]!;
  };
  const throughput16 = share(direct);
  const ofBare16 = share(bare);
  const bestThroughput16 = ours.callsPerSecond16 / direct.callsPerSecond16;
  printTable(
    'Against the aims',
    ['', 'measured', 'aim', 'floor'],
    [
      [
        'calls/s at 16, share of direct (median)',
        throughput16.toFixed(2),
        `≥ ${AIMS.throughput16}`,
        `≥ ${FLOORS.throughput16}`,
      ],
      ['the same, best turn of each', bestThroughput16.toFixed(2), '', ''],
      ['calls/s at 16, share of the bare proxy (median)', ofBare16.toFixed(2), '', `≥ ${FLOORS.ofBare16}`],
      ['CPU per call at 1, ms', ours.cpuMs1.toFixed(3), `≤ ${AIMS.cpuMs1}`, `≤ ${FLOORS.cpuMs1}`],
      ['CPU per call at 16, ms', ours.cpuMs16.toFixed(3), `≤ ${AIMS.cpuMs16}`, `≤ ${FLOORS.cpuMs16}`],
      ['resident with 1,000 tools, MB (median of 3)', rssMb.toFixed(0), `≤ ${AIMS.rssMb}`, `≤ ${FLOORS.rssMb}`],
      ['first tools/list, ms (best of 7)', first.ms.toFixed(0), `≤ ${AIMS.firstListMs}`, ''],
      ['the same, share of a plain server', firstListShare.toFixed(2), '', `≤ ${FLOORS.firstListShare}`],
      ['first tools/list, CPU ms (best of 7)', first.cpuMs.toFixed(0), '', ''],
      ['the same, share of a plain server', firstListCpuShare.toFixed(2), '', `≤ ${FLOORS.firstListCpuShare}`],
      ...LIMITS.map(({ name, key }) => [name, limits[key].toFixed(1), `≤ ${AIMS[key]}`, `≤ ${FLOORS[key]}`]),
    ],
  );
  conclude(
    'latency',
    {
      direct,
      bare,
      toolscout: ours,
      throughput16,
      bestThroughput16,
      ofBare16,
      firstListMs: first.ms,
      firstListCpuMs: first.cpuMs,
      firstListShare,
      firstListCpuShare,
      rssMb,
      ...limits,
    },
    [
      { name: 'calls/s at 16 against direct', value: throughput16, least: FLOORS.throughput16 },
      { name: 'calls/s at 16 against the bare proxy', value: ofBare16, least: FLOORS.ofBare16 },
      { name: 'CPU per call at 1', value: ours.cpuMs1, most: FLOORS.cpuMs1 },
      { name: 'CPU per call at 16', value: ours.cpuMs16, most: FLOORS.cpuMs16 },
      { name: 'resident MB with 1,000 tools', value: rssMb, most: FLOORS.rssMb },
      { name: 'ms to the first tools/list against a plain server', value: firstListShare, most: FLOORS.firstListShare },
      {
        name: 'CPU to the first tools/list against a plain server',
        value: firstListCpuShare,
        most: FLOORS.firstListCpuShare,
      },
      ...LIMITS.map(({ name, key }) => ({ name, value: limits[key], most: FLOORS[key] })),
    ],
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
