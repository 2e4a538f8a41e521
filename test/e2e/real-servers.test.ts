import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import type { Gateway } from '../../src/gateway/index.js';
import { openToolscout } from '../support/open-toolscout.js';
import { rawHost, startRaw, type RawHost } from '../support/raw-host.js';
import { realServer } from '../support/real-server.js';
import { workplace } from '../support/toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';

/** Servers of the wide world start slowly, and several tests share the machine. */
const PATIENCE_MS = patient(120_000);
const SLOW = { timeoutMs: 60_000, limits: { callTimeoutMs: 60_000 } };

/** Nothing listens there: what would need the network fails at once, and the same way everywhere. */
const NOWHERE = 'http://127.0.0.1:9';
const OFFLINE = { HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, http_proxy: NOWHERE, https_proxy: NOWHERE };

interface Entry {
  readonly command: string;
  readonly args: string[];
  readonly env?: Record<string, string>;
}

interface RealServer {
  readonly name: string;
  readonly era: RawHost['era'];
  readonly tools: number;
  /** How it is started; `place` is a folder of its own for each of the two that are compared. */
  entry(place: string, shared: string): Entry;
  /** Calls whose answers depend on nothing but what came before; the first is made over stdio as well. */
  calls(shared: string): Array<[tool: string, args: JsonObject]>;
  /** A part of its answers that depends on when it was asked. */
  readonly varying?: string;
}

const entity = (name: string, ...observations: string[]): JsonObject => ({ name, entityType: 'thing', observations });

const SERVERS: RealServer[] = [
  {
    name: '@modelcontextprotocol/server-everything',
    era: 'legacy',
    tools: 17,
    entry: () => realServer('@modelcontextprotocol/server-everything', 'stdio'),
    calls: () => [
      ['echo', { message: 'grüß dich 👋' }],
      ['get-sum', { a: 0.1, b: 0.2 }],
      ['get-tiny-image', {}],
      ['get-structured-content', { location: 'Chicago' }],
      ['get-annotated-message', { messageType: 'error', includeImage: true }],
      ['get-resource-links', { count: 3 }],
    ],
  },
  {
    name: '@modelcontextprotocol/server-filesystem',
    era: 'legacy',
    tools: 14,
    entry: (_place, shared) => realServer('@modelcontextprotocol/server-filesystem', shared),
    calls: (shared) => [
      ['read_text_file', { path: join(shared, 'note.txt') }],
      ['list_allowed_directories', {}],
      ['list_directory', { path: shared }],
      ['directory_tree', { path: shared }],
      ['search_files', { path: shared, pattern: '**/*.txt' }],
      ['write_file', { path: join(shared, 'written.txt'), content: 'again' }],
      ['read_multiple_files', { paths: [join(shared, 'note.txt'), join(shared, 'missing.txt')] }],
      ['edit_file', { path: join(shared, 'note.txt'), edits: [{ oldText: 'one', newText: 'two' }], dryRun: true }],
      ['read_text_file', { path: '/etc/passwd' }],
    ],
  },
  {
    name: '@modelcontextprotocol/server-memory',
    era: 'legacy',
    tools: 9,
    entry: (place) => ({
      ...realServer('@modelcontextprotocol/server-memory'),
      env: { MEMORY_FILE_PATH: join(place, 'memory.jsonl') },
    }),
    calls: () => [
      ['read_graph', {}],
      ['create_entities', { entities: [entity('a', 'is first'), entity('b')] }],
      ['create_relations', { relations: [{ from: 'a', to: 'b', relationType: 'knows' }] }],
      ['add_observations', { observations: [{ entityName: 'b', contents: ['is second'] }] }],
      ['search_nodes', { query: 'second' }],
      ['open_nodes', { names: ['a', 'nobody'] }],
      ['add_observations', { observations: [{ entityName: 'nobody', contents: ['fails'] }] }],
      ['delete_entities', { entityNames: ['a'] }],
      ['read_graph', {}],
    ],
  },
  {
    name: '@upstash/context7-mcp',
    era: 'modern',
    tools: 2,
    entry: () => ({ ...realServer('@upstash/context7-mcp'), env: { ...OFFLINE, CONTEXT7_API_URL: NOWHERE } }),
    calls: () => [
      ['resolve-library-id', { libraryName: 'react', query: 'hooks' }],
      ['query-docs', { libraryId: '/nobody/nothing', query: 'hooks' }],
    ],
  },
  {
    name: '@playwright/mcp',
    era: 'legacy',
    tools: 25,
    entry: () => realServer('@playwright/mcp', '--headless', '--isolated', '--executable-path', '/nowhere/chrome'),
    calls: () => [
      ['browser_tabs', { action: 'list' }],
      ['browser_close', {}],
      ['browser_navigate', { url: 'about:blank' }],
    ],
    // Playwright names the function that it finds on its stack, which is another one while the server is still being set up.
    varying: 'async initializeServer: ',
  },
  {
    name: 'mongodb-mcp-server',
    era: 'modern',
    tools: 27,
    entry: () => ({ ...realServer('mongodb-mcp-server'), env: { ...OFFLINE, MDB_MCP_TELEMETRY: 'disabled' } }),
    calls: () => [
      ['list-connections', {}],
      ['list-databases', { connectionId: 'none' }],
      ['disconnect', { connectionId: 'none' }],
      ['connect', { connectionString: 'mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=100' }],
      ['list-knowledge-sources', {}],
    ],
  },
];

