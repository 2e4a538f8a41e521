import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/contract/importer-contract.js';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { temporaryDirectory } from '../../../test/support/fixture.js';
import type { ConfigInput } from '../../model/config.js';
import { validateConfig, type LoadedConfig } from '../index.js';
import { resolveWithSources } from '../../../test/support/load-config.js';
import type { ClientEnvironment } from './client-environment.js';
import { createSourceMemory } from './source-memory.js';

type Settled = ClientEnvironment & { project: string };

const resolve = (config: ConfigInput, place: Settled, env: Record<string, string> = {}): Promise<LoadedConfig> =>
  resolveWithSources(config, { source: 'library', env, directory: place.project, place });
const ids = ({ servers }: LoadedConfig): string[] => servers.map(({ id }) => id);
const lines = ({ warnings }: LoadedConfig): string[] => warnings.map(({ path, message }) => `${path}: ${message}`);

describe('files that cannot be read for a moment', () => {
  const setUp = async (config: ConfigInput) => {
    const home = await temporaryDirectory();
    const clock = createFakeClock();
    const memory = createSourceMemory(clock);
    const place = { platform: 'linux', home, env: {}, project: join(home, 'p') };
    const read = (): Promise<LoadedConfig> =>
      resolveWithSources(config, { source: 'library', env: {}, directory: home, place, memory });
    return { home, clock, read };
  };
  const table = (...names: string[]): string =>
    JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])) });

  it('CFG-6 a file that is half written, not a file or not an object keeps its last good servers for as long as it takes', async () => {
    const { home, clock, read } = await setUp({ sources: [{ type: 'cursor', path: 'theirs.json' }] });
    const file = join(home, 'theirs.json');
    await writeFile(file, '{"mcpServers": {');
    // At the first start there is no last good state.
    expect(ids(await read())).toEqual([]);
    await writeFile(file, table('one', 'two'));
    const good = await read();
    expect(good.keptSources).toEqual([]);
    for (const broken of ['{"mcpServers": {"one": ', 'null', '"x"']) {
      await writeFile(file, broken);
      await clock.advance(3_600_000);
      const kept = await read();
      expect(ids(kept)).toEqual(['one', 'two']);
      expect(kept.hash).toBe(good.hash);
      expect(kept.keptSources).toMatchObject([{ path: file }]);
      expect(lines(kept)).toContainEqual(
        expect.stringMatching(/^sources\.cursor: .*theirs\.json: .*; its servers stay as they were last read$/),
      );
    }
    await rm(file);
    await symlink(file, file);
    expect(ids(await read())).toEqual(['one', 'two']);
    await rm(file);
    await mkdir(file);
    expect(ids(await read())).toEqual(['one', 'two']);
    await rm(file, { recursive: true });
    await writeFile(file, table('three'));
    const mended = await read();
    expect(ids(mended)).toEqual(['three']);
    expect(mended.keptSources).toEqual([]);
  });

  it('CFG-6 a file that is gone or empty keeps its servers for a minute, and is believed afterwards', async () => {
    for (const goAway of [(file: string) => rm(file), (file: string) => writeFile(file, ' \n')]) {
      const { home, clock, read } = await setUp({ sources: [{ type: 'cursor', path: 'theirs.json' }] });
      const file = join(home, 'theirs.json');
      await writeFile(file, table('one'));
      await read();
      await goAway(file);
      expect(ids(await read())).toEqual(['one']);
      await clock.advance(59_000);
      expect((await read()).keptSources).toMatchObject([{ path: file }]);
      await writeFile(file, table('one'));
      await read();
      await goAway(file);
      await clock.advance(59_000);
      expect(ids(await read())).toEqual(['one']);
      await clock.advance(61_000);
      const gone = await read();
      expect(ids(gone)).toEqual([]);
      expect(gone.keptSources).toEqual([]);
    }
  });

  it('CFG-6 the same holds for the files of a folder, for what turns tools off, and for a file with variables', async () => {
    const { home, read } = await setUp({ sources: ['continue', 'cursor', { type: 'vscode', path: 'vs.json' }] });
    await mkdir(join(home, '.continue', 'mcpServers'), { recursive: true });
    const folderFile = join(home, '.continue', 'mcpServers', 'a.json');
    await writeFile(folderFile, table('in-folder'));
    await writeFile(join(home, 'secret.env'), 'TOKEN=abcdefghijkl');
    const launch = { command: 'x', envFile: join(home, 'secret.env'), disabledTools: ['drop'] };
    await writeFile(join(home, 'vs.json'), JSON.stringify({ servers: { with: launch } }));
    const before = await read();
    expect(ids(before)).toEqual(['in-folder', 'with']);
    await rm(folderFile);
    await rm(join(home, 'secret.env'));
    await writeFile(join(home, 'vs.json'), '{"servers"');
    const kept = await read();
    expect(kept.servers.map(({ id, problem, digest }) => [id, problem, digest])).toEqual(
      before.servers.map(({ id, problem, digest }) => [id, problem, digest]),
    );
    expect(kept.config.toolRules).toEqual(before.config.toolRules);
    expect(kept.config.toolRules).toHaveLength(1);
    expect(kept.keptSources.map(({ path }) => path).toSorted()).toEqual(
      [folderFile, join(home, 'secret.env'), join(home, 'vs.json')].toSorted(),
    );
    expect(JSON.stringify(kept.warnings)).not.toContain('abcdefghijkl');
  });
});

