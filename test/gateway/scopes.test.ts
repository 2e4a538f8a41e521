import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it, onTestFinished } from 'vitest';
import { viewerOf, type Gateway } from '../../src/gateway/index.js';
import type { CallResult } from '../../src/model/call.js';
import type { Viewer } from '../../src/model/viewer.js';
import { commandLine } from '../support/command-line.js';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { openOfflineGateway, type RecordedServer } from '../support/offline-gateway.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const keyFor = (...servers: string[]): Viewer =>
  viewerOf({ name: 'some', scopes: new Set(['call']), servers: new Set(servers) });

/** The gateway as a skill sees it that declared one capability. */
async function asSkill(open: (directory: string) => Promise<Gateway>, capability: string): Promise<Gateway> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'watch'));
  await writeFile(join(directory, 'watch', 'skill.md'), `# Watch\n\n## Capabilities\n\n- \`${capability}\`\n`);
  const gateway = await open(directory);
  return gateway.as(await gateway.skills.viewer('watch'));
}

describe('the coverage line of those who see only some servers', STARTS_PROCESSES, () => {
  const command = 'never-started';

  it('META-8 S12 a restricted key is told the domains of the servers it may see and use, and no others', async () => {
    const gateway = await openToolscout({
      servers: {
        'gh-mcp-server': { command },
        'github-enterprise': { command },
        'slack-bot': { command },
        notion: { command },
        off: { command, enabled: false },
        incomplete: { command, env: { KEY: '${NOT_SET}' } },
      },
    });
    const seen = gateway.as(keyFor('gh-mcp-server', 'github-enterprise', 'slack-bot', 'off', 'incomplete'));
    expect(seen.internal.coverage()).toBe('github, slack');
    expect(gateway.internal.coverage()).toBe('github, notion, slack');
  });

  it('META-8 a restricted key and a skill are told no more than 60 tokens, in whole names', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `${'qwertzuiop'[index % 10]}${index}`);
    const servers = Object.fromEntries(ids.map((id) => [id, { command, capabilities: ['a:b'] }]));
    const key = (await openToolscout({ servers })).as(keyFor(...ids.slice(1)));
    const skill = await asSkill((directory) => openToolscout({ servers, skills: { directories: [directory] } }), 'a:b');
    for (const { internal } of [key, skill]) {
      const line = internal.coverage();
      expect(countTokens(line), line).toBeLessThanOrEqual(60);
      for (const name of line.replace(/ and \d+ more$/, '').split(', ')) expect(ids).toContain(name);
    }
    expect(key.internal.coverage()).toContain('more');
  });
});

describe('the nearest names for those who see only some servers', STARTS_PROCESSES, () => {
  const named = (...names: string[]): { name: string; description: string; inputSchema: object }[] =>
    names.map((name) => ({ name, description: 'Does it.', inputSchema: { type: 'object' } }));
  const crowd = Array.from({ length: 5 }, (_, index) => ({ id: `crowd${index}`, tools: named('creat_issue') }));
  const servers = [...crowd, { id: 'own', tools: named('create_issue', 'list_labels') }] as RecordedServer[];

  it('FIND-5 S12 they are of the servers a key may see, though others look more alike', async () => {
    const { gateway } = await openOfflineGateway(servers);
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    expect((await gateway.search('creatissu')).nearest.every((each) => each.startsWith('crowd'))).toBe(true);
    const seen = gateway.as(keyFor('own'));
    expect((await seen.search('creatissu')).nearest[0]).toBe('own:create_issue');
    expect((await gateway.search('creatissu', { server: 'own' })).nearest[0]).toBe('own:create_issue');
    expect((await gateway.search('creatissu', { tags: ['none'] })).nearest).toEqual([]);
  });

  it('META-4 S12 a restricted key is named the closest of what it may see: tools and servers, and nothing of the others', async () => {
    const twin = { id: 'own-twin', tools: named('close_issue') } as RecordedServer;
    const { gateway } = await openOfflineGateway([...servers, twin]);
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    const seen = gateway.as(keyFor('own', 'own-twin'));
    const told = async (work: Promise<unknown>): Promise<string> => {
      const thrown: unknown = await work.then(
        (answer) => (answer as CallResult).error,
        (error: unknown) => error,
      );
      return (thrown as Error).message;
    };
    const streamed = async (tool: string): Promise<CallResult> => {
      for await (const event of seen.stream('own', tool, {})) if (event.type === 'result') return event.result;
      throw new Error('There was no result.');
    };
    for (const ask of [
      (tool: string) => seen.details('own', tool),
      (tool: string) => seen.tools.signature('own', tool),
      (tool: string) => seen.call('own', tool, {}),
      streamed,
    ]) {
      expect(await told(ask('creat_isue'))).toBe('Server "own" has no tool "creat_isue". Did you mean "create_issue"?');
      expect(await told(ask('clos_issue'))).toContain('"own-twin:close_issue"');
      expect(await told(ask('zzzzzz'))).toBe('Server "own" has no tool "zzzzzz".');
    }
    for (const ask of [
      (server: string) => seen.tools.list(server),
      (server: string) => seen.details(server, 'x'),
      (server: string) => seen.call(server, 'x', {}),
      (server: string) => seen.hosts.relay(server, 'resources/read', {}),
    ]) {
      expect(await told(ask('own-twn'))).toBe('There is no server "own-twn". Did you mean "own" or "own-twin"?');
      // A hidden server and an unknown one get the same error.
      for (const hidden of ['crowd1', 'crowd']) {
        expect(await told(ask(hidden))).toBe(`There is no server "${hidden}".`);
      }
    }
    // Who may see everything is named everything.
    expect(await told(gateway.call('own', 'creat_isu', {}))).toContain('crowd');
  });

  it('META-4 NEG-5 a skill is named nothing that it is not bound to', async () => {
    const capable = (...tools: string[]) => fixture('capable', `--tools=${tools.join(',')}`);
    const skill = await asSkill(async (directory) => {
      const gateway = await openToolscout({
        servers: {
          own: { ...capable('get_incident', 'delete_incident'), capabilities: ['incident:read'] },
          other: capable('get_incidents'),
        },
        skills: { directories: [directory] },
      });
      await gateway.servers.discover();
      return gateway;
    }, 'incident:read');
    const { error } = await skill.call('own', 'gett_incident', {});
    expect(error?.message).toBe('Server "own" has no tool "gett_incident". Did you mean "get_incident"?');
  });

  it('FIND-5 CLI-2 the command line names a tag that no tool has', async () => {
    const open = async (): Promise<Gateway> => {
      const toolRules = [{ pattern: 'create_issue', tags: ['reading'] }];
      return (await openOfflineGateway(servers, { toolRules })).gateway;
    };
    const none = await commandLine(['search', 'creatissu', '-t', 'nope', '-t', 'reading'], { gateway: open });
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(none.stderr).toContain('No tool has the tag "nope".');
    expect(none.stderr).not.toContain('"reading"');
    const near = await commandLine(['search', 'creatissu', '-t', 'reading'], { gateway: open });
    expect(near.stderr).toContain('Nearest names: own:create_issue');
    expect(near.stderr).not.toContain('No tool has');
  });
});
