import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Importer, SourceFile, SourcePath } from '../../src/clients/importer.js';
import type { ClientEnvironment } from '../../src/config/resolve/client-environment.js';
import { importClient } from '../../src/clients/import-sources.js';
import { isServerId } from '../../src/config/resolve/server-id.js';
import { ServerEntry } from '../../src/model/config.js';
import type { ImportedServer } from '../../src/model/source.js';
import { temporaryDirectory } from '../support/fixture.js';

const CLIENTS = fileURLToPath(new URL('../fixtures/clients', import.meta.url));
const PLATFORMS = ['linux', 'darwin', 'win32'];

/** Copies the recorded files of a client to a home and a project that are removed after the test. */
export async function settle(
  types: readonly string[],
  platform = 'linux',
): Promise<ClientEnvironment & { project: string }> {
  const root = await temporaryDirectory();
  const place = { platform, home: join(root, 'home'), project: join(root, 'project'), env: {} };
  for (const part of ['home', 'project'] as const) {
    await mkdir(place[part], { recursive: true });
    for (const type of types) {
      const from = join(CLIENTS, type, part);
      if (existsSync(from)) await cp(from, place[part], { recursive: true });
    }
  }
  const claude = join(place.home, '.claude.json');
  if (existsSync(claude)) {
    await writeFile(claude, (await readFile(claude, 'utf8')).replaceAll('@PROJECT@', place.project));
  }
  return place;
}

/** What a client's recorded files must become. */
async function expectedOf(type: string, place: ClientEnvironment & { project: string }): Promise<unknown> {
  const text = await readFile(join(CLIENTS, type, 'expected.json'), 'utf8');
  return JSON.parse(text.replaceAll('@PROJECT@', place.project).replaceAll('@HOME@', place.home)) as unknown;
}

/** Empty lists and absent fields say nothing. */
function spoken(server: ImportedServer): object {
  const said = Object.entries(server).filter(
    ([key, value]) => key !== 'client' && value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(said);
}

const NESTED = '['.repeat(5000) + ']'.repeat(5000);
const bomb = (): string => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 12; i++)
    lines.push(
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  return `${lines.join('\n')}\nmcpServers: *a11\nextensions: *a11\n`;
};

/** Files that no client wrote. */
const MUST_COMPLAIN = new Set(['no such format', 'ten megabytes of blanks and a comment', 'nesting beyond all bounds']);
const HOSTILE: Readonly<Record<string, (format: SourcePath['format']) => string>> = {
  'nothing at all': () => '',
  'no such format': () => '{"mcpServers": {"a": ',
  'ten megabytes of blanks and a comment': () => `${' '.repeat(10 * 1024 * 1024)}// x`,
  'nesting beyond all bounds': (format) => (format === 'toml' ? `a = ${NESTED}` : `{"mcpServers": ${NESTED}}`),
  'an alias bomb': (format) => (format === 'yaml' ? bomb() : 'null'),
  'a number': (format) => (format === 'toml' ? '= 7' : '7'),
  'a list': (format) => (format === 'toml' ? '[[a]]' : '[1, null, [], {}]'),
  'NUL and half characters': () => '\u0000\ud800{}',
};

/** Entries that are no servers, below every root there is. */
const ODD_ENTRIES: ReadonlyArray<unknown> = [
  null,
  7,
  'text',
  [],
  {},
  { command: 7 },
  { command: '' },
  { command: 'x', args: 'y' },
  { command: 'x', args: [{}] },
  { command: 'x', env: [] },
  { command: 'x', env: { A: {} } },
  { command: 'x', env: { 'A=B': '1' } },
  { command: 'x\u0000y' },
  { url: 'javascript:alert(1)' },
  { url: 'ftp://x' },
  { url: 'https://x.example', headers: { 'X-A': 'a\r\nX-B: b' } },
  { url: 'https://x.example', headers: { 'bad name': 'x' } },
  { url: 'https://x.example', type: 'carrier-pigeon' },
  { command: [] },
  { command: { path: {} } },
];
const ROOTS = ['mcpServers', 'servers', 'context_servers', 'mcp', 'extensions', 'mcp_servers', 'registry', 'entries'];

