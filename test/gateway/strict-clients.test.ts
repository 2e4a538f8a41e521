import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMcpEndpoint, type McpEndpoint } from '../../src/front/mcp/http/http.js';
import type { Gateway } from '../../src/gateway/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { silentLog } from '../../src/kernel/log.js';
import type { ConfigInput } from '../../src/model/config.js';
import { openOfflineGateway, type RecordedServer } from '../support/offline-gateway.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const URL_OF_IT = 'http://127.0.0.1:7077/mcp';
const object = { type: 'object' };

/** One malformed entry each: every one of them costs some client the whole list when it gets through. */
const TOOLS: Readonly<Record<string, JsonObject>> = {
  no_root_type: { inputSchema: { properties: { a: { type: 'string' } } } },
  two_root_types: { inputSchema: { type: ['object', 'null'] } },
  properties_null: { inputSchema: { type: 'object', properties: null } },
  properties_list: { inputSchema: { type: 'object', properties: [] } },
  required_null: { inputSchema: { type: 'object', required: null } },
  boolean_members: { inputSchema: { type: 'object', properties: { any: true, none: false } } },
  bad_dialect: { inputSchema: { type: 'object', $schema: 7 } },
  description_list: { inputSchema: object, description: ['a', 'b'] },
  hint_text: { inputSchema: object, annotations: { readOnlyHint: 'yes' } },
  annotations_text: { inputSchema: object, annotations: 'none' },
  icons_text: { inputSchema: object, icons: 'https://example.com/a.png' },
  icons_without_src: { inputSchema: object, icons: [{ url: 'x' }] },
  meta_list: { inputSchema: object, _meta: [] },
  meta_null: { inputSchema: object, _meta: null },
  execution_text: { inputSchema: object, execution: 'sync' },
  execution_unknown: { inputSchema: object, execution: { taskSupport: 'maybe' } },
  half_a_character: { inputSchema: object, description: 'half \ud83d of it' },
  output_text: { inputSchema: object, outputSchema: 'object' },
  output_of_a_list: { inputSchema: object, outputSchema: { type: 'array' } },
  output_without_target: {
    inputSchema: object,
    outputSchema: { ...object, properties: { a: { $ref: '#/$defs/no' } } },
  },
  output_elsewhere: { inputSchema: object, outputSchema: { ...object, allOf: [{ $ref: 'https://example.com/x' }] } },
  output_pattern: { inputSchema: object, outputSchema: { ...object, properties: { a: { pattern: '(?i)x' } } } },
  output_draft_3: { inputSchema: object, outputSchema: { ...object, properties: { a: { required: true } } } },
  output_dialect: { inputSchema: object, outputSchema: { ...object, $schema: 'https://example.com/dialect' } },
};
const RESOURCES: Readonly<Record<string, JsonObject>> = {
  'x://mime': { name: 'a', mimeType: null },
  'x://size': { name: 'a', size: '12' },
  'x://nameless': {},
  'x://priority': { name: 'a', annotations: { priority: 3, lastModified: 'now', audience: 'user' } },
  'x://icons': { name: 'a', icons: [null], _meta: 1, title: 5 },
};
const named = (key: string, entries: Readonly<Record<string, JsonObject>>): JsonObject[] =>
  Object.entries(entries).map(([name, entry]) => ({ [key]: name, ...entry }));

const ODD: RecordedServer = {
  id: 'odd',
  tools: named('name', TOOLS),
  facts: {
    info: { name: 'odd', version: '1', icons: 'none', websiteUrl: null } as never,
    capabilities: { resources: { subscribe: 'yes' }, prompts: {}, logging: true, experimental: { a: 1 } },
    resources: [...named('uri', RESOURCES), { uri: 'no address', name: 'a' }],
    resourceTemplates: named('uriTemplate', { 'x://{a}': { mimeType: 1, icons: {} }, 'x://{b}': { name: 'b' } }),
    prompts: named('name', {
      no_arguments: { arguments: null },
      odd_arguments: { arguments: [{ name: 'a', required: 'true' }, 'b'], description: 7 },
    }),
  },
};
const GOOD: RecordedServer = {
  id: 'good',
  tools: [{ name: 'fine', inputSchema: object }],
  facts: {
    capabilities: { resources: {}, prompts: {} },
    resources: [{ uri: 'y://fine', name: 'fine' }],
    resourceTemplates: [{ uriTemplate: 'y://{fine}', name: 'fine' }],
    prompts: [{ name: 'fine' }],
  },
};

