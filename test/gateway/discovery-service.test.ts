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
} from '../../src/index.js';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { openToolscout, startCounter } from '../support/open-toolscout.js';

describe('the engine', () => {
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
      servers: { old: fixture('legacy') },
      toolRules: [
        { pattern: ['*', '!crash'], enabled: true, tags: ['safe'] },
        { pattern: ['/^ec/'], server: 'old', tags: ['talk'] },
      ],
    };
    const engine = new DiscoveryEngine(config);
    onTestFinished(() => engine.close());
    expect(engine.getConfig()).toMatchObject({ enabled: true, cache: { ttl: 60 }, maxParallelDiscoveries: 5 });
    const tools = await engine.listTools('old');
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      server: 'old',
      enabled: true,
      tags: ['safe', 'talk'],
      parameters: [{ name: 'message', type: 'string', required: true }],
    });
    expect(await engine.getToolDetails('old', 'crash')).toMatchObject({ enabled: false });
    expect(await engine.listTools('nobody')).toEqual([]);
    expect(await engine.listServers()).toMatchObject([
      {
        name: 'old',
        description: expect.any(String),
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
    expect(section.getConfig().cache).toEqual({ enabled: false, ttl: 7 });
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
    expect(loaded).toMatchObject({ enabled: true, cache: { ttl: 5 }, toolRules: [] });
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

describe('the service', () => {
  it('DISC-1 DISC-2 asks a server, keeps to the cache only when told to, exports and registers when told to', async () => {
    const starts = await startCounter();
    const directory = join(await temporaryDirectory(), 'out');
    const gateway = await openToolscout({
      servers: { old: { ...fixture('legacy', starts.flag), idleTimeout: 1 } },
    });
    const service = new DiscoveryService(gateway);
    const tools = await service.discoverTools('old');
    expect(tools.map(({ name }) => name)).toContain('add');
    const before = (await starts.pids()).length;
    await service.discoverTools('old', { useCache: true });
    expect((await starts.pids()).length).toBe(before);
    expect(existsSync(directory)).toBe(false);
    expect(await gateway.marketplace()).toEqual([]);
    await service.discoverTools('old', {
      useCache: true,
      exportToRtfs: true,
      exportDirectory: directory,
      registerInMarketplace: true,
    });
    expect(existsSync(join(directory, 'old', 'add.rtfs'))).toBe(true);
    expect((await gateway.marketplace()).map(({ id }) => id)).toContain('mcp.old.add');
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
    expect((await gateway.marketplace()).map(({ id }) => id)).toEqual(['mcp.old.add']);
    expect(await gateway.audit({ kind: 'capability-register' })).toMatchObject([{ server: 'old', tool: 'add' }]);
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
      cachedTools: (await gateway.listTools('one')).length,
      errors: [],
    });
    const all = await service.warmCacheForAllConfiguredServers();
    const known = (await gateway.listTools('one')).length + (await gateway.listTools('two')).length;
    expect(all).toMatchObject({ successful: 2, failed: 1, cachedTools: known });
    expect(all.errors).toMatchObject([
      { server: 'dead', error: expect.stringContaining('/no/such/program') as string },
    ]);
  });

  it('DISC-3 ten servers of which five are asked at once take about two rounds, not ten', async () => {
    const ids = Array.from({ length: 10 }, (_, i) => `slow${i}`);
    const slow = fixture('slow', '--slow-start=2000');
    const gateway = await openToolscout({
      servers: { single: slow, ...Object.fromEntries(ids.map((id) => [id, slow])) },
      maxParallelDiscoveries: 5,
    });
    const service = new DiscoveryService(gateway);
    const timed = async (servers: readonly string[]): Promise<number> => {
      const began = performance.now();
      const outcomes = await service.discoverAll(servers);
      expect(outcomes.every(({ ok }) => ok)).toBe(true);
      return performance.now() - began;
    };
    const one = await timed(['single']);
    // Two rounds and what starting ten programs at once costs; one after the other it would be ten.
    expect(await timed(ids)).toBeLessThan(5 * one);
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

describe('callers that share the service', () => {
  it('DISC-10 a missing capability is looked for at the configured servers first, and nothing is registered', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const service = new DiscoveryService(gateway);
    await service.discoverTools('old');
    expect(await new RuntimeMcpDiscovery(service).resolve('add')).toMatchObject([
      { from: 'configured', server: 'old', tools: ['add'], reason: expect.stringContaining('"old"') as string },
    ]);
    expect(await gateway.marketplace()).toEqual([]);
  });

  it('DISC-10 one server is a provider of manifests', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const manifests = await new McpDiscoveryProvider('old', new DiscoveryService(gateway)).discover();
    expect(manifests.map(({ id }) => id)).toContain('mcp.old.add');
  });
});
