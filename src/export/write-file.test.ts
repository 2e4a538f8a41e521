import { chmod, lstat, mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../test/support/any-text.js';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { fileNameOf } from './file-name.js';
import { openExportDirectory, readPlainFile, writeExportFile } from './write-file.js';

const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('the directory of an export', () => {
  it('A21 directories are 0700, files 0600, and no temporary file is left', async () => {
    const root = join(await temporaryDirectory(), 'deep', 'out');
    const out = await openExportDirectory(root);
    expect(await out.write('github', 'a.rtfs', 'one')).toBe(true);
    expect(await out.write('github', 'a.rtfs', 'one')).toBe(false);
    expect(await out.write('github', 'a.rtfs', 'two')).toBe(true);
    expect(await readFile(join(root, 'github', 'a.rtfs'), 'utf8')).toBe('two');
    expect(await readdir(join(root, 'github'))).toEqual(['a.rtfs']);
    expect([await mode(root), await mode(join(root, 'github')), await mode(join(root, 'github', 'a.rtfs'))]).toEqual([
      0o700, 0o700, 0o600,
    ]);
  });

  it('A21 CLI-2 refuses a path that cannot be created, with the reason, as a usage error', async () => {
    const parent = await temporaryDirectory();
    const file = join(parent, 'file');
    await writeFile(file, 'mine');
    await symlink(join(parent, 'nowhere'), join(parent, 'dangling'));
    const refused = { code: 'INVALID_REQUEST', suggestion: expect.stringContaining('--out') as string };
    for (const path of [file, join(file, 'deeper'), join(parent, 'dangling'), '/proc/x/y']) {
      await expect(openExportDirectory(path), path).rejects.toMatchObject(refused);
    }
    for (const path of [
      join(file, 'a.json'),
      join(parent, 'dangling', 'a.json'),
      '/proc/x/a.json',
      '/proc/a.json',
      parent,
    ]) {
      await expect(writeExportFile(path, 'text'), path).rejects.toMatchObject(refused);
      await expect(writeExportFile(path, 'text'), path).rejects.toThrow(`Nothing was written to ${path}: `);
    }
    await expect(openExportDirectory(file)).rejects.toThrow(`Nothing was written to ${file}: it is not a directory.`);
    await expect(readPlainFile(join(file, 'a.json'))).rejects.toMatchObject(refused);
    expect(await readFile(file, 'utf8')).toBe('mine');
  });

  it('A20 A21 whatever the names are, every file is inside after realpath', async () => {
    const parent = await temporaryDirectory();
    const root = join(parent, 'out');
    const out = await openExportDirectory(root);
    const names = fc.oneof(
      anyText({ maxLength: 6 }),
      fc.constantFrom('../../x', '/etc/passwd', 'CON', 'a\0b', '.', '..', 'x'.repeat(300), 'a/b', '..\\x'),
    );
    await fc.assert(
      fc.asyncProperty(names, names, async (server, tool) => {
        const [folder, file] = [fileNameOf(server), `${fileNameOf(tool)}.rtfs`];
        await out.write(folder, file, 'text');
        expect((await realpath(join(root, folder, file))).startsWith(`${out.root}/`)).toBe(true);
      }),
      { numRuns: 60 },
    );
    expect(await readdir(parent)).toEqual(['out']);
  });

  it.each([
    ['..', 'x'],
    ['a', '../x'],
    ['a/b', 'x'],
    ['a', 'b\0c'],
    ['.', 'x'],
    ['', 'x'],
    ['a', '..\\x'],
  ])('A20 a path is no name: %j %j', async (folder, name) => {
    const parent = await temporaryDirectory();
    const out = await openExportDirectory(join(parent, 'out'));
    await expect(out.write(folder, name, 'text')).rejects.toThrow('it is not the name of a file');
    expect(await readdir(join(parent, 'out'))).toEqual([]);
  });

  it('A21 a link planted as the folder of a server is refused, to a sibling with the same prefix too', async () => {
    const parent = await temporaryDirectory();
    const out = await openExportDirectory(join(parent, 'out'));
    await mkdir(join(parent, 'out-evil'));
    await symlink(join(parent, 'out-evil'), join(parent, 'out', 'github'));
    await expect(out.write('github', 'a.rtfs', 'text')).rejects.toThrow('it is a symbolic link');
    expect(await readdir(join(parent, 'out-evil'))).toEqual([]);
  });

  it('A21 a link planted as a file is refused, and what it points to is untouched', async () => {
    const parent = await temporaryDirectory();
    const out = await openExportDirectory(join(parent, 'out'));
    await writeFile(join(parent, 'victim'), 'precious');
    await mkdir(join(parent, 'out', 'github'));
    await symlink(join(parent, 'victim'), join(parent, 'out', 'github', 'a.rtfs'));
    await symlink(join(parent, 'new'), join(parent, 'out', 'github', 'dangling.rtfs'));
    await expect(out.write('github', 'a.rtfs', 'text')).rejects.toThrow('it is a symbolic link');
    await expect(out.write('github', 'dangling.rtfs', 'text')).rejects.toThrow('it is a symbolic link');
    expect(await readFile(join(parent, 'victim'), 'utf8')).toBe('precious');
    expect((await lstat(join(parent, 'out', 'github', 'a.rtfs'))).isSymbolicLink()).toBe(true);
    expect(await readdir(parent)).toEqual(['out', 'victim']);
  });

  it('A21 something else in the way is refused', async () => {
    const root = await temporaryDirectory();
    const out = await openExportDirectory(root);
    await writeFile(join(root, 'github'), 'a file');
    await mkdir(join(root, 'slack', 'a.rtfs'), { recursive: true });
    await expect(out.write('github', 'a.rtfs', 'text')).rejects.toThrow('it is not a directory');
    await expect(out.write('slack', 'a.rtfs', 'text')).rejects.toThrow('it is not a file');
  });
});

describe('one exported file', () => {
  it('A21 is made 0600, keeps the mode it had, and is not written through a link', async () => {
    const folder = await temporaryDirectory();
    const file = join(folder, 'new', 'tools.md');
    expect(await writeExportFile(file, 'one')).toBe(true);
    expect(await mode(file)).toBe(0o600);
    await chmod(file, 0o644);
    expect(await writeExportFile(file, 'two')).toBe(true);
    expect(await mode(file)).toBe(0o644);
    expect(await writeExportFile(file, 'two')).toBe(false);
    expect(await readPlainFile(file)).toBe('two');
    expect(await readPlainFile(join(folder, 'none'))).toBeUndefined();
    await symlink(file, join(folder, 'link'));
    await expect(writeExportFile(join(folder, 'link'), 'three')).rejects.toThrow('it is a symbolic link');
    expect(await readdir(join(folder, 'new'))).toEqual(['tools.md']);
  });
});
