import { SUPPORTED_PROTOCOL_VERSIONS, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import type { JsonObject } from '../../kernel/json.js';
import { silentLog } from '../../kernel/log.js';
import { HANDSHAKE_REVISIONS } from '../../protocol/revisions.js';
import type { Channel, Terms } from './session.js';
import { shakeHands, speakModern } from './pipe-session.js';
import { createRequests } from '../upstream/requests.js';

const MODERN = '2026-07-28';

/** A pipe that notes what is sent; the test is the server. */
function connect(given: Partial<Terms> = {}) {
  const sent: JsonObject[] = [];
  const wire: Transport = {
    start: () => Promise.resolve(),
    send: async (message) => void sent.push(message as unknown as JsonObject),
    close: async () => wire.onclose?.(),
  };
  const clock = createFakeClock();
  const deps = { clock, log: silentLog, mask: (text: string) => text, remote: false, lost: () => undefined };
  const requests = createRequests({ server: 's', transport: wire, ...deps });
  const channel: Channel = { requests, close: () => wire.close() };
  const terms: Terms = {
    clock,
    clientInfo: { name: 'toolscout', version: '1' },
    capabilities: { roots: {} },
    timeoutMs: 1000,
    signal: new AbortController().signal,
    ...given,
  };
  const receive = (message: JsonObject): void =>
    wire.onmessage?.({ jsonrpc: '2.0', ...message } as unknown as JSONRPCMessage);
  /** Lets the promises that wait for nothing go on. */
  const settled = (): Promise<void> => clock.advance(0);
  return { clock, channel, terms, sent, receive, settled, wire };
}

async function greet(result: JsonObject) {
  const pipe = connect();
  const session = shakeHands(pipe.channel, pipe.terms);
  await pipe.settled();
  pipe.receive({ id: pipe.sent[0]!['id']!, result });
  return { ...pipe, session };
}

const welcome = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'a', version: '2', title: 'A' },
  instructions: 'Be kind.',
};

describe('a legacy server over a pipe', () => {
  it('C1 supports the revisions of the SDK', () => {
    expect(HANDSHAKE_REVISIONS).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
  });

  it('CONN-1 exchanges client and server info', async () => {
    const { session, sent } = await greet(welcome);
    expect(await session).toMatchObject({
      era: 'legacy',
      protocolVersion: '2025-06-18',
      info: { name: 'a', version: '2', title: 'A' },
      capabilities: welcome.capabilities,
      instructions: 'Be kind.',
    });
    expect(sent).toEqual([
      {
        jsonrpc: '2.0',
        id: expect.any(Number) as number,
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: { roots: {} },
          clientInfo: { name: 'toolscout', version: '1' },
        },
      },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
    ]);
  });

  it('CONN-1 its pings are answered before and after the handshake; what it asks besides is unknown', async () => {
    const { clock, channel, terms, sent, receive } = connect();
    const session = shakeHands(channel, terms);
    await clock.advance(0);
    receive({ id: 'early', method: 'ping' });
    receive({ id: sent[0]!['id']!, result: welcome });
    await session;
    receive({ id: 7, method: 'ping' });
    receive({ id: 8, method: 'tasks/list' });
    receive({ method: 'notifications/cancelled', params: { requestId: 99 } });
    receive({ id: 5, result: {} });
    expect(sent.filter((message) => 'result' in message || 'error' in message)).toEqual([
      { jsonrpc: '2.0', id: 'early', result: {} },
      { jsonrpc: '2.0', id: 7, result: {} },
      { jsonrpc: '2.0', id: 8, error: { code: -32_601, message: 'Method not found' } },
    ]);
  });

  it.each<[string, unknown]>([
    ['another revision', '1999-01-01'],
    ['the modern one', MODERN],
    ['none', undefined],
    ['an object', { toString: 1 }],
  ])('C1 A28 an answer with %s is no handshake', async (_name, protocolVersion) => {
    const { session, sent } = await greet({ ...welcome, protocolVersion } as JsonObject);
    await expect(session).rejects.toThrow();
    expect(sent).toHaveLength(1);
  });

  it.each<[string, JsonObject]>([
    ['nothing about itself', { protocolVersion: '2025-06-18' }],
    ['nonsense about itself', { ...welcome, capabilities: 'all', serverInfo: { name: 5 }, instructions: [] }],
    ['lists for objects', { ...welcome, capabilities: [], serverInfo: [], instructions: {} }],
  ])('A28 a server that says %s is a server without', async (_name, result) => {
    const { session } = await greet(result);
    expect(await session).toMatchObject({ info: undefined, capabilities: {}, instructions: undefined });
  });

  it('CONN-1 a handshake that takes too long is given up and not cancelled', async () => {
    const { clock, channel, terms, sent } = connect();
    const failed = expect(shakeHands(channel, terms)).rejects.toMatchObject({ code: 'TOOL_EXECUTION_TIMEOUT' });
    await clock.advance(1000);
    await failed;
    expect(sent.map(({ method }) => method)).toEqual(['initialize']);
  });
});

