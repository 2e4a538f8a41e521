import { createServer } from 'node:http';
import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Gateway, Registry } from '../../src/gateway/index.js';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture, startListening, temporaryDirectory } from '../support/fixture.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

interface Listed {
  readonly base: string;
  readonly seen: Array<{ url: string; authorization: string | undefined; agent: string | undefined }>;
}

async function listedServer(): Promise<Listed> {
  const seen: Listed['seen'] = [];
  const server = createServer((request, response) => {
    const { authorization, 'user-agent': agent } = request.headers;
    seen.push({ url: request.url ?? '', authorization, agent });
    if (request.url === '/health') return void response.end('{"status":"ok"}');
    if (request.url !== '/.well-known/mcp') return void response.writeHead(404).end();
    response.end(JSON.stringify({ name: 'Listed', version: '3.1', capabilities: { tools: { call: true } } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** Resolves when the connection to a server has come to a state. */
function stateOf(gateway: Gateway, server: string, wanted: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = gateway.onEvent((event) => {
      if (event.type !== 'state' || event.server !== server || event.to !== wanted) return;
      stop();
      resolve();
    });
  });
}

async function openRegistry(config: ConfigInput, inventory?: string, env: Record<string, string> = {}) {
  const cwd = await temporaryDirectory();
  if (inventory !== undefined) await writeFile(join(cwd, 'inventory.yaml'), inventory);
  const variables = { PATH: process.env['PATH'], TOOLS_YAML_PATH: 'inventory.yaml', ...env };
  const gateway = await openToolscout(config, { cwd, env: variables });
  const registry = await gateway.registry.get();
  return { gateway, registry: registry as Registry, cwd };
}

describe('the registry of servers', STARTS_PROCESSES, () => {
  it('REG-1 REG-4 CFG-7 shows what the file lists beside what is configured', async () => {
    const { base, seen } = await listedServer();
    const inventory = `tools:\n  - id: listed\n    base_url: ${base}\n    headers:\n      Authorization: Bearer \${LISTED_TOKEN}\n    tags: [b, a]\n  - nonsense\n`;
    const { gateway, registry } = await openRegistry(
      { servers: { old: { ...fixture('legacy'), tags: ['x'] } } },
      inventory,
      {
        REGISTRY_ALLOWED_HOSTS: '127.0.0.1',
        DISCOVERY_UA: 'my-agent/1',
        LISTED_TOKEN: 'canary-token-1',
      },
    );
    await gateway.servers.discover();
    await registry.refresh();
    const snapshot = registry.snapshot();
    expect(snapshot).toEqual({
      registry_hash: expect.stringMatching(/^sha256-[A-Za-z0-9+/]{43}=$/),
      generated_at: expect.stringMatching(/^\d{4}-.*Z$/),
      items: [
        {
          id: 'listed',
          name: 'Listed',
          version: '3.1',
          base_url: base,
          transport: 'http',
          alive: true,
          latency_ms: expect.any(Number),
          capabilities: ['tools', 'tools.call'],
          tags: ['a', 'b'],
          last_checked_ts: expect.stringMatching(/Z$/),
          failure_reason: null,
          consecutive_failures: 0,
        },
        expect.objectContaining({
          id: 'old',
          base_url: null,
          transport: 'stdio',
          alive: true,
          tags: ['x'],
          failure_reason: null,
        }),
      ],
    });
    expect(snapshot.items[1]!.capabilities.length).toBeGreaterThan(0);
    expect(
      seen.every(({ agent, authorization }) => agent === 'my-agent/1' && authorization === 'Bearer canary-token-1'),
    ).toBe(true);
    expect(JSON.stringify(snapshot)).not.toContain('canary');
    expect(registry.problems()).toEqual([{ path: 'tools[1]', message: expect.any(String) }]);
    await registry.refresh();
    expect(registry.snapshot().registry_hash).toBe(snapshot.registry_hash);
  });

  it('CFG-4 SEC-9 a file that was only found gets no variables of the environment, unless its hosts are named', async () => {
    const { base, seen } = await listedServer();
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, 'tools'));
    const header = 'headers: { Authorization: "Bearer ${SOME_TOKEN}" }';
    const entries = [
      `- { id: header, base_url: ${base}, ${header} }`,
      `- { id: address, base_url: "${base}/\${SOME_TOKEN}" }`,
      `- { id: plain, base_url: ${base} }`,
    ];
    await writeFile(join(cwd, 'tools', 'tools.yaml'), entries.join('\n'));
    const open = async (env: Record<string, string>): Promise<Registry> => {
      const variables = { PATH: process.env['PATH'], SOME_TOKEN: 'canary-token-2', ...env };
      const registry = (await (await openToolscout({}, { cwd, env: variables })).registry.get()) as Registry;
      await registry.refresh();
      return registry;
    };
    const unnamed = await open({});
    expect(unnamed.snapshot().items.map(({ id }) => id)).toEqual(['plain']);
    expect(unnamed.problems().map(({ message }) => message)).toEqual([
      expect.stringContaining('TOOLS_YAML_PATH'),
      expect.stringContaining('TOOLS_YAML_PATH'),
    ]);
    const hosts = await open({ REGISTRY_ALLOWED_HOSTS: '127.0.0.1' });
    expect(hosts.problems()).toEqual([]);
    expect(seen.map(({ authorization }) => authorization)).toContain('Bearer canary-token-2');
    expect((await open({ TOOLS_YAML_PATH: 'tools/tools.yaml' })).problems()).toEqual([]);
  });

  it('A19 REG-6 what a file lists may not lead inside without permission', async () => {
    const { base, seen } = await listedServer();
    const { registry } = await openRegistry({}, `- id: listed\n  base_url: ${base}\n`);
    await registry.refresh();
    expect(registry.snapshot().items).toMatchObject([
      { failure_reason: 'host_not_allowed:127.0.0.1', alive: false, consecutive_failures: 1 },
    ]);
    expect(seen).toEqual([]);
  });

  it('REG-4 REG-5 a configured remote server may be on this machine', async () => {
    const { base } = await listedServer();
    const { registry } = await openRegistry({ servers: { mine: { url: `${base}/mcp` } } });
    await registry.refresh();
    expect(registry.snapshot().items).toMatchObject([
      { id: 'mine', name: 'Listed', alive: true, base_url: `${base}/mcp` },
    ]);
  });

  it('NEG-1 what a server says it offers when it is asked is told once, and again when it changes', async () => {
    let capabilities = ['incident:read'];
    const server = createServer((request, response) => {
      if (request.url === '/health') return void response.end('{"status":"ok"}');
      if (request.url !== '/.well-known/mcp') return void response.writeHead(404).end();
      response.end(JSON.stringify({ name: 'Desk', version: '1', capabilities }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const { gateway, registry } = await openRegistry({ servers: { desk: { url } } });
    const told: string[][] = [];
    gateway.onEvent((event) => event.type === 'probed' && told.push([event.server, ...event.capabilities]));
    await registry.refresh();
    await registry.refresh();
    expect(told).toEqual([['desk', 'incident:read']]);
    capabilities = ['incident:read', 'incident:write'];
    await registry.refresh();
    expect(told.slice(1)).toEqual([['desk', 'incident:read', 'incident:write']]);
  });

  it('REG-4 nothing at all is misconfigured; a server over stdio that was not needed yet is pending', async () => {
    const nothing = await openRegistry({});
    expect(() => nothing.registry.snapshot()).toThrow(expect.objectContaining({ code: 'REGISTRY_UNAVAILABLE' }));
    await nothing.registry.sync();
    expect(() => nothing.registry.snapshot()).toThrow(expect.objectContaining({ code: 'REGISTRY_MISCONFIGURED' }));
    const idle = await openRegistry({ servers: { old: fixture('legacy') } });
    await idle.registry.refresh();
    expect(idle.registry.snapshot().items).toMatchObject([{ id: 'old', alive: false, failure_reason: 'pending' }]);
  });

  it('REG-3 REG-5 a connection that opens is told as a new hash', async () => {
    const { gateway, registry } = await openRegistry({ servers: { old: fixture('legacy') } });
    await registry.refresh();
    const next = (): Promise<string> =>
      new Promise((resolve) => {
        const stop = registry.onChange((hash) => {
          stop();
          resolve(hash);
        });
      });
    const before = registry.snapshot().registry_hash;
    const told = next();
    await gateway.servers.discover();
    await told;
    expect(registry.snapshot({ alive: true }).items.map(({ id }) => id)).toEqual(['old']);
    expect(registry.snapshot().registry_hash).not.toBe(before);
  });

  it('REG-1 REG-3 a local server that answered and was closed for idleness is alive, in this run and in the next', async () => {
    const stateDir = await temporaryDirectory();
    const config: ConfigInput = { servers: { old: { ...fixture('legacy'), idleTimeoutMs: 20 } } };
    const gateway = await openToolscout(config, { stateDir });
    const registry = (await gateway.registry.get())!;
    await registry.refresh();
    expect(registry.snapshot().items).toMatchObject([
      { alive: false, failure_reason: 'pending', last_checked_ts: null, consecutive_failures: 0 },
    ]);
    const closed = stateOf(gateway, 'old', 'disconnected');
    await gateway.servers.discover();
    const open = registry.snapshot();
    expect(open.items).toMatchObject([{ alive: true, failure_reason: null }]);
    await closed;
    const idle = registry.snapshot();
    expect(idle.items).toMatchObject([
      { alive: true, failure_reason: null, version: '1.0.0', last_checked_ts: expect.stringMatching(/Z$/) },
    ]);
    expect(idle.items[0]!.last_checked_ts! >= open.items[0]!.last_checked_ts!).toBe(true);
    // Whether a process happens to run right now is no part of the inventory.
    expect(idle.registry_hash).toBe(open.registry_hash);
    await gateway.close();

    const again = await openToolscout(config, { stateDir });
    const next = (await again.registry.get())!;
    await next.refresh();
    expect((await again.servers.list())[0]!.health.state).toBe('disconnected');
    expect(next.snapshot()).toMatchObject({
      registry_hash: open.registry_hash,
      items: [{ alive: true, failure_reason: null, last_checked_ts: expect.stringMatching(/Z$/) }],
    });
  });

  it('REG-1 REG-6 a local server that cannot be started is not alive, and counts as failed', async () => {
    const { gateway, registry } = await openRegistry({ servers: { absent: { command: '/no/such/program' } } });
    await gateway.servers.discover();
    await registry.refresh();
    expect(registry.snapshot().items).toMatchObject([
      { alive: false, failure_reason: 'health_error:connection', consecutive_failures: 1 },
    ]);
  });

  it('REG-5 a remote server whose connection was closed is as alive as its /health says', async () => {
    const { url, stop } = await startListening('http', [], 'mcp');
    const { gateway, registry } = await openRegistry({ servers: { far: { url, idleTimeoutMs: 500 } } });
    await registry.sync();
    const closed = stateOf(gateway, 'far', 'disconnected');
    await gateway.servers.discover();
    expect(registry.snapshot().items).toMatchObject([{ alive: true }]);
    await closed;
    await stop();
    await registry.refresh();
    expect(registry.snapshot().items).toMatchObject([{ alive: false, failure_reason: 'well_known_error:refused' }]);
  });

  it('REG-4 SEC-9 a server is in the snapshot as soon as it is approved, and out of it as soon as it is not', async () => {
    const [project, home] = await Promise.all([1, 2].map(() => temporaryDirectory()));
    await writeFile(join(project!, '.mcp.json'), JSON.stringify({ mcpServers: { shared: fixture('legacy') } }));
    const gateway = await openToolscout(
      { sources: ['claude-code'], servers: { old: fixture('legacy') } },
      { cwd: project!, env: { PATH: process.env['PATH'], HOME: home! } },
    );
    const registry = (await gateway.registry.get())!;
    await registry.sync();
    const ids = (): string[] => registry.snapshot().items.map(({ id }) => id);
    expect(ids()).toEqual(['old']);
    await gateway.approvals.approve('shared');
    await vi.waitFor(() => expect(ids()).toEqual(['old', 'shared']));
    await gateway.approvals.reject('shared');
    await vi.waitFor(() => expect(ids()).toEqual(['old']));
  });
});
