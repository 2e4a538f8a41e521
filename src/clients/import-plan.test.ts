import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settle } from '../../test/contract/importer-contract.js';
import { SOURCE_TYPES, type SourceType } from '../model/config.js';
import type { ImportPlan, ImportRow } from '../model/source.js';
import { planImport } from './import-plan.js';
import { type LoadedConfig } from '../config/index.js';
import { loadConfig } from '../../test/support/load-config.js';
import type { ClientEnvironment } from '../config/resolve/client-environment.js';
import { approveConfig, fingerprintOf } from '../config/review/trust.js';

type Settled = ClientEnvironment & { project: string };

const plan = (place: Settled, clients?: readonly SourceType[], file?: string): Promise<ImportPlan> =>
  planImport({ place, clients, find: { cwd: place.project, home: place.home, file }, now: () => 0 });
const load = (place: Settled, file?: string): Promise<LoadedConfig> =>
  loadConfig({ cwd: place.project, home: place.home, env: {}, place, file });
const rowsOf = (planned: ImportPlan): ImportRow[] => planned.clients.flatMap(({ servers }) => servers);

/** What must never leave the files it stands in. */
const CANARY = /canary/i;

describe('planImport', () => {
  it('CFG-5 CLI-1 lists every server of every client, right transport, right units, secrets masked', async () => {
    const place = await settle(SOURCE_TYPES);
    const { clients } = await plan(place);
    expect(clients.map(({ client }) => client)).toEqual([...SOURCE_TYPES]);
    for (const { client, servers } of clients) {
      const text = await readFile(
        join(import.meta.dirname, '../../test/fixtures/clients', client, 'expected.json'),
        'utf8',
      );
      const { servers: expected } = JSON.parse(text) as {
        servers: Array<{ id: string; scope: string; entry: Record<string, unknown> }>;
      };
      // Several clients read the one .mcp.json of the project.
      const own = servers.filter(({ file }) => client === 'claude-code' || !file.endsWith('/project/.mcp.json'));
      expect(
        own.map(({ scope, transport, timeoutMs, enabled }) => ({ scope, type: transport.type, timeoutMs, enabled })),
      ).toEqual(
        expected.map(({ scope, entry }) => ({
          scope,
          type: entry['command'] === undefined ? (entry['type'] ?? 'http') : 'stdio',
          timeoutMs: entry['timeoutMs'],
          enabled: entry['enabled'] ?? true,
        })),
      );
    }
    expect(JSON.stringify(clients)).not.toMatch(CANARY);
  });

  it('CFG-5 after the import everything is configured, no credential was copied, and a second run adds nothing', async () => {
    const place = await settle(SOURCE_TYPES);
    const first = await plan(place);
    expect(first.additions).toBe(rowsOf(first).filter(({ status }) => status === 'new').length);
    expect(first.additions).toBeGreaterThan(70);
    await first.apply();
    expect(first.config).toBe(join(place.home, '.config/toolscout/config.json'));
    expect(await readFile(first.config, 'utf8')).not.toMatch(CANARY);

    const second = await plan(place);
    expect(second.additions).toBe(0);
    expect(new Set(rowsOf(second).map(({ status }) => status))).toEqual(new Set(['present']));
    await second.apply();
    expect(await readdir(join(place.home, '.config/toolscout'))).toEqual(['config.json']);

    const { servers } = await load(place);
    const planned = rowsOf(first).filter(({ status }) => status === 'new');
    expect(servers.map(({ id }) => id).toSorted()).toEqual(planned.map(({ server }) => server).toSorted());
    for (const { server, scope, transport } of planned) {
      const made = servers.find(({ id }) => id === server)!;
      expect({ server, type: made.transport.type, scope: made.scope ?? 'user' }).toEqual({
        server,
        type: transport.type,
        scope,
      });
    }
  });

  it('SEC-9 CFG-5 a server of a project stays one: it is named in sources and never copied', async () => {
    const place = await settle(['claude-code']);
    await (await plan(place, ['claude-code'])).apply();
    const { config, servers } = await load(place);
    expect(Object.keys(config.servers)).toEqual(['sentry', 'asana']);
    expect(servers.find(({ id }) => id === 'shared')).toMatchObject({
      scope: 'project',
      transport: { cwd: place.project },
    });
    expect(servers.find(({ id }) => id === 'local-db')).toMatchObject({ scope: 'user' });
  });

  it('CLI-1 a config with remarks is edited in place, and a copy is kept', async () => {
    const place = await settle(['windsurf']);
    const path = join(place.project, 'toolscout.config.jsonc');
    const before =
      '{\n  // my servers\n  "servers": {\n    // files\n    "files": { "command": "f" }, // f\n  },\n  "toolRules": [{ "pattern": "x", "enabled": false }],\n}\n';
    await writeFile(path, before);
    const { backup } = await (await plan(place, ['windsurf'], path)).apply();
    expect(await readFile(backup!, 'utf8')).toBe(before);
    const after = await readFile(path, 'utf8');
    for (const kept of ['// my servers', '    // files\n    "files": { "command": "f" }, // f\n'])
      expect(after).toContain(kept);
    const { config } = await load(place, path);
    expect(Object.keys(config.servers).toSorted()).toEqual(['files', 'plain', 'remote']);
    expect(config.toolRules.map(({ pattern }) => pattern)).toEqual(['x', ['delete_thing']]);
    expect((await plan(place, ['windsurf'], path)).additions).toBe(0);
  });

  it('A42 a variable that decides what code runs is named beside the server', async () => {
    const place = await settle(['claude-code']);
    const servers = { odd: { command: 'npx', env: { NODE_OPTIONS: '-r ./x.js', NODE_ENV: 'production' } } };
    await writeFile(join(place.project, '.mcp.json'), JSON.stringify({ mcpServers: servers }));
    const row = rowsOf(await plan(place, ['claude-code'])).find(({ server }) => server === 'odd');
    expect(row?.notes).toEqual(['sets NODE_OPTIONS, which decides what code runs']);
  });

  it('CLI-1 YAML is edited as a document, also below the section "discovery"', async () => {
    const place = await settle(['cline', 'kiro']);
    const path = join(place.project, 'toolscout.config.yaml');
    await writeFile(path, '# ours\ndiscovery:\n  servers:\n    a: {command: a} # a\n');
    await (await plan(place, ['cline', 'kiro'], path)).apply();
    const text = await readFile(path, 'utf8');
    expect(text).toContain('# ours');
    expect(text).toContain('# a');
    const { config, servers } = await load(place, path);
    expect(Object.keys(config.servers)).toContain('streamable');
    expect(config.sources.length).toBeGreaterThan(0);
    expect(servers.map(({ id }) => id)).toEqual(expect.arrayContaining(['a', 'weather', 'web', 'kiro-project']));
    expect((await plan(place, ['cline', 'kiro'], path)).additions).toBe(0);
  });

  it.each([
    ['ts', 'export default { servers: {} };\n'],
    ['toml', '# mine\n[servers.a]\ncommand = "a"\n'],
  ])('CLI-1 a config in %s is not touched; what to paste is said, without credentials', async (ending, text) => {
    const place = await settle(['windsurf', 'cline']);
    const path = join(place.project, `toolscout.config.${ending}`);
    await writeFile(path, text);
    const planned = await plan(place, ['windsurf', 'cline'], path);
    expect(JSON.parse(planned.paste!)).toMatchObject({ servers: { plain: { url: 'https://plain.example.com/mcp' } } });
    expect(planned.paste).not.toMatch(CANARY);
    await planned.apply();
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('A53 SEC-9 a config of the folder that is not approved is neither run nor written to', async () => {
    const place = await settle(['windsurf']);
    const ran = join(place.home, 'ran');
    const code = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(ran)}, '');\nexport default {};\n`;
    await writeFile(join(place.project, 'toolscout.config.ts'), code);
    const planned = await plan(place, ['windsurf']);
    expect(planned.config).toBe(join(place.home, '.config/toolscout/config.json'));
    await planned.apply();
    expect(existsSync(ran)).toBe(false);
    expect(await readFile(join(place.project, 'toolscout.config.ts'), 'utf8')).toBe(code);
  });

  it('SEC-9 an approved config of the folder stays approved after an import wrote to it', async () => {
    const place = await settle(['windsurf']);
    const stateDirectory = join(place.home, 'state');
    const path = join(place.project, 'toolscout.config.json');
    await writeFile(path, '{}');
    await approveConfig(stateDirectory, path, await fingerprintOf(path, '{}'), 0);
    const find = { cwd: place.project, home: place.home };
    const planned = await planImport({ place, clients: ['windsurf'], find, stateDirectory, now: () => 0 });
    expect(planned.config).toBe(path);
    await planned.apply();
    const loaded = await loadConfig({ ...find, env: {}, place, stateDirectory });
    expect(loaded.pending).toBeUndefined();
    expect(loaded.servers.map(({ id }) => id)).toContain('plain');
  });

  it('CFG-5 in the home directory each file is read once, as the file of the user', async () => {
    const place = await settle(['cursor', 'kiro', 'claude-code']);
    const home = { ...place, project: place.home };
    const rows = rowsOf(await plan(home, ['cursor', 'kiro', 'claude-code']));
    expect(rows.length).toBeGreaterThan(2);
    expect(rows.map(({ scope }) => scope)).not.toContain('project');
    const names = rows.map(({ file, server }) => `${file} ${server}`);
    expect(names).toEqual([...new Set(names)]);
    expect(rows.map(({ status }) => status)).not.toContain('same');
    // Also where the home directory is reached through a link.
    const link = `${place.home}-link`;
    await symlink(place.home, link);
    expect(rowsOf(await plan({ ...place, project: link }, ['cursor', 'kiro', 'claude-code']))).toHaveLength(
      rows.length,
    );
  });

  it('CLI-1 a config that is named and does not exist is made; one that is broken stops everything', async () => {
    const place = await settle(['warp']);
    const path = join(place.home, 'new.yaml');
    await (await plan(place, ['warp'], path)).apply();
    expect((await load(place, path)).servers.map(({ id }) => id)).toEqual(['warp-git', 'warp-project']);
    await writeFile(path, 'servers: [');
    await expect(plan(place, ['warp'], path)).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    expect(await readFile(path, 'utf8')).toBe('servers: [');
  });

  it('CFG-5 a server of ours keeps its name, and the one of the client is left out and shown as such', async () => {
    const place = await settle(['lm-studio']);
    await mkdir(join(place.home, '.config/toolscout'), { recursive: true });
    await writeFile(join(place.home, '.config/toolscout/config.json'), '{"servers": {"sum": {"command": "mine"}}}');
    const planned = await plan(place, ['lm-studio']);
    expect(rowsOf(planned).map(({ server, status, how }) => [server, status, how])).toEqual([
      ['hf', 'new', 'reference'],
      ['sum', 'name-taken', 'copy'],
    ]);
  });

  it('CFG-5 one broken file hides no other client, and is named', async () => {
    const place = await settle(['cursor', 'warp']);
    await writeFile(join(place.home, '.cursor/mcp.json'), '{"mcpServers": {"canary-token": ');
    const { clients } = await plan(place);
    expect(clients.map(({ client, servers }) => [client, servers.length])).toEqual([
      ['cursor', 1],
      ['warp', 2],
    ]);
    expect(clients[0]!.problems[0]).toMatchObject({ path: join(place.home, '.cursor/mcp.json') });
    expect(JSON.stringify(clients)).not.toMatch(CANARY);
  });

  it('CLI-1 with no client there is nothing to add and nothing is written', async () => {
    const place = await settle([]);
    await mkdir(place.project, { recursive: true });
    const planned = await plan(place);
    expect(planned).toMatchObject({ clients: [], additions: 0 });
    await planned.apply();
    expect(existsSync(planned.config)).toBe(false);
  });
});
