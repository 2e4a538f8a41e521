import { SUPPORTED_PROTOCOL_VERSIONS, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitUntil } from '../../../../test/support/fixture.js';
import type { JsonObject } from '../../../kernel/json.js';
import { silentLog } from '../../../kernel/log.js';
import { HANDSHAKE_REVISIONS } from '../../../protocol/revisions.js';
import { LegacyHostTransport } from './legacy-host-transport.js';
import type { HostSurface } from '../menu/host-surface.js';
import { openHost, type Served } from './opening.js';
import { createMcpServer } from '../server.js';

const SURFACE: HostSurface = {
  info: { name: 'toolscout', version: '9.9.9', title: 'T' },
  capabilities: { tools: { listChanged: true } },
  instructions: 'Search first.',
  answer: (method) =>
    method === 'tools/list' ? Promise.resolve({ tools: [] }) : Promise.reject(new Error(`no ${method}`)),
  concerns: () => true,
};

const clientInfo = { name: 'host', version: '1' };
const plain = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };

interface Host {
  readonly received: JsonObject[];
  readonly errors: string[];
  loads: number;
  send(message: JsonObject): void;
  leave(): void;
  readonly served: Served;
}

function protocolBehind(hostTransport: LegacyHostTransport): Served {
  return serveStdio(() => createMcpServer(SURFACE, ({ method }) => SURFACE.answer(method, {}, {} as never)), {
    transport: hostTransport,
  });
}

async function connect(
  serve: (hostTransport: LegacyHostTransport, host: Pick<Host, 'errors' | 'loads'>) => Promise<Served> | Served,
): Promise<Host> {
  const received: JsonObject[] = [];
  let isClosed = false;
  const wire: Transport = {
    start: async () => undefined,
    send: async (message) => void received.push(message as unknown as JsonObject),
    async close() {
      if (isClosed) return;
      isClosed = true;
      wire.onclose?.();
    },
  };
  const hostTransport = new LegacyHostTransport(wire, { principal: 'p', surface: () => SURFACE }, silentLog);
  const counts = { errors: [] as string[], loads: 0 };
  const served = await serve(hostTransport, counts);
  onTestFinished(() => served.close());
  return Object.assign(counts, {
    received,
    served,
    send: (message: JsonObject) => wire.onmessage?.({ jsonrpc: '2.0', ...message } as unknown as JSONRPCMessage),
    leave: () => void wire.close(),
  });
}

const ours = (): Promise<Host> =>
  connect((hostTransport, counts) =>
    openHost(hostTransport, {
      onError: (error) => void counts.errors.push(error.message),
      async loadProtocol() {
        counts.loads += 1;
        return () => protocolBehind(hostTransport);
      },
    }),
  );
const theirs = (): Promise<Host> => connect(protocolBehind);

async function answersOf(host: Host, messages: readonly JsonObject[]): Promise<JsonObject[]> {
  for (const message of messages) host.send(message);
  const asked = messages.filter(({ id, method }) => id !== undefined && method !== undefined);
  await waitUntil(() => host.received.length >= asked.length, { what: 'every answer' });
  return host.received;
}

