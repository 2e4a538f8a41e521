import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ConfigurationLoader,
  DiscoveryEngine,
  DiscoveryService,
  McpDiscoveryProvider,
  RuntimeMcpDiscovery,
  type DiscoveryConfig,
} from '../../src/app/compat/index.js';
import { extractPrimaryDomain, extractSubDomain } from '../../src/index.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openToolscout, startCounter } from '../support/open-toolscout.js';
import { scriptedServer, scriptedTool, type ScriptedServer } from '../support/scripted-server.js';
import { STARTS_PROCESSES } from '../support/patience.js';

describe('the engine', STARTS_PROCESSES, () => {
  it('CLI-1 offers servers, search, details, execution, reload and the config as one object', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy') },
      toolRules: [{ pattern: 'crash', enabled: false }],
    });
    const engine = new DiscoveryEngine(gateway);
    expect(await engine.listServers()).toMatchObject([{ id: 'old' }]);
    expect((await engine.searchTools('add two numbers'))[0]).toMatchObject({ server: 'old', tool: 'add' });
    const all = await engine.listTools('old', true);
    expect(all.find(({ name }) => name === 'crash')).toMatchObject({ enabled: false });
    expect((await engine.listTools('old')).some(({ name }) => name === 'crash')).toBe(false);
    expect(await engine.getToolDetails('old', 'add')).toMatchObject({
      name: 'add',
      enabled: true,
      parameters: [{ name: 'a' }, { name: 'b' }],
    });
    expect(await engine.getToolDetails('old', 'nothing')).toBeNull();
    expect(await engine.getToolDetails('nobody', 'add')).toBeNull();
    expect(await engine.executeTool('old', 'add', { a: 1, b: 2 })).toMatchObject({
      success: true,
      result: { structuredContent: { sum: 3 } },
    });
    expect(await engine.reload()).toMatchObject({ changed: false });
    expect(engine.getConfig().toolRules).toHaveLength(1);
  });

  it('CFG-2 CLI-1 is constructed with a config: what it says holds at once, and what is wrong is thrown', async () => {
    const config: DiscoveryConfig = {
      enabled: true,
      store: 'memory',
      cache: { enabled: true, ttl: 60 },
      servers: { old: { ...fixture('legacy'), description: 'An old server' } },
      toolRules: [
        { pattern: ['*', '!crash'], enabled: true, tags: ['safe'] },
        { pattern: ['/^ec/'], server: 'old', tags: ['talk'] },
      ],
    };
    const engine = new DiscoveryEngine(config);
    onTestFinished(() => engine.close());
    expect(engine.getConfig()).toMatchObject({ enabled: true, cache: { ttlMs: 60_000 }, maxParallelDiscoveries: 5 });
    const tools = await engine.listTools('old');
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      server: 'old',
      enabled: true,
      tags: ['safe', 'talk'],
      parameters: [{ name: 'message', type: 'string', required: true }],
    });
    expect(await engine.getToolDetails('old', 'crash')).toMatchObject({ enabled: false });
    expect(await engine.listTools('nobody')).toEqual([]);
    expect(await engine.searchTools('echo', { server: 'nobody' })).toEqual([]);
    expect(await engine.listServers()).toMatchObject([
      {
        name: 'old',
        description: 'An old server',
        toolCount: (await engine.listTools('old', true)).length,
        enabledCount: tools.length,
        status: 'connected',
        config: { type: 'stdio', target: expect.stringContaining('legacy.mjs') },
      },
    ]);
    const all = await engine.getAllTools(true);
    expect(all).toHaveLength((await engine.listTools('old', true)).length);
    expect(await engine.getAllTools()).toEqual(tools);
    expect(all.filter(({ enabled }) => !enabled).map(({ name }) => name)).toEqual(['crash']);
    expect(() => new DiscoveryEngine({ toolRules: [{ patern: ['x'] }] } as never)).toThrow('did you mean "pattern"');
    const section = new DiscoveryEngine({ discovery: { cache: { enabled: false, ttl: 7 } } });
    expect(section.getConfig().cache).toEqual({ enabled: false, ttlMs: 7000 });
    expect(() => new DiscoveryEngine({ stateDir: 'memory' }).getConfig()).toThrow('has not been read yet');
  });

  it('CONN-3 CLI-1 connects, with an entry for a server that is not configured, disconnects, and streams', async () => {
    const engine = new DiscoveryEngine({ store: 'memory', retryPolicy: { maxRetries: 0 }, servers: {} });
    onTestFinished(() => engine.close());
    await expect(engine.connect('late')).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
    await engine.connect('late', fixture('legacy'));
    expect(await engine.isConnected('late')).toBe(true);
    const events = [];
    for await (const event of engine.executeStream('late', 'add', { a: 1, b: 2 })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'result', result: { success: true } });
    await engine.disconnect('late');
    expect(await engine.isConnected('late')).toBe(false);
    expect(await engine.executeTool('late', 'add', { a: 1, b: 2 })).toMatchObject({ success: true });
    await expect(engine.connect('gone', { command: 'no-such-command-here' })).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
    });
    await expect(engine.connect('bad', { command: 7 } as never)).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    expect((await engine.listServers()).map(({ name }) => name).toSorted()).toEqual(['gone', 'late']);
    await expect(engine.disconnect('nobody')).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
    const over = new DiscoveryEngine(await openToolscout({ servers: {} }));
    await expect(over.connect('x', { command: 'x' })).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
  });

  it('CFG-1 CFG-3 the loader loads a file with every default, and validates with the path of each problem', async () => {
    const cwd = await temporaryDirectory();
    const text = 'export default { discovery: { enabled: true, cache: { enabled: true, ttl: 5 } }, other: 1 };';
    await writeFile(join(cwd, 'anygpt.config.ts'), text);
    const loader = new ConfigurationLoader({ cwd, env: { HOME: cwd } });
    const loaded = await loader.load('anygpt.config.ts');
    expect(loaded).toMatchObject({ enabled: true, cache: { ttlMs: 5000 }, toolRules: [] });
    await expect(loader.load('none.json')).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    expect(
      loader.validate({ toolRules: [{ pattern: ['*github*', '!*delete*'], server: 'gh', enabled: true }] }),
    ).toEqual({
      valid: true,
      errors: [],
      warnings: expect.any(Array),
    });
    const wrong = loader.validate({ toolRules: [{ pattern: ['/(/'] }], cache: { ttl: 'x' } } as never);
    expect(wrong.valid).toBe(false);
    expect(wrong.errors.map(({ path }) => path).toSorted()).toEqual(['cache.ttl', 'toolRules[0].pattern[0]']);
  });

  it('CLI-1 opens a gateway of its own when it is first needed, and closes it', async () => {
    const engine = new DiscoveryEngine({ config: { servers: {} }, stateDir: await temporaryDirectory() });
    expect(await engine.listServers()).toEqual([]);
    await engine.close();
    await new DiscoveryEngine({ config: { servers: {} } }).close();
  });
});

