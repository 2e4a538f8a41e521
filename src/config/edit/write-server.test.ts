import { readFile, stat, symlink, writeFile, lstat, chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/fixture.js';
import type { ServerEntry } from '../../model/config.js';
import { parseConfig } from '../read/parse.js';
import { writeServer } from './write-server.js';

const ENTRY: ServerEntry = { command: 'npx', args: ['-y', 'x@1', 'a "b" \\ ${V}'], env: { KEY: '${KEY}' } };

async function write(name: string, text: string, id = 'x', entry = ENTRY): Promise<{ text: string; path: string }> {
  const cwd = await temporaryDirectory();
  const path = join(cwd, name);
  await writeFile(path, text);
  await writeServer(id, entry, { path, newPath: join(cwd, 'new.json') });
  return { text: await readFile(path, 'utf8'), path };
}

describe('writing a server to the config', () => {
  it('REG-9 each format keeps what was there, comments included, and holds the entry exactly', async () => {
    const files: Array<[string, string, string]> = [
      ['toolscout.config.json', '{\n  "timeoutMs": 5\n}\n', '"timeoutMs": 5'],
      ['toolscout.config.jsonc', '{\n  // mine\n  "servers": { "a": { "command": "a" }, },\n}\n', '// mine'],
      ['toolscout.config.yaml', '# mine\nservers:\n  a:\n    command: a # why\n', '# why'],
      ['toolscout.config.yml', '', ''],
      ['toolscout.config.toml', '# mine\n[servers.a]\ncommand = "a"\n', '# mine'],
      ['empty.json', '', ''],
      ['inside.json', '{"discovery":{"timeoutMs":5}}', '"timeoutMs"'],
    ];
    for (const [name, before, kept] of files) {
      const { text, path } = await write(name, before);
      expect(text, name).toContain(kept);
      const config = (await parseConfig(text, path)) as {
        servers?: Record<string, unknown>;
        discovery?: { servers: Record<string, unknown> };
      };
      expect((config.servers ?? config.discovery?.servers)?.['x'], name).toEqual(ENTRY);
      if (before.includes('command')) expect(config.servers?.['a'], name).toEqual({ command: 'a' });
    }
  });

  it('REG-9 a config that is code is left alone, and the entry to paste is named', async () => {
    const cwd = await temporaryDirectory();
    for (const name of ['toolscout.config.ts', 'a.js', 'a.mjs']) {
      const path = join(cwd, name);
      await writeFile(path, 'export default {}');
      const failure = await writeServer('x', ENTRY, { path, newPath: join(cwd, 'new.json') }).catch(
        (thrown: unknown) => thrown,
      );
      expect(failure).toMatchObject({
        code: 'CONFIGURATION_ERROR',
        suggestion: expect.stringContaining('"command":"npx"'),
      });
      expect(await readFile(path, 'utf8')).toBe('export default {}');
    }
  });

  it('REG-9 creates a missing file and never overwrites an existing one', async () => {
    const cwd = await temporaryDirectory();
    const path = await writeServer('x', ENTRY, { newPath: join(cwd, 'own', 'config.json') });
    expect(path).toBe(join(cwd, 'own', 'config.json'));
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ servers: { x: ENTRY } });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await expect(writeServer('y', ENTRY, { newPath: path })).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
  });

  it('REG-9 what would not be valid, or cannot be read, is not written', async () => {
    await expect(write('a.json', '{"servers":{}}', '__proto__')).rejects.toThrow(/would not be valid/);
    await expect(write('a.json', '{"servers":{}}', 'x', { command: 'a', url: 'http://b' })).rejects.toThrow(
      /both "command" and "url"/,
    );
    await expect(write('a.json', '{"servers":')).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
  });

  it('REG-9 does not overwrite a server that was added meanwhile under the same id', async () => {
    for (const [name, text] of [
      ['a.json', '{"servers":{"x":{"command":"theirs"}}}'],
      ['a.yaml', 'servers:\n  x:\n    command: theirs\n'],
      ['a.toml', '[servers.x]\ncommand = "theirs"\n'],
    ] as const) {
      const cwd = await temporaryDirectory();
      const path = join(cwd, name);
      await writeFile(path, text);
      await expect(writeServer('x', ENTRY, { path, newPath: join(cwd, 'new.json') })).rejects.toThrow(
        /has a server "x" already/,
      );
      expect(await readFile(path, 'utf8')).toBe(text);
    }
    const gone = await temporaryDirectory();
    await expect(writeServer('x', ENTRY, { path: join(gone, 'a.json'), newPath: '/x.json' })).rejects.toThrow(
      /no longer exists/,
    );
    expect(await readdir(gone)).toEqual([]);
  });

  it('REG-9 a remark behind the last server stays with it', async () => {
    const before = '{\n  "servers": {\n    "a": { "command": "a" } // mine\n  }\n}\n';
    expect((await write('a.jsonc', before)).text).toContain('"a": { "command": "a" }, // mine');
  });

  it('REG-9 A21 the rights of the file and a link to it stay, and no draft is left behind', async () => {
    const cwd = await temporaryDirectory();
    const real = join(cwd, 'real.json');
    const link = join(cwd, 'toolscout.config.json');
    await writeFile(real, '{}');
    await chmod(real, 0o640);
    await symlink(real, link);
    await writeServer('x', ENTRY, { path: link, newPath: '/x.json' });
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect((await stat(real)).mode & 0o777).toBe(0o640);
    expect(JSON.parse(await readFile(real, 'utf8'))).toEqual({ servers: { x: ENTRY } });
    expect((await readdir(cwd)).toSorted()).toEqual(['real.json', 'toolscout.config.json']);
  });
});
