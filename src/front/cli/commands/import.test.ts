import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settle } from '../../../../test/contract/importer-contract.js';
import { commandLine, type Ran, type Surroundings } from '../../../../test/support/command-line.js';
import { createClients } from '../../../app/client-commands.js';
import { loadConfig } from '../../../../test/support/load-config.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { SOURCE_TYPES } from '../../../model/config.js';
import type { ImportPlan, InstallReport } from '../../../model/source.js';

type Settled = Awaited<ReturnType<typeof settle>>;
type Printed = Pick<ImportPlan, 'clients' | 'additions' | 'config' | 'paste'> & { written: boolean; backup?: string };

const run = (place: Settled, args: readonly string[], around: Surroundings = {}): Promise<Ran> =>
  commandLine(args, {
    clients: createClients({ cwd: place.project, env: { HOME: '/nobody', XDG_CONFIG_HOME: '/nobody/config' } }),
    ...around,
  });
const flags = (place: Settled): string[] => ['--home', place.home, '--project', place.project];
const printed = (ran: Ran): Printed => JSON.parse(ran.stdout) as Printed;

describe('import', STARTS_PROCESSES, () => {
  it('CFG-5 CLI-1 --json lists every server of every client and writes nothing; no secret is printed', async () => {
    const place = await settle(SOURCE_TYPES);
    const ran = await run(place, ['import', '--json', ...flags(place)]);
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' });
    const { clients, additions, written, config } = printed(ran);
    expect(clients.map(({ client }) => client)).toEqual([...SOURCE_TYPES]);
    expect(clients.flatMap(({ servers }) => servers).length).toBeGreaterThan(80);
    expect(additions).toBeGreaterThan(70);
    expect(written).toBe(false);
    expect(existsSync(config)).toBe(false);
    expect(ran.stdout).not.toMatch(/canary/i);
  });

  it('CFG-5 --yes writes, and the second run adds nothing', async () => {
    const place = await settle(SOURCE_TYPES);
    const first = printed(await run(place, ['import', '--json', '--yes', ...flags(place)]));
    expect(first.written).toBe(true);
    const text = await readFile(first.config, 'utf8');
    const second = printed(await run(place, ['import', '--json', '--yes', ...flags(place)]));
    expect(second).toMatchObject({ additions: 0, written: false });
    expect(await readFile(first.config, 'utf8')).toBe(text);
    const shown = await run(place, ['import', ...flags(place)]);
    expect(shown.stderr).toContain('Nothing to add');
  });

  it('CFG-5 CLI-2 a file that cannot be read is named, the others are imported, and the command ends with 1', async () => {
    const place = await settle([]);
    const broken = join(place.home, '.cursor/mcp.json');
    await mkdir(join(broken, '..'), { recursive: true });
    await writeFile(broken, '{"mcpServers":{');
    const alone = await run(place, ['import', '--yes', ...flags(place)]);
    expect(alone.code).toBe(1);
    expect(alone.stderr).toContain(`${broken} was not read.`);
    expect(alone.stderr).not.toContain('has them all');
    const machine = await run(place, ['import', 'cursor', '--json', ...flags(place)]);
    expect(machine.code).toBe(1);
    expect(printed(machine).clients).toMatchObject([{ client: 'cursor', servers: [], unreadable: [broken] }]);

    const warp = join(place.home, '.warp/.mcp.json');
    await mkdir(join(warp, '..'), { recursive: true });
    await writeFile(warp, JSON.stringify({ mcpServers: { one: { command: 'one-server' } } }));
    const both = await run(place, ['import', '--yes', ...flags(place)]);
    expect(both).toMatchObject({ code: 1, stdout: expect.stringContaining('Added 1 server to') as string });
    const again = await run(place, ['import', '--yes', ...flags(place)]);
    expect(again.stderr).toContain('has all servers of the files that were read');
    expect(again.code).toBe(1);
  });

  it.each([
    [true, true, 'Added 2 servers'],
    [false, false, ''],
    [undefined, false, ''],
  ])('CLI-1 it asks, and the answer %s decides', async (answer, writes, said) => {
    const place = await settle(['warp']);
    const ran = await run(place, ['import', 'warp', ...flags(place)], { confirm: async () => answer });
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/CLIENT\s+SERVER\s+SCOPE\s+OVER\s+TARGET\s+NOTES/);
    expect(ran.stdout).toMatch(/warp\s+warp-project\s+project\s+http\s+https:\/\/warp.example.com\/mcp\s+new, pending/);
    expect(ran.stdout).toContain(said);
    expect(existsSync(join(place.home, '.config/toolscout/config.json'))).toBe(writes);
    expect(ran.stderr.includes('--yes')).toBe(answer === undefined);
  });

  it('CLI-1 --dry-run never writes, not even with --yes', async () => {
    const place = await settle(['warp']);
    const ran = await run(place, ['import', '--dry-run', '--yes', ...flags(place)], { confirm: async () => true });
    expect(ran.code).toBe(0);
    expect(existsSync(join(place.home, '.config/toolscout'))).toBe(false);
  });

  it('CLI-1 names of servers and files are shown harmlessly, problems on stderr', async () => {
    const place = await settle([]);
    await writeFile(
      join(place.home, '.claude.json'),
      JSON.stringify({ mcpServers: { '\u001b[2Jx': { command: 'a\u001b[31m' }, bad: { command: '' } } }),
    );
    const ran = await run(place, ['import', 'claude-code', ...flags(place)]);
    // oxlint-disable-next-line no-control-regex
    expect(ran.stdout + ran.stderr).not.toMatch(/\u001b/);
    expect(ran.stderr).toContain('"bad" has neither a command nor a URL');
  });

  it('CLI-2 an unknown client is a usage error with the nearest name', async () => {
    const place = await settle([]);
    const ran = await run(place, ['import', 'curser', ...flags(place)]);
    expect(ran).toMatchObject({ code: 64, stderr: expect.stringContaining('Did you mean "cursor"?') as string });
  });

  it('CLI-1 a config that is code is not edited; what to paste goes to stdout', async () => {
    const place = await settle(['warp']);
    const config = join(place.project, 'toolscout.config.ts');
    await writeFile(config, 'export default {};\n');
    const ran = await run(place, ['import', '--yes', '--config', config, ...flags(place)]);
    expect(ran.stderr).toContain('toolscout.config.ts is not edited');
    expect(ran.stdout).toContain('"warp-git"');
    expect(await readFile(join(place.project, 'toolscout.config.ts'), 'utf8')).toBe('export default {};\n');
  });
});

