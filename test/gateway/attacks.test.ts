import { readFile } from 'node:fs/promises';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openHttpApp } from '../support/http-app.js';
import { connectHost, serveOverHttp } from '../support/mcp-host.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { openPipes } from '../support/stdio-host.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const MODERN = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol';

/** The JSON-RPC answer in a response, whichever way it was sent. */
async function answerOf(response: Response): Promise<JsonObject> {
  const text = await response.text();
  const data = text.split('\n').findLast((line) => line.startsWith('data: ') && line.length > 6);
  return JSON.parse(data ? data.slice(6) : text) as JsonObject;
}

/** A request of a host of the 2026 era, on the wire: a client library might add or drop the very fields that matter. */
async function askModern(url: string, method: string, params: JsonObject = {}): Promise<JsonObject> {
  const name = params['name'] ?? params['uri'];
  const _meta = {
    [`${PREFIX}/protocolVersion`]: MODERN,
    [`${PREFIX}/clientInfo`]: { name: 'raw', version: '1' },
    [`${PREFIX}/clientCapabilities`]: {},
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  const { result, error } = await answerOf(response);
  expect(error).toBeUndefined();
  return result as JsonObject;
}

/** Lines written as they are to a stdio front that has shaken hands, and every line it answers. */
async function rawStdio(gateway: Gateway): Promise<{ send(line: string): void; received: JsonObject[] }> {
  const { input, received } = openPipes(gateway);
  const send = (line: string): void => void input.write(`${line}\n`);
  send(
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}',
  );
  send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  await waitUntil(() => received.length > 0, { what: 'the handshake' });
  return { send, received };
}

describe('what a host of the 2026 era may keep', STARTS_PROCESSES, () => {
  it.each([[[]], [['--modern']]])(
    'S6 every list and every read says how long, and for whom; all pages and all servers alike %j',
    STARTS_PROCESSES,
    async (flags) => {
      const servers = { asking: fixture('asking', ...flags), old: fixture('legacy') };
      for (const mode of ['meta', 'passthrough', 'hybrid'] as const) {
        const gateway = await openToolscout({ servers, mode });
        await gateway.servers.discover();
        const url = await serveOverHttp(gateway);
        const direct = mode !== 'meta';
        const asked: Array<[string, string, JsonObject?]> = [
          ['/mcp', 'tools/list'],
          ['/mcp', 'resources/list'],
          ['/mcp', 'resources/templates/list'],
          ['/mcp', 'prompts/list'],
          ['/mcp', 'resources/read', { uri: 'toolscout:guide' }],
          ['/servers/asking/mcp', 'tools/list'],
          ['/servers/asking/mcp', 'resources/list'],
          ['/servers/asking/mcp', 'resources/templates/list'],
          ['/servers/asking/mcp', 'prompts/list'],
          ['/servers/asking/mcp', 'resources/read', { uri: 'note://one' }],
        ];
        if (direct) asked.push(['/mcp', 'resources/read', { uri: 'toolscout://asking/note://one' }]);
        for (const [path, method, params] of asked) {
          const result = await askModern(new URL(path, url).href, method, params);
          const { resultType, ttlMs, cacheScope } = result;
          expect({ path, method, resultType }).toEqual({ path, method, resultType: 'complete' });
          expect(Number.isInteger(ttlMs) && Number(ttlMs) >= 0, `${path} ${method} ttlMs ${String(ttlMs)}`).toBe(true);
          expect(['public', 'private'], `${path} ${method}`).toContain(cacheScope);
        }
        await gateway.close({ drainMs: 0 });
      }
    },
  );
});

