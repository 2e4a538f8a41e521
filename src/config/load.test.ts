import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LoadedConfig } from './index.js';
import { loadConfig } from '../../test/support/load-config.js';

let root: string;
const put = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
};
const load = (file?: string, env: Record<string, string> = {}): Promise<LoadedConfig> =>
  loadConfig({ file, cwd: root, home: join(root, 'home'), env });
/** The same for a user whose home this is. */
const loadAtHome = (): Promise<LoadedConfig> => loadConfig({ cwd: root, home: root, env: {} });

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'toolscout-load-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const CODE = {
  'c.ts': 'const n: number = 7;\nexport default { timeoutMs: n } satisfies object;\n',
  'c.js': 'module.exports = { timeoutMs: 7 };\n',
  'c.mjs': 'const n = await Promise.resolve(7);\nexport default Promise.resolve({ timeoutMs: n });\n',
  'named.ts': 'export const timeoutMs = 7;\n',
  'self.ts': "import { defineConfig } from 'toolscout';\nexport default defineConfig({ timeoutMs: 7 });\n",
  'path.ts': `import { defineConfig } from ${JSON.stringify(join(import.meta.dirname, 'define-config.ts'))};
export default defineConfig({ timeoutMs: 7 });\n`,
};

describe('loadConfig', () => {
  it.each(Object.entries(CODE))('CFG-1 runs %s', async (name, text) => {
    await put(name, text);
    const loaded = await load(name);
    expect(loaded.config.timeoutMs).toBe(7);
    expect(loaded).toMatchObject({ path: join(root, name), source: join(root, name), warnings: [] });
  });

  it.each(['ts', 'js', 'mjs', 'json', 'jsonc', 'yaml', 'yml', 'toml'])(
    'CFG-2 an empty .%s file is a valid config with every default',
    async (format) => {
      await put(`c.${format}`, '');
      const { config, servers } = await load(`c.${format}`);
      expect(servers).toEqual([]);
      expect(config).toMatchObject({
        enabled: true,
        timeoutMs: 10_000,
        cache: { enabled: true, ttlMs: 86_400_000 },
        approval: 'trust-first',
        store: 'sqlite',
        maxParallelDiscoveries: 5,
        retryPolicy: { maxRetries: 3 },
      });
    },
  );

  it.each(['ts', 'js', 'mjs'])('CFG-6 a changed .%s config and what it imports are read again', async (format) => {
    await put('part.ts', 'export const maxRetries = 1;\n');
    await put(
      `c.${format}`,
      "import { maxRetries } from './part.ts';\nexport default { retryPolicy: { maxRetries } };\n",
    );
    const first = await load(`c.${format}`);
    await put('part.ts', 'export const maxRetries = 2;\n');
    const second = await load(`c.${format}`);
    await put(`c.${format}`, 'export default { retryPolicy: { maxRetries: 3 } };\n');
    const third = await load(`c.${format}`);
    expect([first, second, third].map(({ config }) => config.retryPolicy.maxRetries)).toEqual([1, 2, 3]);
    expect(new Set([first.hash, second.hash, third.hash]).size).toBe(3);
  });

  it('CFG-3 a syntax error in code has its place, and code that throws says why', async () => {
    await put('bad.ts', 'export default {\n  timeout: 3 4\n};\n');
    await expect(load('bad.ts')).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
      message: expect.stringContaining('bad.ts:2:13: ') as string,
    });
    await put('throws.mjs', "throw new Error('no such vault');\n");
    await expect(load('throws.mjs')).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
      message: expect.stringContaining('no such vault') as string,
    });
    await put('function.ts', 'export default () => ({});\n');
    await expect(load('function.ts')).rejects.toMatchObject({
      problems: [{ path: 'config', message: expect.stringContaining('found a function') as string }],
    });
  });

  it.each([
    ['null.json', 'null'],
    ['list.yaml', '- a\n'],
    ['text.json', '"servers"'],
    ['null.yaml', 'null\n'],
  ])('CFG-3 %s is one clear problem', async (name, text) => {
    await put(name, text);
    await expect(load(name)).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
      problems: [{ path: 'config', message: expect.stringMatching(/^expected an object/) as string }],
    });
  });

  it('CFG-1 without a file the fallback holds, and without that the defaults', async () => {
    const options = { cwd: root, home: root, env: {} };
    const demo = { config: { servers: { demo: { command: 'node' } } }, source: 'demo' };
    const defaults = await loadConfig(options);
    expect(defaults).toMatchObject({ source: 'defaults', servers: [] });
    expect(defaults.path).toBeUndefined();
    const loaded = await loadConfig({ ...options, fallback: () => demo });
    expect(loaded).toMatchObject({ source: 'demo', servers: [{ id: 'demo', source: 'demo' }] });
    await put('toolscout.config.json', '{}');
    expect((await loadConfig({ ...options, fallback: () => demo })).servers).toEqual([]);
  });

  it('CFG-1 a second config in the same place is named as not read', async () => {
    await put('toolscout.config.json', '{}');
    await put('toolscout.config.yaml', 'timeoutMs: 1');
    const { warnings, path } = await loadAtHome();
    expect(path).toBe(join(root, 'toolscout.config.json'));
    expect(warnings).toMatchObject([{ path: join(root, 'toolscout.config.yaml') }]);
  });

  it('CFG-2 an AnyGPT config keeps its own fields, while our own config has no unknown ones', async () => {
    const text = 'providers: {a: 1}\ndiscovery: {timeout: 3, tiemout: 4}\n';
    await put('anygpt.config.yaml', text.replace(', tiemout: 4', ''));
    expect((await loadAtHome()).config.timeoutMs).toBe(3);
    await put('anygpt.config.yaml', text);
    await expect(loadAtHome()).rejects.toMatchObject({ problems: [{ path: 'discovery.tiemout' }] });
    await put('own.yaml', text);
    await expect(load('own.yaml')).rejects.toMatchObject({
      problems: [{ path: 'providers' }, { path: 'discovery.tiemout' }],
    });
  });

  it('CFG-4 a relative cwd starts at the directory of the file', async () => {
    await put('.toolscout/config.yaml', 'servers: {a: {command: x, cwd: ../sub}, b: {command: x, cwd: "${D}"}}\n');
    const { servers } = await load(undefined, { D: '/abs' });
    expect(servers.map(({ transport }) => transport)).toMatchObject([{ cwd: join(root, 'sub') }, { cwd: '/abs' }]);
  });

  it('CFG-3 a file that is too large is refused', async () => {
    await put('big.json', `{"a": "${'x'.repeat(1024 * 1024)}"}`);
    await expect(load('big.json')).rejects.toThrow(/larger than/);
  });
});