/** Two folders of their own for the two that are compared, and one they share. */
async function places(): Promise<{ direct: string; through: string; shared: string }> {
  const root = await temporaryDirectory();
  const paths = { direct: join(root, 'direct'), through: join(root, 'through'), shared: join(root, 'shared') };
  for (const path of Object.values(paths)) await mkdir(path);
  await mkdir(join(paths.shared, 'folder'));
  await writeFile(join(paths.shared, 'note.txt'), 'one\nthree\n');
  await writeFile(join(paths.shared, 'folder', 'deep.txt'), 'deep');
  return paths;
}

/**
 * The server behind toolscout, and a second one spoken to directly in the same era: a modern server that is slow to
 * start is spoken to in the old way the first time.
 */
async function openBoth(server: RealServer): Promise<{ gateway: Gateway; witness: RawHost; shared: string }> {
  const { direct, through, shared } = await places();
  const gateway = await openToolscout({ ...SLOW, servers: { real: server.entry(through, shared) } });
  await gateway.servers.discoverTools('real');
  await waitUntil(async () => (await gateway.servers.list())[0]?.health.state === 'disconnected', {
    timeoutMs: 30_000,
    what: 'the end of the connection it was learned over',
  });
  // By now it is known which era it speaks, however slow it was to say so.
  await gateway.servers.discoverTools('real');
  const [view] = await gateway.servers.list();
  const witness = await startRaw(server.entry(direct, shared), view?.health.era);
  expect(witness.era).toBe(view?.health.era);
  if (server.era === 'legacy') expect(witness.era).toBe('legacy');
  return { gateway, witness, shared };
}

/** An answer without what depends on when it was asked for. */
const steady = ({ varying }: RealServer, answer: unknown): unknown =>
  varying === undefined ? answer : (JSON.parse(JSON.stringify(answer).replaceAll(varying, '')) as unknown);

const byName = (a: JsonObject, b: JsonObject): number => (String(a['name']) < String(b['name']) ? -1 : 1);

describe.each(SERVERS)('$name', STARTS_PROCESSES, (server) => {
  // One test for both: each start of these servers takes seconds.
  it(
    'DISC-1 EXEC-1 every definition is byte for byte as the server wrote it, and its answers are deep-equal to what it answers directly',
    async () => {
      const { gateway, witness, shared } = await openBoth(server);
      const listed = (await witness.tools()).toSorted(byName);
      const definitions = (await gateway.tools.list('real')).map(({ definition }) => definition).toSorted(byName);
      expect(listed).toHaveLength(server.tools);
      expect(definitions).toEqual(listed);
      expect(definitions.map((each) => JSON.stringify(each))).toEqual(listed.map((each) => JSON.stringify(each)));
      expect((await gateway.servers.list())[0]?.droppedTools).toBe(0);
      for (const [tool, args] of server.calls(shared)) {
        const expected = await witness.call(tool, args);
        const { result, success } = await gateway.call('real', tool, args);
        expect(steady(server, result), tool).toEqual(steady(server, expected));
        expect(success, tool).toBe(expected['isError'] !== true);
      }
    },
    PATIENCE_MS,
  );

  it(
    'META-3 a host that calls it through the meta-tool over stdio gets the same answer',
    async () => {
      const { direct, through, shared } = await places();
      const witness = await startRaw(server.entry(direct, shared), 'legacy');
      const place = await workplace({ ...SLOW, servers: { real: server.entry(through, shared) } });
      const host = await rawHost(place.start('serve', '--stdio'), 'legacy');
      const [[tool, args]] = server.calls(shared) as [[string, JsonObject]];
      const expected = await witness.call(tool, args);
      const answer = await host.call('execute_tool', { server: 'real', tool, arguments: args });
      // An era adds its own words to a result, and toolscout may speak another one to the server than the witness does.
      const { _meta: meta, resultType: kind, ...rest } = answer;
      expect(steady(server, rest)).toEqual(steady(server, expected));
      expect(kind === undefined || kind === 'complete').toBe(true);
      if (server.era === 'legacy') expect(meta).toBeUndefined();
    },
    PATIENCE_MS,
  );
});

describe('all of them together', STARTS_PROCESSES, () => {
  // The statement names 82 servers of the registry; these are the ones that npm ci brings.
  it(
    'R2 they are all listed, while one cannot be started and another hangs',
    async () => {
      const { through, shared } = await places();
      const servers = Object.fromEntries(SERVERS.map((server, at) => [`real${at}`, server.entry(through, shared)]));
      const gateway = await openToolscout({
        ...SLOW,
        servers: {
          absent: { command: '/no/such/program' },
          hung: { ...fixture('slow', '--hang'), connectTimeoutMs: 10 * PATIENCE_MS },
          ...servers,
        },
      });
      const all = gateway.servers.discover();
      const isReady = async (): Promise<boolean> => {
        const views = await gateway.servers.list();
        return SERVERS.every(({ tools }, at) => views.find(({ id }) => id === `real${at}`)?.tools === tools);
      };
      await waitUntil(isReady, { timeoutMs: PATIENCE_MS - 10_000, what: 'all of their tools' });
      const views = new Map((await gateway.servers.list()).map((view) => [view.id, view]));
      expect(views.get('hung')?.knowledge).toBe('learning');
      expect(views.get('absent')?.knowledge).toBe('failed');
      await gateway.close({ drainMs: 0 });
      await all;
    },
    PATIENCE_MS,
  );
});
