import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import type { Gateway } from '../../src/gateway/index.js';
import { openGateway } from '../../src/app/open-gateway.js';
import type { ConfigInput } from '../../src/model/config.js';
import { commandLine } from '../support/command-line.js';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { openToolscout, startCounter } from '../support/open-toolscout.js';
import { registryEntry, startRegistry, type TestRegistry } from '../support/registry-server.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const WEATHER = registryEntry({
  name: 'io.test/weather',
  description: 'Forecasts',
  version: '1.0.0',
  packages: [
    {
      registryType: 'npm',
      identifier: '@test/weather',
      version: '1.0.0',
      transport: { type: 'stdio' },
      packageArguments: [{ type: 'named', name: '--units', choices: ['metric', 'imperial'], isRequired: true }],
      environmentVariables: [{ name: 'WEATHER_KEY', isRequired: true, isSecret: true }],
    },
  ],
});
const BUNDLE = registryEntry({
  name: 'io.test/weather-bundle',
  description: 'Forecasts in a bundle',
  version: '1.0.0',
  packages: [{ registryType: 'mcpb', identifier: 'https://x.example/x.mcpb', transport: { type: 'stdio' } }],
});
const remote = (url: string): JsonObject =>
  registryEntry({
    name: 'io.test/weather-remote',
    description: 'Forecasts from afar',
    version: '1.0.0',
    remotes: [{ type: 'streamable-http', url }],
  });

const config = (registry: TestRegistry, more: ConfigInput = {}): ConfigInput => ({
  registry: { url: registry.url },
  ...more,
});