describe('the service', STARTS_PROCESSES, () => {
  it('DISC-1 DISC-2 asks a server, keeps to the cache only when told to, exports and registers when told to', async () => {
    const starts = await startCounter();
    const root = await temporaryDirectory();
    const directory = join(root, 'pending');
    const gateway = await openToolscout({
      servers: { old: { ...fixture('legacy', starts.flag), idleTimeoutMs: 1 } },
    });
    const service = new DiscoveryService(gateway);
    const tools = await service.discoverTools('old');
    expect(tools.map(({ name }) => name)).toContain('add');
    const before = (await starts.pids()).length;
    await service.discoverTools('old', { useCache: true });
    expect((await starts.pids()).length).toBe(before);
    expect(existsSync(directory)).toBe(false);
    expect(await gateway.exports.marketplace()).toEqual([]);
    await service.discoverTools('old', {
      useCache: true,
      exportToRtfs: true,
      exportDirectory: directory,
      registerInMarketplace: true,
    });
    expect(existsSync(join(root, 'approved', 'old', 'add.rtfs'))).toBe(true);
    expect((await gateway.exports.marketplace()).map(({ id }) => id)).toContain('mcp.old.add');
  });

  it('SCH-7 SEC-9 a manifest of a tool that is not offered does not get into the marketplace', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy') },
      toolRules: [{ pattern: 'crash', enabled: false }],
    });
    const service = new DiscoveryService(gateway);
    const tools = await service.discoverTools('old');
    const manifest = await service.toolToManifest(tools.find(({ name }) => name === 'crash')!);
    await expect(service.registerCapability(manifest)).rejects.toMatchObject({ code: 'TOOL_DISABLED' });
    await service.registerCapability(await service.toolToManifest(tools.find(({ name }) => name === 'add')!));
    expect((await gateway.exports.marketplace()).map(({ id }) => id)).toEqual(['mcp.old.add']);
    expect(await gateway.audit.list({ kind: 'capability-register' })).toMatchObject([{ server: 'old', tool: 'add' }]);
  });

  it('DISC-5 warming says what was learned and what was not', async () => {
    const gateway = await openToolscout({
      servers: { one: fixture('legacy'), two: fixture('modern'), dead: { command: '/no/such/program' } },
    });
    const service = new DiscoveryService(gateway);
    const partly = await service.warmCacheForServers(['one']);
    expect(partly).toEqual({
      successful: 1,
      failed: 0,
      cachedTools: (await gateway.tools.list('one')).length,
      errors: [],
    });
    const all = await service.warmCacheForAllConfiguredServers();
    const known = (await gateway.tools.list('one')).length + (await gateway.tools.list('two')).length;
    expect(all).toMatchObject({ successful: 2, failed: 1, cachedTools: known });
    expect(all.errors).toMatchObject([
      { server: 'dead', error: expect.stringContaining('/no/such/program') as string },
    ]);
  });

  it('DISC-3 of ten servers five are asked at once', async () => {
    let running = 0;
    let most = 0;
    const server = await scriptedServer({
      async answer(method) {
        if (method !== 'tools/list') return undefined;
        most = Math.max(most, ++running);
        // No server answers before five were asked.
        await waitUntil(() => most >= 5);
        running -= 1;
        return undefined;
      },
    });
    const ids = Array.from({ length: 10 }, (_, at) => `s${at}`);
    const servers = Object.fromEntries(ids.map((id) => [id, { url: server.url, headers: { 'x-id': id } }]));
    const gateway = await openToolscout({ servers, maxParallelDiscoveries: 5 });
    const outcomes = await new DiscoveryService(gateway).discoverAll(ids);
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(most).toBe(5);
  });

  it('DISC-3 among many a server that fails is a value', async () => {
    const gateway = await openToolscout({ servers: { one: fixture('legacy'), dead: { command: '/no/such/program' } } });
    const outcomes = await new DiscoveryService(gateway).discoverAll(['one', 'dead']);
    expect(outcomes).toMatchObject([
      { server: 'one', ok: true, tools: expect.any(Array) as unknown[] },
      { server: 'dead', ok: false, error: { code: 'SERVER_CONNECTION_ERROR' } },
    ]);
  });
});

