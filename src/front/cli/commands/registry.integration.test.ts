import { describe, expect, it } from 'vitest';
import { commandLine, type Ran } from '../../../../test/support/command-line.js';
import { fixture } from '../../../../test/support/fixture.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { registryEntry, startRegistry, type TestRegistry } from '../../../../test/support/registry-server.js';
import type { Gateway } from '../../../gateway/index.js';
import type { ConfigInput } from '../../../model/config.js';

const REMOTE = {
  type: 'streamable-http',
  url: 'https://weather.example/mcp',
  headers: [{ name: 'X-Units', description: 'Units of the answers.', default: 'metric' }],
};
const WEATHER = { name: 'io.test/weather', description: 'Forecasts', version: '1.0.0', remotes: [REMOTE] };
const NOWHERE = { name: 'io.test/nowhere', description: 'Names no place', version: '2.0.0' };

/** A gateway over a registry, the same for all commands of a test. */
async function over(registry: TestRegistry, config: ConfigInput = {}): Promise<(...args: string[]) => Promise<Ran>> {
  const gateway = (): Promise<Gateway> => openToolscout({ registry: { url: registry.url, maxPages: 1 }, ...config });
  return (...args) => commandLine(['registry', ...args], { gateway });
}

describe('toolscout registry', STARTS_PROCESSES, () => {
  it('REG-9 search names what is deprecated, what cannot be launched, and that there is more', async () => {
    const more = registryEntry({ ...WEATHER, name: 'io.test/third' });
    const entries = [registryEntry(WEATHER, { status: 'deprecated' }), registryEntry(NOWHERE), more];
    const run = await over(await startRegistry(entries, 2));
    const ran = await run('search', 'io.test');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/io\.test\/weather .*deprecated/);
    expect(ran.stdout).toMatch(/io\.test\/nowhere .*no launch/);
    expect(ran.stderr).toContain('There is more; search for something narrower.');
  });

  it('REG-9 search says that nothing was found, and ends with 2', async () => {
    const run = await over(await startRegistry([]));
    expect(await run('search', 'zzz')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('no server for "zzz"') as string,
    });
  });

  it('REG-9 search answers from memory while the registry is down, and says so', async () => {
    const registry = await startRegistry([registryEntry(WEATHER)]);
    const shared = await openToolscout({ registry: { url: registry.url } });
    // One gateway for both searches: what is remembered is in its store.
    const open = { ...shared, close: async () => undefined } as Gateway;
    expect((await commandLine(['registry', 'search', 'weather'], { gateway: open })).code).toBe(0);
    registry.misbehave = (_, response) => {
      response.writeHead(500).end('{}');
      return true;
    };
    const ran = await commandLine(['registry', 'search', 'weather', '--fresh'], { gateway: open });
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('io.test/weather') as string });
    expect(ran.stderr).toContain('Remembered from earlier');
  });

  it('REG-9 S25 show prints headers and inputs of a remote server, that it is deprecated or configured', async () => {
    const entries = [registryEntry(WEATHER, { status: 'deprecated' }), registryEntry(NOWHERE)];
    const registry = await startRegistry(entries, 10);
    const run = await over(registry, { servers: { sky: { url: REMOTE.url, enabled: false } } });
    const shown = await run('show', 'io.test/weather');
    expect(shown.stdout).toContain('It is deprecated.');
    expect(shown.stdout).toContain('streamable-http: https://weather.example/mcp');
    expect(shown.stdout).toMatch(/X-Units: metric/);
    expect(shown.stdout).toMatch(/asks for:\n.*optional; default metric; Units of the answers\./);
    expect(shown.stdout).toContain('It is configured as "sky".');
    expect((await run('show', 'io.test/nowhere')).stdout).toContain('This registry entry has no package and no URL.');
    expect(JSON.parse((await run('show', 'io.test/weather', '--json')).stdout)).toMatchObject({
      candidate: { name: 'io.test/weather', server: 'sky' },
    });
  });

  it('SEC-9 A36 introspect refuses a program of this machine and an address of its own network', async () => {
    const gateway = await openToolscout({});
    await gateway.servers.register({ id: 'found', ...fixture('legacy') });
    const local = await commandLine(['registry', 'introspect', 'found'], { gateway });
    expect(local).toMatchObject({ code: 4, stdout: '' });
    const run = await over(await startRegistry([]));
    expect((await run('introspect', 'http://127.0.0.1:9/mcp', '--id', 'x')).code).not.toBe(0);
  });

  it('SEC-9 introspect prints the tools, the risk and where to review; remove takes the server away', async () => {
    const gateway = await openToolscout({});
    const approval = await gateway.servers.register({ id: 'found', url: 'https://mcp.example/mcp' });
    const candidate = {
      approval,
      tools: ['read\u001b[2J'],
      dropped: 2,
      review: { directory: '/review', files: [] },
      problem: 'no room',
    };
    // The network of this test is closed: what the server would have answered is handed in at the port.
    const open = {
      ...gateway,
      close: async () => undefined,
      servers: { ...gateway.servers, introspect: async () => candidate },
    } as unknown as Gateway;
    const ran = await commandLine(['registry', 'introspect', 'https://mcp.example/mcp'], { gateway: open });
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('found: 1 tool, 2 malformed dropped\n  read\\u001b[2J\npending, risk ');
    expect(ran.stdout).toContain('Review: /review');
    expect(ran.stderr).toContain('No files to review: no room');
    expect(ran.stderr).toContain('toolscout approve found');
    const json = await commandLine(['registry', 'introspect', 'https://mcp.example/mcp', '--json'], { gateway: open });
    expect(JSON.parse(json.stdout)).toMatchObject({ dropped: 2 });

    expect(await commandLine(['registry', 'remove', 'found'], { gateway: open })).toMatchObject({
      code: 0,
      stdout: 'Removed "found".\n',
    });
    expect((await commandLine(['registry', 'remove', 'found'], { gateway: open })).code).toBe(2);
    await gateway.servers.register({ id: 'other', url: 'https://mcp.example/mcp' });
    expect((await commandLine(['registry', 'remove', 'other', '--json'], { gateway: open })).stdout).toBe(
      '{"server":"other","removed":true}\n',
    );
  });
});