describe('finding servers', STARTS_PROCESSES, () => {
  it('REG-9 SEC-9 a search shows candidates with their exact command, all pending, and starts nothing', async () => {
    const registry = await startRegistry([WEATHER, BUNDLE]);
    const gateway = await openToolscout(config(registry));
    const { servers } = await gateway.registry.search('weather');
    expect(servers).toEqual([
      expect.objectContaining({
        name: 'io.test/weather',
        state: 'pending',
        launch: expect.objectContaining({ ok: true, shown: 'npx -y @test/weather@1.0.0', missing: ['--units'] }),
      }),
      expect.objectContaining({
        name: 'io.test/weather-bundle',
        state: 'pending',
        launch: expect.objectContaining({ ok: false }),
      }),
    ]);
    expect(await gateway.servers.list()).toEqual([]);
  });

  it('REG-9 SEC-9 registry.discover learns what is configured and leaves the rest pending', async () => {
    const counter = await startCounter();
    const registry = await startRegistry([WEATHER, BUNDLE, remote('https://weather.example/mcp')], 10);
    const gateway = await openToolscout(
      config(registry, {
        servers: {
          own: { url: 'https://weather.example/mcp', enabled: false },
          other: fixture('legacy', counter.flag),
        },
      }),
    );
    const found = await gateway.registry.discover('weather');
    expect(found.servers.map(({ name, state, server }) => [name, state, server])).toEqual([
      ['io.test/weather', 'pending', undefined],
      ['io.test/weather-bundle', 'pending', undefined],
      ['io.test/weather-remote', 'configured', 'own'],
    ]);
    // Its own switch still holds, and a server that the registry did not name is not asked.
    expect(found.outcomes).toEqual([]);
    expect(await counter.pids()).toEqual([]);
    // What needs answers of a person cannot be proposed, and says so.
    const weather = found.found.find(({ name }) => name === 'io.test/weather');
    expect(weather).toMatchObject({ state: 'pending', tools: [], reason: expect.stringContaining('needs') as string });
  });

  it('REG-9 SEC-9 registry.discover starts what the user wrote, never what the registry says, and names those that fail', async () => {
    const registry = await startRegistry(
      ['a', 'b'].map((each) =>
        registryEntry({
          name: `io.test/${each}`,
          description: '',
          version: '2.0.0',
          packages: [
            { registryType: 'npm', identifier: `never-there-${each}`, version: '2.0.0', transport: { type: 'stdio' } },
          ],
        }),
      ),
    );
    const gateway = await openToolscout(
      config(registry, {
        // Another version of the same package: what is started is what the user wrote, never what the registry says.
        servers: { mine: { command: 'npx', args: ['-y', 'never-there-a@1.0.0'], connectTimeoutMs: 1 } },
      }),
    );
    const found = await gateway.registry.discover('io.test');
    expect(found.servers.map(({ server }) => server)).toEqual(['mine', undefined]);
    expect(found.outcomes).toEqual([expect.objectContaining({ server: 'mine', ok: false })]);
    // The other is visible where people decide, with its exact command, and was not started.
    expect(await gateway.approvals.list({ state: 'pending' })).toMatchObject([
      { ref: 'b', about: 'launch', origin: 'registry', target: 'npx -y never-there-b@2.0.0' },
    ]);
    expect(found.found.find(({ name }) => name === 'io.test/b')).toMatchObject({
      server: 'b',
      state: 'pending',
      tools: [],
      reason: expect.stringContaining('local program') as string,
    });
    // Asked for again it is still one.
    await gateway.registry.discover('io.test');
    expect((await gateway.servers.list()).map(({ id }) => id)).toEqual(['b', 'mine']);
  });

  it('REG-9 findServersForCapability looks locally first, then in the registry', async () => {
    const registry = await startRegistry([WEATHER, BUNDLE]);
    const gateway = await openToolscout(config(registry, { servers: { old: fixture('legacy') } }));
    await gateway.servers.discover();
    expect(await gateway.registry.serversFor('echo')).toEqual({
      local: [{ server: 'old', tools: ['echo'], declared: false }],
      unlearned: [],
    });
    expect(await gateway.registry.serversFor('old:echo')).toEqual({
      local: [{ server: 'old', tools: ['echo'], declared: false }],
      unlearned: [],
    });
    expect(registry.asked).toEqual([]);
    const far = await gateway.registry.serversFor('weather:read');
    expect(far.local).toEqual([]);
    expect(far.registry?.servers.map(({ name }) => name)).toEqual(['io.test/weather', 'io.test/weather-bundle']);
    registry.misbehave = (_, response) => {
      response.writeHead(500).end();
      return true;
    };
    const broken = await gateway.registry.serversFor('zzz');
    expect(broken.problem).toContain('status 500');
  });

  it('REG-9 NEG-1 a declared capability counts, and so does a server that was never learned', async () => {
    const registry = await startRegistry([WEATHER]);
    const gateway = await openToolscout(
      config(registry, {
        servers: {
          irwin: { command: '/no/such/program', capabilities: ['incident:read'] },
          old: fixture('legacy'),
        },
      }),
    );
    expect(await gateway.registry.serversFor('echo')).toEqual({
      local: [{ server: 'old', tools: ['echo'], declared: false }],
      unlearned: ['irwin'],
    });
    expect(await gateway.registry.serversFor('incident:read')).toMatchObject({
      local: [{ server: 'irwin', tools: [], declared: true }],
    });
    expect(registry.asked).toEqual([]);
  });

  it('PAT-5 REG-9 a disabled tool offers no capability', async () => {
    const registry = await startRegistry([]);
    const gateway = await openToolscout(
      config(registry, { servers: { old: fixture('legacy') }, toolRules: [{ pattern: 'echo', enabled: false }] }),
    );
    await gateway.servers.discover();
    expect(await gateway.registry.serversFor('echo')).toMatchObject({ local: [] });
  });
});