describe('the options of one discovery', STARTS_PROCESSES, () => {
  const headersOf = ({ headers }: ScriptedServer): Set<string | undefined> =>
    new Set(headers.map(({ authorization }) => authorization));

  it('CONN-6 DISC-2 authHeaders come before configured ones, for this call only, and what they show stays out of the catalog', async () => {
    const server = await scriptedServer({
      tools: [scriptedTool('look'), scriptedTool('secret_look')],
    });
    const gateway = await openToolscout({
      servers: { remote: { url: server.url, headers: { Authorization: 'Bearer configured', 'X-Own': 'kept' } } },
    });
    const service = new DiscoveryService(gateway);
    const tools = await service.discoverTools('remote', { authHeaders: { authorization: 'Bearer of-this-call' } });
    expect(tools.map(({ name, status }) => [name, status])).toEqual([
      ['look', 'enabled'],
      ['secret_look', 'enabled'],
    ]);
    expect(headersOf(server)).toEqual(new Set(['Bearer of-this-call']));
    expect(server.headers.every((each) => each['x-own'] === 'kept')).toBe(true);
    expect((await gateway.servers.list())[0]).toMatchObject({ knowledge: 'unknown', tools: 0 });
    const before = server.headers.length;
    await service.discoverTools('remote');
    expect(new Set(server.headers.slice(before).map(({ authorization }) => authorization))).toEqual(
      new Set(['Bearer configured']),
    );
    // What is cached belongs to the credential it was learned with.
    const asked = server.methods.length;
    await service.discoverTools('remote', { authHeaders: { authorization: 'Bearer of-this-call' }, useCache: true });
    expect(server.methods).toHaveLength(asked);
    expect(JSON.stringify(await gateway.audit.list())).not.toContain('of-this-call');
  });

  it('CONN-6 authHeaders are sent to no other host, and a value that is no header is refused', async () => {
    const elsewhere = await scriptedServer();
    const server = await scriptedServer({ answer: () => ({ status: 307, headers: { location: elsewhere.url } }) });
    const gateway = await openToolscout({ servers: { remote: { url: server.url } } });
    const service = new DiscoveryService(gateway);
    const authHeaders = { Authorization: 'Bearer x' };
    await expect(service.discoverTools('remote', { authHeaders })).rejects.toThrow();
    for (const ask of [
      service.discoverResources('remote', { authHeaders }),
      service.discoverPrompts('remote', { authHeaders }),
    ]) {
      await expect(ask).rejects.toThrow();
    }
    expect(server.headers.at(-1)).toMatchObject({ authorization: 'Bearer x' });
    expect(elsewhere.methods).toEqual([]);
    await expect(
      service.discoverTools('remote', { authHeaders: { Authorization: 'a\r\nX-Other: b' } }),
    ).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('DISC-1 a server that is described and not configured is asked, and nothing of it is kept in the catalog', async () => {
    const server = await scriptedServer();
    const gateway = await openToolscout({}, { env: { PATH: process.env['PATH'], MCP_AUTH_TOKEN: 'canary' } });
    const service = new DiscoveryService(gateway);
    const root = await temporaryDirectory();
    const tools = await service.discoverTools(
      { name: 'far', url: server.url },
      {
        authHeaders: { 'X-Key': 'mine' },
        exportToRtfs: true,
        exportDirectory: join(root, 'pending'),
        registerInMarketplace: true,
      },
    );
    expect(tools).toMatchObject([{ server: 'far', name: 'look', status: 'enabled' }]);
    expect(headersOf(server)).toEqual(new Set([undefined]));
    expect(server.headers[0]).toMatchObject({ 'x-key': 'mine' });
    expect(await gateway.servers.list()).toEqual([]);
    expect((await gateway.call('far', 'look', {})).error?.code).toBe('SERVER_NOT_FOUND');
    expect(existsSync(join(root, 'approved', 'far', 'look.rtfs'))).toBe(true);
    expect((await gateway.exports.marketplace()).map(({ id }) => id)).toEqual(['mcp.far.look']);
    const local = { id: 'near', ...fixture('legacy') };
    expect((await service.discoverTools(local)).map(({ name }) => name)).toContain('add');
    expect(await service.discoverAll([local, { id: 'gone', command: '/no/such/program' }])).toMatchObject([
      { server: 'near', ok: true },
      { server: 'gone', ok: false },
    ]);
    const manifests = await new McpDiscoveryProvider({ id: 'far', url: server.url }, service).discover();
    expect(manifests).toMatchObject([{ id: 'mcp.far.look', provider: { serverUrl: server.url } }]);
    await expect(service.discoverTools({ id: 'far', url: 'https://a.example/${KEY}' })).rejects.toThrow('KEY');
  });

  it('SEC-9 with approval manual the tools of a described server wait, and none gets into the marketplace', async () => {
    const server = await scriptedServer();
    const root = await temporaryDirectory();
    const gateway = await openToolscout({ approval: 'manual', exportDirectory: join(root, 'pending') });
    const tools = await gateway.servers.discoverTools(
      { id: 'far', url: server.url },
      { registerInMarketplace: true, exportToRtfs: true },
    );
    expect(tools).toMatchObject([{ name: 'look', status: 'pending' }]);
    expect(await gateway.exports.marketplace()).toEqual([]);
    expect(existsSync(join(root, 'pending', 'far', 'look.rtfs'))).toBe(true);
    expect(existsSync(join(root, 'approved'))).toBe(false);
  });

  it('CONN-7 a list that timed out is asked for again, as often as retryPolicy of the call says', async () => {
    const server = await scriptedServer({
      answer: (method, _params, attempt) => (method === 'tools/list' && attempt < 3 ? 'silence' : undefined),
    });
    const gateway = await openToolscout({ servers: { remote: { url: server.url, timeoutMs: 200 } } });
    const service = new DiscoveryService(gateway);
    await expect(service.discoverTools('remote')).rejects.toMatchObject({ code: 'TOOL_EXECUTION_TIMEOUT' });
    expect(server.count('tools/list')).toBe(1);
    const retryPolicy = { maxRetries: 1, initialDelayMs: 1 };
    expect(await service.discoverTools('remote', { retryPolicy })).toHaveLength(1);
    expect(server.count('tools/list')).toBe(3);
  });

  it('CONN-7 every page of a list takes a token, and rateLimit of the call holds', async () => {
    const server = await scriptedServer({
      answer(method, { cursor }) {
        if (method !== 'tools/list') return undefined;
        const page = Number(cursor ?? 1);
        const next = page < 3 ? { nextCursor: String(page + 1) } : {};
        return { result: { tools: [scriptedTool(`tool_${page}`)], ...next } };
      },
    });
    const gateway = await openToolscout({
      servers: { remote: { url: server.url, rateLimit: { requestsPerSecond: 0.001, burstSize: 3 } } },
    });
    expect(await gateway.servers.discoverTools('remote')).toHaveLength(3);
    expect((await gateway.call('remote', 'tool_1', {})).error?.code).toBe('RATE_LIMITED');
    const quick = { rateLimit: { requestsPerSecond: 1000, burstSize: 10 } };
    expect(await gateway.servers.discoverTools('remote', quick)).toHaveLength(3);
  });

  it('DISC-3 maxParallelDiscoveries of the call is a bound, and servers that failed before are asked last', async () => {
    let running = 0;
    let most = 0;
    let bound = 1;
    const order: string[] = [];
    const start = (id: string, status?: number): Promise<ScriptedServer> =>
      scriptedServer({
        async answer(method) {
          if (method !== 'tools/list') return undefined;
          order.push(id);
          most = Math.max(most, ++running);
          await waitUntil(() => most >= bound);
          running -= 1;
          return status === undefined ? undefined : { status };
        },
      });
    const remotes = [await start('bad', 500), ...(await Promise.all(['a', 'b', 'c', 'd'].map((id) => start(id))))];
    const ids = ['bad', 'a', 'b', 'c', 'd'];
    const gateway = await openToolscout({
      servers: Object.fromEntries(ids.map((id, at) => [id, { url: remotes[at]!.url }])),
    });
    await gateway.servers.discover(ids, { maxParallelDiscoveries: 1 });
    expect({ most, first: order[0] }).toEqual({ most: 1, first: 'bad' });
    order.length = 0;
    bound = 2;
    const outcomes = await gateway.servers.discover(ids, { maxParallelDiscoveries: bound });
    expect(outcomes.map(({ server, ok }) => [server, ok])).toEqual(ids.map((id) => [id, id !== 'bad']));
    expect({ most, last: order.at(-1) }).toEqual({ most: 2, last: 'bad' });
  });

  it('DISC-9 SCH-7 an inferred output schema stands in the tools, the manifests and the marketplace', async () => {
    const gateway = await openToolscout({ servers: { s: fixture('outputs') }, registerInMarketplace: true });
    const service = new DiscoveryService(gateway);
    const plain = await service.discoverTools('s');
    expect(plain.every(({ inferredOutput }) => inferredOutput === undefined)).toBe(true);
    const inferred = { type: 'object', properties: { ok: { type: 'boolean' }, of: { type: 'string' } } };
    const options = { introspectOutputSchemas: true, lazyOutputSchemas: false, registerInMarketplace: true };
    const tools = await service.discoverTools('s', options);
    expect(tools.find(({ name }) => name === 'get_status')?.inferredOutput).toEqual(inferred);
    const known = plain.find(({ name }) => name === 'get_status')!;
    expect((await service.toolToManifest(known)).outputSchema).toEqual(inferred);
    const listed = (await gateway.exports.marketplace()).find(({ id }) => id === 'mcp.s.get_status');
    expect(listed?.outputSchema).toEqual(inferred);
    // What was inferred once is known without another call.
    const calls = (await gateway.audit.list({ kind: 'execution' })).length;
    await service.discoverTools('s');
    expect(await gateway.audit.list({ kind: 'execution' })).toHaveLength(calls);
  });

  it('DISC-5 warming takes the same options', async () => {
    const root = await temporaryDirectory();
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const service = new DiscoveryService(gateway);
    const options = { exportToRtfs: true, exportDirectory: join(root, 'pending'), registerInMarketplace: true };
    expect(await service.warmCacheForAllConfiguredServers(options)).toMatchObject({ successful: 1, failed: 0 });
    expect(existsSync(join(root, 'approved', 'old', 'add.rtfs'))).toBe(true);
    expect((await gateway.exports.marketplace()).map(({ id }) => id)).toContain('mcp.old.add');
    expect(await service.warmCacheForServers(['old'], { useCache: true })).toMatchObject({ successful: 1, errors: [] });
  });

  it('SCH-4 SCH-5 the domain of a server and the sub-domain of a tool are there by themselves', () => {
    expect(extractPrimaryDomain('modelcontextprotocol/github')).toBe('github');
    expect(extractPrimaryDomain('aws-s3-server')).toBe('cloud.aws');
    expect(extractSubDomain('list_issues')).toBe('issues');
    expect(extractSubDomain('get_pull_request')).toBe('pull_requests');
    expect(extractSubDomain('ping')).toBeUndefined();
  });
});

describe('callers that share the service', STARTS_PROCESSES, () => {
  it('DISC-10 a missing capability is looked for at the configured servers first, and nothing is registered', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const service = new DiscoveryService(gateway);
    await service.discoverTools('old');
    expect(await new RuntimeMcpDiscovery(service).resolve('add')).toMatchObject([
      { from: 'configured', server: 'old', tools: ['add'], reason: expect.stringContaining('"old"') as string },
    ]);
    expect(await gateway.exports.marketplace()).toEqual([]);
  });

  it('DISC-10 one server is a provider of manifests', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const manifests = await new McpDiscoveryProvider('old', new DiscoveryService(gateway)).discover();
    expect(manifests.map(({ id }) => id)).toContain('mcp.old.add');
  });
});
