import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, temporaryDirectory, waitUntil } from '../../test/support/fixture.js';
import { startCounter } from '../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../test/support/patience.js';
import type { Gateway } from '../gateway/index.js';
import { openGateway } from './open-gateway.js';
import type { ConfigInput } from '../model/config.js';

const PATH = process.env['PATH'];

async function home(): Promise<{ root: string; write(file: string, data: object): Promise<void> }> {
  const root = await temporaryDirectory();
  const write = async (file: string, data: object): Promise<void> => {
    await mkdir(join(root, file, '..'), { recursive: true });
    await writeFile(join(root, file), JSON.stringify(data));
  };
  return { root, write };
}

async function open(root: string, config: ConfigInput | string): Promise<Gateway> {
  const env = { PATH, HOME: root };
  const options = { stateDir: 'memory', learnAtStart: false, watch: true, cwd: join(root, 'p'), env };
  await mkdir(options.cwd, { recursive: true });
  const gateway = await openGateway({ ...options, config });
  onTestFinished(() => gateway.close({ drainMs: 0 }));
  return gateway;
}

const ids = (gateway: Gateway): string[] => gateway.internal.loaded().servers.map(({ id }) => id);

describe('the config of a running toolscout', STARTS_PROCESSES, () => {
  const found = async (root: string): Promise<Gateway> => {
    const options = { stateDir: 'memory', learnAtStart: false, watch: true, cwd: root, env: { PATH, HOME: root } };
    const gateway = await openGateway(options);
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    return gateway;
  };

  it('CFG-6 the file that took over is watched', async () => {
    const { root, write } = await home();
    await write('toolscout.config.json', { servers: { first: { command: 'x' } } });
    const gateway = await found(root);
    await write('.toolscout/config.json', { servers: { second: { command: 'x' } } });
    await gateway.reload();
    expect(ids(gateway)).toEqual(['second']);
    await write('.toolscout/config.json', { servers: { third: { command: 'x' } } });
    await waitUntil(() => ids(gateway).join() === 'third', { what: 'the change was taken over', timeoutMs: 20_000 });
  });

  it('CFG-6 a config that comes after the start is watched once a reload has found it', async () => {
    const { root, write } = await home();
    const gateway = await found(root);
    expect(gateway.internal.loaded().path).toBeUndefined();
    await write('toolscout.config.json', { servers: { first: { command: 'x' } } });
    await gateway.reload();
    await write('toolscout.config.json', { servers: { second: { command: 'x' } } });
    await waitUntil(() => ids(gateway).join() === 'second', { what: 'the change was taken over', timeoutMs: 20_000 });
  });
});

describe('a config file that goes away', STARTS_PROCESSES, () => {
  it('CFG-6 is reported, no other config takes its place, and it is forgotten when the file is back', async () => {
    const { root, write } = await home();
    const text = { servers: { first: { command: 'x' } } };
    await write('toolscout.config.json', text);
    await write('.config/toolscout/config.json', { servers: { other: { command: 'x' } } });
    const options = { stateDir: 'memory', learnAtStart: false, watch: true, cwd: root, env: { PATH, HOME: root } };
    const gateway = await openGateway(options);
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    const reasons: string[] = [];
    gateway.onEvent((event) => event.type === 'reload-failed' && reasons.push(event.reason));
    const file = join(root, 'toolscout.config.json');
    await rm(file);
    await waitUntil(() => reasons.length > 0, { what: 'the missing file was reported', timeoutMs: 20_000 });
    expect(reasons).toEqual([
      `The config file ${file} does not exist any more; the last loaded config stays in force.`,
    ]);
    expect(ids(gateway)).toEqual(['first']);
    expect(await rejection(gateway)).toBe(
      `The config file ${file} does not exist any more. The previous config stays in force.`,
    );
    expect(await gateway.studio.configFile()).toMatchObject({ path: file, exists: false, isGone: true });
    await write('toolscout.config.json', text);
    await waitUntil(async () => (await rejection(gateway)) === undefined, {
      what: 'it was forgotten',
      timeoutMs: 20_000,
    });
    expect(await gateway.studio.configFile()).not.toHaveProperty('isGone');
  });
});

/** What Home says of the config file, where it is not used. */
async function rejection(gateway: Gateway): Promise<string | undefined> {
  const { attention } = await gateway.studio.overview();
  return attention.find(({ kind }) => kind === 'config-rejected')?.detail;
}

