import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/fixture.js';
import { openFile, replaceWithBackup } from './replace-file.js';

describe('replaceWithBackup', () => {
  it('CLI-3 keeps what was there beside it, under a new number each time, and its mode', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, 'f.json');
    await writeFile(path, 'one');
    await chmod(path, 0o640);
    expect(await replaceWithBackup(await openFile(path), 'two')).toBe(`${path}.toolscout-backup-1`);
    expect(await replaceWithBackup(await openFile(path), 'three')).toBe(`${path}.toolscout-backup-2`);
    expect(await readFile(path, 'utf8')).toBe('three');
    expect(await readFile(`${path}.toolscout-backup-1`, 'utf8')).toBe('one');
    expect(await readFile(`${path}.toolscout-backup-2`, 'utf8')).toBe('two');
    expect((await stat(path)).mode & 0o777).toBe(0o640);
    expect((await readdir(folder)).toSorted()).toHaveLength(3);
  });

  it('CLI-3 a link stays a link, and the file behind it is replaced', async () => {
    const folder = await temporaryDirectory();
    await mkdir(join(folder, 'dotfiles'));
    await writeFile(join(folder, 'dotfiles', 'real.json'), 'one');
    await symlink(join('dotfiles', 'real.json'), join(folder, 'link.json'));
    const backup = await replaceWithBackup(await openFile(join(folder, 'link.json')), 'two');
    expect((await lstat(join(folder, 'link.json'))).isSymbolicLink()).toBe(true);
    expect(await readFile(join(folder, 'dotfiles', 'real.json'), 'utf8')).toBe('two');
    expect(backup).toContain(join('dotfiles', 'real.json.toolscout-backup-1'));
  });

  it('CLI-3 a new file is made with its folders, for its owner only, and has no copy', async () => {
    const path = join(await temporaryDirectory(), 'a', 'b', 'f.json');
    expect(await replaceWithBackup(await openFile(path), '{}')).toBeUndefined();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('CLI-3 what another program changed meanwhile is left alone, and nothing is left lying about', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, 'f.json');
    await writeFile(path, 'one');
    const opened = await openFile(path);
    await writeFile(path, 'other');
    await expect(replaceWithBackup(opened, 'two')).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    const absent = await openFile(join(folder, 'new.json'));
    await writeFile(join(folder, 'new.json'), 'theirs');
    await expect(replaceWithBackup(absent, 'two')).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    expect(await readFile(path, 'utf8')).toBe('other');
    expect(await readdir(folder)).toEqual(['f.json', 'new.json']);
  });

  it('CLI-3 folders and links to nowhere are refused', async () => {
    const folder = await temporaryDirectory();
    await symlink(join(folder, 'nowhere'), join(folder, 'dangling'));
    await expect(openFile(folder)).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    await expect(openFile(join(folder, 'dangling'))).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
  });
});