/** What a client of another's making sees. */
interface Seen {
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
  readonly templates: readonly string[];
}

type Look = (endpoint: McpEndpoint, server?: string) => Promise<Seen>;

const fetchFrom =
  (endpoint: McpEndpoint, server?: string) =>
  (url: string | URL, init?: RequestInit): Promise<Response> =>
    endpoint.fetch(new Request(url, init), server === undefined ? {} : { server });

const lookV2 =
  (mode: 'legacy' | 'auto'): Look =>
  async (endpoint, server) => {
    const client = new ClientV2({ name: 'host', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new HttpV2(new URL(URL_OF_IT), { fetch: fetchFrom(endpoint, server) }));
    onTestFinished(() => client.close());
    return {
      tools: (await client.listTools()).tools.map(({ name }) => name),
      prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
      resources: (await client.listResources()).resources.map(({ uri }) => uri),
      templates: (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    };
  };

const CLIENTS: ReadonlyArray<readonly [string, Look]> = [
  [
    'SDK 1.x',
    async (endpoint, server) => {
      const client = new ClientV1({ name: 'host', version: '1' });
      await client.connect(new HttpV1(new URL(URL_OF_IT), { fetch: fetchFrom(endpoint, server) }));
      onTestFinished(() => client.close());
      return {
        tools: (await client.listTools()).tools.map(({ name }) => name),
        prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
        resources: (await client.listResources()).resources.map(({ uri }) => uri),
        templates: (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      };
    },
  ],
  ['SDK 2.x with a session', lookV2('legacy')],
  ['SDK 2.x of 2026-07-28', lookV2('auto')],
];

async function open(config: ConfigInput): Promise<{ gateway: Gateway; endpoint: McpEndpoint }> {
  const { gateway } = await openOfflineGateway([ODD, GOOD], { retryPolicy: { maxRetries: 0 }, ...config });
  const info = { name: 'toolscout', version: '9.9.9' };
  const endpoint = createMcpEndpoint({ gateway, info, log: silentLog, clock: systemClock });
  onTestFinished(() => endpoint.close());
  return { gateway, endpoint };
}

describe.each(CLIENTS)('%s', STARTS_PROCESSES, (_, look) => {
  it.each(['passthrough', 'hybrid'] as const)(
    'META-5 in the mode %s one malformed entry costs no other',
    async (mode) => {
      const seen = await look((await open({ mode, pinned: ['*'] })).endpoint);
      expect(seen.tools).toEqual(
        expect.arrayContaining([...Object.keys(TOOLS).map((name) => `odd__${name}`), 'good__fine']),
      );
      expect(seen.prompts).toEqual(expect.arrayContaining(['odd__no_arguments', 'odd__odd_arguments', 'good__fine']));
      const uris = [...Object.keys(RESOURCES), 'no address'].map((uri) => `toolscout://odd/${uri}`);
      expect(seen.resources).toEqual(expect.arrayContaining([...uris, 'toolscout://good/y://fine']));
      expect(seen.templates).toEqual(
        expect.arrayContaining(['toolscout://odd/x://{a}', 'toolscout://odd/x://{b}', 'toolscout://good/y://{fine}']),
      );
    },
  );

  it('META-5 at the endpoint of one server too; a resource whose address is no URI is left out there', async () => {
    const seen = await look((await open({})).endpoint, 'odd');
    expect(seen.tools).toEqual(Object.keys(TOOLS).toSorted());
    expect(seen.prompts).toEqual(['no_arguments', 'odd_arguments']);
    expect(seen.resources).toEqual(Object.keys(RESOURCES));
    expect(seen.templates).toEqual(['x://{a}', 'x://{b}']);
  });
});

describe('unions at the root of an input schema', STARTS_PROCESSES, () => {
  const inputSchema = {
    oneOf: [
      { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false },
      { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
    ],
  };

  async function connect(name: string): Promise<ClientV1> {
    const { gateway } = await openOfflineGateway([{ id: 'u', tools: [{ name: 'get', inputSchema }] }], {
      mode: 'passthrough',
      retryPolicy: { maxRetries: 0 },
    });
    const info = { name: 'toolscout', version: '9.9.9' };
    const endpoint = createMcpEndpoint({ gateway, info, log: silentLog, clock: systemClock });
    onTestFinished(() => endpoint.close());
    const client = new ClientV1({ name, version: '1' });
    await client.connect(new HttpV1(new URL(URL_OF_IT), { fetch: fetchFrom(endpoint) }));
    onTestFinished(() => client.close());
    return client;
  }

  it('META-5 are flattened for hosts that refuse them, and left to others', async () => {
    const flat = { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } };
    for (const name of ['claude-code', 'codex-mcp-client', 'Visual Studio Code']) {
      expect((await (await connect(name)).listTools()).tools[0]?.inputSchema).toEqual(flat);
    }
    const { tools } = await (await connect('some-host')).listTools();
    expect(tools[0]?.inputSchema).toEqual({ ...inputSchema, type: 'object' });
  });

  it('EXEC-2 are checked as the server wrote them, also for those hosts', async () => {
    const client = await connect('claude-code');
    const refused = await client.callTool({ name: 'u__get', arguments: { id: 'a', name: 'b' } }).catch(String);
    expect(JSON.stringify(refused)).toContain('TOOL_VALIDATION_ERROR');
    expect(JSON.stringify(refused)).toContain('must match one of the allowed forms');
    const passed = await client.callTool({ name: 'u__get', arguments: { id: 'a' } }).catch(String);
    expect(JSON.stringify(passed)).toContain('offline');
  });
});

describe('a server that says odd things of itself', STARTS_PROCESSES, () => {
  const SCRIPT = `
    const answers = {
      initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {}, logging: true },
        serverInfo: { name: 'odd', version: '1', title: 7, icons: [null], description: {}, websiteUrl: null } },
      'tools/list': { tools: [{ name: 'fine', inputSchema: { type: 'object' } }] },
    };
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id,
        ...(answers[method] ? { result: answers[method] } : { error: { code: -32601, message: 'no' } }) }));
    });`;

  it('META-5 A55 DISC-1 keeps its tools, and clients can connect to its endpoint', async () => {
    const gateway = await openToolscout({ servers: { odd: { command: process.execPath, args: ['-e', SCRIPT] } } });
    expect(await gateway.servers.discover()).toMatchObject([{ ok: true, tools: 1 }]);
    const info = { name: 'toolscout', version: '9.9.9' };
    const endpoint = createMcpEndpoint({ gateway, info, log: silentLog, clock: systemClock });
    onTestFinished(() => endpoint.close());
    const client = new ClientV1({ name: 'host', version: '1' });
    await client.connect(new HttpV1(new URL(URL_OF_IT), { fetch: fetchFrom(endpoint, 'odd') }));
    onTestFinished(() => client.close());
    expect(client.getServerVersion()).toEqual({ name: 'odd', version: '1', icons: [] });
    expect((await client.listTools()).tools).toHaveLength(1);
  });
});

describe('doctor and why', STARTS_PROCESSES, () => {
  it('META-5 name what hosts are shown repaired, of every list', async () => {
    const { gateway } = await open({ mode: 'passthrough' });
    expect(await gateway.why('odd', 'properties_null')).toMatchObject({
      offered: true,
      repairs: ['inputSchema.properties removed: expected an object, found null'],
    });
    expect(await gateway.why('good', 'fine')).not.toHaveProperty('repairs');
    const { lists, findings } = await gateway.reports.doctor();
    expect(lists.map(({ server }) => server)).toEqual(['odd']);
    const [odd] = lists;
    const repaired = odd!.repaired.map(({ kind, name }) => `${kind} ${name}`);
    const ok = new Set(['output_of_a_list']);
    for (const name of Object.keys(TOOLS)) if (!ok.has(name)) expect(repaired).toContain(`tool ${name}`);
    for (const uri of Object.keys(RESOURCES)) expect(repaired).toContain(`resource ${uri}`);
    expect(odd!.repaired.find(({ name }) => name === 'no address')?.repairs).toEqual([
      'left out at /servers/ID/mcp: its uri is not absolute',
    ]);
    expect(repaired).toEqual(
      expect.arrayContaining(['prompt no_arguments', 'prompt odd_arguments', 'resource template x://{a}']),
    );
    expect(findings.find(({ subject }) => subject === 'lists odd')).toMatchObject({ level: 'warning' });
  });
});
