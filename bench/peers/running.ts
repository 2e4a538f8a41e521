import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Subject } from './subjects.js';

/** A subject that runs, with a host connected to it. */
export interface Running {
  readonly client: Client;
  /** CPU time that it and all its descendants have used so far, in milliseconds. */
  readonly cpuMs: () => number;
  /** Resident memory of it and all its descendants, in megabytes. */
  readonly rssMb: () => number;
  close(): Promise<void>;
}

const TICK_MS = 10;
const PATIENCE_MS = 60_000;

const statOf = (pid: string): string[] => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  } catch {
    // It ended meanwhile.
    return [];
  }
};

/** A process and everything that it started. */
function treeOf(root: number): string[] {
  const parents = new Map<string, string[]>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const parent = statOf(pid)[1];
    if (parent !== undefined) parents.set(parent, [...(parents.get(parent) ?? []), pid]);
  }
  const tree = [String(root)];
  for (const pid of tree) tree.push(...(parents.get(pid) ?? []));
  return tree;
}

const cpuOf = (root: number): number =>
  treeOf(root).reduce((sum, pid) => {
    const fields = statOf(pid);
    return sum + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
  }, 0);

const rssOf = (root: number): number =>
  treeOf(root).reduce((sum, pid) => {
    try {
      return sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;
    } catch {
      // It ended meanwhile.
      return sum;
    }
  }, 0);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function newClient(): Client {
  const capabilities = { sampling: {}, elicitation: {}, roots: {} };
  const client = new Client({ name: 'bench-host', version: '1' }, { capabilities });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'm',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'SAMPLED' },
  }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content: { name: 'Ann' } }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///home/ann' }] }));
  return client;
}

/** Tries until it works or patience ends. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (thrown) {
      if (performance.now() > deadline) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** Starts a subject and connects a host; resolves when the echo answers. */
export async function start(subject: Subject, tools: number): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'toolscout-peers-'));
  subject.prepare?.(folder, tools);
  const port = await freePort();
  const env = { PATH: process.env['PATH']!, HOME: folder, ...subject.env?.(folder) };
  const args = [...subject.args(folder, port, tools)];
  let child: ChildProcess | undefined;
  let pid: number;
  let client: Client;
  if (subject.over === 'stdio') {
    client = newClient();
    const transport = new StdioClientTransport({ command: subject.command, args, env, cwd: folder, stderr: 'ignore' });
    await client.connect(transport, { timeout: PATIENCE_MS });
    pid = transport.pid!;
  } else {
    child = spawn(subject.command, args, { env, cwd: folder, stdio: 'ignore' });
    pid = child.pid!;
    client = await eventually(async () => {
      const each = newClient();
      const url = new URL('/mcp', `http://127.0.0.1:${port}`);
      const transport = subject.isSse ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url);
      await each.connect(transport as never);
      return each;
    });
  }
  await eventually(async () => {
    const answer = await client.callTool(subject.call('echo', { message: 'ready' }));
    if (answer.isError || !JSON.stringify(answer).includes('ready')) throw new Error(JSON.stringify(answer));
  });
  return {
    client,
    cpuMs: () => cpuOf(pid),
    rssMb: () => rssOf(pid),
    async close() {
      const tree = treeOf(pid).map(Number);
      await client.close().catch(() => undefined);
      child?.kill('SIGTERM');
      await new Promise((resolve) => setTimeout(resolve, 500));
      for (const each of tree) {
        try {
          process.kill(each, 'SIGKILL');
        } catch {
          // It has ended by itself.
        }
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