describe('sources of a running toolscout', STARTS_PROCESSES, () => {
  it('CFG-5 EXEC-1 a server of another client is found and run like our own', async () => {
    const { root, write } = await home();
    await write('.cursor/mcp.json', { mcpServers: { theirs: fixture('legacy') } });
    const gateway = await open(root, { sources: ['cursor'] });
    await gateway.servers.discover();
    const [tool] = await gateway.tools.list('theirs');
    expect(tool).toBeDefined();
    expect((await gateway.servers.list())[0]).toMatchObject({ id: 'theirs', source: join(root, '.cursor/mcp.json') });
    const { hits } = await gateway.search(tool!.name, { limit: 3 });
    expect(hits[0]).toMatchObject({ server: 'theirs' });
  });

  it('CFG-5 CFG-6 a change of a client’s servers is taken over, also of a file that comes later; other changes are not', async () => {
    const { root, write } = await home();
    await write('.claude.json', { mcpServers: { a: { command: 'a' } } });
    const gateway = await open(root, { sources: ['claude-code', 'cursor'] });
    let reloads = 0;
    gateway.onEvent((event) => (reloads += event.type === 'reloaded' ? 1 : 0));
    expect(ids(gateway)).toEqual(['a']);
    await write('.claude.json', { mcpServers: { a: { command: 'a' } }, history: ['much'] });
    await write('.cursor/mcp.json', { mcpServers: { b: { command: 'b' } } });
    await waitUntil(() => ids(gateway).includes('b'), { what: 'the new file was read', timeoutMs: 20_000 });
    expect(reloads).toBe(1);
    await write('.claude.json', { mcpServers: { c: { command: 'c' } }, history: ['much'] });
    await waitUntil(() => ids(gateway).join() === 'c,b', { what: 'the change was taken over', timeoutMs: 20_000 });
  });

  it('CFG-6 a source that a reload brings is watched from then on, and a broken file keeps its last good servers, with an event', async () => {
    const { root, write } = await home();
    const file = join(root, 'config.json');
    await writeFile(file, '{"servers": {"own": {"command": "x"}}}');
    await write('.kiro/settings/mcp.json', { mcpServers: { k: { command: 'k' } } });
    const gateway = await open(root, file);
    await writeFile(file, '{"servers": {"own": {"command": "x"}}, "sources": ["kiro"]}');
    await waitUntil(() => ids(gateway).includes('k'), { what: 'the source was read', timeoutMs: 20_000 });
    const kept: string[] = [];
    gateway.onEvent((event) => event.type === 'source-kept' && kept.push(event.file));
    await writeFile(join(root, '.kiro/settings/mcp.json'), '{"mcpServers": ');
    await waitUntil(() => kept.length > 0, { what: 'the broken file was noticed', timeoutMs: 20_000 });
    expect(kept).toEqual([join(root, '.kiro/settings/mcp.json')]);
    expect(ids(gateway)).toEqual(['own', 'k']);
    const warning = { path: 'sources.kiro', message: expect.stringContaining('stay as they were last read') as string };
    expect(gateway.internal.loaded().warnings).toContainEqual(warning);
    expect((await gateway.reports.doctor()).findings).toContainEqual(
      expect.objectContaining({ level: 'warning', message: expect.stringContaining('as they were last read') }),
    );
    // The very same content again: the warning goes, although no server has changed.
    await write('.kiro/settings/mcp.json', { mcpServers: { k: { command: 'k' } } });
    await waitUntil(() => gateway.internal.loaded().keptSources.length === 0, {
      what: 'the mended file',
      timeoutMs: 20_000,
    });
    expect(ids(gateway)).toEqual(['own', 'k']);
    await write('.kiro/settings/mcp.json', { mcpServers: { l: { command: 'l' } } });
    await waitUntil(() => ids(gateway).includes('l'), { what: 'the mended file was read', timeoutMs: 20_000 });
  });

  it('SEC-9 a server of a project’s file is pending: it is listed, and nothing starts it', async () => {
    const { root, write } = await home();
    const counter = await startCounter();
    const { command, args } = fixture('legacy', counter.flag);
    await write('p/.mcp.json', { mcpServers: { theirs: { command, args } } });
    const gateway = await open(root, { sources: ['claude-code'] });
    await gateway.servers.discover();
    await gateway.search('echo');
    const called = await gateway.call('theirs', 'echo', { text: 'x' });
    expect(called.success).toBe(false);
    const [view] = await gateway.servers.list();
    expect(view).toMatchObject({ id: 'theirs', problem: expect.stringContaining('waits for approval') as string });
    expect(await counter.pids()).toEqual([]);
    // The same server, once it is the user's own.
    const own = await open(root, {
      sources: ['claude-code'],
      servers: { mine: { command, args, cwd: join(root, 'p') } },
    });
    expect(ids(own)).toEqual(['mine']);
    await own.servers.discover();
    const [tool] = await own.tools.list('mine');
    expect(tool).toBeDefined();
    expect(await counter.pids()).toHaveLength(1);
  });
});