describe('fields that are not taken over', () => {
  it('CFG-5 every field of an entry that says nothing to us is named, with its file, for every kind of entry', async () => {
    const home = await temporaryDirectory();
    const place = { platform: 'linux', home, env: {}, project: join(home, 'p') };
    const servers = [
      { id: 'a', transport: 'stdio', command: 'x', args: ['-m', null], url: 'https://unused.example', retries: 3 },
      { id: 'b', transport: 'sse', url: 'https://b.example', env: { A: '1' }, capabilities: ['x:y', 7], health: {} },
      { id: 'c', transport: 'stdio', command: 'y', env: { KEY: null }, tags: 'one', eager: 'yes', 'odd key': [1] },
      { id: 'd', command: 'z', enabled: true, disabled: false },
    ];
    await writeFile(join(home, 'mcp.json'), JSON.stringify({ version: '7', servers, note: 'x' }));
    const source = { type: 'ranger-mcp-json' as const, path: 'mcp.json', scope: 'user' as const };
    const loaded = await resolveWithSources(
      { sources: [source] },
      { source: 'library', env: {}, directory: home, place },
    );
    expect(ids(loaded)).toEqual(['a', 'b', 'c', 'd']);
    const file = join(home, 'mcp.json');
    expect(lines(loaded)).toEqual([
      `sources.ranger-mcp-json: ${file}: note is not used`,
      `sources.ranger-mcp-json: ${file}: version is not known; the file is read as version "1.0"`,
      `sources.ranger-mcp-json.a: ${file}: args holds items without a value; they are left out`,
      `sources.ranger-mcp-json.a: ${file}: url is not used`,
      `sources.ranger-mcp-json.a: ${file}: retries is not used`,
      `sources.ranger-mcp-json.b: ${file}: capabilities holds items that are not strings; they are left out`,
      `sources.ranger-mcp-json.b: ${file}: env is not used`,
      `sources.ranger-mcp-json.c: ${file}: eager is neither true nor false and is left out`,
      `sources.ranger-mcp-json.c: ${file}: env.KEY has no value and is left out`,
      `sources.ranger-mcp-json.c: ${file}: tags is not used`,
      `sources.ranger-mcp-json.c: ${file}: ["odd key"] is not used`,
    ]);
  });

  it('CFG-5 what an importer reads by itself is not called unused, and the rest of every client is', async () => {
    const home = await temporaryDirectory();
    const place = { platform: 'linux', home, env: {}, project: join(home, 'p') };
    const put = async (path: string, text: string): Promise<void> => {
      await mkdir(join(home, path, '..'), { recursive: true });
      await writeFile(join(home, path), text);
    };
    await put('.codex/config.toml', '[mcp_servers.c]\ncommand = "c"\ndefault_tools_approval_mode = "auto"\nodd = 1\n');
    await put('.gemini/settings.json', '{"mcpServers": {"g": {"command": "g", "trust": true, "odd": 1}}}');
    await put('.copilot/mcp-config.json', '{"mcpServers": {"p": {"command": "p", "tools": ["t"], "odd": 1}}}');
    await put('.config/goose/config.yaml', 'extensions:\n  o:\n    config: {cmd: o, odd: 1}\n    enabled: true\n');
    await put('.cursor/mcp.json', '{"mcpServers": {"u": {"url": "https://u.example", "requestInit": {"odd": 1}}}}');
    const sources = ['codex', 'gemini-cli', 'copilot', 'goose', 'cursor'] as const;
    const loaded = await resolveWithSources(
      { sources: [...sources] },
      { source: 'library', env: {}, directory: home, place },
    );
    expect(lines(loaded).map((line) => line.replace(/: .*: /, ': '))).toEqual([
      'sources.codex.c: odd is not used',
      'sources.gemini-cli.g: odd is not used',
      'sources.copilot.p: odd is not used',
      'sources.goose.o: odd is not used',
      'sources.cursor.u: requestOptions.odd is not used',
    ]);
  });
});

