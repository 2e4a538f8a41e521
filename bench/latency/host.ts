import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** How to start a server, and how its echo is called. */
export interface Subject {
  readonly name: string;
  readonly args: readonly string[];
  readonly call: { readonly name: string; readonly arguments: Record<string, unknown> };
}

/** What was measured of one subject. */
export interface Measurement {
  readonly p50Ms: number;
  readonly callsPerSecond1: number;
  readonly callsPerSecond16: number;
  /** The same of every turn, in order. */
  readonly turns16: readonly number[];
  readonly cpuMs1: number;
  readonly cpuMs16: number;
  readonly rssMb: number;
}

const TICK_MS = 10;
const WARM_UP = 4;

/** CPU time a process has used so far; Linux only. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Resident memory of a process in MB; Linux only. */
export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1000;
}

async function run(client: Client, call: Subject['call'], total: number, inFlight: number): Promise<number[]> {
  const times: number[] = [];
  let left = total;
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const start = performance.now();
      const result = await client.callTool(call);
      if (result.isError) throw new Error(JSON.stringify(result));
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return times;
}

/** A subject that runs and is warm. */
export interface Running {
  readonly name: string;
  /** One round of calls, one at a time or sixteen at once. */
  round(calls: number, inFlight: number): Promise<Round>;
  readonly rssMb: () => number;
  close(): Promise<void>;
}

/** What one round showed. */
export interface Round {
  readonly p50Ms: number;
  readonly callsPerSecond: number;
  readonly cpuMs: number;
}

/** Starts a subject as a host would and warms it up. */
export async function start(subject: Subject, calls: number): Promise<Running> {
  const transport = new StdioClientTransport({ command: process.execPath, args: [...subject.args], stderr: 'ignore' });
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(transport);
  const pid = transport.pid!;
  await run(client, subject.call, calls, 1);
  // Until the compiler is done with it.
  await run(client, subject.call, WARM_UP * calls, 16);
  return {
    name: subject.name,
    rssMb: () => residentMb(pid),
    close: () => client.close(),
    async round(count, inFlight) {
      const cpu = cpuMs(pid);
      const began = performance.now();
      const times = await run(client, subject.call, count, inFlight);
      const elapsed = performance.now() - began;
      return {
        p50Ms: times.toSorted((a, b) => a - b)[Math.floor(count / 2)]!,
        callsPerSecond: (count * 1000) / elapsed,
        cpuMs: (cpuMs(pid) - cpu) / count,
      };
    },
  };
}

/**
 * Measures subjects in turns, so that what else the machine does hits all of them alike, and takes
 * each figure from the best turn: noise only ever makes a figure worse.
 */
export async function measure(
  subjects: readonly Running[],
  calls: { readonly one: number; readonly sixteen: number },
  turns: number,
): Promise<Measurement[]> {
  const rounds = subjects.map(() => ({ one: [] as Round[], sixteen: [] as Round[] }));
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, subject] of subjects.entries()) {
      rounds[index]!.one.push(await subject.round(calls.one, 1));
      rounds[index]!.sixteen.push(await subject.round(calls.sixteen, 16));
    }
  }
  const least = (list: Round[], key: keyof Round): number => Math.min(...list.map((round) => round[key]));
  const most = (list: Round[], key: keyof Round): number => Math.max(...list.map((round) => round[key]));
  return rounds.map(({ one, sixteen }, index) => ({
    p50Ms: least(one, 'p50Ms'),
    callsPerSecond1: most(one, 'callsPerSecond'),
    callsPerSecond16: most(sixteen, 'callsPerSecond'),
    turns16: sixteen.map((round) => round.callsPerSecond),
    cpuMs1: least(one, 'cpuMs'),
    cpuMs16: least(sixteen, 'cpuMs'),
    rssMb: subjects[index]!.rssMb(),
  }));
}

/** Milliseconds from the start of a process to its first `tools/list`, on the wall and on processors, and its memory then. */
export function firstList(args: readonly string[]): Promise<{ ms: number; cpuMs: number; rssMb: number }> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    const send = (message: object): void =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    let text = '';
    child.once('error', reject);
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (!text.includes('"id":2')) return;
      const ms = performance.now() - start;
      const used = cpuMs(child.pid!);
      const rssMb = residentMb(child.pid!);
      child.stdout.removeAllListeners();
      child.stdin.end();
      child.kill('SIGTERM');
      child.once('exit', () => resolve({ ms, cpuMs: used, rssMb }));
    });
    const clientInfo = { name: 'bench', version: '1' };
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/list', params: {} });
  });
}
