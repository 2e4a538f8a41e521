import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/fixture.js';
import { missingCommand } from './missing-command.js';

async function folderWith(name: string, mode: number): Promise<string> {
  const folder = await temporaryDirectory();
  await writeFile(join(folder, name), '#!/bin/sh\n');
  await chmod(join(folder, name), mode);
  return folder;
}

describe('missingCommand', () => {
  it('NEG-3 finds a command on the PATH of the server, by its path, and relative to its folder', async () => {
    const folder = await folderWith('tool', 0o755);
    const base = { PATH: ['/nowhere', folder].join(delimiter) };
    expect(await missingCommand({ command: 'tool', env: {} }, base)).toBeUndefined();
    expect(await missingCommand({ command: join(folder, 'tool'), env: {} }, {})).toBeUndefined();
    expect(await missingCommand({ command: './tool', env: {}, cwd: folder }, {})).toBeUndefined();
    expect(await missingCommand({ command: 'tool', env: { PATH: folder } }, { PATH: '/nowhere' })).toBeUndefined();
  });

  it('NEG-3 names a command that is absent, a folder, or may not be run', async () => {
    const message = 'The command "tool" was not found; install it, or write its full path in the config.';
    const folder = await folderWith('tool', 0o644);
    await mkdir(join(folder, 'inner', 'tool'), { recursive: true });
    for (const PATH of [folder, join(folder, 'inner'), '', undefined]) {
      expect(await missingCommand({ command: 'tool', env: {} }, { PATH })).toBe(message);
    }
    expect(await missingCommand({ command: 'tool', env: { PATH: '/nowhere' } }, { PATH: folder })).toBe(message);
  });

  it('NEG-3 adds the endings of programs on Windows', async () => {
    const folder = await folderWith('tool.CMD', 0o644);
    const base = { PATH: folder, PATHEXT: '.EXE;.CMD' };
    expect(await missingCommand({ command: 'tool', env: {} }, base, 'win32')).toBeUndefined();
    expect(await missingCommand({ command: 'other', env: {} }, base, 'win32')).toContain('"other" was not found');
  });
});
