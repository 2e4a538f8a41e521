// What does a host cost that shares the service of its user? Five hosts, ten servers: the processes there are, and the memory of each
// forwarder after its handshake and after calls. -- --hosts=5 --servers=10 --calls=20
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { residentMb } from '../latency/host.js';
import { conclude, printTable, quantile } from '../support/report.js';

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '5' },
    servers: { type: 'string', default: '10' },
    calls: { type: 'string', default: '20' },
  },
});
const [hosts, servers, calls] = [Number(values.hosts), Number(values.servers), Number(values.calls)];

/** Megabytes of one forwarder: what is aimed at, and what a run must keep. */
const AIM = 45;
const FLOOR = 46;
const SETTLED_MS = 500;

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'toolscout-bench-'));
const config = join(folder, 'toolscout.config.json');
const echo = { command: process.execPath, args: [path('../latency/echo-server.mjs'), folder] };
const names = Array.from({ length: servers }, (_, at) => `echo${at}`);
writeFileSync(config, JSON.stringify({ servers: Object.fromEntries(names.map((name) => [name, echo])) }));
const flags = ['--config', config, '--state-dir', join(folder, 'state')];

/** A host of the 2025 era over the pipes of the forwarder that it starts. */
async function openHost(): Promise<{ child: ChildProcess; ask(method: string, params: object): Promise<void> }> {
  const args = [path('../../dist/cli.cjs'), 'serve', '--stdio', '--shared', '--idle', '1', ...flags];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, () => void>();
  let text = '';
  let id = 0;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop()!;
    for (const line of lines) waiting.get((JSON.parse(line) as { id: number }).id)?.();
  });
  const ask = (method: string, params: object): Promise<void> =>
    new Promise((resolve) => {
      waiting.set(++id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  const clientInfo = { name: 'bench', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  await ask('tools/list', {});
  return { child, ask };
}

/** How many servers run: their command line names the folder. */
function countServers(): number {
  const lines = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes('echo-server.mjs') && line.includes(folder)).length;
}

const children: ChildProcess[] = [];
try {
  const early: number[] = [];
  const late: number[] = [];
  for (let host = 0; host < hosts; host++) {
    const { child, ask } = await openHost();
    children.push(child);
    early.push(residentMb(child.pid!));
    for (let call = 0; call < calls; call++) {
      const server = names[call % names.length];
      await ask('tools/call', {
        name: 'execute_tool',
        arguments: { server, tool: 'echo', arguments: { message: 'hello' } },
      });
    }
    await delay(SETTLED_MS);
    late.push(residentMb(child.pid!));
  }
  const running = countServers();
  const median = (of: readonly number[]): number =>
    quantile(
      of.toSorted((a, b) => a - b),
      0.5,
    );
  const row = (name: string, of: readonly number[]): string[] => [
    name,
    of[0]!.toFixed(1),
    median(of.slice(1)).toFixed(1),
    `≤ ${AIM}`,
    `≤ ${FLOOR}`,
  ];
  printTable(
    `Memory of a forwarder in MB, of ${hosts} hosts with ${servers} servers (${running} processes of servers)`,
    ['', 'starts the service', 'the others', 'aim', 'floor'],
    [row('after the handshake', early), row(`after ${calls} calls`, late)],
  );
  conclude('forwarders', { hosts, servers, processes: running, earlyMb: early, lateMb: late }, [
    { name: 'processes of servers', value: running, most: servers, least: servers },
    { name: 'MB of a forwarder', value: median(late.slice(1)), most: FLOOR },
  ]);
} finally {
  for (const child of children) child.stdin?.end();
  // The service ends when no host is connected.
  for (let tries = 0; countServers() > 0 && tries < 40; tries++) await delay(250);
  rmSync(folder, { recursive: true, force: true });
}