describe('the opening of a host', () => {
  it('C1 supports the revisions of the protocol server', () => {
    expect(HANDSHAKE_REVISIONS).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
  });

  it.each([
    ['of each revision', HANDSHAKE_REVISIONS],
    ['of unknown revisions', ['1999-01-01', '', '2026-07-28', '__proto__']],
  ])('C1 CONN-1 a handshake %s is answered as the protocol server does, without it', async (_name, revisions) => {
    for (const protocolVersion of revisions) {
      const opening = [{ id: 1, method: 'initialize', params: { ...plain, protocolVersion } }];
      const host = await ours();
      expect(await answersOf(host, opening)).toEqual(await answersOf(await theirs(), opening));
      expect(host.loads).toBe(0);
    }
  });

  it('C1 after the handshake, ping, a second handshake and what needs no answer are as they were', async () => {
    const host = await ours();
    const messages = [
      { id: 'a', method: 'initialize', params: { ...plain, capabilities: { roots: { listChanged: true } } } },
      { method: 'notifications/initialized' },
      { id: 'b', method: 'ping' },
      { method: 'notifications/cancelled', params: { requestId: 'nobody' } },
      { id: 77, result: {} },
      { id: 'c', method: 'initialize', params: plain },
      { id: 'd', method: 'tools/list' },
    ];
    const answers = await answersOf(host, messages);
    expect(answers.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
    expect(answers[1]).toEqual({ jsonrpc: '2.0', id: 'b', result: {} });
    expect(answers[2]).toMatchObject({ result: { protocolVersion: '2025-06-18', serverInfo: SURFACE.info } });
    expect(answers[3]).toEqual({ jsonrpc: '2.0', id: 'd', result: { tools: [] } });
    expect([host.loads, host.errors]).toEqual([0, []]);
  });

  it('A26 a second handshake that is malformed is refused', async () => {
    const host = await ours();
    const opening = { id: 1, method: 'initialize', params: plain };
    const answers = await answersOf(host, [opening, { id: 2, method: 'initialize', params: { capabilities: 5 } }]);
    expect(answers[1]).toMatchObject({ id: 2, error: { code: -32_602 } });
  });

  it.each<[string, JsonObject]>([
    ['no parameters', { id: 1, method: 'initialize' }],
    ['no version', { id: 1, method: 'initialize', params: { capabilities: {}, clientInfo } }],
    ['capabilities that are no object', { id: 1, method: 'initialize', params: { ...plain, capabilities: 'all' } }],
    [
      'a capability that is no object',
      { id: 1, method: 'initialize', params: { ...plain, capabilities: { roots: 1 } } },
    ],
    ['a host without a name', { id: 1, method: 'initialize', params: { ...plain, clientInfo: { version: '1' } } }],
    ['a request before any handshake', { id: 1, method: 'tools/list' }],
    ['a ping before any handshake', { id: 1, method: 'ping' }],
    [
      'an envelope of the modern era that is broken',
      {
        id: 1,
        method: 'tools/list',
        params: { _meta: { 'io.modelcontextprotocol/protocolVersion': 5 } },
      },
    ],
    [
      'a handshake that claims the modern era',
      {
        id: 1,
        method: 'initialize',
        params: {
          ...plain,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
            'io.modelcontextprotocol/clientInfo': clientInfo,
          },
        },
      },
    ],
  ])('A26 C1 %s is left to the protocol server', async (_name, opening) => {
    const host = await ours();
    expect(await answersOf(host, [opening])).toEqual(await answersOf(await theirs(), [opening]));
    expect(host.loads).toBe(1);
  });

  it('C1 what arrives while the protocol server is loaded is answered in its order', async () => {
    const messages = [
      { id: 1, method: 'ping' },
      { id: 2, method: 'initialize', params: plain },
      { id: 3, method: 'ping' },
    ];
    const host = await ours();
    expect(await answersOf(host, messages)).toEqual(await answersOf(await theirs(), messages));
    expect(host.loads).toBe(1);
  });

  it('R7 a host that goes while the protocol server is loaded is not served any more', async () => {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const host = await connect((hostTransport) =>
      openHost(hostTransport, {
        onError: () => undefined,
        async loadProtocol() {
          await opened;
          return () => protocolBehind(hostTransport);
        },
      }),
    );
    host.send({ id: 1, method: 'ping' });
    host.leave();
    open();
    await host.served.close();
    expect(host.received).toEqual([]);
  });

  it('R7 when the protocol server cannot be loaded the connection ends and the reason is logged', async () => {
    const host = await connect((hostTransport, counts) =>
      openHost(hostTransport, {
        onError: (error) => void counts.errors.push(error.message),
        loadProtocol: () => Promise.reject(new Error('no such chunk')),
      }),
    );
    host.send({ id: 1, method: 'ping' });
    host.send({ id: 2, method: 'ping' });
    await host.served.close();
    expect(new Set(host.errors)).toEqual(new Set(['no such chunk']));
    expect(host.received).toEqual([]);
  });
});
