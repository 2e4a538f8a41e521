import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../../test/support/fake-clock.js';
import { waitUntil } from '../../../../test/support/fixture.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import type { Gateway } from '../../../gateway/index.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import type { JsonObject } from '../../../kernel/json.js';
import { silentLog } from '../../../kernel/log.js';
import { createMcpEndpoint, type McpEndpoint } from './http.js';
import { patient } from '../../../../test/support/patience.js';

const URL_OF_IT = 'http://127.0.0.1:7077/mcp';

type Outcome = Awaited<ReturnType<Gateway['call']>>;

interface Calls {
  readonly endpoint: McpEndpoint;
  readonly clock: FakeClock;
  /** Ends calls in the order in which they came; every call waits for its turn. */
  readonly waiting: Array<{ end(outcome: Outcome): void; fail(error: Error): void }>;
}

/** An endpoint whose calls end when the test says so. */
async function openHeld(): Promise<Calls> {
  const { gateway } = await openOfflineGateway([]);
  const waiting: Calls['waiting'] = [];
  const executeTool: Gateway['call'] = () =>
    new Promise((end, fail) => {
      waiting.push({ end, fail });
    });
  const clock = createFakeClock();
  const info = { name: 'toolscout', version: '9.9.9' };
  const endpoint = createMcpEndpoint({ gateway: { ...gateway, call: executeTool }, info, log: silentLog, clock });
  onTestFinished(() => endpoint.close());
  return { endpoint, clock, waiting };
}

const text = (said: string): Outcome => ({ success: true, result: { content: [{ type: 'text', text: said }] } });

/** Reaches the host as a JSON-RPC error: SDK clients do not count one as the answer for which a stream was there. */
const refused = (): ToolscoutError =>
  new ToolscoutError('TOOL_EXECUTION_ERROR', 'sign in first', {
    upstream: { code: -32_042, message: 'sign in first' },
  });

interface RealHost {
  readonly errors: Error[];
  call(onToken?: (token: string) => void): Promise<unknown>;
  read(uri: string, onToken?: (token: string) => void): Promise<unknown>;
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const CALL = { name: 'execute_tool', arguments: { server: 'a', tool: 'b', arguments: {} } };

const HOSTS: ReadonlyArray<readonly [string, (fetch: Fetch) => Promise<RealHost>]> = [
  [
    'SDK 1.x',
    async (fetch) => {
      const client = new LegacyClient({ name: 'host', version: '1' });
      const errors: Error[] = [];
      client.onerror = (error) => errors.push(error);
      await client.connect(new LegacyTransport(new URL(URL_OF_IT), { fetch }));
      onTestFinished(() => client.close());
      return {
        errors,
        call: (onresumptiontoken) => client.callTool(CALL, undefined, { onresumptiontoken }),
        read: (uri, onresumptiontoken) => client.readResource({ uri }, { onresumptiontoken }),
      };
    },
  ],
  [
    'SDK 2.x with a session',
    async (fetch) => {
      const client = new ModernClient({ name: 'host', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
      const errors: Error[] = [];
      client.onerror = (error) => errors.push(error);
      await client.connect(new ModernTransport(new URL(URL_OF_IT), { fetch }));
      onTestFinished(() => client.close());
      return {
        errors,
        call: (onresumptiontoken) => client.callTool(CALL, { onresumptiontoken }),
        read: (uri, onresumptiontoken) => client.readResource({ uri }, { onresumptiontoken }),
      };
    },
  ],
];

/** What came back for each GET with which a host asked for a stream it lost. */
function watched(endpoint: McpEndpoint): { fetch: Fetch; resumed: number[]; conflicts: () => number } {
  const resumed: number[] = [];
  let conflicts = 0;
  const fetch: Fetch = async (url, init) => {
    const request = new Request(url, init);
    const response = await endpoint.fetch(request);
    if (response.status === 409) conflicts++;
    if (request.headers.has('last-event-id')) resumed.push(response.status);
    return response;
  };
  return { fetch, resumed, conflicts: () => conflicts };
}

describe.each(HOSTS)('streams of answers: %s', (_, connect) => {
  it('S5 is given no event id with an answer that comes at once, be it an error', async () => {
    const { endpoint, waiting } = await openHeld();
    const host = await connect((url, init) => endpoint.fetch(new Request(url, init)));
    const tokens: string[] = [];
    await expect(host.read('toolscout:nothing', (token) => tokens.push(token))).rejects.toThrow('not found');
    const call = host.call((token) => tokens.push(token));
    await waitUntil(() => waiting.length === 1, { what: 'the call' });
    waiting[0]!.end(text('done'));
    expect(await call).toMatchObject({ content: [{ text: 'done' }] });
    expect(tokens).toEqual([]);
  });

  it.each([
    ['noticed', true],
    ['not noticed yet', false],
  ])(
    'EXEC-4 gets the answer of a call whose stream was lost in the middle, the loss %s',
    async (_loss, isNoticed) => {
      const { endpoint, clock, waiting } = await openHeld();
      const seen = watched(endpoint);
      let lose = (): void => {};
      const host = await connect(async (url, init) => {
        const response = await seen.fetch(url, init);
        if (!String(init?.body).includes('"tools/call"')) return response;
        const source = response.body!.getReader();
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            lose = () => {
              controller.error(new Error('connection reset'));
              if (isNoticed) void source.cancel();
            };
          },
          async pull(controller) {
            const { value } = await source.read();
            if (value) controller.enqueue(value);
          },
        });
        return new Response(body, response);
      });
      const tokens: string[] = [];
      const call = host.call((token) => tokens.push(token));
      await waitUntil(() => waiting.length === 1, { what: 'the call' });
      await clock.advance(100);
      await waitUntil(() => tokens.length === 1, { what: 'an event id' });
      lose();
      await waitUntil(() => seen.resumed.length === 1, { what: 'the host to come back', timeoutMs: 10_000 });
      waiting[0]!.end(text('after all'));
      expect(await call).toMatchObject({ content: [{ text: 'after all' }] });
      expect(seen.resumed).toEqual([200]);
    },
    20_000,
  );
});

