import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { repetitions } from '../../test/support/long-form.js';
import { systemClock } from '../kernel/clock.js';
import { withFolderLock } from './folder-lock.js';

/** A process id that no process has. */
const NOBODY = 2 ** 22 + 1;

describe('the lock of a folder', () => {
  it('SEC-9 of several tasks one runs at a time, and nothing is left behind', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, '.lock');
    let running = 0;
    const most: number[] = [];
    const task = async (): Promise<string> => {
      most.push((running += 1));
      expect(await readFile(path, 'utf8')).toBe(String(process.pid));
      running -= 1;
      return 'done';
    };
    const all = await Promise.all([1, 2, 3].map(() => withFolderLock(path, systemClock, task)));
    expect(all).toEqual(['done', 'done', 'done']);
    expect(most).toEqual([1, 1, 1]);
    await expect(withFolderLock(path, systemClock, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await readdir(folder)).toEqual([]);
  });

  it('SEC-9 the lock of a process that died is taken over', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, '.lock');
    await writeFile(path, String(NOBODY));
    expect(await withFolderLock(path, systemClock, async () => readFile(path, 'utf8'))).toBe(String(process.pid));
    expect(await readdir(folder)).toEqual([]);
  });

  it('SEC-9 the lock of a living process is waited for, then given up and left where it is', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, '.lock');
    await writeFile(path, String(process.ppid));
    const clock = createFakeClock();
    let isRun = false;
    const waiting = withFolderLock(path, clock, async () => void (isRun = true));
    const failed = expect(waiting).rejects.toMatchObject({
      code: 'STORE_ERROR',
      message: `Another toolscout is changing the exported files (lock file ${path}).`,
    });
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(20_000);
    await failed;
    expect(isRun).toBe(false);
    expect(await readFile(path, 'utf8')).toBe(String(process.ppid));
    expect(await readdir(folder)).toEqual(['.lock']);
  });

  it('SEC-9 the lock of a process of another user is not taken for one without a holder', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, '.lock');
    // The first process of the system runs, and only an administrator may send it anything.
    await writeFile(path, '1');
    const clock = createFakeClock();
    const waiting = withFolderLock(path, clock, async () => readFile(path, 'utf8'));
    await expect.poll(() => clock.waiting).toBe(1);
    expect(await readFile(path, 'utf8')).toBe('1');
    // Its holder is done at the last moment.
    await clock.advance(10_000);
    await expect.poll(() => clock.waiting).toBe(1);
    await rm(path);
    await clock.advance(20);
    expect(await waiting).toBe(String(process.pid));
    expect(await readdir(folder)).toEqual([]);
  });

  it('SEC-9 a lock left behind is left to the process that removes it already', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, '.lock');
    await writeFile(path, String(NOBODY));
    await writeFile(`${path}-stale`, String(process.ppid));
    const clock = createFakeClock();
    const waiting = withFolderLock(path, clock, async () => 'done');
    for (let looks = 0; looks < 3; looks++) {
      await expect.poll(() => clock.waiting).toBe(1);
      expect((await readdir(folder)).toSorted()).toEqual(['.lock', '.lock-stale']);
      await clock.advance(20);
    }
    await expect.poll(() => clock.waiting).toBe(1);
    await rm(`${path}-stale`);
    await clock.advance(20);
    expect(await waiting).toBe('done');
    expect(await readdir(folder)).toEqual([]);
  });

  it('SEC-9 R4 of many that come at once to a lock left behind, one has it at a time', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, '.lock');
    let running = 0;
    const most: number[] = [];
    const task = async (): Promise<void> => {
      most.push((running += 1));
      await readdir(folder);
      running -= 1;
    };
    for (let round = 0; round < repetitions(4, 300); round++) {
      await writeFile(path, String(NOBODY));
      // One that died while it removed such a lock left that lock behind too.
      if (round % 2 === 1) await writeFile(`${path}-stale`, String(NOBODY));
      await Promise.all(Array.from({ length: 8 }, () => withFolderLock(path, systemClock, task)));
      expect(await readdir(folder)).toEqual([]);
    }
    expect(Math.max(...most)).toBe(1);
  });

  it('SEC-9 what a task removed itself is no error', async () => {
    const path = join(await temporaryDirectory(), '.lock');
    expect(await withFolderLock(path, systemClock, async () => (await rm(path), 'done'))).toBe('done');
  });

  it('SEC-9 a folder that cannot be written is an error of its own, not a wait', async () => {
    const folder = await temporaryDirectory();
    await writeFile(join(folder, 'file'), '');
    const path = join(folder, 'file', '.lock');
    await expect(withFolderLock(path, systemClock, async () => 1)).rejects.toMatchObject({ code: 'ENOTDIR' });
    await mkdir(join(folder, '.lock'));
    await expect(withFolderLock(join(folder, '.lock'), systemClock, async () => 1)).rejects.toMatchObject({
      code: 'EISDIR',
    });
    const none = join(folder, 'none', '.lock');
    await expect(withFolderLock(none, createFakeClock(), async () => 1)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
