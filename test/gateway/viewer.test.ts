import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { viewerOf, type Gateway, type ToolscoutEvent } from '../../src/gateway/index.js';
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

/** The error text of a failed request. */
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

const idsOf = async (gateway: Gateway): Promise<string[]> => (await gateway.servers.list()).map(({ id }) => id);

describe('a bound viewer', () => {
  it('S12 who is bound within another viewer sees and may do no more than either', async () => {
    const gateway = await open();
    const outer = gateway.as(keyFor('outer', 'own', 'twin'));
    expect(await idsOf(outer)).toEqual(['own', 'twin']);
    expect(await idsOf(outer.as(keyFor('inner', 'twin', 'hidden')))).toEqual(['twin']);
    const everything = outer.as(viewerOf({ name: 'root', scopes: new Set(['admin']) }));
    expect(await idsOf(everything)).toEqual(['own', 'twin']);
    expect(await told(() => everything.call('hidden', 'create_secret', {}))).toBe(
      'SERVER_NOT_FOUND: There is no server "hidden".',
    );
    expect(await told(() => everything.audit.list())).toMatch(/^FORBIDDEN: This operation needs access to all servers/);
    const reader = gateway.as(viewerOf({ name: 'reader', scopes: new Set(['read']) }));
    expect(await reader.as(keyFor('inner', 'own')).why('own', 'create_issue')).toMatchObject({ because: 'scope' });
  });

  it('S12 a verb about all servers refuses in the same words, and a limited viewer cannot close the gateway', async () => {
    const gateway = await open();
    const key = gateway.as(keyFor('some', 'own'));
    const verbs = [
      key.servers.discover,
      key.audit.list,
      key.approvals.approve,
      key.reload,
      key.tools.clearCache,
      key.servers.connect,
      key.servers.signIn,
      key.skills.get,
      key.close,
    ];
    for (const [place, verb] of verbs.entries()) {
      expect(await told(() => (verb as (name: string) => unknown)('own')), `verb ${place}`).toBe(
        'FORBIDDEN: This operation needs access to all servers, but this caller has access to only some of them.',
      );
    }
    expect(await idsOf(key)).toEqual(['own']);
  });

  it('S12 the same words whether a server is hidden or unknown, for every verb that names one', async () => {
    const key = (await open()).as(keyFor('some', 'own'));
    const asks: ReadonlyArray<(server: string) => unknown> = [
      (server) => key.search('x', { server }),
      (server) => key.tools.list(server),
      (server) => key.details(server, 'x'),
      (server) => key.tools.signature(server, 'x'),
      (server) => key.call(server, 'x', {}),
      (server) => key.servers.facts(server),
      (server) => key.hosts.relay(server, 'resources/read', { uri: 'a:b' }),
      (server) => key.hosts.subscribe(server, 'a:b', { onUpdate: () => undefined }),
      (server) => key.servers.discoverTools(server),
      (server) => key.servers.discoverResources(server),
      (server) => key.servers.discoverPrompts(server),
      (server) => key.approvals.list({ server }),
      (server) => key.approvals.diff(server),
      (server) => key.approvals.diff(`${server}:x`),
    ];
    for (const ask of asks) {
      for (const server of ['hidden', 'nowhere']) {
        expect(await told(() => ask(server)), String(ask)).toBe(`SERVER_NOT_FOUND: There is no server "${server}".`);
      }
    }
    expect(key.tools.definition('hidden', 'create_secret')).toBeUndefined();
    expect(key.internal.loaded().servers.map(({ id }) => id)).toEqual(['own']);
    expect([...(await key.internal.knownFacts()).keys()]).toEqual(['own']);
  });

  it('S12 EXEC-5 a viewer who sees a single tool finds, is shown and calls nothing else', async () => {
    const gateway = await open();
    const one: Viewer = {
      ...keyFor('one', 'own'),
      sees: (server, tool) => server === 'own' && (tool === undefined || tool === 'create_issue'),
    };
    const seen = gateway.as(one);
    expect((await seen.search('create close issue')).hits.map(({ tool }) => tool)).toEqual(['create_issue']);
    expect((await seen.tools.list('own')).map(({ name }) => name)).toEqual(['create_issue']);
    expect((await seen.tools.offered()).map(({ name }) => name)).toEqual(['create_issue']);
    expect(seen.tools.definition('own', 'close_issue')).toBeUndefined();
    expect(await seen.why('own', 'close_issue')).toMatchObject({ offered: false, because: 'scope' });
    for (const tool of ['close_issue', 'close_issues']) {
      for (const ask of [
        () => seen.details('own', tool),
        () => seen.tools.signature('own', tool),
        () => seen.call('own', tool, {}),
      ]) {
        expect(await told(ask)).toBe(
          `TOOL_NOT_FOUND: Server "own" has no tool "${tool}". Did you mean "create_issue"?`,
        );
      }
    }
    expect(await gateway.audit.list({ kind: 'execution' })).toMatchObject(
      ['close_issues', 'close_issue'].map((tool) => ({ principal: 'one', tool, outcome: 'refused' })),
    );
  });

  it('EXEC-5 the audit log records every action under its principal', async () => {
    const gateway = await open();
    const ann = gateway.as(viewerOf({ name: 'ann', scopes: new Set(['admin']) }));
    await ann.tools.clearCache();
    await ann.tools.forgetUsage();
    await ann.reload();
    await gateway.reload();
    expect((await gateway.audit.list()).map(({ kind, principal }) => `${kind} ${principal}`)).toEqual([
      'reload local',
      'reload ann',
      'usage-forgotten ann',
      'cache-clear ann',
    ]);
  });

  it('S12 a limited viewer hears only of what it sees', async () => {
    const gateway = await open();
    const heard: ToolscoutEvent[] = [];
    const all: ToolscoutEvent[] = [];
    gateway.as(keyFor('some', 'own')).onEvent((event) => heard.push(event));
    gateway.onEvent((event) => all.push(event));
    for (const server of ['own', 'hidden']) await gateway.servers.connect(server).catch(() => undefined);
    await gateway.reload();
    const servers = (events: readonly ToolscoutEvent[]): Set<unknown> =>
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
    const skill = gateway.as(await gateway.skills.viewer('watch'));
    const { bindings } = (await skill.skills.list())[0]!;
    expect(bindings.map(({ server }) => server).toSorted()).toEqual(['hidden', 'own']);
    const both = skill.as(keyFor('some', 'own', 'twin'));
    expect(await idsOf(skill)).toEqual(['hidden', 'own']);
    expect(await idsOf(both)).toEqual(['own']);
    expect(await told(() => both.tools.list('hidden'))).toBe('SERVER_NOT_FOUND: There is no server "hidden".');
    expect(await told(() => both.tools.list('twin'))).toMatch(/^FORBIDDEN: The skill "watch" may not use "twin"/);
    expect(await told(() => both.call('own', 'close_issue', {}))).toMatch(/^FORBIDDEN: The skill "watch"/);
    expect(await told(() => both.hosts.relay('own', 'resources/read', {}))).toMatch(/^FORBIDDEN: The skill "watch"/);
    expect(await told(() => both.skills.list())).toMatch(/^FORBIDDEN: This operation needs access to all servers/);
    expect(await gateway.audit.list({ kind: 'execution' })).toMatchObject([
      { principal: 'some', skill: 'watch', tool: 'close_issue', outcome: 'refused', code: 'FORBIDDEN' },
    ]);
  });
});