describe('toolscout registry', STARTS_PROCESSES, () => {
  async function place(
    more: ConfigInput = {},
  ): Promise<{ registry: TestRegistry; file: string; open: () => Promise<Gateway> }> {
    const registry = await startRegistry([WEATHER, BUNDLE, remote('https://weather.example/mcp')], 10);
    const folder = await temporaryDirectory();
    const file = join(folder, 'toolscout.config.json');
    const { writeFile } = await import('node:fs/promises');
    await writeFile(file, JSON.stringify(config(registry, more)));
    const open = (): Promise<Gateway> =>
      openGateway({ config: file, stateDir: join(folder, 'state'), learnAtStart: false, cwd: folder, env: {} });
    return { registry, file, open };
  }

  it('CLI-1 REG-9 search and show print candidates and every way with its command', async () => {
    const { open } = await place();
    const search = await commandLine(['registry', 'search', 'weather'], { gateway: open });
    expect(search.code).toBe(0);
    expect(search.stdout).toMatch(/io\.test\/weather .*npm/);
    const json = await commandLine(['registry', 'search', 'weather', '--json'], { gateway: open });
    expect((JSON.parse(json.stdout) as { servers: unknown[] }).servers).toHaveLength(3);
    expect((await commandLine(['registry', 'search', 'zzzz'], { gateway: open })).code).toBe(2);
    const show = await commandLine(['registry', 'show', 'io.test/weather'], { gateway: open });
    expect(show.stdout).toContain('npm: npx -y @test/weather@1.0.0');
    expect(show.stdout).toContain('--units  required; one of metric, imperial');
    expect((await commandLine(['registry', 'show', 'io.test/nothing'], { gateway: open })).code).toBe(2);
    const bundle = await commandLine(['registry', 'show', 'io.test/weather-bundle'], { gateway: open });
    expect(bundle.stdout).toContain('cannot be launched: it is an MCPB bundle without a SHA-256');
  });

  const ADD = ['registry', 'add', 'io.test/weather', '--input', '--units=metric'];

  it('S25 REG-9 add shows the exact command, asks, and writes it only when the answer is yes', async () => {
    const { open, file } = await place();
    const before = await readFile(file, 'utf8');
    const refused = await commandLine(ADD, { gateway: open, confirm: async () => false });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('npx -y @test/weather@1.0.0 --units metric');
    expect((await commandLine(ADD, { gateway: open })).code).toBe(4);
    expect(await readFile(file, 'utf8')).toBe(before);

    const questions: string[] = [];
    const added = await commandLine([...ADD, '--id', 'sky', '--json'], {
      gateway: open,
      confirm: async (question) => questions.push(question) > 0,
    });
    expect(added.code).toBe(0);
    expect(questions).toHaveLength(1);
    const entry = {
      command: 'npx',
      args: ['-y', '@test/weather@1.0.0', '--units', 'metric'],
      env: { WEATHER_KEY: '${WEATHER_KEY}' },
      description: expect.stringMatching(/\S/) as string,
    };
    expect(JSON.parse(added.stdout)).toEqual({
      id: 'sky',
      path: file,
      entry,
      shown: 'npx -y @test/weather@1.0.0 --units metric',
      variables: ['WEATHER_KEY'],
    });
    expect((JSON.parse(await readFile(file, 'utf8')) as ConfigInput).servers).toEqual({ sky: entry });

    const gateway = await open();
    expect(gateway.internal.loaded().warnings.map(({ path }) => path)).toContain('servers.sky');
    expect((await gateway.registry.search('weather')).servers[0]).toMatchObject({ state: 'configured', server: 'sky' });
    expect(await gateway.audit.list({ kind: 'server-add' })).toEqual([
      expect.objectContaining({ server: 'sky', outcome: 'success' }),
    ]);
    await gateway.close();
    const again = await commandLine([...ADD, '--id', 'sky', '--yes'], { gateway: open });
    expect(again.stderr).toContain('There is a server "sky" already');
  });

  it('REG-9 add says what is missing or wrong and writes nothing', async () => {
    const { open, file } = await place();
    const before = await readFile(file, 'utf8');
    const run = async (...args: string[]) => {
      const ran = await commandLine(['registry', 'add', ...args, '--yes'], { gateway: open });
      return `${ran.code} ${ran.stderr}`;
    };
    expect(await run('io.test/weather')).toMatch(/^64 .*--units is needed: --input --units=…/s);
    expect(await run('io.test/weather', '--input', '--units=kelvin')).toMatch(/^64 .*one of metric, imperial/s);
    expect(await run('io.test/weather', '--input', 'nonsense')).toMatch(/^64 .*Write --input KEY=VALUE/s);
    expect(await run('io.test/weather-bundle')).toMatch(/^64 .*cannot be launched/s);
    expect(await run('io.test/weather-remote', '--id', '../x')).toMatch(/^64 .*cannot be an id/s);
    expect(await run('io.test/nothing')).toMatch(/^2 /);
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('A33 REG-9 a secret that is given as a value is refused and appears nowhere', async () => {
    const { open, file } = await place();
    const ran = await commandLine([...ADD, '--input', 'WEATHER_KEY=canary-9d7f31', '--yes', '--json'], {
      gateway: open,
    });
    expect(ran.code).toBe(64);
    expect(ran.stderr + ran.stdout + (await readFile(file, 'utf8'))).not.toContain('canary');
    const named = await commandLine([...ADD, '--input', 'WEATHER_KEY=${MY_KEY}', '--yes'], { gateway: open });
    expect(named.code).toBe(0);
    expect(await readFile(file, 'utf8')).toContain('"WEATHER_KEY": "${MY_KEY}"');
  });
});
