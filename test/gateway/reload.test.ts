import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { approveConfig, fingerprintOf } from '../../src/config/review/trust.js';
import type { Gateway, ToolscoutEvent } from '../../src/gateway/index.js';
import { READ_AT_START } from '../../src/gateway/reload.js';
import { openGateway } from '../../src/app/open-gateway.js';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture, isAlive, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { connectHost } from '../support/mcp-host.js';
import { startCounter, textOf } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

/** A gateway over a config file that can be rewritten. */
async function overFile(
  config: ConfigInput,
  options: { readonly watch?: boolean; readonly learnAtStart?: boolean } = {},
): Promise<{
  gateway: Gateway;
  write(next: ConfigInput | string): Promise<void>;
  events: ToolscoutEvent[];
  stateDir: string;
}> {
  const folder = await temporaryDirectory();
  const file = join(folder, 'toolscout.config.json');
  const write = (next: ConfigInput | string): Promise<void> =>
    writeFile(file, typeof next === 'string' ? next : JSON.stringify({ retryPolicy: { maxRetries: 0 }, ...next }));
  await write(config);
  const stateDir = join(folder, 'state');
  const gateway = await openGateway({
    config: file,
    stateDir,
    env: { PATH: process.env['PATH'] },
    learnAtStart: false,
    ...options,
  });
  onTestFinished(() => gateway.close({ drainMs: 0 }));
  const events: ToolscoutEvent[] = [];
  gateway.onEvent((event) => events.push(event));
  return { gateway, write, events, stateDir };
}

async function pidOf(gateway: Gateway, server: string): Promise<number> {
  return (JSON.parse(textOf(await gateway.call(server, 'argv', {}))) as { pid: number }).pid;
}

const RATE = { rateLimit: { requestsPerSecond: 1000, burstSize: 1000 } };

