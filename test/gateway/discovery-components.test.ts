import { describe, expect, it, onTestFinished } from 'vitest';
import {
  DiscoveryEngine,
  PatternMatcher,
  SearchEngine,
  ToolExecutionProxy,
  ToolMetadataManager,
  type ToolMetadata,
} from '../../src/app/compat/index.js';
import { fixture } from '../support/fixture.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

function tool(server: string, name: string, summary: string, more: Partial<ToolMetadata> = {}): ToolMetadata {
  return { server, name, summary, enabled: true, tags: [], ...more };
}

const TOOLS = [
  tool('github', 'list_issues', 'List the issues of a repository', { tags: ['own'] }),
  tool('github', 'delete_repo', 'Delete a repository'),
  tool('mail', 'send_message', 'Send an e-mail', {
    parameters: [{ name: 'recipient', type: 'string', description: 'Who gets it', required: true }],
  }),
];

function managed(): ToolMetadataManager {
  const manager = new ToolMetadataManager();
  for (const one of TOOLS) manager.addTool(one);
  return manager;
}

describe('the parts of the engine', STARTS_PROCESSES, () => {
  it('PAT-1 PAT-2 PAT-3 PatternMatcher matches globs, regular expressions, exclusions and rules of one server', () => {
    const matcher = new PatternMatcher();
    expect(matcher.match('github_create', ['*github*', '!*delete*'])).toBe(true);
    expect(matcher.match('github_delete', ['*github*', '!*delete*'])).toBe(false);
    expect(matcher.match('create_repo', ['/^create_/'])).toBe(true);
    expect(matcher.match('Read file', ['/\\b(read|list)\\b/i'])).toBe(true);
    expect(matcher.match('anything', [])).toBe(false);
    expect(() => matcher.match('x', ['/(/'])).toThrow(expect.objectContaining({ code: 'CONFIGURATION_ERROR' }));
    const rule = { pattern: ['list_*'], server: 'github' };
    expect(matcher.matchWithServer('list_issues', 'github', rule)).toBe(true);
    expect(matcher.matchWithServer('list_issues', 'gitlab', rule)).toBe(false);
    expect(matcher.matchWithServer('list_issues', 'gitlab', { pattern: 'list_*' })).toBe(true);
  });

  it('PAT-4 ToolMetadataManager stores tools and applies rules: the first decides, tags add up, allow-list mode', () => {
    const manager = managed();
    expect(manager.getAllTools()).toEqual(TOOLS);
    manager.applyRules([
      { pattern: ['*delete*'], enabled: false },
      { pattern: ['*'], server: 'github', enabled: true, tags: ['code'] },
      { pattern: ['list_*'], tags: ['code', 'read'] },
    ]);
    expect(manager.getTool('github', 'list_issues')).toMatchObject({ enabled: true, tags: ['own', 'code', 'read'] });
    expect(manager.getToolsByServer('github').map(({ name }) => name)).toEqual(['list_issues']);
    expect(manager.getToolsByServer('github', true)).toHaveLength(2);
    expect(manager.getAllTools().map(({ name }) => name)).toEqual(['list_issues']);
    expect(manager.getAllTools(true)).toHaveLength(3);
    expect([manager.getToolCount('github'), manager.getEnabledCount('github')]).toEqual([2, 1]);
    expect([manager.getToolCount('nobody'), manager.getEnabledCount('nobody')]).toEqual([0, 0]);
    expect(manager.getTool('github', 'nothing')).toBeNull();
    manager.addTool(tool('github', 'delete_issue', 'Delete an issue'));
    expect(manager.getTool('github', 'delete_issue')).toMatchObject({ enabled: false });
    manager.applyRules([]);
    expect(manager.getTool('github', 'list_issues')).toEqual(TOOLS[0]);
    expect(() => manager.applyRules([{ pattern: '/(/' }])).toThrow(
      expect.objectContaining({ code: 'CONFIGURATION_ERROR' }),
    );
  });

  it('FIND-1 SearchEngine ranks the tools it was given, by server, limit and status', () => {
    const engine = new SearchEngine();
    const disabled = tool('mail', 'purge_mailbox', 'Delete every message', { enabled: false });
    engine.index([...TOOLS, disabled]);
    const [first, ...others] = engine.search('list issues of a repository');
    expect(first).toEqual({
      server: 'github',
      tool: 'list_issues',
      summary: 'List the issues of a repository',
      relevance: expect.any(Number),
      tags: ['own'],
    });
    expect(first!.relevance).toBeLessThanOrEqual(1);
    expect(others.every(({ relevance }) => relevance < first!.relevance)).toBe(true);
    expect(engine.search('repository', { limit: 1 })).toHaveLength(1);
    expect(engine.search('repository', { server: 'mail' })).toEqual([]);
    expect(engine.search('recipient')[0]).toMatchObject({ tool: 'send_message' });
    expect(engine.search('mailbox')).toEqual([]);
    expect(engine.search('mailbox', { includeDisabled: true })[0]).toMatchObject({ tool: 'purge_mailbox' });
    engine.index([disabled]);
    expect(engine.search('repository')).toEqual([]);
  });

  it('EXEC-1 CONN-3 ToolExecutionProxy connects, runs, streams and disconnects through the gateway', async () => {
    const proxy = new ToolExecutionProxy({ store: 'memory', servers: {} });
    onTestFinished(() => proxy.close());
    await proxy.connect('old', fixture('legacy'));
    expect(await proxy.isConnected('old')).toBe(true);
    expect(await proxy.execute('old', 'add', { a: 1, b: 2 })).toMatchObject({ success: true });
    expect(await proxy.execute('old', 'add', { a: 'x' })).toMatchObject({
      success: false,
      error: { code: 'TOOL_VALIDATION_ERROR', server: 'old', tool: 'add', message: expect.any(String) },
    });
    const events = [];
    for await (const event of proxy.executeStream('old', 'add', { a: 1, b: 2 })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'result', result: { success: true } });
    await proxy.disconnect('old');
    expect(await proxy.isConnected('old')).toBe(false);
  });

  it('EXEC-2 ToolExecutionProxy over an engine is held to the rules of that engine', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy') },
      toolRules: [{ pattern: 'add', enabled: false }],
    });
    const proxy = new ToolExecutionProxy(new DiscoveryEngine(gateway));
    expect(await proxy.execute('old', 'add', { a: 1, b: 2 })).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
  });
});