describe('sources', () => {
  it('CFG-5 the servers of a client are part of the config, beside our own, with where they come from', async () => {
    const place = await settle(['lm-studio']);
    const loaded = await resolve({ sources: ['lm-studio'], servers: { own: { command: 'own' } } }, place);
    expect(ids(loaded)).toEqual(['own', 'hf', 'sum']);
    expect(loaded.servers[1]).toMatchObject({
      source: join(place.home, '.lmstudio/mcp.json'),
      scope: 'user',
      shown: { target: 'https://huggingface.co/mcp', secrets: ['Authorization'] },
    });
    expect(loaded.servers[0]!.scope).toBeUndefined();
    expect(loaded.secrets).toContain('hf_canary0123456789');
    expect(loaded.sourceFiles).toContain(join(place.home, '.lmstudio/mcp.json'));
  });

  it('CFG-5 own servers win, twins from several clients are one, others of the same name are renamed with a warning', async () => {
    const place = await settle(['windsurf', 'zed', 'claude-code', 'air']);
    const loaded = await resolve(
      {
        servers: { plain: { command: 'mine' }, again: { command: 'off-mcp' } },
        sources: ['windsurf', 'zed', 'claude-code', 'air'],
      },
      place,
    );
    expect(
      ids(loaded)
        .filter((id) => /^(plain|remote|off|shared|again)/.test(id))
        .toSorted(),
    ).toEqual(['again', 'plain', 'remote', 'remote-zed', 'shared']);
    expect(lines(loaded)).toEqual(
      expect.arrayContaining([
        'sources.windsurf.plain: is not used: a server of this config has that id',
        'sources.zed.remote: is called "remote-zed" here, because another server has that id',
      ]),
    );
  });

  it('SEC-9 servers of a project’s file are marked, those of the user are not', async () => {
    const place = await settle(['claude-code']);
    const { servers } = await resolve({ sources: ['claude-code'] }, place);
    expect(Object.fromEntries(servers.map(({ id, scope }) => [id, scope]))).toEqual({
      sentry: 'user',
      airtable: 'user',
      asana: 'user',
      'local-db': 'user',
      shared: 'project',
      api: 'project',
    });
  });

  it('SEC-9 a project’s file that is named by its path is still one, unless the config says otherwise', async () => {
    const place = await settle(['claude-code', 'vscode']);
    const path = join(place.project, '.mcp.json');
    const scopes = async (source: object): Promise<unknown> => {
      const loaded = await resolve({ sources: [{ type: 'claude-code', path, ...source } as never] }, place);
      return [...new Set(loaded.servers.map(({ scope }) => scope))];
    };
    expect(await scopes({})).toEqual(['project']);
    expect(await scopes({ scope: 'user' })).toEqual(['user']);
    const container = { type: 'vscode', path: join(place.project, '.devcontainer/devcontainer.json') } as const;
    expect((await resolve({ sources: [container] }, place)).servers).toMatchObject([
      { id: 'in-container', scope: 'project' },
    ]);
  });

  it('CFG-4 A31 variables expand as our own do, and a server without one of them fails closed', async () => {
    const place = await settle(['claude-code']);
    const loaded = await resolve({ sources: ['claude-code'] }, place, { SENTRY_TOKEN: 'canary-sentry', API_KEY: '' });
    const [sentry] = loaded.servers;
    expect(sentry).toMatchObject({ transport: { headers: { Authorization: 'Bearer canary-sentry' } } });
    expect(sentry!.problem).toBeUndefined();
    expect(JSON.stringify(sentry!.shown)).not.toContain('canary');
    expect(loaded.servers.find(({ id }) => id === 'api')?.problem).toBe(
      'needs the environment variable API_KEY, which is empty',
    );
    expect(loaded.secrets).toContain('canary-sentry');
  });

  it('CONN-6 SEC-9 a token of the environment reaches no server that it was not meant for', async () => {
    const place = await settle(['warp', 'kiro']);
    const env = { MCP_AUTH_TOKEN: 'for-all-of-ours', WARP_PROJECT_MCP_TOKEN: 'named', KIRO_REMOTE_MCP_TOKEN: 'named' };
    const servers = { own: { url: 'https://own.example.com/mcp' } };
    const loaded = await resolve({ sources: ['warp', 'kiro'], servers }, place, env);
    const sent = (id: string): unknown =>
      (loaded.servers.find((s) => s.id === id)!.transport as { headers: object }).headers;
    expect(sent('own')).toEqual({ Authorization: 'Bearer for-all-of-ours' });
    expect(sent('kiro-remote')).toEqual({ Authorization: 'Bearer named' });
    expect(sent('warp-project')).toEqual({});
    const bare = await resolve({ sources: ['kiro'] }, place, { MCP_AUTH_TOKEN: 'for-all-of-ours' });
    expect(JSON.stringify(bare.servers)).not.toContain('for-all-of-ours');
  });

  it('CFG-5 what a client would have asked for is named, and can be given as a variable', async () => {
    const place = await settle(['vscode']);
    const problem = async (env: Record<string, string>): Promise<string | undefined> =>
      (await resolve({ sources: ['vscode'] }, place, env)).servers.find(({ id }) => id === 'perplexity')?.problem;
    expect(await problem({})).toBe(
      'needs the environment variable MCP_INPUT_PERPLEXITY_KEY (input "perplexity-key": Perplexity API Key), which is not set',
    );
    expect(await problem({ MCP_INPUT_PERPLEXITY_KEY: 'k' })).toBeUndefined();
  });

  it('CFG-5 a file with variables is read for its server; its values are secrets; without it the server does not start', async () => {
    const place = await settle(['cursor', 'vscode']);
    const loaded = await resolve({ sources: ['cursor', 'vscode'] }, place);
    const fetch = loaded.servers.find(({ id }) => id === 'fetch')!;
    expect(fetch.transport).toMatchObject({ env: { FETCH_KEY: 'canary-from-env-file', MODE: 'fast' } });
    expect(loaded.secrets).toContain('canary-from-env-file');
    expect(loaded.servers.find(({ id }) => id === 'local')!.transport).toMatchObject({
      env: { LOCAL_KEY: 'canary-local-key' },
    });
    await rm(join(place.home, 'fetch.env'));
    const without = await resolve({ sources: ['cursor'] }, place);
    expect(without.servers.find(({ id }) => id === 'fetch')!.problem).toBe('its envFile cannot be read (ENOENT)');
  });

  it('SEC-9 a project cannot have variables read from a file outside it, not even through a link', async () => {
    const place = await settle(['vscode']);
    await writeFile(join(place.home, 'secret.env'), 'TOKEN=canary-stolen\n');
    await rm(join(place.project, '.env.mcp'));
    await symlink(join(place.home, 'secret.env'), join(place.project, '.env.mcp'));
    const loaded = await resolve({ sources: ['vscode'] }, place);
    expect(loaded.servers.find(({ id }) => id === 'local')!.problem).toBe('its envFile lies outside the project');
    expect(JSON.stringify(loaded)).not.toContain('canary-stolen');
  });

  it('CFG-5 PAT-4 tools that a client turned off are off; rules of the config come first', async () => {
    const place = await settle(['windsurf']);
    const { config } = await resolve({ sources: ['windsurf'], toolRules: [{ pattern: 'x', enabled: false }] }, place);
    expect(config.toolRules).toEqual([
      { pattern: 'x', enabled: false },
      { server: 'remote', pattern: ['delete_thing'], enabled: false },
    ]);
  });

  it('CFG-5 what a client runs without a question is kept as its list says, patterns included', async () => {
    const place = await settle(['cursor']);
    const { servers } = await resolve({ sources: ['cursor'] }, place);
    expect(servers.map(({ autoApproved }) => autoApproved)).toEqual([['list_issues', 'get_*'], ['*'], undefined]);
  });

  it('CFG-5 "only" and "rename" choose and name; missing servers are reported', async () => {
    const place = await settle(['lm-studio']);
    const source = { type: 'lm-studio', only: ['hf', 'gone'], rename: { hf: 'hugging' } } as const;
    const loaded = await resolve({ sources: [{ ...source, only: [...source.only] }] }, place);
    expect(ids(loaded)).toEqual(['hugging']);
    expect(lines(loaded)).toEqual(['sources.lm-studio.gone: is named in "only" but was not found']);
    const odd = await resolve({ sources: [{ type: 'lm-studio', rename: { hf: '../x', sum: '__proto__' } }] }, place);
    expect(ids(odd)).toEqual(['hf', 'sum']);
  });

  it('CFG-6 the hash changes with the servers of a source, and with nothing else in its file', async () => {
    const root = await temporaryDirectory();
    const place = { platform: 'linux', home: root, project: join(root, 'p'), env: {} };
    const write = (data: object): Promise<void> => writeFile(join(root, '.claude.json'), JSON.stringify(data));
    const hash = async (): Promise<string> => (await resolve({ sources: ['claude-code'] }, place)).hash;
    await mkdir(place.project);
    await write({ mcpServers: { a: { command: 'a' } }, history: [1] });
    const first = await hash();
    await write({ mcpServers: { a: { command: 'a' } }, history: [1, 2] });
    expect(await hash()).toBe(first);
    await write({ mcpServers: { a: { command: 'b' } }, history: [1, 2] });
    expect(await hash()).not.toBe(first);
  });

  it('CFG-5 a source without files, or with a broken one, stops nothing', async () => {
    const place = await settle(['warp']);
    await writeFile(join(place.home, '.warp/.mcp.json'), '{');
    const sources = ['codex', 'warp', { type: 'kiro', path: '~/nowhere.json' }] as const;
    const loaded = await resolve({ sources: [...sources] }, place);
    expect(ids(loaded)).toEqual(['warp-project']);
    expect(lines(loaded).filter((line) => line.startsWith('sources.'))).toEqual([
      expect.stringContaining('sources.warp: ') as string,
      `sources.kiro: ${join(place.home, 'nowhere.json')}: there is no such file`,
    ]);
  });

  it('CFG-3 a source that is not known, or not described like one, is a problem with the nearest name', () => {
    const { problems } = validateConfig({ sources: ['cursr', { type: 'vs-code' }, { type: 'zed', pth: 'x' }, 7, {}] });
    const said = problems.map(
      ({ path, message }) => `${path}: ${message.replace(/expected one of .*?, found/, 'found')}`,
    );
    expect(said).toEqual([
      'sources[0]: found the string "cursr"; did you mean "cursor"?',
      'sources[1].type: found the string "vs-code"; did you mean "vscode"?',
      'sources[2].pth: unknown key; did you mean "path"?',
      'sources[3]: found 7',
      expect.stringContaining('sources[4].type: is missing') as string,
    ]);
  });
});
