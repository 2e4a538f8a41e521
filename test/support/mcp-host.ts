import { PassThrough } from 'node:stream';
import {
  Client,
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type RequestOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import * as z from 'zod';
import { createHttpApp } from '../../src/front/http/app.js';
import { listen } from '../../src/front/http/listen/listen.js';
import { createMcpEndpoint } from '../../src/front/mcp/http/http.js';
import type { FrontDeps } from '../../src/front/mcp/server.js';
import { serveMcpStdio } from '../../src/front/mcp/stdio/stdio.js';
import type { Gateway } from '../../src/gateway/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { silentLog } from '../../src/kernel/log.js';

/** How a host connects, and what it can do. */
export interface HostOptions {
  readonly era: 'legacy' | 'modern';
  readonly over: 'stdio' | 'http';
  /** Declared to toolscout; everything by default. */
  readonly capabilities?: JsonObject;
  /** The path of the endpoint over HTTP. */
  readonly path?: string;
  /** One server of the gateway, passed through, over stdio. */
  readonly server?: string;
  readonly name?: string;
  /** Over stdio: as one of several hosts of one service. */
  readonly shared?: boolean;
  /** Its only root. */
  readonly root?: string;
  /** How it answers forms. */
  readonly onElicit?: (message: string, signal: AbortSignal) => Promise<JsonObject> | JsonObject;
}

/** A host for tests, with everything it was asked and told. */
export interface TestHost {
  readonly client: Client;
  readonly asked: Array<{ readonly method: string; readonly params: JsonObject }>;
  readonly told: Array<{ readonly method: string; readonly params: JsonObject }>;
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  close(): Promise<void>;
}

const EVERYTHING: JsonObject = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };
const Any = z.looseObject({});

/** What a server asked, without the line that names it. */
export function withoutName(message: string): string {
  return message.replace(/^Server "[^\n]*" asks:\n/, '');
}

/** A client transport over the pipes of a stdio front in this process. */
function pipes(deps: FrontDeps, { server, shared }: Pick<HostOptions, 'server' | 'shared'>): Transport {
  const input = new PassThrough();
  const output = new PassThrough();
  const front = serveMcpStdio({ ...deps, server, ...(shared && { shared: { firstQuestion: 1 } }), input, output });
  let rest = '';
  const transport: Transport = {
    onclose: undefined,
    onerror: undefined,
    onmessage: undefined,
    async start() {
      output.setEncoding('utf8').on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop()!;
        for (const line of lines) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
      });
    },
    async send(message) {
      input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      input.end();
      await front.close();
      transport.onclose?.();
    },
  };
  return transport;
}

/** Serves the gateway over HTTP on a free port until the test is over; answers its address. */
export async function serveOverHttp(gateway: Gateway, more: Partial<FrontDeps> = {}): Promise<string> {
  const deps: FrontDeps = {
    gateway,
    info: { name: 'toolscout', version: '9.9.9' },
    log: silentLog,
    clock: systemClock,
    ...more,
  };
  const mcp = createMcpEndpoint(deps);
  const app = createHttpApp({
    gateway,
    mcpFor: () => mcp,
    version: '9.9.9',
    log: silentLog,
    allowedHosts: [],
    allowedOrigins: [],
  });
  const front = await listen(app, { host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await mcp.close();
    await front.close();
  });
  return front.url;
}

/** Connects a host to a gateway in this process; closed after the test. */
export async function connectHost(
  gateway: Gateway,
  options: HostOptions,
  more: Partial<FrontDeps> & { readonly url?: string } = {},
): Promise<TestHost> {
  const { over, path = '/mcp' } = options;
  const { url, ...front } = more;
  const deps: FrontDeps = {
    gateway,
    info: { name: 'toolscout', version: '9.9.9' },
    log: silentLog,
    clock: systemClock,
    ...front,
  };
  const transport =
    over === 'stdio'
      ? pipes(deps, options)
      : new StreamableHTTPClientTransport(new URL(path, url ?? (await serveOverHttp(gateway, front))));
  return hostOver(transport, options);
}

/** Connects a host over a transport; closed after the test. */
export async function hostOver(transport: Transport, options: Omit<HostOptions, 'over'>): Promise<TestHost> {
  const { era, capabilities = EVERYTHING, name = 'test-host', root = 'file:///home/ann' } = options;
  const client = new Client(
    { name, version: '1' },
    {
      capabilities: { ...capabilities },
      ...(era === 'modern' && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    },
  );
  const asked: TestHost['asked'] = [];
  const told: TestHost['told'] = [];
  const note = (method: string, params: unknown): void => void asked.push({ method, params: params as JsonObject });
  if (capabilities['sampling']) {
    client.setRequestHandler('sampling/createMessage', ({ method, params }) => {
      note(method, params);
      return { model: 'm', role: 'assistant', content: { type: 'text', text: 'SAMPLED' }, stopReason: 'endTurn' };
    });
  }
  if (capabilities['elicitation']) {
    client.setRequestHandler('elicitation/create', async ({ method, params }, { mcpReq }) => {
      note(method, params);
      const answer = options.onElicit ?? ((message) => ({ action: 'accept', content: { name: `Ann for ${message}` } }));
      return (await answer(withoutName(params.message), mcpReq.signal)) as never;
    });
  }
  if (capabilities['roots']) {
    client.setRequestHandler('roots/list', ({ method, params }) => {
      note(method, params);
      return { roots: [{ uri: root, name: 'home' }] };
    });
  }
  client.fallbackNotificationHandler = async ({ method, params }) =>
    void told.push({ method, params: params as JsonObject });
  await client.connect(transport);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= client.close());
  onTestFinished(close);
  return {
    client,
    asked,
    told,
    request: async (method, params, given) =>
      (await client.request({ method, ...(params && { params }) } as never, Any, given)) as JsonObject,
    close,
  };
}
