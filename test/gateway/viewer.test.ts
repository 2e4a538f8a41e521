import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { viewerOf, type Gateway, type GatewayEvent } from '../../src/gateway/index.js';
import type { CallResult } from '../../src/model/call.js';
import type { Viewer } from '../../src/model/viewer.js';
import { temporaryDirectory } from '../support/fixture.js';
import { openOfflineGateway, type RecordedServer } from '../support/offline-gateway.js';

const named = (...names: string[]): RecordedServer['tools'] =>
  names.map((name) => ({ name, description: 'Does it.', inputSchema: { type: 'object' } }));
const SERVERS: readonly RecordedServer[] = [
  { id: 'own', tools: named('create_issue', 'close_issue') },
  { id: 'twin', tools: named('create_note') },
  { id: 'hidden', tools: named('create_secret') },
];

const keyFor = (name: string, ...servers: string[]): Viewer =>
  viewerOf({ name, scopes: new Set(['call']), servers: new Set(servers) });

async function open(config = {}): Promise<Gateway> {
  const { gateway } = await openOfflineGateway(SERVERS, config);
  onTestFinished(() => gateway.close({ drainMs: 0 }));
  return gateway;
}

/** What somebody is told whose question fails. */
async function told(work: () => unknown): Promise<string> {
  const failure = await Promise.resolve()
    .then(work)
    .then(
      (answer) => (answer as CallResult).error,
      (thrown: unknown) => thrown,
    );
  const { code, message } = failure as { code: string; message: string };
  return `${code}: ${message}`;
}

const idsOf = async (gateway: Gateway): Promise<string[]> => (await gateway.listServers()).map(({ id }) => id);

