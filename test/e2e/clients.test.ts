import { Client as ModernClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import { fixture } from '../support/fixture.js';
import { CLI, lineMatching, workplace, type Workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

/** A host, whichever library it is written with: names of tools, and raw results of calls. */
interface Host {
  tools(): Promise<string[]>;
  instructions(): string | undefined;
  call(name: string, args: JsonObject): Promise<JsonObject>;
}

const INFO = { name: 'test-host', version: '1.0.0' };

async function modern(transport: StdioClientTransport | StreamableHTTPClientTransport, pin?: string): Promise<Host> {
  const client = new ModernClient(INFO, pin ? { versionNegotiation: { mode: { pin } } } : {});
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    instructions: () => client.getInstructions(),
    call: async (name, args) => (await client.callTool({ name, arguments: args })) as unknown as JsonObject,
  };
}

async function legacy(transport: LegacyStdio | LegacyHttp): Promise<Host> {
  const client = new LegacyClient(INFO);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    instructions: () => client.getInstructions(),
    call: async (name, args) =>
      (await client.request(
        { method: 'tools/call', params: { name, arguments: args } },
        CallToolResultSchema,
      )) as unknown as JsonObject,
  };
}

async function endpoint(place: Workplace): Promise<URL> {
  const [, url] = await lineMatching(place.start('serve', '--port', '0'), /(http:\/\/127\.0\.0\.1:\d+\/mcp)/);
  return new URL(url!);
}

const stdio = (place: Workplace): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [CLI, 'serve', '--stdio', ...place.flags],
});

const HOSTS: Array<[string, (place: Workplace) => Promise<Host>]> = [
  ['SDK v2 over stdio', async (place) => modern(new StdioClientTransport(stdio(place)))],
  ['SDK v2 over stdio, 2026-07-28', async (place) => modern(new StdioClientTransport(stdio(place)), '2026-07-28')],
  ['SDK 1.x over stdio', async (place) => legacy(new LegacyStdio(stdio(place)))],
  ['SDK v2 over HTTP', async (place) => modern(new StreamableHTTPClientTransport(await endpoint(place)))],
  [
    'SDK v2 over HTTP, 2026-07-28',
    async (place) => modern(new StreamableHTTPClientTransport(await endpoint(place)), '2026-07-28'),
  ],
  ['SDK 1.x over HTTP', async (place) => legacy(new LegacyHttp(await endpoint(place)))],
];

const textOf = (result: JsonObject): string => (result['content'] as Array<{ text: string }>)[0]!.text;

describe.each(HOSTS)('a host on %s', STARTS_PROCESSES, (_name, connect) => {
  it('META-1 META-3 lists five tools, searches, reads details and gets the content of the server unchanged', async () => {
    // A search waits only for a while for servers that are not known yet.
    const place = await workplace({ servers: { old: fixture('legacy') }, limits: { searchWaitMs: 60_000 } });
    const host = await connect(place);

    expect((await host.tools()).toSorted()).toEqual([
      'execute_tool',
      'get_tool_details',
      'list_mcp_servers',
      'list_tools',
      'search_tools',
    ]);
    expect(host.instructions()).toContain('search_tools');

    const found = JSON.parse(textOf(await host.call('search_tools', { query: 'echo a message' }))) as {
      hits: Array<{ server: string; tool: string }>;
    };
    expect(found.hits[0]).toMatchObject({ server: 'old', tool: 'echo' });

    const details = JSON.parse(textOf(await host.call('get_tool_details', { server: 'old', tool: 'add' }))) as object;
    expect(details).toMatchObject({ name: 'add', inputSchema: { type: 'object' } });

    const execute = (tool: string, args: JsonObject = {}): Promise<JsonObject> =>
      host.call('execute_tool', { server: 'old', tool, arguments: args });
    expect(textOf(await execute('echo', { message: 'grüß dich 👋' }))).toBe('grüß dich 👋');
    expect(await execute('add', { a: 2, b: 3 })).toMatchObject({ structuredContent: { sum: 5 } });
    const image = await execute('image');
    expect(image['content']).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
    expect(image['_meta']).toBeDefined();
    expect(await execute('fail')).toMatchObject({ isError: true });
  });
});
