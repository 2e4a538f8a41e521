import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { wrapGateway, type Gateway } from '../../src/gateway/index.js';
import { createLineage } from '../../src/protocol/lineage.js';
import { systemClock } from '../../src/kernel/clock.js';
import { openGateway } from '../../src/app/open-gateway.js';
import type { ConfigInput } from '../../src/model/config.js';
import { commandLine } from '../support/command-line.js';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { connectHost, serveOverHttp } from '../support/mcp-host.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

/** A toolscout over a config file that can be rewritten, served over HTTP. */
async function served(
  config: ConfigInput = {},
): Promise<{ gateway: Gateway; url: string; reach(id: string, url: string): Promise<void> }> {
  const path = join(await temporaryDirectory(), 'toolscout.config.json');
  const write = (servers: ConfigInput['servers']): Promise<void> =>
    writeFile(
      path,
      JSON.stringify({ retryPolicy: { maxRetries: 0 }, ...config, servers: { ...config.servers, ...servers } }),
    );
  await write({});
  const gateway = await openGateway({
    config: path,
    stateDir: join(await temporaryDirectory(), 'state'),
    env: { PATH: process.env['PATH'] },
    learnAtStart: false,
  });
  onTestFinished(() => gateway.close({ drainMs: 0 }));
  return {
    gateway,
    url: `${await serveOverHttp(gateway)}/mcp`,
    async reach(id, url) {
      await write({ [id]: { url } });
      await gateway.reload();
    },
  };
}

const problemOf = async (gateway: Gateway, id: string): Promise<string | undefined> =>
  (await gateway.servers.list()).find((view) => view.id === id)?.problem;

describe('toolscout as a server of itself', STARTS_PROCESSES, () => {
  it('CFG-5 CFG-4 a server of the config that starts or reaches toolscout is not used, and says why', async () => {
    const gateway = await openToolscout({
      http: { port: 8123 },
      servers: {
        command: { command: 'npx', args: ['-y', 'toolscout', 'serve', '--stdio'] },
        address: { url: 'http://localhost:8123/servers/other/mcp' },
        other: fixture('legacy'),
        team: { url: 'https://team.example/mcp' },
      },
    });
    expect(await problemOf(gateway, 'command')).toMatch(/starts toolscout itself/);
    expect(await problemOf(gateway, 'address')).toMatch(/address of toolscout itself \(http\.port 8123\)/);
    expect(await problemOf(gateway, 'other')).toBeUndefined();
    expect(await problemOf(gateway, 'team')).toBeUndefined();
    expect(gateway.internal.coverage()).toBe('other, team');
    expect(gateway.internal.loaded().warnings.map(({ path }) => path)).toEqual(['servers.command', 'servers.address']);
  });

  it('CFG-5 SEC-9 it is neither registered nor added', async () => {
    const gateway = await openToolscout({});
    const own = { id: 'me', url: 'http://127.0.0.1:7077/mcp' };
    await expect(gateway.servers.register(own)).rejects.toThrow(/address of toolscout itself/);
    await expect(gateway.servers.add('me', { command: 'toolscout', args: ['serve'] })).rejects.toThrow(
      /starts toolscout itself/,
    );
  });

  it('CFG-5 an address that turns out to be toolscout itself is refused on the wire', async () => {
    const { gateway, url, reach } = await served();
    for (const path of ['/mcp', '/servers/me/mcp']) {
      await reach('me', url.replace('/mcp', path));
      const [outcome] = await gateway.servers.discover(['me']);
      expect(outcome, path).toMatchObject({
        ok: false,
        error: { suggestion: expect.stringMatching(/^Remove the server from the config;/) as string },
      });
      expect(await problemOf(gateway, 'me'), path).toMatch(/"me" is not used: it is this toolscout itself/);
    }
  });
});

describe('toolscout behind toolscout', STARTS_PROCESSES, () => {
  it('CFG-5 another one is a server like any other', async () => {
    const team = await served({ servers: { old: fixture('legacy') }, mode: 'passthrough' });
    await team.gateway.servers.discover();
    const local = await served();
    await local.reach('team', team.url);
    expect(await local.gateway.servers.discover()).toMatchObject([{ ok: true }]);
    expect(textOf(await local.gateway.call('team', 'old__echo', { message: 'hi' }))).toBe('hi');
  });

  it('CFG-5 of two that are servers of each other the second is refused, and the first goes on', async () => {
    const [a, b] = [await served(), await served({ servers: { old: fixture('legacy') }, mode: 'passthrough' })];
    await b.gateway.servers.discover();
    await a.reach('b', b.url);
    expect(await a.gateway.servers.discover(['b'])).toMatchObject([{ ok: true }]);
    await b.reach('a', a.url);
    expect(await b.gateway.servers.discover(['a'])).toMatchObject([{ ok: false }]);
    expect(await problemOf(b.gateway, 'a')).toMatch(/it is a toolscout that has this one as a server/);
    expect(textOf(await a.gateway.call('b', 'old__echo', { message: 'hi' }))).toBe('hi');
  });

  it('CFG-5 one that was started by a toolscout with the same configuration refuses to be its server', async () => {
    const lineage = createLineage({ clock: systemClock, configuration: 'same' });
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const nested: Gateway = wrapGateway(gateway, () => ({
      'internal.lineage': () =>
        createLineage({ clock: systemClock, configuration: 'same', inherited: lineage.variable() }),
    }));
    for (const era of ['legacy', 'modern'] as const) {
      await expect(connectHost(nested, { era, over: 'stdio', name: 'toolscout' }), era).rejects.toThrow(
        era === 'legacy' ? /same configuration/ : /negotiation failed/,
      );
      const host = await connectHost(nested, { era, over: 'stdio', name: 'an-agent' });
      expect((await host.request('tools/list'))['tools'], era).toHaveLength(5);
    }
  });

  it('CFG-5 A32 a child is told who started it, and nothing else', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const env = JSON.parse(textOf(await gateway.call('old', 'env', {}))) as Record<string, string>;
    expect(env['TOOLSCOUT_VIA']).toBe(gateway.internal.lineage().variable());
  });
});

describe('the inventory', STARTS_PROCESSES, () => {
  it('REG-4 CFG-5 leaves toolscout itself out and says so', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, 'tools.yaml');
    await writeFile(
      path,
      'tools:\n  - {id: me, base_url: "http://127.0.0.1:7077"}\n  - {id: far, base_url: "https://far.example"}\n',
    );
    const gateway = await openToolscout({}, { env: { PATH: process.env['PATH'], TOOLS_YAML_PATH: path } });
    const registry = await gateway.registry.get();
    await registry!.refresh([]);
    expect(registry!.problems()).toEqual([expect.objectContaining({ message: '"me" is toolscout itself' })]);
  });
});

describe('the command line', STARTS_PROCESSES, () => {
  it('CFG-5 CLI-1 says of a server that it is toolscout itself', async () => {
    const ran = await commandLine(['servers', '--json'], {
      gateway: () => openToolscout({ servers: { me: { url: 'http://127.0.0.1:7077/mcp' } } }),
    });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      servers: [{ id: 'me', problem: expect.stringContaining('toolscout itself') as string }],
    });
  });
});
