import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import { estimateResultTokens } from '../../src/kernel/tokens.js';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { CLI, lineMatching, workplace, type Workplace } from '../support/toolscout.js';

/** What a host of another's making does; both clients refuse a result that does not fit the output schema they were given. */
interface StrictHost {
  list(): Promise<Array<{ readonly name: string; readonly outputSchema?: unknown }>>;
  call(name: string, args: JsonObject): Promise<JsonObject>;
  read(uri: string): Promise<JsonObject>;
}

const HOSTS = ['1.32 over stdio', '1.32 over HTTP', '2.4 over stdio', '2.4 over HTTP'] as const;
const MAX_TOKENS = 2000;

/** Connects a client of that kind to the built command. */
async function connect(place: Workplace, kind: (typeof HOSTS)[number], url: string): Promise<StrictHost> {
  const launch = { command: process.execPath, args: [CLI, 'serve', '--stdio', ...place.flags] };
  const address = new URL(url);
  if (kind.startsWith('1.32')) {
    const client = new ClientV1({ name: 'strict', version: '1' });
    await client.connect(kind.endsWith('stdio') ? new StdioV1(launch) : new HttpV1(address));
    onTestFinished(() => client.close());
    return {
      list: async () => (await client.listTools()).tools,
      call: async (name, args) => (await client.callTool({ name, arguments: args })) as JsonObject,
      read: async (uri) => (await client.readResource({ uri })) as unknown as JsonObject,
    };
  }
  const client = new ClientV2(
    { name: 'strict', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(kind.endsWith('stdio') ? new StdioV2(launch) : new HttpV2(address));
  onTestFinished(() => client.close());
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args) => (await client.callTool({ name, arguments: args })) as unknown as JsonObject,
    read: async (uri) => (await client.readResource({ uri })) as unknown as JsonObject,
  };
}

/** A toolscout over HTTP in a workplace; its address. */
async function serve(place: Workplace): Promise<string> {
  const [, url] = await lineMatching(place.start('serve', '--port', '0'), /(http:\/\/127\.0\.0\.1:\d+\/mcp)/);
  return url!;
}

const config = (more: ConfigInput): ConfigInput => ({ servers: { large: fixture('large') }, ...more });
const textOf = (result: JsonObject): string => (result['content'] as Array<{ text: string }>)[0]!.text;
const handleIn = (text: string): string => /res_[\w-]{24,}/.exec(text)![0];

/** How a tool of the server, or of toolscout itself, is called in a mode. */
const caller =
  (host: StrictHost, mode: string) =>
  (server: string, tool: string, args: JsonObject): Promise<JsonObject> =>
    mode === 'passthrough' || (mode === 'hybrid' && server !== 'toolscout')
      ? host.call(`${server}__${tool}`, args)
      : host.call('execute_tool', { server, tool, arguments: args });