describe('a modern server over a pipe', () => {
  const discover = {
    supportedVersions: [MODERN],
    capabilities: { tools: { listChanged: true } },
    instructions: 'Ask.',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'm', version: '3' } },
  };
  const acknowledge = (id: string): JsonObject => ({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: {}, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
  });

  async function open() {
    const pipe = connect();
    const session = await speakModern(pipe.channel, pipe.terms, MODERN, discover);
    const listening = session.listen({ toolsListChanged: true }, 500);
    await pipe.settled();
    return { ...pipe, session, listening };
  }

  it('CONN-1 nothing is sent to agree on what it has said', async () => {
    const { channel, terms, sent } = connect();
    expect(await speakModern(channel, terms, MODERN, discover)).toMatchObject({
      era: 'modern',
      protocolVersion: MODERN,
      info: { name: 'm', version: '3' },
      capabilities: discover.capabilities,
      instructions: 'Ask.',
    });
    expect(sent).toEqual([]);
    const bare = { supportedVersions: [MODERN], capabilities: {}, instructions: 5, _meta: 'odd' };
    const silent = await speakModern(channel, terms, MODERN, bare);
    expect([silent.info, silent.instructions]).toEqual([undefined, undefined]);
  });

  it('CONN-1 subscribes to changes, and cancels the subscription with its last listener', async () => {
    const { sent, receive, listening } = await open();
    const envelope = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'toolscout', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { roots: {} },
    };
    expect(sent).toEqual([
      {
        jsonrpc: '2.0',
        id: 'listen:0',
        method: 'subscriptions/listen',
        params: { _meta: envelope, notifications: { toolsListChanged: true } },
      },
    ]);
    receive(acknowledge('listen:9'));
    receive(acknowledge('listen:0'));
    const { close } = await listening;
    await close();
    expect(sent[1]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'listen:0', _meta: envelope },
    });
  });

  it.each<[string, JsonObject]>([
    ['refuses with an error', { id: 'listen:0', error: { code: -32_601, message: 'no such method' } }],
    ['withdraws', { method: 'notifications/cancelled', params: { requestId: 'listen:0' } }],
    ['answers at once', { id: 'listen:0', result: {} }],
  ])('A28 a server that %s is not listened to', async (_name, message) => {
    const { clock, receive, listening } = await open();
    const failed = expect(listening).rejects.toThrow();
    receive(message);
    await failed;
    expect(clock.waiting).toBe(0);
  });

  it('CONN-1 cancels a subscription that is not accepted in time', async () => {
    const { clock, sent, listening } = await open();
    const failed = expect(listening).rejects.toMatchObject({ code: 'TOOL_EXECUTION_TIMEOUT' });
    await clock.advance(500);
    await failed;
    expect(sent[1]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 'listen:0' } });
  });

  it('EXEC-4 ends every wait when the connection ends', async () => {
    const { clock, wire, listening } = await open();
    const failed = expect(listening).rejects.toThrow('ended');
    await wire.close();
    await failed;
    expect(clock.waiting).toBe(0);
  });

  it('C1 requests of the server are not answered: this era has none', async () => {
    const { sent, receive, session } = await open();
    receive({ id: 1, method: 'ping' });
    receive({ id: 'listen:0', method: 'tasks/list' });
    expect(sent).toHaveLength(1);
    expect(session.era).toBe('modern');
  });
});
