import { existsSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CLI, finish, workplace, type Finished } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

/** Runs a command in a folder of its own, without any flag but these. */
async function folderWith(
  files: Record<string, string>,
  home = '.',
): Promise<{
  folder: string;
  run(...args: string[]): Promise<Finished>;
}> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'toolscout-config-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const env = { PATH: process.env['PATH'], HOME: join(folder, home) };
  return { folder, run: (...args) => finish(spawn(process.execPath, [CLI, ...args], { cwd: folder, env })) };
}

describe('toolscout config', STARTS_PROCESSES, () => {
  it.each([
    ['found by search', 'toolscout.config.json', []],
    ['named by --config', 'bad.json', ['-c', 'bad.json']],
  ])('CLI-1 CFG-3 config validate names the file first, by its whole path: %s', async (_, name, flags) => {
    const bad = '{"timout": 1, "store": "sqllite"}';
    const { folder, run } = await folderWith({ [name]: bad });
    const file = join(folder, name);
    const text = await run('config', 'validate', ...flags);
    expect(text.code).toBe(2);
    expect(text.stdout.split('\n')[0]).toBe(`✗ ${file} is not valid`);
    expect(text.stdout).toContain('error   timout: unknown key');
    expect(text.stdout).toContain('error   store: expected');
    const machine = await run('config', 'validate', '--json', ...flags);
    expect(machine.code).toBe(2);
    expect(JSON.parse(machine.stdout)).toMatchObject({
      source: file,
      valid: false,
      problems: { length: 2 },
      warnings: [],
    });
  });

  it.each([
    ['toolscout.config.json', '{"a": ', /^line 1, column \d+$/],
    ['toolscout.config.yaml', 'a: [', /^line \d+, column \d+$/],
    ['toolscout.config.json', '[]', /^config$/],
  ])('CLI-1 CFG-3 config validate of %s with %j names file and place', async (name, content, place) => {
    const { folder, run } = await folderWith({ [name]: content });
    const { code, stdout } = await run('config', 'validate', '--json');
    const { source, problems } = JSON.parse(stdout) as { source: string; problems: Array<{ path: string }> };
    expect({ code, source }).toEqual({ code: 2, source: join(folder, name) });
    expect(problems[0]?.path).toMatch(place);
  });

  it('CLI-1 CFG-3 a file that is not there, is a folder or has no known ending is not valid either', async () => {
    const { folder, run } = await folderWith({ 'config.ini': '' });
    for (const name of ['gone.json', '.', 'config.ini']) {
      const { code, stdout } = await run('config', 'validate', '--json', '-c', name);
      expect(code).toBe(2);
      expect(JSON.parse(stdout)).toMatchObject({
        source: join(folder, name),
        valid: false,
        problems: [{ path: 'file' }],
        warnings: [],
      });
    }
    const { stdout } = await run('config', 'validate', '-c', 'gone.json');
    expect(stdout).toContain(`✗ ${join(folder, 'gone.json')} is not valid`);
    expect(stdout).toContain('error   file: does not exist or is not a file');
  });

  it.each([
    ['toolscout.config.ts', 'this is { not ts at all', 'was not checked'],
    ['toolscout.config.json', '{"timeoutMs": 5}', 'was checked and has no problems'],
  ])(
    'CLI-1 SEC-9 config validate is about the config in force, not about %s without approval',
    async (name, text, said) => {
      const { folder, run } = await folderWith({ [name]: text }, 'home');
      const none = await run('config', 'validate');
      expect(none.stdout).toContain(`${join(folder, name)}: ${said}`);
      expect(none.stdout).toContain(`${join(folder, name)}: is not used`);
      expect(none.stdout).toContain('✓ No config is in force: the defaults apply\n');
      expect(none.stdout).not.toContain('is valid');
      const own = join(folder, 'home/.config/toolscout/config.json');
      await mkdir(dirname(own), { recursive: true });
      await writeFile(own, '{"timeoutMs": 7}');
      const { code, stdout } = await run('config', 'validate', '--json');
      expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 0, source: own, valid: true });
      expect(stdout).toContain(said);
    },
  );

  it('CLI-1 config validate --demo is about the demo, whatever lies around', async () => {
    const { run } = await folderWith({ 'toolscout.config.json': '{"timout": 1}' });
    const { code, stdout } = await run('config', 'validate', '--demo', '--json');
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 0, source: 'demo', valid: true });
  });

  it('CLI-1 CFG-2 config show prints what is in force and makes no store', async () => {
    const place = await workplace({ timeoutMs: 1234, servers: { a: { command: 'x', timeoutMs: 5 } } });
    const { code, stdout, stderr } = await place.run('config', 'show', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      source: place.configFile,
      timeoutMs: 1234,
      store: 'sqlite',
      servers: [{ id: 'a', timeoutMs: 5 }],
    });
    expect(existsSync(join(place.folder, 'state'))).toBe(false);
  });
});
