import type { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { fixture, waitUntil } from '../../../../test/support/fixture.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { openPipes } from '../../../../test/support/stdio-host.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { Gateway } from '../../../gateway/index.js';
import type { JsonObject } from '../../../kernel/json.js';
import { LIMITS } from '../../../kernel/limits.js';
import type { Log } from '../../../kernel/log.js';

interface Host {
  send(message: JsonObject): void;
  write(text: string): void;
  /** Everything that was received. */
  readonly received: JsonObject[];
  /** The answer to a request. */
  answer(id: string | number): Promise<JsonObject>;
  ask(id: string | number, method: string, params?: JsonObject): Promise<JsonObject>;
  readonly closed: Promise<void>;
  readonly warnings: string[];
  close(): Promise<void>;
  readonly input: PassThrough;
  readonly output: PassThrough;
}

function connect(gateway: Gateway): Host {
  const warnings: string[] = [];
  const note = (_event: string, fields: object = {}): void => void warnings.push(JSON.stringify(fields));
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const { input, output, received, front } = openPipes(gateway, log);
  const host: Host = {
    input,
    output,
    received,
    warnings,
    closed: front.closed,
    close: () => front.close(),
    write: (text) => void input.write(text),
    send: (message) => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    async answer(id) {
      const isAnswer = (message: JsonObject): boolean => message['id'] === id && message['method'] === undefined;
      await waitUntil(() => received.some(isAnswer), { what: `the answer to ${id}` });
      return received.find(isAnswer)!;
    },
    ask(id, method, params) {
      host.send({ id, method, ...(params && { params }) });
      return host.answer(id);
    },
  };
  return host;
}

async function handshake(host: Host): Promise<JsonObject> {
  const clientInfo = { name: 'host', version: '1' };
  const answer = await host.ask('init', 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  host.send({ method: 'notifications/initialized' });
  return answer;
}

async function offline(): Promise<Gateway> {
  const tools = [{ name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' } }];
  return (await openOfflineGateway([{ id: 'notes', tools }])).gateway;
}

const execute = (server: string, tool: string, args: JsonObject = {}): JsonObject => ({
  name: 'execute_tool',
  arguments: { server, tool, arguments: args },
});

describe('the stdio front', STARTS_PROCESSES, () => {
  it('META-1 META-8 serves a host of the 2025 era: handshake, menu, call', async () => {
    const host = connect(await offline());
    const opened = await handshake(host);
    expect(opened).toMatchObject({
      result: { protocolVersion: '2025-06-18', serverInfo: { name: 'toolscout', version: '9.9.9' } },
    });
    expect(JSON.stringify(opened)).toContain('Behind it: notes.');
    const { result } = (await host.ask(1, 'tools/list')) as { result: { tools: unknown[] } };
    expect(result.tools).toHaveLength(5);
    const found = await host.ask(2, 'tools/call', { name: 'search_tools', arguments: { query: 'read a note' } });
    expect(JSON.stringify(found)).toContain('read_note');
    expect(await host.ask(3, 'ping')).toMatchObject({ result: {} });
    expect(await host.ask(4, 'no/such/method')).toMatchObject({ error: { code: -32_601 } });
  });

  it('META-1 serves a host of the 2026 era: every request carries its envelope', async () => {
    const host = connect(await offline());
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'host', version: '1' },
    };
    expect(await host.ask(1, 'tools/list', { _meta })).toMatchObject({ result: { resultType: 'complete' } });
    const found = await host.ask(2, 'tools/call', { name: 'search_tools', arguments: { query: 'read a note' }, _meta });
    expect(JSON.stringify(found)).toContain('read_note');
    expect(await host.ask(3, 'no/such/method', { _meta })).toMatchObject({ error: { code: -32_601 } });
  });

  it('META-3 META-6 progress goes under the token of the host, and the answer comes untouched', async () => {
    const host = connect(await openToolscout({ servers: { slow: fixture('slow'), old: fixture('legacy') } }));
    await handshake(host);
    const params = { ...execute('slow', 'wait', { ms: 200, steps: 2 }), _meta: { progressToken: 'mine' } };
    expect(await host.ask(1, 'tools/call', params)).toMatchObject({ result: { content: [{ text: 'waited 200' }] } });
    expect(host.received.filter((message) => message['method'] === 'notifications/progress')).toMatchObject([
      { params: { progressToken: 'mine', progress: 1, total: 2, message: 'step 1' } },
      { params: { progressToken: 'mine', progress: 2, total: 2 } },
    ]);
    expect(await host.ask(2, 'tools/call', execute('old', 'image'))).toMatchObject({
      result: { content: [{ vendorHint: { zoom: 2 } }], vendorTop: ['kept', 1] },
    });
  });

  it('DISC-3 reports the progress of learning to a waiting host, under its token and never without one', async () => {
    const gateway = await openToolscout({
      servers: {
        old: fixture('legacy'),
        new: fixture('modern'),
        late: fixture('slow', '--slow-start=300'),
        gone: { command: '/no/such/program' },
      },
      limits: { searchWaitMs: 20_000 },
    });
    const host = connect(gateway);
    await handshake(host);
    const told = (): unknown[] =>
      host.received
        .splice(0)
        .filter(({ method }) => method === 'notifications/progress')
        .map(({ params }) => params);
    const ask = (id: number, name: string, args: JsonObject, _meta?: JsonObject): Promise<JsonObject> =>
      host.ask(id, 'tools/call', { name, arguments: args, ...(_meta && { _meta }) });
    const mine = { progressToken: 'mine' };

    expect(JSON.stringify(await ask(1, 'list_tools', { server: 'old' }, mine))).toContain('echo');
    expect(told()).toEqual([
      { ...mine, progress: 0, total: 1, message: 'learned 0 of 1 server' },
      { ...mine, progress: 1, total: 1, message: 'learned 1 of 1 server' },
    ]);
    await ask(2, 'search_tools', { query: 'add two numbers' }, { progressToken: 7 });
    const seven = { progressToken: 7, total: 3 };
    expect(told()).toEqual([
      { ...seven, progress: 0, message: 'learned 0 of 3 servers' },
      { ...seven, progress: 1, message: 'learned 0 of 3 servers, 1 failed' },
      { ...seven, progress: 2, message: 'learned 1 of 3 servers, 1 failed' },
      { ...seven, progress: 3, message: 'learned 2 of 3 servers, 1 failed' },
    ]);
    // No request waits any more, so there is no progress to report.
    await ask(3, 'search_tools', { query: 'add two numbers' }, mine);
    await ask(4, 'list_tools', { server: 'old' }, mine);
    await ask(5, 'list_mcp_servers', {}, mine);
    expect(told()).toEqual([]);
  });

  it('DISC-3 sends no progress without a token, and none after the answer', async () => {
    const servers = { old: fixture('legacy'), late: fixture('slow', '--slow-start=1500') };
    const gateway = await openToolscout({ servers, limits: { searchWaitMs: 700 } });
    const host = connect(gateway);
    await handshake(host);
    await host.ask(1, 'tools/call', { name: 'get_tool_details', arguments: { server: 'old', tool: 'echo' } });
    expect(host.received.map(({ method }) => method)).not.toContain('notifications/progress');
    const _meta = { progressToken: 1 };
    await host.ask(2, 'tools/call', { name: 'search_tools', arguments: { query: 'wait' }, _meta });
    await waitUntil(async () => (await gateway.servers.list()).every(({ knowledge }) => knowledge === 'ready'));
    expect(host.received.filter(({ method }) => method === 'notifications/progress')).toMatchObject([
      { params: { progress: 0, total: 1 } },
    ]);
  });

  it('META-6 a cancelled call ends at the server and is not answered; the others are', async () => {
    const gateway = await openToolscout({ servers: { slow: fixture('slow') } });
    await gateway.servers.discover();
    const host = connect(gateway);
    await handshake(host);
    host.send({
      id: 'a',
      method: 'tools/call',
      params: { ...execute('slow', 'wait', { ms: 20_000, steps: 100 }), _meta: { progressToken: 1 } },
    });
    host.send({ id: 'b', method: 'tools/call', params: execute('slow', 'wait', { ms: 400, progress: false }) });
    await waitUntil(() => host.received.some((message) => message['method'] === 'notifications/progress'), {
      what: 'progress',
    });
    host.send({ method: 'notifications/cancelled', params: { requestId: 'a', reason: 'enough' } });
    expect(await host.answer('b')).toMatchObject({ result: { content: [{ text: 'waited 400' }] } });
    await waitUntil(async () => (await gateway.audit.list({ outcome: 'failure' })).length === 1, {
      what: 'the cancelled call',
    });
    expect(await gateway.audit.list({ outcome: 'failure' })).toMatchObject([{ code: 'CANCELLED' }]);
    expect(host.received.some((message) => message['id'] === 'a')).toBe(false);
    host.send({ method: 'notifications/cancelled', params: { requestId: 'nobody' } });
    host.send({ method: 'notifications/cancelled' });
    expect(await host.ask('c', 'ping')).toMatchObject({ result: {} });
  });

  it('R7 CONN-4 when the host goes, its calls are cancelled and the front says that it has ended', async () => {
    const gateway = await openToolscout({ servers: { slow: fixture('slow') } });
    await gateway.servers.discover();
    const host = connect(gateway);
    await handshake(host);
    host.send({
      id: 1,
      method: 'tools/call',
      params: { ...execute('slow', 'wait', { ms: 20_000, steps: 100 }), _meta: { progressToken: 1 } },
    });
    await waitUntil(() => host.received.some((message) => message['method'] === 'notifications/progress'), {
      what: 'progress',
    });
    host.input.end();
    await host.closed;
    await waitUntil(async () => (await gateway.audit.list({ outcome: 'failure' })).length === 1, {
      what: 'the cancelled call',
    });
  });

  it('R7 a host that no longer reads has gone', async () => {
    const host = connect(await offline());
    await handshake(host);
    host.output.destroy(new Error('EPIPE'));
    await host.closed;
  });

  it('A26 S22 lines that are not JSON or not JSON-RPC are reported and do no harm', async () => {
    const host = connect(await offline());
    await handshake(host);
    host.write('this is not JSON\n\n   \n{"jsonrpc":"1.0","id":1}\n[]\n5\n');
    expect(await host.ask('after', 'ping')).toMatchObject({ result: {} });
    expect(host.received).toContainEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_700, message: 'Parse error' },
    });
    expect(host.warnings.join('\n')).toContain('not JSON');
    expect(host.warnings.join('\n')).toContain('not a JSON-RPC 2.0 message');
  });

  it('CONN-1 a batch is answered one by one', async () => {
    const host = connect(await offline());
    await handshake(host);
    const batch = ['x', 'y'].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    host.write(`${JSON.stringify(batch)}\n`);
    expect(await host.answer('x')).toMatchObject({ result: {} });
    expect(await host.answer('y')).toMatchObject({ result: {} });
  });

  it('A28 a line without end closes the connection instead of filling the memory', async () => {
    const host = connect(await offline());
    await handshake(host);
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    for (let bytes = 0; bytes <= LIMITS.lineBytes; bytes += chunk.length) host.input.write(chunk);
    await waitUntil(() => host.warnings.some((warning) => warning.includes(String(LIMITS.lineBytes))), {
      what: 'the refusal',
    });
  });

  it('A26 R3 a result that cannot be written as JSON is an error of that call, and nothing worse', async () => {
    let deep: JsonObject = {};
    for (let level = 0; level < 20_000; level++) deep = { deep };
    const gateway = await offline();
    const hostile: Gateway = {
      ...gateway,
      call: async () => ({ success: true, result: { content: [], structuredContent: deep } }),
    };
    const host = connect(hostile);
    await handshake(host);
    const answer = await host.ask(1, 'tools/call', execute('notes', 'read_note'));
    expect(JSON.stringify(answer)).toContain('ran, but its result nests deeper than 1000 levels and was not returned.');
    expect(JSON.stringify(answer)).toContain('Request a less deeply nested part of the data');
    expect(await host.ask(2, 'ping')).toMatchObject({ result: {} });
  });

  it('META-3 calls with odd parameters are answered, not dropped', async () => {
    const host = connect(await offline());
    await handshake(host);
    for (const [id, params] of [
      [1, undefined],
      [2, {}],
      [3, { name: 7 }],
      [4, { name: 'search_tools', arguments: 'text' }],
      [5, { name: 'search_tools', arguments: null, _meta: 'odd' }],
    ] as const) {
      const answer = await host.ask(id, 'tools/call', params as JsonObject | undefined);
      expect(answer['result'] ?? answer['error']).toBeDefined();
    }
  });

  it('A9 a thousand calls with ids of both kinds each get their own answer', async () => {
    const gateway = await openToolscout({
      servers: { old: { ...fixture('legacy'), rateLimit: { requestsPerSecond: 1e6, burstSize: 1e6 } } },
    });
    await gateway.servers.discover();
    const host = connect(gateway);
    await handshake(host);
    const ids = Array.from({ length: 1000 }, (_, index) => (index % 2 ? index : String(index)));
    for (const id of ids)
      host.send({ id, method: 'tools/call', params: execute('old', 'echo', { message: `${typeof id} ${id}` }) });
    await waitUntil(() => host.received.length >= 1001, { timeoutMs: 20_000, what: 'every answer' });
    const answers = new Map(host.received.map((message) => [message['id'], message]));
    for (const id of ids)
      expect(answers.get(id)).toMatchObject({ result: { content: [{ text: `${typeof id} ${id}` }] } });
  });

  it('R7 closing the front twice does no harm', async () => {
    const host = connect(await offline());
    await handshake(host);
    await host.close();
    await host.close();
  });
});