describe('reloading the configuration', STARTS_PROCESSES, () => {
  it('CFG-6 a file that was found and is gone leaves its servers and rules in force; another that is found takes over', async () => {
    const folder = await temporaryDirectory();
    const file = join(folder, 'toolscout.config.json');
    const toolRules = [{ pattern: 'fail', enabled: false }];
    await writeFile(file, JSON.stringify({ servers: { old: fixture('legacy') }, toolRules }));
    const gateway = await openGateway({
      cwd: folder,
      stateDir: 'memory',
      env: { PATH: process.env['PATH'], HOME: folder },
      learnAtStart: false,
    });
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    expect(gateway.internal.loaded().path).toBe(file);
    await rm(file);
    await expect(gateway.reload()).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
      message: expect.stringContaining(file) as string,
    });
    expect(gateway.internal.loaded().servers.map(({ id }) => id)).toEqual(['old']);
    expect(await gateway.call('old', 'fail', {})).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
    await mkdir(join(folder, '.toolscout'));
    await writeFile(join(folder, '.toolscout', 'config.json'), JSON.stringify({ servers: { young: fixture('many') } }));
    expect(await gateway.reload()).toMatchObject({ added: ['young'], removed: ['old'] });
  });

  it('CFG-6 SEC-9 A53 a config of the folder takes over when it is approved, and a change of it waits for the next approval', async () => {
    const [folder, home, stateDir] = [
      await temporaryDirectory(),
      await temporaryDirectory(),
      await temporaryDirectory(),
    ];
    const file = join(folder, 'toolscout.config.json');
    const starts = join(stateDir!, 'starts');
    const servers = { old: { ...fixture('legacy', `--start-file=${starts}`), eager: true } };
    const toolRules = [{ pattern: 'fail', enabled: false }];
    await writeFile(file, JSON.stringify({ servers, toolRules }));
    const notices: string[] = [];
    const gateway = await openGateway({
      cwd: folder,
      stateDir,
      env: { PATH: process.env['PATH'], HOME: home },
      watch: true,
      onNotice: (notice) => notices.push(notice),
    });
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    await gateway.ready();
    expect(notices).toEqual([expect.stringMatching(/is not used: .*old.* toolscout config approve --hash \w{12}$/)]);
    expect(await gateway.approvals.list({ state: 'pending' })).toMatchObject([{ server: 'old', origin: 'project' }]);
    expect((await gateway.search('echo')).hits).toEqual([]);
    expect(existsSync(starts)).toBe(false);
    const doctor = await gateway.reports.doctor();
    expect(doctor.findings.find(({ next }) => next?.includes('config approve'))).toMatchObject({ level: 'warning' });

    const approve = async (): Promise<void> => {
      const text = await readFile(file, 'utf8');
      await approveConfig(stateDir!, file, await fingerprintOf(file, text), 1);
    };
    await approve();
    await waitUntil(() => gateway.internal.loaded().path === file, {
      timeoutMs: 10_000,
      what: 'the approval to be seen',
    });
    await waitUntil(async () => (await gateway.search('echo')).hits.length > 0);

    await writeFile(file, JSON.stringify({ servers: { ...servers, more: fixture('many') } }));
    await expect(gateway.reload()).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
      message: expect.stringContaining('changed after its approval') as string,
    });
    expect(gateway.internal.loaded().servers.map(({ id }) => id)).toEqual(['old']);
    expect(await gateway.call('old', 'fail', {})).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
    await approve();
    // The watcher may have seen the approval first.
    await gateway.reload();
    expect(gateway.internal.loaded().servers.map(({ id }) => id)).toEqual(['old', 'more']);
  });

  it('CFG-6 says what was added, removed, changed and left alone; the unchanged server keeps its process', async () => {
    const { gateway, write, events } = await overFile({
      servers: { stays: fixture('legacy'), goes: fixture('legacy'), changes: fixture('legacy') },
    });
    const stays = await pidOf(gateway, 'stays');
    const goes = await pidOf(gateway, 'goes');
    const changes = await pidOf(gateway, 'changes');

    await write({
      servers: {
        stays: { ...fixture('legacy'), tags: ['home'], timeoutMs: 5000 },
        changes: fixture('legacy', '--version=2025-06-18'),
        comes: fixture('many', '--name=new'),
      },
      toolRules: [{ pattern: 'fail', enabled: false }],
    });
    const report = await gateway.reload();
    expect(report).toEqual({
      changed: true,
      added: ['comes'],
      removed: ['goes'],
      reconnected: ['changes'],
      unchanged: 1,
      needsRestart: [],
    });
    expect(events).toContainEqual({ type: 'reloaded', report });

    expect(await pidOf(gateway, 'stays')).toBe(stays);
    expect(await pidOf(gateway, 'changes')).not.toBe(changes);
    expect(textOf(await gateway.call('comes', 'ping_new', {}))).toBe('pong new');
    expect(await gateway.call('goes', 'echo', { message: 'x' })).toMatchObject({
      error: { code: 'SERVER_NOT_FOUND' },
    });
    expect(await gateway.call('stays', 'fail', {})).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
    expect((await gateway.servers.list()).map((view) => view.id)).toEqual(['changes', 'comes', 'stays']);
    expect((await gateway.search('', { limit: 50 })).hits.map((hit) => hit.server)).not.toContain('goes');
    await waitUntil(() => !isAlive(goes) && !isAlive(changes), { what: 'the retired processes' });
    expect(gateway.internal.loaded().config.toolRules).toHaveLength(1);
    expect(await gateway.audit.list({ kind: 'reload' })).toMatchObject([
      { kind: 'reload', outcome: 'success', detail: { added: ['comes'] } },
    ]);
  });

  it('CFG-6 limits of the breaker and the cache that a reload brings hold at once', async () => {
    const servers = { broken: { url: 'http://127.0.0.1:1/mcp' }, old: fixture('legacy') };
    const { gateway, write } = await overFile({ servers, limits: { breakerFailures: 50 } });
    const limits = { breakerFailures: 1, breakerResetMs: 3_600_000 };
    await write({ servers, limits, cache: { ttlMs: 0 } });
    expect(await gateway.reload()).toMatchObject({ changed: true, needsRestart: [] });
    await gateway.servers.discover(['broken']);
    expect((await gateway.servers.list()).find(({ id }) => id === 'broken')?.health.breaker).toBe('open');
    await gateway.servers.discover(['old']);
    expect((await gateway.servers.list()).find(({ id }) => id === 'old')?.knowledge).toBe('stale');
    await write({ servers, limits: { ...limits, breakerResetMs: 0 }, cache: { ttlMs: 600_000 } });
    await gateway.reload();
    const views = await gateway.servers.list();
    expect(views.find(({ id }) => id === 'broken')?.health.breaker).toBe('half-open');
    expect(views.find(({ id }) => id === 'old')?.knowledge).toBe('ready');
  });

  it('CFG-6 DISC-4 a cache that a reload switches off keeps nothing any more, and one it switches on does', async () => {
    const servers = { old: fixture('legacy') };
    const { gateway, write, stateDir } = await overFile({ servers, cache: false });
    const known = async (): Promise<unknown> => {
      const other = await openGateway({ config: { servers }, stateDir, learnAtStart: false, env: {} });
      const [view] = await other.servers.list();
      await other.close({ drainMs: 0 });
      return view?.knowledge;
    };
    await gateway.servers.discover();
    expect(await known()).toBe('unknown');
    await write({ servers, cache: true });
    await gateway.reload();
    await gateway.servers.discover(['old']);
    expect(await known()).toBe('ready');
    await gateway.tools.clearCache();
    await write({ servers, cache: false });
    await gateway.reload();
    await gateway.servers.discover(['old']);
    expect(await known()).toBe('unknown');
  });

  it('CFG-6 what is read at start only is named, until it is taken back', async () => {
    const servers = { old: fixture('legacy') };
    const { gateway, write, events } = await overFile({ servers });
    await write({
      servers,
      store: 'memory',
      http: {
        host: 'localhost',
        port: 1,
        allowedHosts: ['a'],
        allowedOrigins: ['https://a'],
        publicUrl: 'https://a',
        auth: { keys: [{ name: 'k', hash: 'a'.repeat(64) }] },
      },
    });
    const report = await gateway.reload();
    expect(report).toMatchObject({ changed: true, needsRestart: READ_AT_START });
    expect(events).toContainEqual({ type: 'reloaded', report });
    // Another change does not make it forgotten.
    await write({ servers, store: 'memory', mode: 'hybrid' });
    expect(await gateway.reload()).toMatchObject({ needsRestart: ['store'] });
    expect(await gateway.reload()).toMatchObject({ changed: false, needsRestart: ['store'] });
    await write({ servers });
    expect(await gateway.reload()).toMatchObject({ changed: true, needsRestart: [] });
  });

  it('CFG-6 what is read at start only is the same in the docs', async () => {
    for (const page of ['configuration.md', 'shared-service.md']) {
      const text = await readFile(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
      const sentence = /((?:`[\w.]+`(?:, | and ))+`[\w.]+`) are read at start/.exec(text.replaceAll(/\s+/g, ' '))?.[1];
      const named = sentence?.match(/[\w.]+/g)?.filter((word) => word !== 'and');
      expect(named, page).toEqual(READ_AT_START);
    }
  });

  it('CFG-6 EXEC-5 a shorter retention forgets at the reload', async () => {
    const { gateway, write } = await overFile({ servers: { old: fixture('legacy') } });
    await gateway.call('old', 'echo', { message: 'x' });
    await waitUntil(async () => (await gateway.audit.list({ kind: 'execution' })).length === 1, { what: 'the record' });
    await write({ servers: { old: fixture('legacy') }, limits: { auditRetentionMs: 86_400_000e-9 } });
    await gateway.reload();
    await waitUntil(async () => (await gateway.audit.list({ kind: 'execution' })).length === 0, {
      what: 'the pruning',
    });
  });

  it('CFG-6 the same bytes change nothing', async () => {
    const { gateway } = await overFile({ servers: { old: fixture('legacy') } });
    const pid = await pidOf(gateway, 'old');
    expect(await gateway.reload()).toEqual({
      changed: false,
      added: [],
      removed: [],
      reconnected: [],
      unchanged: 1,
      needsRestart: [],
    });
    expect(await pidOf(gateway, 'old')).toBe(pid);
  });

  it.each([
    ['no JSON', '{"servers": '],
    ['an unknown key', '{"servers": {"old": {"comand": "x"}}}'],
    ['a bad pattern', '{"toolRules": [{"pattern": "/(/"}]}'],
  ])('CFG-6 a file with %s leaves the old state serving, and the reason is told', async (_, text) => {
    const { gateway, write, events } = await overFile({ servers: { old: fixture('legacy') } });
    const pid = await pidOf(gateway, 'old');
    await write(text);
    await expect(gateway.reload()).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    expect(events.some((event) => event.type === 'reload-failed' && event.reason !== '')).toBe(true);
    expect(await pidOf(gateway, 'old')).toBe(pid);
    expect((await gateway.search('echo')).hits[0]).toMatchObject({ server: 'old', tool: 'echo' });
  });

  it('CFG-6 R6 calls in flight finish: on an unchanged, on a changed and on a removed server', async () => {
    const wait = { ms: 400, progress: false };
    const { gateway, write } = await overFile({
      servers: { stays: fixture('slow'), changes: fixture('slow'), goes: fixture('slow') },
    });
    await gateway.servers.discover();
    const calls = ['stays', 'changes', 'goes'].map((id) => gateway.call(id, 'wait', wait));
    await waitUntil(async () => (await gateway.servers.list()).every((view) => view.health.state === 'connected'), {
      what: 'all connections',
    });
    await write({ servers: { stays: fixture('slow'), changes: { ...fixture('slow'), env: { NEW: 'yes' } } } });
    expect(await gateway.reload()).toMatchObject({ reconnected: ['changes'], removed: ['goes'], unchanged: 1 });
    const during = gateway.call('changes', 'wait', { ms: 1 });
    for (const call of await Promise.all(calls)) expect(call).toMatchObject({ success: true });
    expect(await during).toMatchObject({ success: true });
  });

  it('CFG-6 R6 reloads in the middle of many calls fail none of them', async () => {
    const base = { ...fixture('legacy'), ...RATE };
    const { gateway, write } = await overFile({ servers: { old: base } });
    await gateway.servers.discover();
    const stopper = new AbortController();
    const failures: unknown[] = [];
    const load = async (): Promise<void> => {
      while (!stopper.signal.aborted) {
        const answer = await gateway.call('old', 'echo', { message: 'x' });
        if (!answer.success && answer.error?.code !== 'RATE_LIMITED') failures.push(answer.error);
      }
    };
    const callers = Array.from({ length: 4 }, load);
    for (let round = 0; round < 8; round++) {
      await write(
        round % 4 === 3
          ? '{"servers": 1}'
          : {
              servers: { old: base, [`extra${round}`]: fixture('many') },
              toolRules: [{ pattern: `x${round}`, tags: ['t'] }],
            },
      );
      await gateway.reload().catch((thrown: unknown) => expect(thrown).toMatchObject({ code: 'CONFIGURATION_ERROR' }));
    }
    stopper.abort();
    await Promise.all(callers);
    expect(failures).toEqual([]);
  });

  it('CFG-6 a repaired server works at once, though its old process still hangs', async () => {
    const { gateway, write } = await overFile(
      { servers: { mended: fixture('slow', '--hang') } },
      { learnAtStart: true },
    );
    await gateway.ready();
    await waitUntil(async () => (await gateway.servers.list())[0]?.knowledge === 'learning', { what: 'the learning' });
    await write({ servers: { mended: fixture('legacy') } });
    expect(await gateway.reload()).toMatchObject({ reconnected: ['mended'] });
    const answer = await gateway.call('mended', 'echo', { message: 'hello again' });
    expect(answer).toMatchObject({ success: true });
  });

  it('CFG-6 CONN-4 a server that is removed or changed before its turn to be learned is not started as it was', async () => {
    const starts = await startCounter();
    const { gateway, write } = await overFile({
      servers: {
        first: fixture('slow', '--slow-start=500'),
        removed: fixture('legacy', starts.flag),
        changed: fixture('legacy', starts.flag),
      },
      maxParallelDiscoveries: 1,
    });
    const learning = gateway.servers.discover();
    await waitUntil(async () => (await gateway.servers.list()).every((view) => view.knowledge === 'learning'), {
      what: 'the queue',
    });
    await write({
      servers: { first: fixture('slow', '--slow-start=500'), changed: fixture('legacy') },
      maxParallelDiscoveries: 1,
    });
    await gateway.reload();
    await learning;
    expect(await starts.pids()).toEqual([]);
    expect(textOf(await gateway.call('changed', 'echo', { message: 'x' }))).toBe('x');
  });

  it('CFG-6 of two reloads at once the newer file wins', async () => {
    const { gateway, write } = await overFile({ servers: { old: fixture('many', '--name=old') } });
    await gateway.ready();
    for (let round = 0; round < 5; round++) {
      await write({ servers: { old: fixture('many'), [`one${round}`]: fixture('many') } });
      const first = gateway.reload();
      await write({ servers: { old: fixture('many'), [`two${round}`]: fixture('many') } });
      await Promise.all([first, gateway.reload()]);
      expect((await gateway.servers.list()).map((view) => view.id)).toEqual(['old', `two${round}`]);
      expect(gateway.internal.loaded().servers.map((server) => server.id)).toEqual(['old', `two${round}`]);
    }
  });

  it('CFG-6 a thousand tools survive a reload, under the new rules', async () => {
    const huge = { ...fixture('huge', '--tools=1000'), ...RATE };
    const { gateway, write } = await overFile({ servers: { huge } });
    expect(await gateway.servers.discover()).toMatchObject([{ ok: true, tools: 1000 }]);
    await write({ servers: { huge }, toolRules: [{ pattern: '*delete*', enabled: false }] });
    expect(await gateway.reload()).toMatchObject({ changed: true, unchanged: 1 });
    const all = await gateway.tools.list('huge', { includeDisabled: true });
    const offered = await gateway.tools.list('huge');
    expect(all).toHaveLength(1000);
    expect(all.filter((tool) => tool.name.includes('delete')).every((tool) => tool.status === 'disabled')).toBe(true);
    expect(offered).toHaveLength(all.filter((tool) => !tool.name.includes('delete')).length);
    const { hits } = await gateway.search('delete a branch in github', { limit: 50 });
    expect(hits.some((hit) => hit.tool.includes('delete'))).toBe(false);
  });

  it('CFG-6 an added server that was known before is served without a start; an unknown one is learned', async () => {
    const { gateway, write } = await overFile({ servers: { one: fixture('legacy'), two: fixture('many') } });
    await gateway.servers.discover();
    await write({ servers: { one: fixture('legacy') } });
    await gateway.reload();
    await write({ servers: { one: fixture('legacy'), two: fixture('many'), three: fixture('modern') } });
    expect(await gateway.reload()).toMatchObject({ added: ['three', 'two'] });
    expect((await gateway.servers.list()).find((view) => view.id === 'two')).toMatchObject({
      knowledge: 'ready',
      health: { state: 'disconnected' },
    });
    await waitUntil(async () => (await gateway.servers.list()).every((view) => view.knowledge === 'ready'), {
      what: 'the new server',
    });
  });

  it('META-8 the coverage line changes with the set of servers and with nothing else', async () => {
    const { gateway, write } = await overFile({ servers: { github: fixture('legacy') } });
    const before = gateway.internal.coverage();
    await write({
      servers: { github: { ...fixture('legacy'), tags: ['x'] } },
      toolRules: [{ pattern: 'echo', enabled: false }],
    });
    await gateway.reload();
    expect(gateway.internal.coverage()).toBe(before);
    await write({ servers: { github: fixture('legacy'), slack: fixture('legacy') } });
    await gateway.reload();
    expect(gateway.internal.coverage()).toBe('github, slack');
  });

  it('FIND-7 CFG-6 a reload that changes tags changes what a search finds', async () => {
    const { gateway, write } = await overFile({ servers: { old: fixture('legacy') } });
    await gateway.servers.discover();
    const found = async (): Promise<string[]> =>
      (await gateway.search('payroll')).hits.map(({ tool }) => tool).toSorted();
    expect(await found()).toEqual([]);
    await write({ servers: { old: fixture('legacy') }, toolRules: [{ pattern: 'echo', tags: ['payroll'] }] });
    await gateway.reload();
    expect(await found()).toEqual(['echo']);
    expect((await gateway.search('', { tags: ['payroll'] })).hits.map(({ tool }) => tool)).toEqual(['echo']);
    await write({ servers: { old: { ...fixture('legacy'), tags: ['payroll'] } } });
    await gateway.reload();
    expect((await found()).length).toBeGreaterThan(1);
  });

  it.each([
    ['legacy', 'stdio'],
    ['legacy', 'http'],
    ['modern', 'stdio'],
    ['modern', 'http'],
  ] as const)(
    'META-8 a %s host over %s that may not show instructions reads in search_tools what is behind it, the same until that changes',
    async (era, over) => {
      const { gateway, write } = await overFile({ servers: { github: fixture('legacy') } });
      const menu = async (name: string): Promise<string> => {
        const host = await connectHost(gateway, { era, over, name });
        return JSON.stringify((await host.request('tools/list'))['tools']);
      };
      const before = await menu('cursor-vscode');
      expect(before).toContain('servers: github.');
      expect(await menu('cursor-vscode')).toBe(before);
      expect(await menu('some-other')).toBe(before);
      await write({ servers: { github: fixture('legacy'), slack: fixture('legacy') } });
      await gateway.reload();
      expect(await menu('cursor-vscode')).toContain('servers: github, slack.');
    },
  );

  it('META-8 a host whose menu names servers is told when they change, and of nothing else', async () => {
    const { gateway, write } = await overFile({ servers: { github: fixture('legacy') } });
    const host = await connectHost(gateway, { era: 'legacy', over: 'stdio', name: 'cursor-vscode' });
    const knowing = await connectHost(gateway, { era: 'legacy', over: 'stdio', name: 'claude-code' });
    await gateway.servers.discover();
    await gateway.reload();
    await host.request('ping');
    expect(host.told).toEqual([]);
    await write({ servers: { github: fixture('legacy'), slack: fixture('legacy') } });
    await gateway.reload();
    const methods = (): string[] => host.told.map(({ method }) => method);
    await waitUntil(async () => host.told.length > 0, { what: 'the announcement' });
    await knowing.request('ping');
    expect([methods(), knowing.told]).toEqual([['notifications/tools/list_changed'], []]);
  });

  it('META-8 a host that shows instructions has the line there and not in the menu', async () => {
    const { gateway } = await overFile({ servers: { github: fixture('legacy') } });
    for (const name of ['claude-code', 'Visual Studio Code', 'goose-desktop']) {
      const host = await connectHost(gateway, { era: 'legacy', over: 'stdio', name });
      expect(JSON.stringify(await host.request('tools/list'))).not.toContain('github.');
      expect(host.client.getInstructions()).toContain('Behind it: github.');
    }
  });

  it('CFG-6 a watched file is taken over by itself; a broken one in between changes nothing', async () => {
    const { gateway, write, events } = await overFile({ servers: { old: fixture('legacy') } }, { watch: true });
    await gateway.ready();
    await write('{"servers": ');
    await waitUntil(() => events.some((event) => event.type === 'reload-failed'), { what: 'the refusal' });
    expect(gateway.internal.loaded().servers).toHaveLength(1);
    await write({ servers: { old: fixture('legacy'), second: fixture('many') } });
    await waitUntil(() => gateway.internal.loaded().servers.length === 2, { what: 'the new file' });
  });
});