describe('answers for hosts of other makers', STARTS_PROCESSES, () => {
  it.each<['meta' | 'passthrough' | 'hybrid', ConfigInput]>([
    ['meta', {}],
    ['passthrough', {}],
    ['hybrid', { pinned: ['large:*'] }],
  ])('ANS-1 the budget holds for strict hosts of both eras and transports in the mode %s', async (mode, more) => {
    const place = await workplace(config({ mode, ...more, answers: { maxTokens: MAX_TOKENS } }));
    const url = await serve(place);
    for (const kind of HOSTS) {
      const host = await connect(place, kind, url);
      const call = caller(host, mode);
      await expect.poll(async () => (await host.list()).length).toBeGreaterThan(mode === 'hybrid' ? 5 : 4);
      // A host that is given a schema validates; none is given where a result may be cut.
      expect((await host.list()).filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);

      const small = await call('large', 'list_records', { count: 3 });
      expect(small).toMatchObject({ structuredContent: { total: 3 } });
      const large = await call('large', 'list_records', { count: 3000 });
      expect(estimateResultTokens(large)).toBeLessThanOrEqual(MAX_TOKENS);
      expect(large).not.toHaveProperty('structuredContent');
      expect(large['isError'] ?? false).toBe(false);
      expect(textOf(large)).toContain(
        '[Shape: {total: number, items: [3,000 × {id: number, title: string, owner: string}]}]',
      );

      const handle = handleIn(textOf(large));
      const page = await call('toolscout', 'read_result', { handle, path: 'items', offset: 2990 });
      expect(textOf(page)).toContain('"Record number 2999 of the ledger"');
      const found = await call('toolscout', 'search_result', { handle, query: 'Zuleika' });
      expect(textOf(found)).toContain('"id":1234');
      const whole = (await host.read(`toolscout://result/${handle}`)) as { contents: Array<{ text: string }> };
      expect(JSON.parse(whole.contents[0]!.text)).toMatchObject({ total: 3000 });
      await expect(host.read('toolscout://result/res_AAAAAAAAAAAAAAAAAAAAAAAA')).rejects.toThrow(/not found/i);
    }
  });

  it('ANS-1 without a budget a passed-through tool has its output schema, and its structured content is whole', async () => {
    const place = await workplace(config({ mode: 'passthrough' }));
    const url = await serve(place);
    for (const kind of HOSTS) {
      const host = await connect(place, kind, url);
      await expect.poll(async () => (await host.list()).map(({ name }) => name)).toContain('large__list_records');
      const listed = (await host.list()).find(({ name }) => name === 'large__list_records');
      expect(listed).toHaveProperty('outputSchema.properties.items');
      const result = await host.call('large__list_records', { count: 3000 });
      expect((result['structuredContent'] as { items: unknown[] }).items).toHaveLength(3000);
    }
  });

  it('ANS-1 the endpoint of one server has the same budget, and the tools that read on beside its own', async () => {
    const servers = {
      large: { ...fixture('large'), answers: { maxTokens: MAX_TOKENS, tools: { read_log: false as const } } },
    };
    const place = await workplace({ mode: 'passthrough', servers });
    const url = (await serve(place)).replace(/mcp$/, 'servers/large/mcp');
    for (const kind of ['1.32 over HTTP', '2.4 over HTTP'] as const) {
      const host = await connect(place, kind, url);
      const tools = await host.list();
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['toolscout__read_result', 'toolscout__search_result', 'list_records']),
      );
      const large = await host.call('list_records', { count: 3000 });
      expect(estimateResultTokens(large)).toBeLessThanOrEqual(MAX_TOKENS);
      const handle = handleIn(textOf(large));
      expect(textOf(await host.call('toolscout__search_result', { handle, query: 'zuleika' }))).toContain('"id":1234');
      expect(JSON.stringify(await host.read(`toolscout://result/${handle}`)).length).toBeGreaterThan(100_000);
      expect(textOf(await host.call('read_log', { count: 20_000 }))).toContain('line 19999 is fine');
    }
  });

  it('ANS-2 a second process reads on in what the first kept, and so does one after a restart', async () => {
    const place = await workplace(config({}));
    const url = await serve(place);
    const first = await connect(place, '1.32 over stdio', url);
    const call = caller(first, 'meta');
    const handle = handleIn(textOf(await call('large', 'read_log', { count: 40_000 })));
    const second = caller(await connect(place, '2.4 over stdio', url), 'meta');
    expect(textOf(await second('toolscout', 'search_result', { handle, query: 'disk full' }))).toContain('[line 777]');
    const third = await place.run('call', 'toolscout:read_result', `handle=${handle}`, 'offset=777', 'limit=1');
    expect(third.stdout).toContain('ERROR disk full');
  });

  it('ANS-1 a result of 30 MB becomes a preview that is read on in; one of 100 MB is refused, and the process goes on', async () => {
    const place = await workplace(config({}));
    const url = await serve(place);
    for (const kind of ['1.32 over stdio', '2.4 over HTTP'] as const) {
      const call = caller(await connect(place, kind, url), 'meta');
      const large = await call('large', 'read_bytes', { count: 30 * 1024 ** 2 });
      expect(estimateResultTokens(large)).toBeLessThanOrEqual(8000);
      const page = await call('toolscout', 'read_result', {
        handle: handleIn(textOf(large)),
        offset: 15_000,
        limit: 1,
      });
      expect(textOf(page)).toMatch(/^[0-9a-f]{2000}\n\[lines 15000 to 15000 of 15,729; next: offset 15001\]$/);
      const refused = await call('large', 'read_bytes', { count: 100 * 1024 ** 2 });
      expect(refused['isError']).toBe(true);
      expect(JSON.parse(textOf(refused))).toMatchObject({
        code: 'SERVER_CONNECTION_ERROR',
        message: expect.stringContaining('sent a line of more than'),
        suggestion: expect.stringMatching(/less/),
      });
      expect(textOf(await call('large', 'read_log', { count: 3 }))).toContain('line 2 is fine');
    }
  });

  it('ANS-2 what is redacted is not in the file of the store', async () => {
    const place = await workplace(config({ redaction: [{ match: '/AKIA[0-9A-Z]{16}/', where: ['results', 'logs'] }] }));
    const call = caller(await connect(place, '2.4 over HTTP', await serve(place)), 'meta');
    const text = textOf(await call('large', 'read_secrets', { count: 5000 }));
    expect(text).not.toContain('CANARY');
    const found = textOf(await call('toolscout', 'search_result', { handle: handleIn(text), query: 'entry 4321' }));
    expect(found).toContain('entry 4321');
    expect(found).not.toContain('CANARY');
    const state = join(place.folder, 'state');
    for (const file of await readdir(state, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = await readFile(join(file.parentPath, file.name), 'latin1');
      expect(bytes.includes('AKIAIOSFODNN7CANARY0'), file.name).toBe(false);
    }
  });
});
