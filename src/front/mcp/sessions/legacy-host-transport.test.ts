import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../kernel/json.js';
import { silentLog } from '../../../kernel/log.js';
import type { Exchange } from '../exchange.js';
import { protocolError } from '../exchange.js';
import { LegacyHostTransport } from './legacy-host-transport.js';
import type { LegacySession } from './legacy-session.js';
import type { HostSurface } from '../menu/host-surface.js';

/** A wire that keeps what is written as text, as a real one would; and a protocol server that only shakes hands. */
function connect(answer: HostSurface['answer'], capabilities: JsonObject = { elicitation: {} }) {
  const sent: JsonObject[] = [];
  const left: JsonObject[] = [];
  const closed: string[] = [];
  const levels: string[] = [];
  const wire: Transport = {
    sessionId: 'session',
    start: async () => {},
    send: async (message) => void sent.push(JSON.parse(JSON.stringify(message)) as JsonObject),
    close: async () => wire.onclose?.(),
  };
  const surface: HostSurface = { info: { name: 't', version: '1' }, capabilities: {}, answer, concerns: () => false };
  class ObservedTransport extends LegacyHostTransport {
    protected override onLogLevel({ logLevel }: LegacySession): void {
      levels.push(logLevel!);
    }
    protected override onGone({ host }: LegacySession): void {
      closed.push(host.id);
    }
  }
  const hostTransport = new ObservedTransport(wire, { principal: 'ann', surface: () => surface }, silentLog);
  hostTransport.onmessage = (message) => void left.push(message as unknown as JsonObject);
  const receive = (message: JsonObject): void =>
    wire.onmessage?.({ jsonrpc: '2.0', ...message } as unknown as JSONRPCMessage);
  receive({ id: 0, method: 'initialize', params: { capabilities } });
  void hostTransport.send({ jsonrpc: '2.0', id: 0, result: {} });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { hostTransport, wire, sent, left, receive, settle, closed, levels };
}

const last = (sent: readonly JsonObject[]): JsonObject | undefined => sent.at(-1);

