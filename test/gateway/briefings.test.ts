import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { commandLine } from '../support/command-line.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { connectHost, type TestHost } from '../support/mcp-host.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const URI = 'toolscout:skill/fire-watch';
const irwin = { ...fixture('capable', '--tools=get_incident'), capabilities: ['incident:read'] };

interface Setup {
  readonly gateway: Gateway;
  write(id: string, ...capabilities: string[]): Promise<void>;
}

/** A gateway with the skill `fire-watch`, which is ready; what is written to its folder is noticed. */
async function setUp(): Promise<Setup> {
  const directory = await temporaryDirectory();
  const write = async (id: string, ...capabilities: string[]): Promise<void> => {
    await mkdir(join(directory, id), { recursive: true });
    const list = capabilities.map((name) => `- \`${name}\``).join('\n');
    await writeFile(join(directory, id, 'skill.md'), `# Fire watch\n\n## Capabilities\n\n${list}\n`);
  };
  await write('fire-watch', 'incident:read');
  const gateway = await openToolscout(
    { servers: { irwin }, skills: { directories: [directory] } },
    { learnAtStart: true, watch: true },
  );
  expect(await gateway.skills.bind('fire-watch')).toMatchObject({ state: 'READY' });
  return { gateway, write };
}

/** Makes the skill degraded, and waits until the gateway has told of it. */
async function degrade({ gateway, write }: Setup): Promise<void> {
  await write('fire-watch', 'incident:read', 'weather:read');
  await waitUntil(async () => (await gateway.skills.list())[0]?.briefing?.type === 'SKILL_DEGRADED', {
    what: 'the briefing',
    timeoutMs: 20_000,
  });
}

const messages = ({ told }: TestHost): JsonObject[] =>
  told.filter(({ method }) => method === 'notifications/message').map(({ params }) => params);

const heard = (host: TestHost, what = 'a log message'): Promise<void> =>
  waitUntil(() => messages(host).length > 0, { what, timeoutMs: 20_000 });

const degraded = {
  level: 'warning',
  logger: 'toolscout',
  data: {
    type: 'SKILL_DEGRADED',
    skill_id: 'fire-watch',
    content: { degradation_notice: 'Without: weather:read.' },
  },
};