describe('a host of the 2025 era', () => {
  it(
    'S5 with SDK 1.x that comes back for a stream that has ended is told so once, and is not led into a conflict',
    async () => {
      const { endpoint, clock, waiting } = await openHeld();
      const { fetch, resumed, conflicts } = watched(endpoint);
      const host = await HOSTS[0]![1](fetch);
      // The second call is the fence: what the first one leads to happens before it comes back.
      for (const round of [1, 2]) {
        const tokens: string[] = [];
        const call = host.call((token) => tokens.push(token));
        await waitUntil(() => waiting.length === round, { what: 'the call' });
        await clock.advance(100);
        await waitUntil(() => tokens.length > 0, { what: 'an event id' });
        waiting[round - 1]!.fail(refused());
        await expect(call).rejects.toThrow('sign in first');
        await waitUntil(() => resumed.length === round, { what: 'the host to come back', timeoutMs: 10_000 });
      }
      expect(resumed).toEqual([405, 405]);
      expect(conflicts()).toBe(0);
      expect(host.errors).toEqual([]);
    },
    patient(20_000),
  );

  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'host', version: '1' } };

  async function lostAnswer(calls: Calls, outcome: Outcome): Promise<{ own: Record<string, string>; last: string }> {
    const send = (body: JsonObject, more: Record<string, string> = {}): Promise<Response> =>
      calls.endpoint.fetch(
        new Request(URL_OF_IT, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) }),
      );
    const opened = await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    await opened.text();
    const own = { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id')! };
    const calling = send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: CALL }, own);
    await waitUntil(() => calls.waiting.length === 1, { what: 'the call' });
    await calls.clock.advance(100);
    const call = await calling;
    const reader = call.body!.pipeThrough(new TextDecoderStream()).getReader();
    let said = '';
    while (!/^id: \S+$/m.test(said)) said += (await reader.read()).value ?? '';
    await reader.cancel();
    calls.waiting[0]!.end(outcome);
    // The fence: when it is answered, so is the call, to nobody.
    await (await send({ jsonrpc: '2.0', id: 2, method: 'ping' }, own)).text();
    return { own, last: /^id: (\S+)$/m.exec(said)![1]! };
  }

  it('EXEC-4 is told when the answer it lost was too large to be kept', async () => {
    const calls = await openHeld();
    const { own, last } = await lostAnswer(calls, text('x'.repeat(300_000)));
    const back = await calls.endpoint.fetch(new Request(URL_OF_IT, { headers: { ...own, 'last-event-id': last } }));
    expect(await back.text()).toContain('"error":{"code":-32603,"message":"The answer was lost with its stream');
  });

  it('EXEC-4 gets an answer that came while it was away, and a second time learns that nothing is left', async () => {
    const calls = await openHeld();
    const { own, last } = await lostAnswer(calls, text('meanwhile'));
    const get = (id: string): Promise<Response> =>
      calls.endpoint.fetch(new Request(URL_OF_IT, { headers: { ...own, 'last-event-id': id } }));
    const replayed = await (await get(last)).text();
    expect(replayed).toContain('meanwhile');
    const [, answer] = /^id: (\S+)$/m.exec(replayed)!;
    expect((await get(answer!)).status).toBe(405);
    expect((await get('unknown')).status).toBe(400);
  });
});