describe('a bound viewer', () => {
  it('S12 who is bound within another viewer sees and may do no more than either', async () => {
    const gateway = await open();
    const outer = gateway.as(keyFor('outer', 'own', 'twin'));
    expect(await idsOf(outer)).toEqual(['own', 'twin']);
    expect(await idsOf(outer.as(keyFor('inner', 'twin', 'hidden')))).toEqual(['twin']);
    const everything = outer.as(viewerOf({ name: 'root', scopes: new Set(['admin']) }));
    expect(await idsOf(everything)).toEqual(['own', 'twin']);
    expect(await told(() => everything.executeTool('hidden', 'create_secret', {}))).toBe(
      'SERVER_NOT_FOUND: There is no server "hidden".',
    );
    expect(await told(() => everything.audit())).toMatch(/^FORBIDDEN: This is about all servers/);
    const reader = gateway.as(viewerOf({ name: 'reader', scopes: new Set(['read']) }));
    expect(await reader.as(keyFor('inner', 'own')).why('own', 'create_issue')).toMatchObject({ because: 'scope' });
  });

  it('S12 a verb about all servers refuses in the same words, and nobody limited closes the gateway', async () => {
    const gateway = await open();
    const key = gateway.as(keyFor('some', 'own'));
    const verbs = [
      'discover',
      'audit',
      'approve',
      'reload',
      'clearCache',
      'connect',
      'signIn',
      'skill',
      'close',
    ] as const;
    for (const verb of verbs) {
      expect(await told(() => (key[verb] as (name: string) => unknown)('own')), verb).toBe(
        'FORBIDDEN: This is about all servers, and this caller may see only some of them.',
      );
    }
    expect(await idsOf(key)).toEqual(['own']);
  });

  it('S12 the same words whether a server is hidden or is none, for every verb that names one', async () => {
    const key = (await open()).as(keyFor('some', 'own'));
    const asks: ReadonlyArray<(server: string) => unknown> = [
      (server) => key.searchTools('x', { server }),
      (server) => key.listTools(server),
      (server) => key.toolDetails(server, 'x'),
      (server) => key.toolSignature(server, 'x'),
      (server) => key.executeTool(server, 'x', {}),
      (server) => key.serverFacts(server),
      (server) => key.relay(server, 'resources/read', { uri: 'a:b' }),
      (server) => key.subscribe(server, 'a:b', { onUpdate: () => undefined }),
      (server) => key.discoverTools(server),
      (server) => key.discoverResources(server),
      (server) => key.discoverPrompts(server),
      (server) => key.listApprovals({ server }),
      (server) => key.diffApproval(server),
      (server) => key.diffApproval(`${server}:x`),
    ];
    for (const ask of asks) {
      for (const server of ['hidden', 'nowhere']) {
        expect(await told(() => ask(server)), String(ask)).toBe(`SERVER_NOT_FOUND: There is no server "${server}".`);
      }
    }
    expect(key.definitionOf('hidden', 'create_secret')).toBeUndefined();
    expect(key.config().servers.map(({ id }) => id)).toEqual(['own']);
    expect([...(await key.knownFacts()).keys()]).toEqual(['own']);
  });

  it('S12 EXEC-5 a viewer who sees a single tool finds, is shown and calls nothing else', async () => {
    const gateway = await open();
    const one: Viewer = {
      ...keyFor('one', 'own'),
      sees: (server, tool) => server === 'own' && (tool === undefined || tool === 'create_issue'),
    };
    const seen = gateway.as(one);
    expect((await seen.searchTools('create close issue')).hits.map(({ tool }) => tool)).toEqual(['create_issue']);
    expect((await seen.listTools('own')).map(({ name }) => name)).toEqual(['create_issue']);
    expect((await seen.offeredTools()).map(({ name }) => name)).toEqual(['create_issue']);
    expect(seen.definitionOf('own', 'close_issue')).toBeUndefined();
    expect(await seen.why('own', 'close_issue')).toMatchObject({ offered: false, because: 'scope' });
    for (const tool of ['close_issue', 'close_issues']) {
      for (const ask of [
        () => seen.toolDetails('own', tool),
        () => seen.toolSignature('own', tool),
        () => seen.executeTool('own', tool, {}),
      ]) {
        expect(await told(ask)).toBe(
          `TOOL_NOT_FOUND: Server "own" has no tool "${tool}". Did you mean "create_issue"?`,
        );
      }
    }
    expect(await gateway.audit({ kind: 'execution' })).toMatchObject(
      ['close_issues', 'close_issue'].map((tool) => ({ principal: 'one', tool, outcome: 'refused' })),
    );
  });

  it('EXEC-5 what somebody does stands under their name in the audit log', async () => {
    const gateway = await open();
    const ann = gateway.as(viewerOf({ name: 'ann', scopes: new Set(['admin']) }));
    await ann.clearCache();
    await ann.forgetUsage();
    await ann.reload();
    await gateway.reload();
    expect((await gateway.audit()).map(({ kind, principal }) => `${kind} ${principal}`)).toEqual([
      'reload local',
      'reload ann',
      'usage-forgotten ann',
      'cache-clear ann',
    ]);
  });

  it('S12 a limited viewer hears only of what it sees', async () => {
    const gateway = await open();
    const heard: GatewayEvent[] = [];
    const all: GatewayEvent[] = [];
    gateway.as(keyFor('some', 'own')).onEvent((event) => heard.push(event));
    gateway.onEvent((event) => all.push(event));
    for (const server of ['own', 'hidden']) await gateway.connect(server).catch(() => undefined);
    await gateway.reload();
    const servers = (events: readonly GatewayEvent[]): Set<unknown> =>
      new Set(events.map((event) => ('server' in event ? event.server : event.type)));
    expect(servers(all)).toEqual(new Set(['own', 'hidden', 'reloaded']));
    expect(servers(heard)).toEqual(new Set(['own']));
  });

  it('NEG-5 S12 a skill that a limited key uses sees what both may see', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'watch'));
    await writeFile(
      join(directory, 'watch', 'skill.md'),
      '# Watch\n\n## Capabilities\n\n- `own:create_issue`\n- `hidden:create_secret`\n',
    );
    const gateway = await open({ skills: { directories: [directory] } });
    await gateway.ready();
    const skill = gateway.as(await gateway.skillViewer('watch'));
    const { bindings } = (await skill.listSkills())[0]!;
    expect(bindings.map(({ server }) => server).toSorted()).toEqual(['hidden', 'own']);
    const both = skill.as(keyFor('some', 'own', 'twin'));
    expect(await idsOf(skill)).toEqual(['hidden', 'own']);
    expect(await idsOf(both)).toEqual(['own']);
    expect(await told(() => both.listTools('hidden'))).toBe('SERVER_NOT_FOUND: There is no server "hidden".');
    expect(await told(() => both.listTools('twin'))).toMatch(/^FORBIDDEN: The skill "watch" may not use "twin"/);
    expect(await told(() => both.executeTool('own', 'close_issue', {}))).toMatch(/^FORBIDDEN: The skill "watch"/);
    expect(await told(() => both.relay('own', 'resources/read', {}))).toMatch(/^FORBIDDEN: The skill "watch"/);
    expect(await told(() => both.listSkills())).toMatch(/^FORBIDDEN: This is about all servers/);
    expect(await gateway.audit({ kind: 'execution' })).toMatchObject([
      { principal: 'some', skill: 'watch', tool: 'close_issue', outcome: 'refused', code: 'FORBIDDEN' },
    ]);
  });
});
