import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DiscoveryEngine, DiscoveryService, McpDiscoveryProvider, RuntimeMcpDiscovery } from '../../src/index.js';
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
    expect((await engine.getConfig()).toolRules).toHaveLength(1);
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
