import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { tapTransport } from './tap.js';

describe('a tapped transport', () => {
  it('DISC-7 gets the lines of both sides and changes none of them', async () => {
    const sent: unknown[] = [];
    const transport: Transport = {
      start: async () => undefined,
      close: async () => undefined,
      send: async (...given) => void sent.push(given),
    };
    const heard: string[] = [];
    tapTransport(transport, (from, text) => heard.push(`${from} ${text}`));
    expect(transport.onmessage).toBeUndefined();
    const ping: JSONRPCMessage = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const pong: JSONRPCMessage = { jsonrpc: '2.0', id: 1, result: {} };
    await transport.send(ping, { relatedRequestId: 1 });
    const received: unknown[] = [];
    transport.onmessage = (message) => received.push(message);
    transport.onmessage(pong);
    expect(sent).toEqual([[ping, { relatedRequestId: 1 }]]);
    expect(received).toEqual([pong]);
    expect(heard).toEqual([`us ${JSON.stringify(ping)}`, `server ${JSON.stringify(pong)}`]);
    transport.onmessage = undefined;
    expect(transport.onmessage).toBeUndefined();
  });
});