describe('the list of tools', STARTS_PROCESSES, () => {
  it('S7 has one order, whatever the order of the config, of the servers and of the connections', async () => {
    const entries = Object.entries({ b: fixture('legacy'), a: fixture('capable'), c: fixture('legacy') });
    const lists: string[] = [];
    for (const order of [entries, entries.toReversed()]) {
      const gateway = await openToolscout({ mode: 'passthrough', servers: Object.fromEntries(order) });
      for (const [id] of order.toReversed()) await gateway.servers.discover([id]);
      const url = await serveOverHttp(gateway);
      for (const era of ['legacy', 'modern', 'legacy'] as const) {
        const host = await connectHost(gateway, { era, over: 'http' }, { url });
        const { tools } = await host.request('tools/list');
        lists.push((tools as JsonObject[]).map(({ name }) => name).join());
      }
    }
    expect(lists[0]).toContain('a__get_incident');
    expect(new Set(lists).size).toBe(1);
  });

  it('S24 A13 servers that give themselves one name are told apart by their ids, and each gets its own calls', async () => {
    const folder = await temporaryDirectory();
    const file = (id: string): string => join(folder, id);
    const gateway = await openToolscout({
      servers: { one: fixture('recorder', `--file=${file('one')}`), two: fixture('recorder', `--file=${file('two')}`) },
    });
    await gateway.servers.discover();
    expect((await gateway.servers.facts('one')).info?.name).toBe((await gateway.servers.facts('two')).info?.name);
    await gateway.call('two', 'write', { value: 'for-two' });
    expect(await readFile(file('two'), 'utf8')).toContain('for-two');
    expect(await readFile(file('one'), 'utf8')).not.toContain('for-two');
    expect((await gateway.call('recorder', 'write', { value: 'x' })).error?.code).toBe('SERVER_NOT_FOUND');
  });
});

