import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { createStudioFiles, studioFolder } from './studio-files.js';

describe('the files of the page', () => {
  it('STUDIO-1 are read from the folder of the build, and from nowhere else', async () => {
    const folder = await temporaryDirectory();
    const page = join(folder, 'studio');
    await mkdir(join(page, 'inner'), { recursive: true });
    await writeFile(join(page, 'index.html'), '<!doctype html>');
    await writeFile(join(folder, 'secret'), 'x');
    const files = createStudioFiles(page);
    expect(Buffer.from((await files.read('index.html'))!).toString()).toBe('<!doctype html>');
    for (const name of ['absent.js', 'inner', '../secret', '/etc/passwd', '.hidden', '', 'index.html/x']) {
      expect([name, await files.read(name)]).toEqual([name, undefined]);
    }
    expect(studioFolder([join(folder, 'nowhere'), page])).toBe(page);
    expect(studioFolder([join(folder, 'a'), join(folder, 'b')])).toBe(join(folder, 'b'));
    expect(studioFolder()).toMatch(/studio[\\/]?$/);
  });

  it('STUDIO-1 a file that cannot be read is a failure, not a file that is missing', async () => {
    await expect(createStudioFiles('\0').read('index.html')).rejects.toThrow();
  });
});