describe('install', STARTS_PROCESSES, () => {
  it('CLI-3 writes, says where the copy is and what to do next; a second time changes nothing; and back', async () => {
    const place = await settle(['claude-desktop']);
    const file = join(place.home, '.config/Claude/claude_desktop_config.json');
    const args = ['install', 'claude-desktop', '--home', place.home];
    const first = await run(place, args);
    expect(first).toMatchObject({ code: 0, stdout: `Updated toolscout in ${file}\n` });
    expect(first.stderr).toContain(`${file}.toolscout-backup-1`);
    expect(first.stderr).toContain('Restart Claude Desktop');
    expect((await run(place, args)).stdout).toBe(`toolscout is there already: ${file}\n`);
    expect((await run(place, [...args, '--uninstall'])).stdout).toBe(`Removed toolscout from ${file}\n`);
    expect(await readFile(file, 'utf8')).not.toContain('"toolscout"');
    expect(await readFile(file, 'utf8')).toContain('ghp_canary');
  });

  it('CLI-3 --json, --project, --http and --dry-run', async () => {
    const place = await settle([]);
    const ran = await run(place, ['install', 'vscode', '--project', place.project, '--http', '--dry-run', '--json']);
    const report = JSON.parse(ran.stdout) as InstallReport;
    expect(report).toMatchObject({
      client: 'vscode',
      action: 'added',
      written: false,
      file: join(place.project, '.vscode/mcp.json'),
      entry: { type: 'http', url: 'http://127.0.0.1:7077/mcp' },
    });
    expect(existsSync(report.file)).toBe(false);
  });

  it('CLI-3 SEC-9 the entry always names a config by its absolute path, and one of the folder only when it is approved', async () => {
    const place = await settle([]);
    const config = join(place.project, 'toolscout.config.json');
    await writeFile(config, '{"http": {"port": 9123}}');
    const named = async (...args: string[]): Promise<{ args: string[]; notes: string[] }> => {
      const { stdout } = await run(place, ['install', 'cursor', '--home', place.home, '--json', ...args]);
      const { entry, notes } = JSON.parse(stdout) as { entry: { args: string[] }; notes: string[] };
      return { args: entry.args.slice(-5), notes };
    };
    const own = join(place.home, '.config/toolscout/config.json');
    expect((await named('--dry-run')).args).toEqual(['serve', '--stdio', '--shared', '--config', own]);
    expect((await named('--dry-run', '--no-shared')).args.slice(1)).toEqual(['serve', '--stdio', '--config', own]);
    expect(existsSync(own)).toBe(false);
    const first = await named();
    expect(first.args).toEqual(['serve', '--stdio', '--shared', '--config', own]);
    expect(first.notes.join('\n')).toContain(`${config} is not used`);
    expect(first.notes.join('\n')).toContain(`Created ${own}`);
    expect(JSON.parse(await readFile(own, 'utf8'))).toEqual({ servers: {} });
    expect((await named('--config', 'toolscout.config.json')).args.at(-1)).toBe(config);
    const http = await run(place, ['install', 'cursor', '--home', place.home, '--http', '--config', config, '--json']);
    expect((JSON.parse(http.stdout) as { entry: object }).entry).toEqual({ url: 'http://127.0.0.1:9123/mcp' });
  });

  it('CLI-2 two ways at once are a usage error, and a missing config is reported', async () => {
    const place = await settle([]);
    const args = ['install', 'cursor', '--home', place.home];
    const both = await run(place, [...args, '--http', '--stdio']);
    expect(both.code).toBe(64);
    expect(both.stderr).toMatch(/'--http' cannot be used with option '--stdio'/);
    expect(existsSync(join(place.home, '.cursor/mcp.json'))).toBe(false);

    const absent = join(place.project, 'nofile.json');
    const told = await run(place, [...args, '--config', absent, '--dry-run']);
    expect(told.code).toBe(0);
    expect(told.stderr).toContain(`There is no config file ${absent} yet`);
    expect((await run(place, [...args, '--config', absent, '--uninstall'])).stderr).toBe('');
    await writeFile(absent, '{}');
    expect((await run(place, [...args, '--config', absent, '--dry-run'])).stderr).toBe('');
  });

  it.each([['zedd'], ['docker-mcp']])(
    'CLI-2 %s cannot be installed in: a usage error that says what can',
    async (name) => {
      const place = await settle([]);
      const ran = await run(place, ['install', name, '--home', place.home]);
      expect(ran.code).toBe(64);
      expect(ran.stderr).toMatch(/Did you mean|Known are/);
    },
  );

  it('CLI-2 what a client cannot do ends with 64, a broken file with 2, and neither writes', async () => {
    const place = await settle(['cursor']);
    expect((await run(place, ['install', 'junie', '--http', '--home', place.home])).code).toBe(64);
    await writeFile(join(place.home, '.cursor/mcp.json'), '{');
    expect((await run(place, ['install', 'cursor', '--home', place.home])).code).toBe(2);
    expect(await readFile(join(place.home, '.cursor/mcp.json'), 'utf8')).toBe('{');
  });
});

