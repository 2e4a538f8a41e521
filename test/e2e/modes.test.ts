import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture, waitUntil } from '../support/fixture.js';
import { connectHost, serveOverHttp, type TestHost } from '../support/mcp-host.js';
import { openToolscout, startCounter, textOf } from '../support/open-toolscout.js';
import { CLI, workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const META = ['search_tools', 'get_tool_details', 'execute_tool', 'list_mcp_servers', 'list_tools'];

async function open(config: ConfigInput, ...flags: string[]): Promise<Gateway> {
  const gateway = await openToolscout({
    servers: { asking: fixture('asking', ...flags), old: fixture('legacy') },
    ...config,
  });
  await gateway.servers.discover();
  return gateway;
}

const list = async (host: TestHost, kind: string, field: string, key: string): Promise<string[]> =>
  ((await host.request(`${kind}/list`))[field] as JsonObject[]).map((entry) => String(entry[key]));
const tools = (host: TestHost): Promise<string[]> => list(host, 'tools', 'tools', 'name');

describe.each(['legacy', 'modern'] as const)('what a host of the %s era is offered', STARTS_PROCESSES, (era) => {
  it('META-5 META-1 in the mode meta: the five tools, for every host', STARTS_PROCESSES, async () => {
    const host = await connectHost(await open({}), { era, over: 'stdio' });
    expect(await tools(host)).toEqual(META);
    await expect(host.request('prompts/get', { name: 'asking__greet' })).rejects.toThrow(/no prompt/);
    await expect(host.request('resources/read', { uri: 'toolscout://asking/note://one' })).rejects.toThrow(/not found/);
  });

  it('META-5 in the mode passthrough: every enabled tool under its name, and no other', STARTS_PROCESSES, async () => {
    const gateway = await open({ mode: 'passthrough', toolRules: [{ pattern: '{crash,e*}', enabled: false }] });
    const url = await serveOverHttp(gateway);
    const host = await connectHost(gateway, { era, over: 'http' }, { url });
    const names = await tools(host);
    expect(names).toContain('old__add');
    expect(names).toContain('asking__steps');
    for (const hidden of ['old__crash', 'old__echo', ...META]) expect(names).not.toContain(hidden);
    expect(names).toEqual(names.toSorted());
    const other = await connectHost(gateway, { era, over: 'http', capabilities: {} }, { url });
    expect(JSON.stringify(await other.request('tools/list'))).toBe(JSON.stringify(await host.request('tools/list')));
    expect(await host.request('tools/call', { name: 'old__add', arguments: { a: 1, b: 2 } })).toMatchObject({
      structuredContent: { sum: 3 },
    });
    // The same door: rules, validation and audit.
    const refused = await host.request('tools/call', { name: 'old__echo', arguments: { message: 'x' } });
    expect(JSON.parse(textOf(refused))).toMatchObject({ code: 'TOOL_DISABLED' });
    const invalid = await host.request('tools/call', { name: 'old__add', arguments: { a: 'one' } });
    expect(JSON.parse(textOf(invalid))).toMatchObject({ code: 'TOOL_VALIDATION_ERROR' });
    await expect(host.request('tools/call', { name: 'search_tools', arguments: {} })).rejects.toMatchObject({
      code: -32_602,
    });
    await expect(host.request('tools/call', { name: 'old__protocol_error', arguments: {} })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('Invalid params') as string,
      data: { field: 'a', expected: 'number' },
    });
    await waitUntil(async () => (await gateway.audit.list({ kind: 'execution' })).length === 4, {
      what: 'the audit log',
    });
  });

  it('META-5 in the mode hybrid: the five tools and the pinned ones', STARTS_PROCESSES, async () => {
    const gateway = await open({ mode: 'hybrid', pinned: ['old:add', 'asking:s*', '!asking:seen'] });
    const host = await connectHost(gateway, { era, over: 'stdio' });
    expect(await tools(host)).toEqual([...META, 'asking__sample', 'asking__steps', 'old__add']);
    await expect(host.request('tools/call', { name: 'old__image', arguments: {} })).rejects.toMatchObject({
      code: -32_602,
    });
    const found = await host.request('tools/call', { name: 'search_tools', arguments: { query: 'add two numbers' } });
    expect(textOf(found)).toContain('"add"');
  });

  it('META-5 in the mode auto: by the name of the host, which the config may overrule', STARTS_PROCESSES, async () => {
    const gateway = await open({ mode: 'auto', hostModes: { 'my-ide*': 'passthrough', 'claude-code-old': 'meta' } });
    const count = async (name: string): Promise<number> => {
      const host = await connectHost(gateway, { era, over: 'http', name });
      const names = await tools(host);
      await host.close();
      return names.length;
    };
    expect(await count('some-host')).toBe(5);
    expect(await count('claude-code')).toBeGreaterThan(15);
    expect(await count('Visual Studio Code')).toBeGreaterThan(15);
    expect(await count('My-IDE 2')).toBeGreaterThan(15);
    expect(await count('claude-code-old')).toBe(5);
  });

  it('META-7 a prompt and resources teach how to use toolscout, in every mode', STARTS_PROCESSES, async () => {
    for (const mode of ['meta', 'passthrough', 'hybrid'] as const) {
      const host = await connectHost(await open({ mode }), { era, over: 'stdio' });
      expect(await list(host, 'prompts', 'prompts', 'name')).toContain('how_to_use_toolscout');
      const prompt = JSON.stringify(await host.request('prompts/get', { name: 'how_to_use_toolscout' }));
      expect(prompt).toContain(mode === 'passthrough' ? 'server__tool' : 'search_tools');
      const uris = await list(host, 'resources', 'resources', 'uri');
      expect(uris).toEqual(
        expect.arrayContaining(['toolscout:guide', 'toolscout:quick-reference', 'toolscout:server/old']),
      );
      const about = await host.request('resources/read', { uri: 'toolscout:server/asking' });
      expect(JSON.stringify(about)).toContain('Ask and you will be asked.');
      await expect(host.request('resources/read', { uri: 'toolscout:server/nobody' })).rejects.toMatchObject({
        code: -32_602,
      });
    }
  });

  it(
    'META-6 resources, templates, prompts, completions and subscriptions under prefixed names',
    STARTS_PROCESSES,
    async () => {
      for (const flags of [[], ['--modern']]) {
        const gateway = await open({ mode: 'passthrough' }, ...flags);
        const host = await connectHost(gateway, { era, over: 'http' });
        expect(await list(host, 'resources', 'resources', 'uri')).toContain('toolscout://asking/note://one');
        const templates = await host.request('resources/templates/list');
        expect(JSON.stringify(templates)).toContain('toolscout://asking/note://{name}');
        const uri = 'toolscout://asking/note://one';
        expect(await host.request('resources/read', { uri })).toMatchObject({
          contents: [{ uri, text: 'the text of note://one', vendorHint: 2 }],
        });
        // A link in the result of a tool names the server's own URI.
        expect(await host.request('resources/read', { uri: 'note://one' })).toMatchObject({
          contents: [{ text: 'the text of note://one' }],
        });
        await expect(host.request('resources/read', { uri: 'note://two' })).rejects.toMatchObject({ code: -32_602 });
        await expect(host.request('resources/read', { uri: 'toolscout://nobody/x' })).rejects.toMatchObject({
          code: -32_602,
        });
        expect(await list(host, 'prompts', 'prompts', 'name')).toContain('asking__greet');
        const greeting = await host.request('prompts/get', { name: 'asking__greet', arguments: { who: 'Ann' } });
        expect(JSON.stringify(greeting)).toContain('Hello Ann');
        const argument = { name: 'who', value: 'An' };
        for (const ref of [
          { type: 'ref/prompt', name: 'asking__greet' },
          { type: 'ref/resource', uri: 'toolscout://asking/note://{name}' },
        ]) {
          expect(await host.request('completion/complete', { ref, argument })).toMatchObject({
            completion: { values: ['An-completed'] },
          });
        }
        if (era === 'legacy') await host.request('resources/subscribe', { uri });
        else await host.client.listen({ resourceSubscriptions: [uri] });
        await waitUntil(
          async () => {
            await host.request('tools/call', { name: 'asking__touch', arguments: { uri: 'note://one' } });
            return host.told.some(
              ({ method, params }) => method === 'notifications/resources/updated' && params['uri'] === uri,
            );
          },
          { what: 'the announcement of a changed resource', timeoutMs: 15_000 },
        );
        const kinds = (await gateway.audit.list({})).map(({ kind }) => kind);
        expect(kinds).toEqual(expect.arrayContaining(['resource-read', 'prompt-get']));
      }
    },
  );
});

