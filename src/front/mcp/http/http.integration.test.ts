import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, waitUntil } from '../../../../test/support/fixture.js';
import { modernPost } from '../../../../test/support/modern-request.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import { callMark, openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { Gateway } from '../../../gateway/index.js';
import { systemClock } from '../../../kernel/clock.js';
import type { JsonObject } from '../../../kernel/json.js';
import { LIMITS } from '../../../kernel/limits.js';
import { silentLog } from '../../../kernel/log.js';
import { createMcpEndpoint, type McpEndpoint } from './http.js';

const URL_OF_IT = 'http://127.0.0.1:7077/mcp';
const INFO = { name: 'toolscout', version: '9.9.9' };
const MODERN = '2026-07-28';

function endpointOver(gateway: Gateway): McpEndpoint {
  const endpoint = createMcpEndpoint({ gateway, info: INFO, log: silentLog, clock: systemClock });
  onTestFinished(() => endpoint.close());
  return endpoint;
}

async function offline(): Promise<McpEndpoint> {
  const tools = [{ name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' } }];
  return endpointOver((await openOfflineGateway([{ id: 'notes', tools }])).gateway);
}

function post(body: unknown, headers: Record<string, string> = {}): Request {
  return new Request(URL_OF_IT, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The JSON-RPC answer in a response, whichever way it was sent. */
async function answerOf(response: Response): Promise<JsonObject> {
  const text = await response.text();
  const data = text.split('\n').findLast((line) => line.startsWith('data: ') && line.length > 6);
  return JSON.parse(data ? data.slice(6) : text) as JsonObject;
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'host', version: '1' } },
};

async function openSession(endpoint: McpEndpoint): Promise<string> {
  const response = await endpoint.fetch(post(initialize));
  expect(response.status).toBe(200);
  const id = response.headers.get('mcp-session-id');
  await response.text();
  await endpoint.fetch(post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': id! }));
  return id!;
}

/** A request of the 2026-07-28 era. */
function modern(...request: Parameters<typeof modernPost>): Request {
  return new Request(URL_OF_IT, modernPost(...request));
}

describe('a host of the 2025 era', STARTS_PROCESSES, () => {
  it('S5 META-1 initialize opens a session, which lists and calls until it is deleted; then it is 404', async () => {
    const endpoint = await offline();
    const id = await openSession(endpoint);
    expect(id).toMatch(/^[\x21-\x7e]{32,}$/);
    expect(endpoint.sessions).toBe(1);
    const inSession = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-06-18' };

    const listed = await endpoint.fetch(post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, inSession));
    expect(listed.status).toBe(200);
    const { result } = (await answerOf(listed)) as { result: { tools: Array<{ name: string }> } };
    expect(result.tools.map(({ name }) => name).toSorted()).toEqual([
      'execute_tool',
      'get_tool_details',
      'list_mcp_servers',
      'list_tools',
      'search_tools',
    ]);

    const call = { name: 'search_tools', arguments: { query: 'read a note' } };
    const called = await endpoint.fetch(post({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: call }, inSession));
    expect(JSON.stringify(await answerOf(called))).toContain('read_note');

    const unknown = await endpoint.fetch(post({ jsonrpc: '2.0', id: 4, method: 'no/such/method' }, inSession));
    expect(await answerOf(unknown)).toMatchObject({ id: 4, error: { code: -32_601 } });

    const deleted = await endpoint.fetch(new Request(URL_OF_IT, { method: 'DELETE', headers: inSession }));
    expect(deleted.status).toBe(200);
    expect(endpoint.sessions).toBe(0);
    for (const request of [
      post({ jsonrpc: '2.0', id: 5, method: 'tools/list' }, inSession),
      new Request(URL_OF_IT, { headers: { accept: 'text/event-stream', ...inSession } }),
      new Request(URL_OF_IT, { method: 'DELETE', headers: inSession }),
    ]) {
      const response = await endpoint.fetch(request);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32_001 } });
    }
  });

  it('META-8 the instructions come with initialize and name what is behind', async () => {
    const endpoint = await offline();
    const { result } = (await answerOf(await endpoint.fetch(post(initialize)))) as { result: JsonObject };
    expect(result).toMatchObject({ protocolVersion: '2025-06-18', serverInfo: INFO, capabilities: { tools: {} } });
    expect(result['instructions']).toContain('Behind it: notes.');
    const again = (await answerOf(await endpoint.fetch(post(initialize)))) as { result: JsonObject };
    expect(again.result['instructions']).toBe(result['instructions']);
  });

  it('S5 an unknown session is 404, whatever is asked, and none is opened', async () => {
    const endpoint = await offline();
    const response = await endpoint.fetch(post(initialize, { 'mcp-session-id': 'made-up' }));
    expect(response.status).toBe(404);
    expect(endpoint.sessions).toBe(0);
  });

  it('S4 without a session GET and DELETE are 405, and a request is 400', async () => {
    const endpoint = await offline();
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const response = await endpoint.fetch(
        new Request(URL_OF_IT, { method, headers: { accept: 'text/event-stream' } }),
      );
      expect(response.status).toBe(405);
    }
    const early = await endpoint.fetch(post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }));
    expect(early.status).toBe(400);
    expect(await early.json()).toMatchObject({
      error: { message: expect.stringContaining('Initialize first') as string },
    });
  });

  it.each([['{"jsonrpc":'], ['not json'], ['']])('A26 a body that is not JSON is 400: %j', async (body) => {
    const response = await (await offline()).fetch(post(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_700 } });
  });

  it.each([['null'], ['5'], ['[]'], ['"text"'], ['{}'], ['{"jsonrpc":"1.0","id":1,"method":"x"}']])(
    'A26 JSON that is no request is 400: %s',
    async (body) => {
      const response = await (await offline()).fetch(post(body));
      expect(response.status).toBe(400);
      await response.text();
    },
  );

  it('A26 a deeply nested body is refused, not a crash', async () => {
    const endpoint = await offline();
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const body of [deep, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${deep}}`]) {
      const response = await endpoint.fetch(post(body));
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      await response.text();
    }
  });

  it('A28 A43 a body with too many values is 400 and is not parsed', async () => {
    const response = await (await offline()).fetch(post(`[${'[],'.repeat(600_000)}[]]`));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: -32_700, message: 'Parse error: the body has more than 1000000 values.' },
    });
  });

  it('A28 a body that is too large is 413, whether it says so or not', async () => {
    const endpoint = await offline();
    const announced = post('{}', { 'content-length': String(LIMITS.bodyBytes + 1) });
    expect((await endpoint.fetch(announced)).status).toBe(413);

    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1024 * 1024;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
      },
    });
    const endless = new Request(URL_OF_IT, { method: 'POST', body: stream, duplex: 'half' } as RequestInit);
    const response = await endpoint.fetch(endless);
    expect(response.status).toBe(413);
    expect(sent).toBeLessThanOrEqual(LIMITS.bodyBytes + 4 * 1024 * 1024);
  });

  it('META-6 R7 the stream of a cancelled call ends without an answer; others in its batch are still answered', async () => {
    const gateway = await openToolscout({ servers: { slow: fixture('slow') } });
    await gateway.servers.discover();
    const endpoint = endpointOver(gateway);
    const session = { 'mcp-session-id': await openSession(endpoint) };
    const wait = (id: number, ms: number): JsonObject => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'execute_tool', arguments: { server: 'slow', tool: 'wait', arguments: { ms, progress: false } } },
    });
    const cancel = (requestId: number): Promise<Response> =>
      endpoint.fetch(post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, session));
    const alone = await endpoint.fetch(post(wait(5, 20_000), session));
    const batch = await endpoint.fetch(post([wait(6, 20_000), wait(7, 1000)], session));
    expect((await cancel(5)).status).toBe(202);
    await cancel(6);
    expect(await alone.text()).not.toContain('"id":5');
    const reader = batch.body!.pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    while (!heard.includes('waited 1000')) heard += (await reader.read()).value ?? '';
    expect(heard).not.toContain('"id":6');
    expect((await gateway.audit.list({ kind: 'execution' })).map(({ code }) => code).toSorted()).toEqual([
      'CANCELLED',
      'CANCELLED',
      undefined,
    ]);
  });

  it('A9 sessions do not mix: the same id in two of them gets each its own answer', async () => {
    const gateway = await openToolscout({
      servers: { old: { ...fixture('legacy'), rateLimit: { requestsPerSecond: 1000, burstSize: 1000 } } },
    });
    await gateway.servers.discover();
    const endpoint = endpointOver(gateway);
    const ids = await Promise.all(Array.from({ length: 20 }, () => openSession(endpoint)));
    expect(new Set(ids).size).toBe(20);
    const answers = await Promise.all(
      ids.map(async (id, index) => {
        const params = {
          name: 'execute_tool',
          arguments: { server: 'old', tool: 'echo', arguments: { message: `nonce ${index}` } },
        };
        return answerOf(
          await endpoint.fetch(post({ jsonrpc: '2.0', id: 0, method: 'tools/call', params }, { 'mcp-session-id': id })),
        );
      }),
    );
    for (const [index, answer] of answers.entries()) {
      expect(answer).toMatchObject({ id: 0, result: { content: [{ text: `nonce ${index}` }] } });
    }
  });

  it('R13 beyond a thousand sessions the one that was quiet longest is ended', async () => {
    const endpoint = await offline();
    const first = await openSession(endpoint);
    const second = await openSession(endpoint);
    for (let index = 0; index < 998; index++) await (await endpoint.fetch(post(initialize))).text();
    expect(endpoint.sessions).toBe(1000);
    // The first one speaks up, so that the second is the quiet one.
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await endpoint.fetch(post(list, { 'mcp-session-id': first }))).status).toBe(200);
    await (await endpoint.fetch(post(initialize))).text();
    await waitUntil(() => endpoint.sessions === 1000, { what: 'the oldest session to end' });
    expect((await endpoint.fetch(post(list, { 'mcp-session-id': second }))).status).toBe(404);
    expect((await endpoint.fetch(post(list, { 'mcp-session-id': first }))).status).toBe(200);
  });

  it('R7 closing ends every session', async () => {
    const endpoint = await offline();
    const id = await openSession(endpoint);
    await endpoint.close();
    expect(endpoint.sessions).toBe(0);
    expect(
      (await endpoint.fetch(post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, { 'mcp-session-id': id }))).status,
    ).toBe(404);
  });
});

describe('a host of the 2026 era', STARTS_PROCESSES, () => {
  it('S3 S6 lists and calls without a session; the list says how long it may be kept', async () => {
    const endpoint = await offline();
    const listed = await endpoint.fetch(modern('tools/list'));
    expect(listed.status).toBe(200);
    expect(listed.headers.get('mcp-session-id')).toBeNull();
    const { result } = (await answerOf(listed)) as { result: JsonObject };
    expect(result).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
    expect(result['ttlMs']).toBeGreaterThan(0);
    expect(result['tools']).toHaveLength(5);

    const called = await endpoint.fetch(
      modern('tools/call', { name: 'search_tools', arguments: { query: 'read a note' } }),
    );
    expect(called.status).toBe(200);
    expect(JSON.stringify(await answerOf(called))).toContain('read_note');
    const discovered = await endpoint.fetch(modern('server/discover'));
    expect(JSON.stringify(await answerOf(discovered))).toContain(MODERN);
    expect(endpoint.sessions).toBe(0);
  });

  it('S4 a session id in a modern request is ignored', async () => {
    const endpoint = await offline();
    const response = await endpoint.fetch(modern('tools/list', {}, { 'mcp-session-id': 'made-up' }));
    expect(response.status).toBe(200);
    expect(response.headers.get('mcp-session-id')).toBeNull();
    await response.text();
  });

  it.each([
    ['no Mcp-Method', 'tools/list', {}, { 'mcp-method': undefined }],
    ['another Mcp-Method', 'tools/list', {}, { 'mcp-method': 'tools/call' }],
    ['no Mcp-Name', 'tools/call', { name: 'list_mcp_servers', arguments: {} }, { 'mcp-name': undefined }],
    ['another Mcp-Name', 'tools/call', { name: 'list_mcp_servers', arguments: {} }, { 'mcp-name': 'search_tools' }],
    ['another version in the header', 'tools/list', {}, { 'mcp-protocol-version': '2025-06-18' }],
  ])('S3 %s is 400 and -32020', async (_, method, params, headers) => {
    const response = await (await offline()).fetch(modern(method, params, headers));
    expect(response.status).toBe(400);
    expect(await answerOf(response)).toMatchObject({ error: { code: -32_020 } });
  });

  it('S3 a request without MCP-Protocol-Version is 400', async () => {
    const response = await (await offline()).fetch(modern('tools/list', {}, { 'mcp-protocol-version': undefined }));
    expect(response.status).toBe(400);
    await response.text();
  });

  it('S3 an unknown version is 400 and -32022 with what is supported', async () => {
    const endpoint = await offline();
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2099-01-01',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const future = post(
      { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } },
      { 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/list' },
    );
    const response = await endpoint.fetch(future);
    expect(response.status).toBe(400);
    expect(await answerOf(response)).toMatchObject({
      error: { code: -32_022, data: { supported: expect.arrayContaining([MODERN]) as string[] } },
    });
  });

  it('S3 an unknown method is 404 and -32601', async () => {
    const endpoint = await offline();
    const unknown = await endpoint.fetch(modern('no/such/method'));
    expect(unknown.status).toBe(404);
    expect(await answerOf(unknown)).toMatchObject({ error: { code: -32_601 } });
  });

  it('S4 EXEC-1 a host that hangs up cancels its call at the server', async () => {
    const mark = await callMark();
    const gateway = await openToolscout({ servers: { slow: fixture('slow', mark.flag) } });
    await gateway.servers.discover();
    const endpoint = endpointOver(gateway);
    const stop = new AbortController();
    const params = {
      name: 'execute_tool',
      arguments: { server: 'slow', tool: 'wait', arguments: { ms: 20_000, progress: false } },
    };
    const request = new Request(modern('tools/call', params), { signal: stop.signal });
    const hungUp = mark.called().then(() => stop.abort());
    // Whether a response had begun by then is up to the protocol; what counts is that the call ends.
    const outcome = await endpoint.fetch(request).then(
      (response) => response.body?.cancel(),
      (thrown: unknown) => thrown,
    );
    await hungUp;
    expect(outcome === undefined || outcome instanceof Error).toBe(true);
    await waitUntil(async () => (await gateway.audit.list({ outcome: 'failure' })).length === 1, {
      what: 'the cancelled call',
    });
    expect(await gateway.audit.list({ kind: 'execution' })).toMatchObject([{ code: 'CANCELLED', route: 'mcp' }]);
  });
});

describe('a hostile answer', STARTS_PROCESSES, () => {
  it('A26 R3 a result that cannot be written as JSON is an error of that request, in both eras', async () => {
    let deep: JsonObject = {};
    for (let level = 0; level < 20_000; level++) deep = { deep };
    const { gateway } = await openOfflineGateway([]);
    const executeTool: Gateway['call'] = async () => ({
      success: true,
      result: { content: [], structuredContent: deep },
    });
    const endpoint = endpointOver({ ...gateway, call: executeTool });
    const params = { name: 'execute_tool', arguments: { server: 'a', tool: 'b', arguments: {} } };
    const id = await openSession(endpoint);
    const requests = [
      post({ jsonrpc: '2.0', id: 3, method: 'tools/call', params }, { 'mcp-session-id': id }),
      modern('tools/call', params),
    ];
    for (const request of requests) {
      const text = await (await endpoint.fetch(request)).text();
      expect(text).toMatch(/"error"|isError/);
    }
  });
});

describe('hosts as people write them', STARTS_PROCESSES, () => {
  const hosts: Array<
    [
      string,
      (
        endpoint: McpEndpoint,
      ) => Promise<{ call(args: JsonObject, onProgress?: () => void): Promise<JsonObject>; instructions?: string }>,
    ]
  > = [
    [
      'SDK v2, 2026-07-28',
      async (endpoint) => {
        const client = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode: { pin: MODERN } } });
        const fetchHere = (url: string | URL, init?: RequestInit): Promise<Response> =>
          endpoint.fetch(new Request(url, init));
        await client.connect(new StreamableHTTPClientTransport(new URL(URL_OF_IT), { fetch: fetchHere }));
        onTestFinished(() => client.close());
        return {
          instructions: client.getInstructions(),
          call: async (args, onprogress) =>
            (await client.callTool({ name: 'execute_tool', arguments: args }, { onprogress })) as unknown as JsonObject,
        };
      },
    ],
    [
      'SDK 1.x',
      async (endpoint) => {
        const client = new LegacyClient({ name: 'host', version: '1' });
        const fetchHere = (url: string | URL, init?: RequestInit): Promise<Response> =>
          endpoint.fetch(new Request(url, init));
        await client.connect(new LegacyTransport(new URL(URL_OF_IT), { fetch: fetchHere }));
        onTestFinished(() => client.close());
        return {
          instructions: client.getInstructions(),
          call: async (args, onprogress) =>
            (await client.callTool({ name: 'execute_tool', arguments: args }, undefined, {
              onprogress,
            })) as unknown as JsonObject,
        };
      },
    ],
  ];

  it.each(hosts)('META-3 META-6 %s gets results, refusals and progress', async (_, connect) => {
    const endpoint = endpointOver(await openToolscout({ servers: { old: fixture('legacy'), slow: fixture('slow') } }));
    const host = await connect(endpoint);
    expect(host.instructions).toContain('Behind it: old, slow.');
    expect(await host.call({ server: 'old', tool: 'add', arguments: { a: 2, b: 3 } })).toMatchObject({
      structuredContent: { sum: 5 },
    });
    const refused = await host.call({ server: 'old', tool: 'ecko', arguments: {} });
    expect(refused).toMatchObject({ isError: true });
    expect(JSON.stringify(refused)).toContain('TOOL_NOT_FOUND');
    let steps = 0;
    await host.call({ server: 'slow', tool: 'wait', arguments: { ms: 300, steps: 3 } }, () => void steps++);
    expect(steps).toBe(3);
  });
});
