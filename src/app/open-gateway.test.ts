import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fixture, temporaryDirectory, waitUntil } from '../../test/support/fixture.js';
import { textOf } from '../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../test/support/patience.js';
import type { Gateway } from '../gateway/index.js';
import * as library from '../index.js';
import { configReader, openGateway, type ToolscoutOptions } from './open-gateway.js';

const PATH = process.env['PATH'];

async function open(options: ToolscoutOptions): Promise<Gateway> {
  const gateway = await openGateway({ stateDir: 'memory', learnAtStart: false, env: { PATH }, ...options });
  onTestFinished(() => gateway.close({ drainMs: 0 }));
  return gateway;
}

describe('openGateway', STARTS_PROCESSES, () => {
  it('CFG-1 takes a config as an object, as a path, or looks for one from where it stands', async () => {
    const folder = await temporaryDirectory();
    const file = join(folder, 'mine.json');
    await writeFile(file, JSON.stringify({ servers: { named: { command: 'x' } } }));
    await mkdir(join(folder, '.toolscout'));
    await writeFile(join(folder, '.toolscout', 'config.yaml'), 'servers:\n  found:\n    command: x\n');

    const given = await open({ config: { servers: { given: { command: 'x' } } } });
    expect(given.internal.loaded()).toMatchObject({ source: 'library', servers: [{ id: 'given' }] });
    expect(given.internal.loaded().path).toBeUndefined();

    const named = await open({ config: file });
    expect(named.internal.loaded()).toMatchObject({ path: file, servers: [{ id: 'named' }] });

    const found = await open({ cwd: folder, env: { PATH, HOME: folder } });
    expect(found.internal.loaded()).toMatchObject({ servers: [{ id: 'found' }] });
    expect(found.internal.loaded().path).toContain('config.yaml');
  });

  it('CFG-1 without any config the demo stands in, where its servers are installed', async () => {
    const folder = await temporaryDirectory();
    const gateway = await open({ cwd: folder, env: { PATH, HOME: folder } });
    expect(gateway.internal.loaded().source).toBe('demo');
    expect(gateway.internal.loaded().servers.map(({ id }) => id)).toEqual(['everything', 'filesystem', 'memory']);
  });

  it('CLI-1 the demo is what it is asked for, even beside a config, and its servers work', async () => {
    const folder = await temporaryDirectory();
    await writeFile(join(folder, 'toolscout.config.json'), '{"servers": {"mine": {"command": "x"}}}');
    await writeFile(join(folder, 'note.txt'), 'remember the milk');
    const gateway = await open({ demo: true, cwd: folder, stateDir: join(folder, 'state') });
    expect(gateway.internal.loaded().source).toBe('demo');
    expect((await gateway.servers.discover()).every(({ ok }) => ok)).toBe(true);
    const path = join(folder, 'note.txt');
    expect(textOf(await gateway.call('filesystem', 'read_text_file', { path }))).toBe('remember the milk');
    const { hits } = await gateway.search('read a text file', { limit: 1 });
    expect(hits[0]).toMatchObject({ server: 'filesystem', tool: 'read_text_file' });
  });

  it('CFG-3 an invalid config is refused with all its problems, before anything is opened', async () => {
    await expect(
      openGateway({ stateDir: 'memory', config: { toolRules: [{ patern: 'x' }], maxParallel: 1 } as never }),
    ).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR', problems: { length: 3 } });
    await expect(openGateway({ stateDir: 'memory', config: '/no/such/config.json' })).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
    });
  });

  it.each([
    [{ CCOS_MCP_CACHE_DIR: ' ' }, '.local/share/toolscout'],
    [{ CCOS_MCP_CACHE_DIR: ' \t', XDG_DATA_HOME: ' ' }, '.local/share/toolscout'],
    [{ XDG_DATA_HOME: 'relative' }, '.local/share/toolscout'],
    [{ CCOS_MCP_CACHE_DIR: 'mine' }, 'mine'],
  ])('STORE-2 CFG-7 with %j state is kept in %s', async (variables, expected) => {
    const home = await temporaryDirectory();
    const env = { PATH, HOME: home, ...variables };
    const gateway = await open({ config: {}, cwd: home, env, stateDir: undefined });
    const { findings } = await gateway.reports.doctor();
    const place = process.platform === 'linux' ? join(home, expected, 'toolscout.db') : /toolscout\.db$/;
    expect(findings.find(({ subject }) => subject === 'store')?.message).toMatch(place);
    expect(await readdir(home)).not.toContain(' ');
  });

  it('PAT-4 a rule that can never decide is a warning of the config', async () => {
    const read = configReader({
      config: {
        toolRules: [
          { pattern: '*', enabled: true },
          { pattern: 'echo', enabled: false },
        ],
      },
      env: {},
    });
    const { warnings } = await read();
    expect(warnings.map(({ path }) => path).join(' ')).toContain('toolRules[1]');
  });

  it('STORE-2 keeps state in the given directory, or in memory', async () => {
    const folder = await temporaryDirectory();
    const home = await temporaryDirectory();
    const kept = await open({ config: {}, stateDir: join(folder, 'here') });
    await kept.ready();
    expect((await kept.reports.doctor()).findings.find(({ subject }) => subject === 'store')?.message).toContain(
      folder,
    );
    const xdg = await open({
      config: {},
      stateDir: undefined,
      env: { PATH, HOME: home, XDG_DATA_HOME: join(home, 'data') },
    });
    expect((await xdg.reports.doctor()).findings.find(({ subject }) => subject === 'store')?.message).toContain(
      join(home, 'data'),
    );
    const nowhere = await open({ config: {}, stateDir: 'memory' });
    expect((await nowhere.reports.doctor()).findings.find(({ subject }) => subject === 'store')?.message).toBe(
      'memory',
    );
  });

  it('CLI-1 A33 A34 the log goes to stderr, one masked line of JSON an event; without a level nothing is logged', async () => {
    const lines: string[] = [];
    const spy = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
      lines.push(...String(chunk).trimEnd().split('\n'));
      return true;
    });
    onTestFinished(() => spy.mockRestore());
    const config = {
      retryPolicy: { maxRetries: 0 },
      servers: {
        dies: {
          command: process.execPath,
          args: ['-e', 'process.exit(1)', '${SECRET}'],
        },
      },
    };
    const env = { PATH, SECRET: 'canary-7f3d9a' };
    const silent = await open({ config, env });
    await silent.servers.discover();
    expect(lines).toEqual([]);

    const loud = await open({ config, env, logLevel: 'debug' });
    await loud.servers.discover();
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(JSON.parse(line)).toMatchObject({
        level: expect.any(String) as string,
        event: expect.any(String) as string,
      });
    }
    expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toContain('discover.failed');
    expect(lines.join('')).not.toContain('canary-7f3d9a');
  });

  it('CONN-2 servers are learned at once unless that is switched off', async () => {
    const gateway = await openGateway({
      config: { servers: { old: fixture('legacy') } },
      stateDir: 'memory',
      env: { PATH },
    });
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    await waitUntil(async () => (await gateway.servers.list())[0]?.knowledge === 'ready', { what: 'the server' });
  });

  it('CFG-6 a library config is an object: reloading it changes nothing', async () => {
    const gateway = await open({ config: { servers: { old: fixture('legacy') } }, watch: true });
    expect(await gateway.reload()).toMatchObject({ changed: false, unchanged: 1 });
  });
});

describe('the library', STARTS_PROCESSES, () => {
  it('ARCH-3 exports the gateway, defineConfig, the errors and the version', async () => {
    const names = ['ERROR_TABLE', 'ToolscoutError', 'VERSION', 'createToolscout', 'defineConfig'];
    expect(Object.keys(library)).toEqual(expect.arrayContaining(names));
    const config = library.defineConfig({ servers: { a: { command: 'x' } } });
    expect(config).toEqual({ servers: { a: { command: 'x' } } });
    const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(library.VERSION).toBe(manifest.version);
  });
});