describe('one server passed through', STARTS_PROCESSES, () => {
  it('C1 S24 introduces itself as the server does, under its own names', STARTS_PROCESSES, async () => {
    for (const era of ['legacy', 'modern'] as const) {
      for (const over of ['stdio', 'http'] as const) {
        const gateway = await open({});
        const host = await connectHost(gateway, { era, over, path: '/servers/asking/mcp', server: 'asking' });
        expect(host.client.getServerVersion()).toMatchObject({ name: 'asking', title: 'Asking' });
        expect(host.client.getInstructions()).toBe('Ask and you will be asked.');
        expect(await tools(host)).toEqual(expect.arrayContaining(['elicit', 'roots']));
        expect(await host.request('resources/read', { uri: 'note://one' })).toMatchObject({
          contents: [{ uri: 'note://one', vendorHint: 2 }],
        });
        expect(textOf(await host.request('tools/call', { name: 'elicit', arguments: { message: 'm' } }))).toContain(
          'Ann for m',
        );
        await expect(host.request('tools/call', { name: 'nothing', arguments: {} })).rejects.toMatchObject({
          code: -32_602,
        });
      }
    }
  });

  it('CONN-2 nothing is started to introduce a server and to list what it has', STARTS_PROCESSES, async () => {
    const counter = await startCounter();
    const gateway = await openToolscout({
      mode: 'passthrough',
      servers: { asking: fixture('asking', counter.flag) },
    });
    await gateway.servers.discover();
    const before = (await counter.pids()).length;
    for (const era of ['legacy', 'modern'] as const) {
      for (const path of ['/mcp', '/servers/asking/mcp']) {
        const host = await connectHost(gateway, { era, over: 'http', path });
        for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']) {
          await host.request(method);
        }
      }
    }
    expect((await counter.pids()).length).toBe(before);
  });

  it('S1 a server that is not configured is not there', async () => {
    const gateway = await open({});
    const url = await serveOverHttp(gateway);
    for (const id of ['nobody', '__proto__', '..%2f..']) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
      const response = await fetch(`${url}/servers/${id}/mcp`, { method: 'POST', body });
      expect(response.status).toBe(404);
    }
  });
});

