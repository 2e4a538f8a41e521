import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';

/** A server that runs, and how its echo is called. */
export interface Caller {
  readonly pid: number;
  /** The address of its HTTP front, where it has one. */
  readonly url?: string;
  /** Calls the echo once; rejects when the answer is not its echo. */
  call(): Promise<void>;
  close(): Promise<void>;
}

/** How a server is started, and what a host sends to have something echoed. */
export interface Subject {
  readonly args: readonly string[];
  readonly call: { readonly name: string; readonly arguments: Record<string, unknown> };
  /** Where its log goes. */
  readonly log: number;
}

/** As many as calls are in flight at the ceiling at most. */
const CONNECTIONS = 64;

/** A connection that idles longer is not used again: servers end theirs after five seconds. */
const IDLE_MS = 3000;

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'soak', version: '1' } };
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

function checkEcho(text: string): void {
  if (!text.includes('hello') || text.includes('"isError":true')) throw new Error(`No echo: ${text.slice(0, 500)}`);
}

async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** Speaks to a server over its pipes, any number of calls at once. */
export async function callOverStdio({ args, call, log }: Subject): Promise<Caller> {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', log] });
  const waiting = new Map<number, { resolve(line: string): void; reject(error: Error): void }>();
  let rest = '';
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const id = Number(/"id":(\d+)/.exec(line)?.[1]);
      waiting.get(id)?.resolve(line);
      waiting.delete(id);
    }
  });
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`The server ended with ${code}.`));
  });
  let last = 0;
  const ask = (method: string, params: object): Promise<string> =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`);
    });
  await ask('initialize', HELLO);
  child.stdin!.write(`${JSON.stringify(INITIALIZED)}\n`);
  return {
    pid: child.pid!,
    call: async () => checkEcho(await ask('tools/call', call)),
    close: () => end(child),
  };
}

/** Speaks to a server at `/mcp` in one session of the 2025 era, over a fixed number of connections. */
export async function callOverHttp({ args, call, log }: Subject): Promise<Caller> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', log] });
  const port = await new Promise<number>((resolve, reject) => {
    let output = '';
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      const found = /(?:listening |127\.0\.0\.1:)(\d+)/.exec(output)?.[1];
      if (found) resolve(Number(found));
    });
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}: ${output}`)));
  });
  // In turn, so that none of them idles until the server ends it in the moment in which it is used again. A call that finds none free waits,
  // and its latency counts from the moment at which it was due.
  const agent = new Agent({ keepAlive: true, scheduling: 'fifo', maxSockets: CONNECTIONS, timeout: IDLE_MS });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const post = (message: object): Promise<{ readonly session?: string; readonly text: string }> =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(message);
      const length = { 'content-length': String(Buffer.byteLength(body)) };
      const options = {
        port,
        host: '127.0.0.1',
        path: '/mcp',
        method: 'POST',
        agent,
        headers: { ...headers, ...length },
      };
      const sent = httpRequest(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.once('end', () =>
          resolve({ session: response.headers['mcp-session-id'] as string | undefined, text }),
        );
        response.once('error', reject);
      });
      sent.once('error', reject);
      sent.end(body);
    });
  const { session } = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: HELLO });
  if (session === undefined) throw new Error('No session was opened.');
  Object.assign(headers, { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' });
  await post(INITIALIZED);
  let last = 0;
  return {
    pid: child.pid!,
    url: `http://127.0.0.1:${port}`,
    call: async () => checkEcho((await post({ jsonrpc: '2.0', id: ++last, method: 'tools/call', params: call })).text),
    async close() {
      agent.destroy();
      await end(child);
    },
  };
}