describe('briefings over MCP', STARTS_PROCESSES, () => {
  for (const over of ['stdio', 'http'] as const) {
    it(`NEG-4 a 2025-era host over ${over} gets each briefing once, as a log message; a later host gets what is wrong now`, async () => {
      const setup = await setUp();
      const host = await connectHost(setup.gateway, { era: 'legacy', over });
      await degrade(setup);
      await heard(host);
      expect(messages(host)).toMatchObject([degraded]);
      const late = await connectHost(setup.gateway, { era: 'legacy', over });
      await heard(late, 'the last briefing');
      expect(messages(late)).toMatchObject([degraded]);
      await setup.write('fire-watch', 'incident:read');
      await waitUntil(() => messages(host).length > 1 && messages(late).length > 1, { timeoutMs: 20_000 });
      expect(messages(host)[1]).toMatchObject({ level: 'info', data: { type: 'SKILL_READY' } });
      expect(messages(late)[1]).toEqual(messages(host)[1]);
    });

    it(`NEG-4 a 2026-era host over ${over} gets briefings with a request that names a log level, and with no other`, async () => {
      const setup = await setUp();
      const host = await connectHost(setup.gateway, { era: 'modern', over, capabilities: {} });
      const list = (level?: string): Promise<JsonObject> =>
        host.request('tools/list', level === undefined ? {} : { _meta: { [LOG_LEVEL]: level } });
      await list('info');
      await degrade(setup);
      await list();
      expect(messages(host)).toEqual([]);
      // The first request has the feed read what was told before; it may be answered sooner than that.
      await waitUntil(
        async () => {
          await list('info');
          return messages(host).length > 0;
        },
        { what: 'a log message', timeoutMs: 20_000 },
      );
      await list('info');
      expect(messages(host)).toMatchObject([degraded]);
      await setup.write('fire-watch', 'incident:read');
      await waitUntil(async () => (await setup.gateway.skills.list())[0]?.briefing?.type === 'SKILL_READY', {
        timeoutMs: 20_000,
      });
      await list('error');
      expect(messages(host)).toHaveLength(1);
    });

    for (const mode of over === 'stdio' ? (['meta', 'passthrough', 'hybrid'] as const) : (['meta'] as const)) {
      it(`NEG-4 META-7 in mode ${mode} over ${over} a skill is a resource with its state and its last briefing, and can be watched`, async () => {
        const setup = await setUp();
        const host = await connectHost(setup.gateway, { era: 'legacy', over }, { mode });
        const read = async (): Promise<JsonObject> => {
          const { contents } = await host.request('resources/read', { uri: URI });
          const [content] = contents as unknown as Array<{ uri: string; mimeType: string; text: string }>;
          expect(content).toMatchObject({ uri: URI, mimeType: 'application/json' });
          return JSON.parse(content!.text) as JsonObject;
        };
        const { resources } = await host.request('resources/list', {});
        expect(resources).toContainEqual(expect.objectContaining({ uri: URI, name: 'skill fire-watch' }));
        const { resourceTemplates } = await host.request('resources/templates/list', {});
        expect(resourceTemplates).toContainEqual(expect.objectContaining({ uriTemplate: 'toolscout:skill/{id}' }));
        expect(await read()).toMatchObject({ state: 'READY', briefing: null, capabilities: ['incident:read'] });
        await host.request('resources/subscribe', { uri: URI });
        await degrade(setup);
        await waitUntil(() => host.told.some(({ method }) => method === 'notifications/resources/updated'), {
          what: 'the update',
          timeoutMs: 20_000,
        });
        expect(host.told.find(({ method }) => method === 'notifications/resources/updated')?.params).toEqual({
          uri: URI,
        });
        expect(await read()).toMatchObject({
          state: 'DEGRADED',
          missing: [{ capability: 'weather:read' }],
          briefing: degraded.data,
        });
        await setup.write('second', 'incident:read');
        await waitUntil(() => host.told.some(({ method }) => method === 'notifications/resources/list_changed'), {
          what: 'the changed list',
          timeoutMs: 20_000,
        });
        await expect(host.request('resources/read', { uri: 'toolscout:skill/%zz' })).rejects.toThrow('not found');
      });
    }

    it(`NEG-4 a 2026-era host over ${over} that listens hears of the resource`, async () => {
      const setup = await setUp();
      const host = await connectHost(setup.gateway, { era: 'modern', over, capabilities: {} });
      const listening = await host.client.listen({ resourceSubscriptions: [URI] });
      await degrade(setup);
      await waitUntil(() => host.told.some(({ method }) => method === 'notifications/resources/updated'), {
        what: 'the update',
        timeoutMs: 20_000,
      });
      await listening.close();
      const { contents } = await host.request('resources/read', { uri: URI });
      expect(JSON.stringify(contents)).toContain('SKILL_DEGRADED');
    });
  }

  it('NEG-4 a host that set a log level gets nothing below it', async () => {
    const setup = await setUp();
    const host = await connectHost(setup.gateway, { era: 'legacy', over: 'stdio' });
    await host.request('logging/setLevel', { level: 'error' });
    await degrade(setup);
    await setup.write('fire-watch', 'weather:read');
    await heard(host);
    expect(messages(host)).toMatchObject([{ level: 'error', data: { type: 'SKILL_UNAVAILABLE' } }]);
  });

  it('NEG-5 a host that is a skill sees its own skill and hears of no other', async () => {
    const setup = await setUp();
    await setup.write('other', 'nothing:here');
    await waitUntil(async () => (await setup.gateway.skills.list()).length === 2, { timeoutMs: 20_000 });
    const scoped = setup.gateway.as(await setup.gateway.skills.viewer('fire-watch'));
    const host = await connectHost(scoped, { era: 'legacy', over: 'stdio' });
    const { resources } = await host.request('resources/list', {});
    const uris = (resources as unknown as Array<{ uri: string }>).map(({ uri }) => uri);
    expect(uris.filter((uri) => uri.startsWith('toolscout:skill/'))).toEqual([URI]);
    await degrade(setup);
    await heard(host);
    expect(messages(host)).toMatchObject([degraded]);
  });

  it('NEG-4 without skills nothing of it is offered', async () => {
    const gateway = await openToolscout({ servers: { irwin } });
    const host = await connectHost(gateway, { era: 'legacy', over: 'stdio' });
    expect(host.client.getServerCapabilities()?.resources).toEqual({});
    expect(JSON.stringify(await host.request('resources/templates/list', {}))).not.toContain('toolscout:skill');
    await expect(host.request('resources/read', { uri: URI })).rejects.toThrow('not found');
  });

  it('NEG-4 the command line marks only what works as bound', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'fire-watch'));
    await writeFile(join(directory, 'fire-watch', 'skill.md'), '# Fire\n\n## Capabilities\n\n- `incident:read`\n');
    const gateway = await openToolscout({
      servers: { irwin: { command: 'no-such-command-here', capabilities: ['incident:read'] } },
      skills: { directories: [directory] },
    });
    const checked = await commandLine(['skills', 'check', 'fire-watch'], { gateway });
    expect(checked.code).toBe(3);
    expect(checked.stdout).toContain('UNAVAILABLE');
    expect(checked.stdout).not.toContain('✓');
    expect(checked.stdout).toContain('The command "no-such-command-here" was not found');
  });
});