describe('credentials and moved servers', STARTS_PROCESSES, () => {
  const DESKTOP = '.config/Claude/claude_desktop_config.json';
  const BEFORE = {
    theme: 'dark',
    mcpServers: {
      plain: { command: 'plain-server', args: ['x'] },
      github: { command: 'gh-server', env: { GITHUB_TOKEN: 'ghp_canary12345678' } },
      'My Remote': { command: 'remote-server' },
    },
  };
  const desktop = async () => {
    const place = await settle([]);
    const file = join(place.home, DESKTOP);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, JSON.stringify(BEFORE, null, 2));
    const own = join(place.home, '.config/toolscout');
    const read = async (path: string) =>
      JSON.parse(await readFile(path, 'utf8')) as Record<string, Record<string, unknown>>;
    return { place, file, own, read };
  };

  it('CFG-4 CLI-1 import leaves credentials where they are, and takes them along when asked to', async () => {
    const { place, own, read } = await desktop();
    const args = ['import', 'claude-desktop', '--yes', ...flags(place)];
    const planned = await run(place, [...args, '--dry-run']);
    expect(planned.stderr).toContain('its credentials stay in');
    const ran = await run(place, [...args, '--with-credentials']);
    expect(ran.code).toBe(0);
    expect(ran.stdout + ran.stderr).not.toContain('canary');
    expect(ran.stderr).toContain(`Their credentials are in ${join(own, 'secrets.env')}`);
    const { servers, sources } = await read(join(own, 'config.json'));
    expect(servers?.['github']).toEqual({ command: 'gh-server', env: { GITHUB_TOKEN: '${GITHUB_TOKEN}' } });
    expect(sources).toBeUndefined();
    expect(await readFile(join(own, 'secrets.env'), 'utf8')).toBe('GITHUB_TOKEN="ghp_canary12345678"\n');
    expect((await stat(join(own, 'secrets.env'))).mode & 0o777).toBe(0o600);
    const { config, servers: loaded } = await loadConfig({ cwd: place.project, home: place.home, env: {} });
    expect(Object.keys(config.servers)).toContain('github');
    expect(loaded.find(({ id }) => id === 'github')).toMatchObject({
      problem: undefined,
      transport: { env: { GITHUB_TOKEN: 'ghp_canary12345678' } },
    });
  });

  it('CLI-3 install --replace moves the servers it can copy, and --undo puts them back', async () => {
    const { place, file, own, read } = await desktop();
    const args = ['install', 'claude-desktop', '--home', place.home];
    const dry = await run(place, [...args, '--replace', '--dry-run']);
    expect(dry.code).toBe(0);
    expect(await read(file)).toEqual(BEFORE);
    const moved = await run(place, [...args, '--replace']);
    expect(moved).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Taken out of it: plain, My Remote') as string,
    });
    expect(moved.stderr).toContain('--with-credentials');
    expect(moved.stderr).toContain('toolscout install claude-desktop --undo');
    const after = await read(file);
    expect(after['theme']).toBe('dark');
    expect(Object.keys(after['mcpServers']!).toSorted()).toEqual(['github', 'toolscout']);
    const { servers } = await read(join(own, 'config.json'));
    expect(servers?.['plain']).toEqual(BEFORE.mcpServers.plain);
    expect(JSON.stringify(after['mcpServers']!['toolscout'])).toContain(join(own, 'config.json'));

    // The rest follows with its credentials, also after another command wrote the file.
    expect(await run(place, [...args, '--replace', '--with-credentials'])).toMatchObject({ code: 0 });
    expect(Object.keys((await read(file))['mcpServers']!)).toEqual(['toolscout']);
    const undone = await run(place, [...args, '--undo', '--json']);
    expect(JSON.parse(undone.stdout)).toMatchObject({ action: 'removed', restored: ['github', 'plain', 'My Remote'] });
    expect(await read(file)).toEqual(BEFORE);
    expect((await run(place, [...args, '--undo'])).stderr).toContain('No servers to restore');
  });

  it('CLI-3 install --undo puts back only what --replace moved, and only once', async () => {
    const { place, file, read } = await desktop();
    const args = ['install', 'claude-desktop', '--home', place.home];
    const names = async (): Promise<string[]> => Object.keys((await read(file))['mcpServers']!).toSorted();
    const drop = async (name: string): Promise<void> => {
      const data = await read(file);
      delete data['mcpServers']![name];
      await writeFile(file, JSON.stringify(data));
    };
    // A plain install keeps a copy too, which holds a server that the user deletes afterwards.
    await run(place, args);
    await drop('plain');
    expect(JSON.parse((await run(place, [...args, '--undo', '--json'])).stdout)).toMatchObject({ restored: [] });
    expect(await names()).toEqual(['My Remote', 'github']);

    // The copy that --replace makes also holds a server that stayed.
    await run(place, [...args, '--replace']);
    await drop('github');
    await run(place, [...args, '--undo']);
    expect(await names()).toEqual(['My Remote']);
    await drop('My Remote');
    const again = await run(place, [...args, '--undo']);
    expect(again.stderr).toContain('No servers to restore');
    expect(await names()).toEqual([]);
  });

  it('CLI-3 install --replace takes out what an earlier import copied with its credentials', async () => {
    const { place, file, read } = await desktop();
    const imported = await run(place, ['import', 'claude-desktop', '--yes', '--with-credentials', ...flags(place)]);
    expect(imported.code).toBe(0);
    const again = await run(place, ['import', 'claude-desktop', '--yes', ...flags(place)]);
    expect(again.stdout).toMatch(/github .* there already/);
    const ran = await run(place, ['install', 'claude-desktop', '--home', place.home, '--replace']);
    expect(ran.stdout).toContain('Taken out of it: plain, github, My Remote');
    expect(ran.stderr).not.toContain('stay');
    expect(Object.keys((await read(file))['mcpServers']!)).toEqual(['toolscout']);
  });

  it('CLI-3 install --replace says of each server that stays why it does, and what to do', async () => {
    const { place, file, own } = await desktop();
    const args = ['install', 'claude-desktop', '--home', place.home, '--replace'];
    const kept = await run(place, [...args, '--dry-run']);
    expect(kept.stderr).toContain(
      `"github" stays in ${file}: it holds credentials. Move them too with --with-credentials.`,
    );
    await run(place, ['import', 'claude-desktop', '--yes', ...flags(place)]);
    const config = join(own, 'config.json');
    const sourced = await run(place, [...args, '--with-credentials']);
    expect(sourced.stderr).toContain(
      `"github" stays in ${file}: "sources" in ${config} reads it from there. Take it out of "sources", then run this again.`,
    );
    expect(sourced.stderr).not.toContain('it holds credentials');
  });

  it('CLI-3 install --replace takes out what an earlier import copied, and not what stays in the file by reference', async () => {
    const { place, file, read } = await desktop();
    expect(await run(place, ['import', 'claude-desktop', '--yes', ...flags(place)])).toMatchObject({ code: 0 });
    expect(await run(place, ['install', 'claude-desktop', '--home', place.home, '--replace'])).toMatchObject({
      code: 0,
    });
    expect(Object.keys((await read(file))['mcpServers']!).toSorted()).toEqual(['github', 'toolscout']);
  });

  it('CLI-2 --replace and --undo exclude each other and --uninstall', async () => {
    const place = await settle([]);
    for (const flag of ['--undo', '--uninstall', '--project']) {
      expect((await run(place, ['install', 'cursor', '--replace', flag])).code).toBe(64);
    }
    const list = await run(place, ['install', 'continue', '--home', place.home, '--replace']);
    expect(list.stderr).toContain('keeps its servers in a list');
  });
});