describe('what a server is sent is what was judged', STARTS_PROCESSES, () => {
  const open = async (config: ConfigInput = {}): Promise<{ gateway: Gateway; sent: () => Promise<string> }> => {
    const file = join(await temporaryDirectory(), 'received.jsonl');
    const gateway = await openToolscout({ servers: { s: fixture('recorder', `--file=${file}`) }, ...config });
    await gateway.servers.discover();
    return { gateway, sent: () => readFile(file, 'utf8') };
  };
  const call = (id: number, args: string): string =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"execute_tool","arguments":${args}}}`;

  it('A10 keys in another case or other letters are no keys: nothing is called', async () => {
    const { gateway, sent } = await open();
    const host = await rawStdio(gateway);
    const good = '"arguments":{"server":"s","tool":"write","arguments":{"value":"CANARY"}}';
    const lines = [
      `{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"execute_tool",${good}}}`,
      `{"jsonrpc":"2.0","id":2,"method":"tools/call","Params":{"name":"execute_tool",${good}}}`,
      `{"jsonrpc":"2.0","id":3,"method":"tools/call","param\u017f":{"name":"execute_tool",${good}}}`,
      `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"Name":"execute_tool",${good}}}`,
      `{"jsonrpc":"2.0","id":5,"method":"TOOLS/CALL","params":{"name":"execute_tool",${good}}}`,
      call(6, '{"server":"s","Tool":"write","arguments":{"value":"CANARY"}}'),
    ];
    for (const line of lines) host.send(line);
    host.send('{"jsonrpc":"2.0","id":99,"method":"ping"}');
    await waitUntil(() => host.received.some(({ id }) => id === 99), { what: 'an answer' });
    const http = await openHttpApp(gateway);
    for (const body of [
      '{"server":"s","Tool":"write","arguments":{"value":"CANARY"}}',
      '{"server":"s","tool":"write","Arguments":{"value":"CANARY"}}',
      '{"\u017ferver":"s","tool":"write","arguments":{"value":"CANARY"}}',
    ]) {
      await http.send('/v1/call', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    }
    for (const { id, result } of host.received) {
      if (typeof id === 'number' && id >= 1 && id <= 6 && result) expect(result).toMatchObject({ isError: true });
    }
    expect(await sent()).not.toContain('CANARY');
  });

  it('A10 A37 of a key that stands twice the server sees the one that was judged, and no other', async () => {
    const { gateway, sent } = await open({ toolRules: [{ pattern: 'write', enabled: false }] });
    const host = await rawStdio(gateway);
    host.send(
      call(1, '{"server":"s","tool":"write","tool":"echo","arguments":{"message":"HIDDEN","message":"SHOWN"}}'),
    );
    host.send(call(2, '{"server":"s","tool":"echo","tool":"write","arguments":{"value":"HIDDEN"}}'));
    host.send(
      call(
        3,
        '{"server":"s","tool":"echo","arguments":{"message":"SHOWN"},"arguments":{"__proto__":{"x":1},"message":"THIRD"}}',
      ),
    );
    await waitUntil(() => [1, 2, 3].every((id) => host.received.some((each) => each['id'] === id)), {
      what: 'answers',
    });
    const answer = (id: number): JsonObject =>
      host.received.find((each) => each['id'] === id)?.['result'] as JsonObject;
    expect(textOf(answer(1))).toContain('SHOWN');
    expect(JSON.parse(textOf(answer(2)))).toMatchObject({ code: 'TOOL_DISABLED' });
    const log = await sent();
    expect(log).not.toContain('HIDDEN');
    const names = log
      .split('\n')
      .filter((line) => line.includes('tools/call'))
      .map((line) => (JSON.parse(line) as { params: { name: string } }).params.name);
    expect(new Set(names)).toEqual(new Set(['echo']));
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('A37 a disabled tool stays so under every spelling, name and door', STARTS_PROCESSES, async () => {
    const { gateway, sent } = await open({ mode: 'hybrid', toolRules: [{ pattern: 'write', enabled: false }] });
    const args = { value: 'CANARY' };
    for (const tool of [
      'write',
      'WRITE',
      'Write',
      'write ',
      ' write',
      's:write',
      'wrıte',
      'write\u0000',
      's__write',
      'ｗrite',
    ]) {
      for (const server of ['s', 'S', 's ', 'ｓ']) {
        expect((await gateway.call(server, tool, args)).success, `${server} ${tool}`).toBe(false);
      }
    }
    const host = await connectHost(gateway, { era: 'legacy', over: 'stdio' });
    const direct = ['s__write', 'S__write', 's__WRITE', 'write', 's:write'].map((name) => ({ name, arguments: args }));
    const meta = ['write', 's:write', 'WRITE'].map((tool) => ({
      name: 'execute_tool',
      arguments: { server: 's', tool, arguments: args },
    }));
    for (const params of [...direct, ...meta]) {
      const answer = await host.request('tools/call', params).catch(() => ({ isError: true }));
      expect(answer).toMatchObject({ isError: true });
    }
    const http = await openHttpApp(gateway);
    for (const tool of ['write', 'WRITE', 's:write']) {
      expect((await http.post('/v1/call', { server: 's', tool, arguments: args })).status).toBeGreaterThanOrEqual(400);
    }
    expect(await sent()).not.toContain('CANARY');
  });
});

describe('a server that never comes to an end', STARTS_PROCESSES, () => {
  async function listening(answer: Parameters<typeof createServer>[1]): Promise<string> {
    const server: HttpServer = createServer(answer!);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  }

  it.each([
    ['sends no headers', () => undefined],
    [
      'drips one byte after the other',
      (_request: unknown, response: import('node:http').ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const timer = setInterval(() => response.write(':'), 50);
        response.on('close', () => clearInterval(timer));
      },
    ],
    [
      'stops in the middle of an answer',
      (_request: unknown, response: import('node:http').ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('{"jsonrpc":"2.0",');
      },
    ],
  ])(
    'A29 one that %s is given up with a typed error, and others go on meanwhile',
    STARTS_PROCESSES,
    async (_how, answer) => {
      const url = await listening(answer as Parameters<typeof createServer>[1]);
      const gateway = await openToolscout({
        servers: { slow: { url }, good: fixture('legacy') },
        limits: { connectTimeoutMs: 1500 },
      });
      const slow = gateway.call('slow', 'x', {});
      const good = await gateway.call('good', 'echo', { message: 'here' });
      expect(textOf(good)).toContain('here');
      const { success, error } = await slow;
      expect(success).toBe(false);
      expect(['SESSION_INIT_FAILED', 'SERVER_CONNECTION_ERROR', 'TOOLS_LIST_FAILED']).toContain(error?.code);
    },
  );
});