/** A file in which everything hostile stands below every root, and one good server besides. */
function oddData(): unknown {
  const table = Object.fromEntries(ODD_ENTRIES.map((entry, at) => [`odd-${at}`, entry]));
  const names = JSON.parse('{"__proto__": {"command": "polluted"}, "constructor": {"command": "ok"}}') as object;
  const all = { ...table, good: { command: 'good', cmd: 'good' }, 'a/../b\u202e': { command: 'x' } };
  Object.defineProperty(all, '__proto__', { value: Object.entries(names)[0]![1], enumerable: true });
  return Object.fromEntries([...ROOTS.map((root) => [root, all]), ['projects', { x: 1, y: { mcpServers: 7 } }]]);
}

/** What every importer must do, whatever the client. */
export function describeImporter(importer: Importer): void {
  const { type } = importer;
  describe(`${type} keeps the importer contract`, () => {
    it('CFG-5 the recorded files become exactly these servers: transport, units, variables, scope, lists', async () => {
      const place = await settle([type]);
      const { servers, problems, remarks } = await importClient(type, place);
      const found = {
        servers: servers.map(spoken),
        problems: [...problems, ...remarks].map(({ path, message }) => `${path}: ${message}`),
      };
      expect(found).toEqual(await expectedOf(type, place));
      expect(servers.length).toBeGreaterThan(0);
    });

    it('CFG-5 every server is valid, has an id that may be one, and knows where it comes from', async () => {
      const place = await settle([type]);
      const { servers } = await importClient(type, place);
      for (const server of servers) {
        expect(ServerEntry.safeParse(server.entry).success, server.id).toBe(true);
        expect(isServerId(server.id)).toBe(true);
        expect(server.client).toBe(type);
        const inProject = !relative(place.project, server.file).startsWith('..');
        expect(server.scope, server.file).toBe(inProject ? 'project' : 'user');
      }
    });

    it.each(PLATFORMS)(
      'CFG-5 on %s it looks for absolute files below the home, the project or the system',
      (platform) => {
        const place = { platform, home: '/h', project: '/p', env: { APPDATA: '/h/AppData/Roaming' } };
        const paths = importer.locate(place);
        expect(paths.length).toBeGreaterThan(0);
        for (const { path, scope } of paths) {
          const isSystem = /^(\/Library|\/etc|C:\\)/.test(path);
          if (!isSystem) expect(isAbsolute(path) && path.startsWith(scope === 'user' ? '/h/' : '/p/'), path).toBe(true);
        }
        const without = importer.locate({ ...place, project: undefined });
        expect(without.every(({ scope }) => scope === 'user')).toBe(true);
      },
    );

    it('CFG-5 it is pure: the same files give the same answer and stay as they are', async () => {
      const place = await settle([type]);
      const files = await parsed(importer, place);
      const before = JSON.stringify(files);
      const first = importer.read(files, place);
      expect(importer.read(files, place)).toEqual(first);
      expect(JSON.stringify(files)).toBe(before);
    });

    it('CFG-5 with no file there is nothing, and nothing to complain about', async () => {
      const root = await temporaryDirectory();
      const place = { platform: 'linux', home: join(root, 'h'), project: join(root, 'p'), env: {} };
      expect(await importClient(type, place)).toEqual({
        files: [],
        kept: [],
        servers: [],
        unreadable: [],
        problems: [],
        remarks: [],
      });
    });

    it.each(Object.keys(HOSTILE))('A31 a file with %s is survived and hides no other', async (name) => {
      const place = await settle([type]);
      const good = await importClient(type, place);
      const first = importer.locate(place).find((path) => !path.endings && !path.role);
      const { path, format } = first!;
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, HOSTILE[name]!(format));
      const { servers, unreadable, problems: bad } = await importClient(type, place);
      const problems = [...unreadable, ...bad];
      const others = good.servers.filter((server) => server.file !== path).map(({ id }) => id);
      expect(servers.map(({ id }) => id)).toEqual(expect.arrayContaining(others));
      expect(problems.every((problem) => problem.message.length < 500)).toBe(true);
      if (MUST_COMPLAIN.has(name)) expect(problems.map((problem) => problem.path)).toContain(path);
    });

    it('A31 whatever JSON a file holds, it is read without throwing, and only valid servers come out', () => {
      const place = { platform: 'linux', home: '/h', project: '/p', env: {} };
      const path = importer.locate(place).find((each) => !each.endings && !each.role)!;
      const word = fc.constantFrom('command', 'args', 'env', 'url', 'type', 'headers', 'name', 'transport', 'timeout');
      const loose = fc.dictionary(fc.oneof(word, fc.string()), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 });
      const table = fc.oneof(
        fc.dictionary(fc.string(), loose, { maxKeys: 4 }),
        fc.array(loose, { maxLength: 4 }),
        loose,
      );
      fc.assert(
        fc.property(fc.dictionary(fc.oneof(fc.constantFrom(...ROOTS), fc.string()), table), (data) => {
          const { servers } = importer.read([{ ...path, data }], place);
          return servers.every(({ id, entry }) => isServerId(id) && ServerEntry.safeParse(entry).success);
        }),
        { numRuns: 60 },
      );
    });

    it('A31 entries that make no server are named and skipped; reserved names pollute nothing', async () => {
      const place = await settle([type]);
      const path = importer.locate(place).find((each) => !each.endings && !each.role);
      const file: SourceFile = { ...path!, data: oddData() };
      const { servers } = importer.read([file], place);
      for (const { id, entry } of servers) {
        expect(isServerId(id) && id !== '__proto__').toBe(true);
        expect(ServerEntry.safeParse(entry).success).toBe(true);
        expect(entry.command).not.toBe('polluted');
      }
      expect(({} as Record<string, unknown>)['command']).toBeUndefined();
    });

    const { installation } = importer;
    if (!installation) return;
    it('CFG-5 what install writes for this client is skipped by its own importer: no recursion', async () => {
      const place = { ...(await settle([])), self: { script: '/opt/x/cli.js', urls: ['http://127.0.0.1:9123/mcp'] } };
      const launches = [
        { type: 'stdio', command: '/usr/bin/node', args: ['/opt/x/cli.js', 'serve', '--stdio'] },
        { type: 'stdio', command: 'npx', args: ['-y', 'toolscout@1.0.0', 'serve', '--stdio'] },
        { type: 'http', url: 'http://127.0.0.1:7077/mcp' },
        { type: 'http', url: 'http://127.0.0.1:9123/mcp' },
      ] as const;
      for (const launch of launches) {
        for (const scope of ['user', 'project'] as const) {
          const file = installation.file(place, scope);
          const entry = installation.entry(launch);
          if (!file || !entry) continue;
          const table = installation.list ? [{ name: 'any', ...entry }] : { any: entry };
          const data = installation.key.reduceRight<unknown>((inner, key) => ({ [key]: inner }), table);
          expect(importer.read([{ ...file, data }], place)).toMatchObject({ servers: [], problems: [] });
          const foreign = installation.entry({ type: 'stdio', command: 'other', args: ['serve'] })!;
          const other = installation.list ? [{ name: 'any', ...foreign }] : { any: foreign };
          const theirs = installation.key.reduceRight<unknown>((inner, key) => ({ [key]: inner }), other);
          expect(importer.read([{ ...file, data: theirs }], place).servers).toHaveLength(1);
        }
      }
    });
  });
}

async function parsed(importer: Importer, place: ClientEnvironment): Promise<SourceFile[]> {
  const { readFiles } = await import('../../src/clients/reading/read-files.js');
  return [...(await readFiles(importer.locate(place))).files];
}