describe('the command line', STARTS_PROCESSES, () => {
  it('META-5 serve --stdio takes --mode and --server', STARTS_PROCESSES, async () => {
    const place = await workplace({ servers: { asking: fixture('asking') } });
    await place.run('discover', 'asking');
    const host = async (...flags: string[]): Promise<Client> => {
      const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: { form: {} } } });
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ann' } }));
      const args = [CLI, 'serve', '--stdio', ...flags, ...place.flags];
      await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
      onTestFinished(() => client.close());
      return client;
    };
    const direct = await host('--mode', 'passthrough');
    const names = (await direct.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('asking__elicit');
    const called = await direct.callTool({ name: 'asking__elicit', arguments: { message: 'm' } });
    expect(JSON.stringify(called)).toContain('Ann');
    const only = await host('--server', 'asking');
    expect(only.getServerVersion()).toMatchObject({ name: 'asking' });
    expect(JSON.stringify(await only.callTool({ name: 'elicit', arguments: { message: 'm' } }))).toContain('Ann');
    expect(await place.run('serve', '--stdio', '--server', 'nobody')).toMatchObject({ code: 2 });
    expect(await place.run('serve', '--server', 'asking')).toMatchObject({ code: 64 });
    const gone = await workplace({ servers: { gone: { command: 'does-not-exist' } } });
    for (const shared of [[], ['--shared']]) {
      const { code, stderr } = await gone.run('serve', '--stdio', '--server', 'gone', ...shared);
      expect(code).toBe(3);
      expect(stderr).toContain('SERVER_CONNECTION_ERROR: Cannot list the tools of "gone"');
      expect(stderr).toContain('Install it, or write its full path in the config.');
      expect(stderr).not.toContain('crash');
    }
    expect(await place.run('serve', '--mode', 'loud')).toMatchObject({ code: 64 });
  });
});
