import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { validateConfig } from '../../src/config/index.js';
import { VERSION } from '../../src/kernel/version.js';
import { finish } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(root, 'node_modules');

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly scripts: Record<string, string>;
  readonly exports: Record<string, string | Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Uses what the library exports as a user of it would. */
const CONSUMER = `
import * as toolscout from 'toolscout';
import {
  addToolsApi,
  createToolscout,
  createToolsApi,
  defineConfig,
  ERROR_TABLE,
  ToolscoutError,
  type CallResult,
  type Toolscout,
  type ToolscoutEvent,
  type JsonObject,
  type ServerView,
  type Tool,
  type ToolscoutOptions,
  type ShownConfig,
} from 'toolscout';
import { DiscoveryEngine, DiscoveryService } from 'toolscout/compat';

export const config = defineConfig({
  $schema: 'https://example.com/schema.json',
  servers: { files: { command: 'npx', args: ['-y', 'x'] } },
  toolRules: [{ pattern: '*delete*', enabled: false }],
});
// @ts-expect-error a port is a number: the types are there, and are not any
export const wrong = defineConfig({ http: { port: 'http' } });

export async function use(options: ToolscoutOptions): Promise<readonly string[]> {
  const gateway: Toolscout = await createToolscout({ ...options, config });
  const { hits } = await gateway.search('read a file', { limit: 3 });
  const result: CallResult = await gateway.call('files', 'read', { path: 'x' } satisfies JsonObject);
  const stop: () => void = gateway.onEvent((event: ToolscoutEvent) => void event.type);
  stop();
  // @ts-expect-error a hit has no such field
  void hits[0]?.nothing;
  if (result.error && ERROR_TABLE[result.error.code].status === 404) throw new ToolscoutError('NOT_FOUND', 'x');
  const api = createToolsApi(gateway);
  void api;
  void addToolsApi;
  await gateway.close();
  return [...hits.map((hit) => hit.server), toolscout.VERSION];
}
export const classes = [DiscoveryEngine, DiscoveryService] as const;
export type Nouns = [ServerView, Tool, ShownConfig];
`;

let folder: string;
let installed: string;
let manifest: Manifest;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolscout-package-'));
  // The build is what this run was given: building again would take it from under the other tests.
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  await run('npm', args, { cwd: root, env: { ...process.env, npm_config_cache: join(folder, 'cache') } });
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  installed = join(folder, 'node_modules', 'toolscout');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(folder, tarball!), '--strip-components=1', '-C', installed]);
  manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;
  // Only what an installation would bring; the packages of development are not among it.
  for (const name of [...Object.keys(manifest.dependencies), '@types/node', 'undici-types']) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(modules, name), link);
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the published package', STARTS_PROCESSES, () => {
  it.each([
    ['nodenext', { module: 'nodenext', lib: ['es2023'], types: ['node'] }],
    ['bundler', { module: 'esnext', lib: ['es2023', 'dom', 'dom.iterable'], types: [] }],
  ] as const)(
    'CLI-1 its types compile strictly, libraries checked, with moduleResolution %s',
    async (resolution, given) => {
      const place = join(folder, resolution);
      await mkdir(place);
      await writeFile(join(place, 'package.json'), '{"type":"module"}');
      await writeFile(join(place, 'consumer.ts'), CONSUMER);
      const compilerOptions = {
        ...given,
        moduleResolution: resolution,
        target: 'es2023',
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        noEmit: true,
      };
      await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
      const tsc = join(modules, 'typescript', 'bin', 'tsc');
      const { code, stdout, stderr } = await finish(spawn(process.execPath, [tsc, '-p', place], { stdio: 'pipe' }));
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
    },
  );

  it('CLI-1 says where it comes from, builds before it is packed, and holds every file that it exports', () => {
    expect(manifest).toMatchObject({
      repository: { type: 'git', url: expect.stringMatching(/^git\+https:\/\//) as string },
      homepage: expect.stringMatching(/^https:\/\//) as string,
      bugs: { url: expect.stringMatching(/^https:\/\//) as string },
      scripts: { prepack: expect.stringContaining('build') as string },
    });
    const files = Object.entries(manifest.exports)
      .filter(([name]) => !name.includes('*'))
      .flatMap(([, target]) => (typeof target === 'string' ? [target] : Object.values(target)));
    for (const file of files) expect([file, existsSync(join(installed, file))]).toEqual([file, true]);
  });

  it('CLI-1 runs where only its dependencies are installed', async () => {
    const { code, stdout } = await finish(
      spawn(process.execPath, [join(installed, 'dist/cli.js'), '--version'], { cwd: folder, stdio: 'pipe' }),
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${VERSION}\n` });
  });

  describe('CFG-2 the JSON Schema of the config', () => {
    let schema: { readonly properties: Record<string, { readonly description?: string }> };
    let validate: ReturnType<Ajv['compile']>;
    beforeAll(() => {
      schema = JSON.parse(readFileSync(join(installed, 'dist/schemas/config.json'), 'utf8')) as typeof schema;
      validate = new Ajv({ strict: false, logger: false }).compile(schema);
    });

    it.each([
      [{}, true],
      [{ $schema: 'https://example.com/x.json', servers: { a: { command: 'x', args: ['${V}'] } } }, true],
      [{ discovery: { servers: { a: { url: 'https://a.example/mcp' } }, cache: false } }, true],
      [{ http: { port: 0, auth: { keys: [{ name: 'team', key: '${TEAM_KEY}', scopes: ['read'] }] } } }, true],
      [{ sources: ['cursor', { type: 'vscode', scope: 'user' }], cache: { ttlMs: 5 } }, true],
      [{ server: {} }, false],
      [{ $schema: 7 }, false],
      [{ http: { port: 'x' } }, false],
      [{ servers: { a: { comand: 'x' } } }, false],
      [{ discovery: { nothing: 1 } }, false],
      [{ mode: 'everything' }, false],
    ])('agrees with toolscout itself about %j', (config, isValid) => {
      expect([validate(config), validateConfig(config).problems.length === 0]).toEqual([isValid, isValid]);
    });

    it('says what a field means, in the words of the page about it', () => {
      const { mode, ai, servers } = schema.properties;
      expect(mode?.description).toMatch(/what hosts are offered.*docs\/modes\.md/);
      expect(ai?.description).toContain('a model');
      expect(JSON.stringify(servers)).toContain('the program of a local server');
    });
  });
});
