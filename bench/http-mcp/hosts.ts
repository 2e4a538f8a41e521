import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The two eras of the protocol over HTTP: with a session, or every request for itself. */
export type Era = '2025' | '2026';

/** Where a server is, and how its echo is called there. */
export interface Target {
  readonly port: number;
  readonly key?: string;
  readonly call: { readonly name: string; readonly arguments: Record<string, unknown> };
}

const HOST_INFO = { name: 'bench', version: '1' };
const LATEST = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': LATEST,
  'io.modelcontextprotocol/clientInfo': HOST_INFO,
  'io.modelcontextprotocol/clientCapabilities': {},
};

type Headers = Readonly<Record<string, string>>;

/** A request as the SDK's clients send it, byte by byte. */
function write(method: string, { port, key }: Target, headers: Headers, body?: object): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all: Headers = {
    host: `127.0.0.1:${port}`,
    connection: 'keep-alive',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(method === 'POST' ? { 'content-type': 'application/json', 'content-length': String(text.length) } : {}),
    accept: method === 'POST' ? 'application/json, text/event-stream' : 'text/event-stream',
    'accept-language': '*',
    'sec-fetch-mode': 'cors',
    'user-agent': 'node',
    'accept-encoding': 'gzip, deflate',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} /mcp HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
}

interface Answered {
  readonly head: string;
  readonly text: string;
}

const LENGTH = /\r\ncontent-length: (\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: chunked/i;

/** One connection that is kept alive; one request at a time. */
class Line {
  private constructor(private readonly socket: Socket) {}

  static async open(port: number): Promise<Line> {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    await once(socket, 'connect');
    // A request that waits for an answer fails when the connection ends.
    socket.on('error', () => undefined);
    return new Line(socket);
  }

  ask(request: string): Promise<Answered> {
    const { socket } = this;
    return new Promise((resolve, reject) => {
      let seen = '';
      const onData = (chunk: Buffer): void => {
        seen += chunk.toString('latin1');
        const end = seen.indexOf('\r\n\r\n');
        if (end === -1) return;
        const head = seen.slice(0, end);
        const text = seen.slice(end + 4);
        const length = LENGTH.exec(head)?.[1];
        const isWhole = CHUNKED.test(head)
          ? text.endsWith('0\r\n\r\n')
          : length === undefined || text.length >= Number(length);
        if (!isWhole) return;
        socket.off('data', onData).off('close', onClose);
        resolve({ head, text });
      };
      const onClose = (): void => reject(new Error(`The connection was closed before the answer: ${seen}`));
      socket.on('data', onData).once('close', onClose);
      socket.write(request);
    });
  }

  /** Sends something of which the answer goes on, and takes whatever comes. */
  follow(request: string): void {
    this.socket.resume().write(request);
  }

  close(): void {
    this.socket.destroy();
  }
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: HOST_INFO },
};

/** Shakes hands over a connection; the headers of everything that follows. */
async function openSession(line: Line, target: Target): Promise<Headers> {
  const { head, text } = await line.ask(write('POST', target, {}, initialize));
  const id = /\r\nmcp-session-id: ([^\r]+)/i.exec(head)?.[1];
  if (id === undefined) throw new Error(`No session was opened: ${head}\n${text}`);
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
  await line.ask(write('POST', target, headers, { jsonrpc: '2.0', method: 'notifications/initialized' }));
  return headers;
}

/** A host that has introduced itself. */
export interface BenchHost {
  /** Calls the echo so often, over as many connections as calls are in flight; fails when an answer is not its echo. */
  run(calls: number, inFlight: number): Promise<void>;
}

/** Connects as a host of an era. */
export async function openHost(era: Era, target: Target): Promise<BenchHost> {
  const modern = { 'mcp-protocol-version': LATEST, 'mcp-method': 'tools/call', 'mcp-name': target.call.name };
  const first = await Line.open(target.port);
  const headers = era === '2025' ? await openSession(first, target) : modern;
  first.close();
  const params = era === '2025' ? target.call : { ...target.call, _meta: META };
  let id = 0;
  const call = async (line: Line): Promise<void> => {
    const message = { jsonrpc: '2.0', id: ++id, method: 'tools/call', params };
    const { text } = await line.ask(write('POST', target, headers, message));
    if (!text.includes('hello') || text.includes('"isError":true')) throw new Error(`No echo: ${text}`);
  };
  return {
    async run(calls, inFlight) {
      let left = calls;
      const work = async (): Promise<void> => {
        const line = await Line.open(target.port);
        while (left-- > 0) await call(line);
        line.close();
      };
      await Promise.all(Array.from({ length: inFlight }, work));
    },
  };
}

/** Opens sessions and leaves them idle; `listening` ones hold a stream each for what servers say, as most hosts do. */
export async function openIdle(count: number, target: Target, listening: boolean): Promise<() => void> {
  const shared = await Line.open(target.port);
  const streams: Line[] = [];
  for (let opened = 0; opened < count; opened++) {
    const headers = await openSession(shared, target);
    if (!listening) continue;
    const line = await Line.open(target.port);
    streams.push(line);
    line.follow(write('GET', target, headers));
  }
  return () => [shared, ...streams].forEach((line) => line.close());
}
