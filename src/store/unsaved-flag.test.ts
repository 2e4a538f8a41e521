import { chmod, lstat, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import type { Log } from '../kernel/log.js';
import { remarksOn } from './store-remarks.js';
import { createUnsavedFlag } from './unsaved-flag.js';

function recorder(): { log: Log; events: string[] } {
  const events: string[] = [];
  const note = (event: string): void => void events.push(event);
  return { log: { debug: note, info: note, warn: note, error: note }, events };
}

describe('the flag beside a store', () => {
  it('A40 is seen by the next process until it is lowered, and only its owner can read it', async () => {
    const folder = await temporaryDirectory();
    const { log, events } = recorder();
    const flag = createUnsavedFlag(folder, log);
    expect(flag.isRaised()).toBe(false);
    flag.raise();
    flag.raise();
    expect(createUnsavedFlag(folder, log).isRaised()).toBe(true);
    expect((await stat(join(folder, 'trust-unsaved'))).mode & 0o077).toBe(0);
    flag.lower();
    flag.lower();
    expect(createUnsavedFlag(folder, log).isRaised()).toBe(false);
    expect(events).toEqual([]);
  });

  it('A40 STORE-2 a link in its place counts as raised, is not followed, and goes when it is lowered', async () => {
    const folder = await temporaryDirectory();
    const { log } = recorder();
    await writeFile(join(folder, 'other'), 'kept');
    await symlink(join(folder, 'other'), join(folder, 'trust-unsaved'));
    const flag = createUnsavedFlag(folder, log);
    expect(flag.isRaised()).toBe(true);
    flag.raise();
    expect((await lstat(join(folder, 'trust-unsaved'))).isSymbolicLink()).toBe(true);
    flag.lower();
    expect(flag.isRaised()).toBe(false);
    expect(await readFile(join(folder, 'other'), 'utf8')).toBe('kept');
  });

  it('A40 where it cannot be written or removed there is a line in the log and no error', async () => {
    const folder = await temporaryDirectory();
    const { log, events } = recorder();
    createUnsavedFlag(join(folder, 'absent'), log).raise();
    await mkdir(join(folder, 'trust-unsaved'));
    createUnsavedFlag(folder, log).lower();
    expect(events).toEqual(['store.flag-failed', 'store.flag-failed']);
  });
});

describe('remarks on the files of a store', () => {
  it('STORE-1 STORE-2 name each damaged file that was set aside once, and a folder that others can look into', async () => {
    const folder = await temporaryDirectory();
    await chmod(folder, 0o700);
    const database = join(folder, 'toolscout.db');
    expect(await remarksOn(database)).toEqual([]);
    for (const end of ['damaged-2', 'damaged-1', 'damaged-1-wal', 'damaged-1-shm', 'backup']) {
      await writeFile(`${database}.${end}`, '');
    }
    const damaged = await remarksOn(database);
    expect(damaged.map(({ message }) => message.split(' ')[0])).toEqual([
      `${database}.damaged-1`,
      `${database}.damaged-2`,
    ]);
    await chmod(folder, 0o755);
    expect((await remarksOn(database)).at(-1)).toMatchObject({
      message: expect.stringContaining('(mode 755)') as string,
      next: expect.stringContaining('chmod 700') as string,
    });
  });
});