describe('mcp.json of an application', () => {
  const registry = (...servers: object[]): string => JSON.stringify({ version: '1.0', servers });
  const irwin = { id: 'mcp-irwin', transport: 'stdio', command: 'python', args: ['-m', 'x'], capabilities: ['a:b'] };

  it('NEG-1 CFG-5 is found in the current folder beside any config, as a project’s file; each dropped field is named', async () => {
    await put('mcp.json', registry(irwin, { id: 'gee', transport: 'sse', url: 'https://gee.example', region: 'eu' }));
    const file = join(root, 'mcp.json');
    const check = (loaded: LoadedConfig): void => {
      const theirs = loaded.servers.filter(({ source }) => source === file);
      expect(theirs).toMatchObject([
        { id: 'mcp-irwin', scope: 'project', capabilities: ['a:b'], transport: { type: 'stdio', cwd: root } },
        { id: 'gee', scope: 'project', transport: { type: 'sse' } },
      ]);
      expect(loaded.warnings).toContainEqual({
        path: 'sources.ranger-mcp-json.gee',
        message: `${file}: region is not used`,
      });
      expect(loaded.sourceFiles).toContain(file);
    };
    check(await load());
    await put('toolscout.config.json', '{"servers": {"own": {"command": "x"}}}');
    const beside = await load();
    check(beside);
    expect(beside.servers.map(({ id }) => id).toSorted()).toEqual(['gee', 'mcp-irwin', 'own']);
    await put('home/.config/toolscout/config.json', '{}');
    await rm(join(root, 'toolscout.config.json'));
    check(await load());
  });

  it('NEG-1 without a config it takes the place of the demo, and nothing of it is read where a source names one', async () => {
    await put('mcp.json', registry(irwin));
    const fallback = () => ({ config: { servers: { demo: { command: 'demo' } } }, source: 'demo' });
    const options = { cwd: root, home: join(root, 'home'), env: {}, fallback };
    expect((await loadConfig(options)).servers.map(({ id }) => id)).toEqual(['mcp-irwin']);
    await put('other/mcp.json', registry({ id: 'other', command: 'x' }));
    const sources = [{ type: 'ranger-mcp-json', path: join(root, 'other', 'mcp.json') }];
    await put('home/.config/toolscout/config.json', JSON.stringify({ sources }));
    expect((await load()).servers.map(({ id }) => id)).toEqual(['other']);
  });

  it('NEG-1 A53 is not read where approvals are off: its servers would start because the folder was opened', async () => {
    await put('mcp.json', registry(irwin));
    await put('home/.config/toolscout/config.json', '{"approval": "off"}');
    const loaded = await load();
    expect(loaded.servers).toEqual([]);
    expect(loaded.warnings).toMatchObject([{ path: 'sources', message: expect.stringContaining('is not read') }]);
  });

  it('NEG-1 given with --config it is the user’s own config, whatever it is called', async () => {
    await put('mcp.json', registry({ id: 'not-read', command: 'x' }));
    await put('app/fire.json', registry(irwin, { id: 'gee', transport: 'sse', url: 'https://gee.example', x: 1 }));
    const loaded = await load('app/fire.json');
    const path = join(root, 'app', 'fire.json');
    expect(loaded).toMatchObject({ path, source: path });
    expect(loaded.servers).toMatchObject([
      { id: 'mcp-irwin', scope: 'user', source: path, transport: { cwd: join(root, 'app') } },
      { id: 'gee', scope: 'user' },
    ]);
    expect(loaded.warnings).toEqual([{ path: 'sources.ranger-mcp-json.gee', message: `${path}: x is not used` }]);
    await put('app/fire.json', '{"version": "1.0", "servers": [');
    await expect(load('app/fire.json')).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
  });

  it('NEG-1 one of another program, or one that cannot be read, is named and stops nothing', async () => {
    await put('toolscout.config.json', '{"servers": {"own": {"command": "x"}}}');
    await put('mcp.json', '{"mcpServers": {"a": {"command": "x"}}}');
    const other = await load();
    expect(other.servers.map(({ id }) => id)).toEqual(['own']);
    expect(other.warnings).toEqual([
      { path: 'sources.ranger-mcp-json', message: `${join(root, 'mcp.json')}: mcpServers is not used` },
    ]);
    await put('mcp.json', '{');
    expect((await load()).warnings).toMatchObject([{ path: 'sources.ranger-mcp-json' }]);
  });

  it('CFG-1 CLI-1 is not edited: add, remove and import say so', async () => {
    await put('mcp.json', registry(irwin));
    const path = join(root, 'mcp.json');
    const { removeServer, writeServer } = await import('./edit/write-server.js');
    await expect(writeServer('x', { command: 'x' }, { path, newPath: path })).rejects.toThrow('does not edit');
    await expect(removeServer('mcp-irwin', path)).rejects.toThrow('does not edit');
  });
});