describe('the transport of a 2025-era host', () => {
  it('META-3 requests are answered beside the protocol server, the handshake is not', async () => {
    const { receive, sent, left, settle } = connect(async (method, params) => ({ method, params }));
    receive({ id: 1, method: 'tools/list', params: { cursor: 'x', vendor: [1] } });
    receive({ id: 2, method: 'ping' });
    receive({ method: 'notifications/initialized' });
    await settle();
    expect(sent).toContainEqual({ jsonrpc: '2.0', id: 2, result: {} });
    expect(last(sent)).toMatchObject({ id: 1, result: { method: 'tools/list', params: { vendor: [1] } } });
    expect(left.map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized']);
  });

  it('META-3 a failure is the JSON-RPC error that was meant', async () => {
    const { receive, sent, settle } = connect(() => Promise.reject(protocolError(-32_042, 'visit', { url: 'x' })));
    receive({ id: 1, method: 'tools/call' });
    await settle();
    expect(last(sent)).toMatchObject({ id: 1, error: { code: -32_042, message: 'visit', data: { url: 'x' } } });
  });

  it('A26 R3 an answer that nests too deep for JSON is an error of its request, and does not affect other requests', async () => {
    let deep: JsonValue = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    const { receive, sent, settle } = connect(async () => ({ deep }));
    receive({ id: 1, method: 'resources/read' });
    await settle();
    await settle();
    expect(last(sent)).toMatchObject({ id: 1, error: { code: -32_603 } });
  });

  it('META-6 the host is asked in its call, and its answer, refusal or silence reaches the server', async () => {
    const { receive, sent, settle } = connect(async (_method, _params, { host }: Exchange) => ({
      heard: await host
        .request('elicitation/create', { message: 'm' })
        .catch((thrown: Error) => ({ no: thrown.message })),
    }));
    receive({ id: 'a', method: 'tools/call' });
    await settle();
    expect(last(sent)).toMatchObject({ id: 1, method: 'elicitation/create', params: { message: 'm' } });
    receive({ id: 1, result: { action: 'accept' } });
    await settle();
    expect(last(sent)).toMatchObject({ id: 'a', result: { heard: { action: 'accept' } } });
    receive({ id: 'b', method: 'tools/call' });
    await settle();
    receive({ id: 2, error: { code: -1, message: 'rejected' } });
    await settle();
    expect(last(sent)).toMatchObject({ id: 'b', result: { heard: { no: 'rejected' } } });
    // An answer to nothing is left to the protocol server.
    receive({ id: 99, result: {} });
  });

  it('META-6 a cancelled request is not answered, and what was asked for it is withdrawn', async () => {
    const { receive, sent, settle } = connect(async (_method, _params, { host, signal }: Exchange) => {
      await host.request('elicitation/create', {}, { signal });
      return {};
    });
    receive({ id: 5, method: 'tools/call' });
    await settle();
    receive({ method: 'notifications/cancelled', params: { requestId: 5 } });
    await settle();
    expect(last(sent)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });
  });

  it('META-6 requests under one id are both answered while they run, and both cancelled', async () => {
    const ends: string[] = [];
    const { receive, sent, settle, wire } = connect(async (_method, params, { signal }: Exchange) => {
      const name = String(params['name']);
      if (params['quick']) return { name };
      await new Promise<void>((resolve) => signal.addEventListener('abort', resolve));
      ends.push(`${name} ${String(signal.reason)}`);
      return { name };
    });
    const call = (id: number, name: string, quick = false): void =>
      receive({ id, method: 'tools/call', params: { name, quick } });
    call(5, 'first');
    call(5, 'second');
    call(5, 'third', true);
    await settle();
    expect(sent.filter(({ id }) => id === 5)).toMatchObject([{ result: { name: 'third' } }]);
    receive({ method: 'notifications/cancelled', params: { requestId: 5, reason: 'enough' } });
    receive({ method: 'notifications/cancelled', params: { requestId: 5, reason: 'twice' } });
    await settle();
    expect(ends.toSorted()).toEqual(['first enough', 'second enough']);
    expect(sent.filter(({ id }) => id === 5)).toHaveLength(1);
    // An id that was cancelled is free again, and who goes leaves nothing running.
    call(5, 'fourth');
    call(5, 'fifth');
    await wire.close();
    await settle();
    expect(ends.slice(2).toSorted()).toEqual(['fifth undefined', 'fourth undefined']);
  });

  it('META-6 logging has the level the host set, and such a host shares no connection', async () => {
    const ids: string[] = [];
    const { receive, sent, settle, levels } = connect(async (_method, _params, { host }: Exchange) => {
      ids.push(host.id);
      for (const level of ['debug', 'warning']) host.notify('notifications/message', { level, data: level });
      return {};
    }, {});
    receive({ id: 1, method: 'tools/call' });
    await settle();
    receive({ id: 2, method: 'logging/setLevel', params: { level: 'warning' } });
    receive({ id: 3, method: 'logging/setLevel', params: { level: 'shouting' } });
    receive({ id: 4, method: 'tools/call' });
    await settle();
    const heard = sent.filter(({ method }) => method === 'notifications/message');
    expect(heard.map(({ params }) => (params as JsonObject)['data'])).toEqual(['debug', 'warning', 'warning']);
    expect(sent).toContainEqual({
      jsonrpc: '2.0',
      id: 3,
      error: { code: -32_602, message: 'There is no such log level.' },
    });
    expect(levels).toEqual(['warning']);
    expect(ids[0]).toMatch(/^of:/);
    expect(ids[1]).toBe('session');
  });

  it('R7 when the host goes, calls are cancelled and questions end', async () => {
    const ends: string[] = [];
    const { receive, settle, wire, closed } = connect(async (_method, _params, { host, signal }: Exchange) => {
      signal.addEventListener('abort', () => ends.push('cancelled'));
      await host.request('roots/list', undefined).catch(() => ends.push('unanswered'));
      return {};
    });
    receive({ id: 1, method: 'tools/call' });
    await settle();
    await wire.close();
    await settle();
    expect(ends.toSorted()).toEqual(['cancelled', 'unanswered']);
    expect(closed).toEqual(['session']);
  });
});
