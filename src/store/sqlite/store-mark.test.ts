import {
  copyFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/fixture.js';
import { systemClock } from '../../kernel/clock.js';
import { silentLog } from '../../kernel/log.js';
import { DOUBT_KEY, STORE_SPACE, type Store } from '../../model/store.js';
import { openSqliteStore } from './sqlite.js';

interface TestStore {
  readonly directory: string;
  readonly file: string;
  readonly mark: string;
  readonly notices: string[];
  open(): Promise<Store>;
  /** Opens it, does something and closes it. */
  use(task?: (store: Store) => Promise<unknown>): Promise<void>;
  /** The reason of the doubt, if there is one. */
  doubt(): Promise<unknown>;
}

async function createTestStore(): Promise<TestStore> {
  const directory = join(await temporaryDirectory(), 'state');
  const notices: string[] = [];
  const open = (): Promise<Store> =>
    openSqliteStore({ directory, clock: systemClock, log: silentLog, notify: (notice) => notices.push(notice) });
  const doubtOf = async (store: Store): Promise<unknown> => {
    const value = (await store.get(STORE_SPACE, DOUBT_KEY))?.value;
    return (value as { reason?: string } | undefined)?.reason;
  };
  const use = async (task: (store: Store) => Promise<unknown> = async () => undefined): Promise<void> => {
    const store = await open();
    await task(store);
    await store.close();
  };
  return {
    directory,
    file: join(directory, 'toolscout.db'),
    mark: join(directory, 'store-mark.json'),
    notices,
    open,
    use,
    async doubt() {
      let reason: unknown;
      await use(async (store) => (reason = await doubtOf(store)));
      return reason;
    },
  };
}

const approve = (store: Store): Promise<boolean> => store.put('approvals', 'k', { at: Math.random() });
const removeDatabase = ({ directory }: TestStore): void => {
  for (const name of readdirSync(directory)) if (name.startsWith('toolscout.db')) rmSync(join(directory, name));
};

describe('the mark beside a store', () => {
  it('A48 a first start, and every start after it, raises no doubt', async () => {
    const here = await createTestStore();
    expect(await here.doubt()).toBeUndefined();
    await here.use(approve);
    await here.use(approve);
    expect(await here.doubt()).toBeUndefined();
    expect(here.notices).toEqual([]);
    if (process.platform !== 'win32') expect(lstatSync(here.mark).mode & 0o777).toBe(0o600);
  });

  it('A48 R20 the store of an older toolscout, without a mark, is taken over without doubt', async () => {
    const here = await createTestStore();
    await here.use(approve);
    await here.use((store) => store.clear(STORE_SPACE));
    rmSync(here.mark);
    expect(await here.doubt()).toBeUndefined();
    expect(existsSync(here.mark)).toBe(true);
  });

  it('A48 a database that is gone is noticed, said once, and stays in doubt until it is accepted', async () => {
    const here = await createTestStore();
    await here.use(approve);
    removeDatabase(here);
    expect(await here.doubt()).toBe('vanished');
    expect(here.notices).toHaveLength(1);
    expect(here.notices[0]).toContain('toolscout store accept');
    expect(await here.doubt()).toBe('vanished');
    expect(here.notices).toHaveLength(1);
    await here.use((store) => store.delete(STORE_SPACE, DOUBT_KEY));
    expect(await here.doubt()).toBeUndefined();
  });

  it('A48 an older copy is noticed when approvals were written since, and not when none were', async () => {
    const here = await createTestStore();
    const copy = join(here.directory, 'copy');
    await here.use(approve);
    copyFileSync(here.file, copy);
    await here.use((store) => store.put('tools', 'k', 1));
    removeDatabase(here);
    copyFileSync(copy, here.file);
    expect(await here.doubt()).toBeUndefined();
    await here.use(approve);
    removeDatabase(here);
    copyFileSync(copy, here.file);
    expect(await here.doubt()).toBe('rolled-back');
  });

  it('A48 the database of another state directory, and garbage, are noticed', async () => {
    const [here, there] = [await createTestStore(), await createTestStore()];
    await here.use(approve);
    await there.use(approve);
    removeDatabase(here);
    copyFileSync(there.file, here.file);
    expect(await here.doubt()).toBe('replaced');
    await here.use((store) => store.delete(STORE_SPACE, DOUBT_KEY));
    writeFileSync(here.file, 'garbage '.repeat(1000));
    expect(await here.doubt()).toBe('damaged');
    expect(here.notices.at(-1)).toContain('.damaged-');
  });

  it('A48 a running process notices that the file, or everything, was deleted or replaced', async () => {
    const here = await createTestStore();
    const store = await here.open();
    const heard: string[] = [];
    store.onChange((space) => heard.push(space));
    await approve(store);
    // The mark goes too: what this process has seen is enough.
    rmSync(here.directory, { recursive: true });
    await expect.poll(() => heard).toContain(STORE_SPACE);
    expect((await store.get(STORE_SPACE, DOUBT_KEY))?.value).toMatchObject({ reason: 'vanished' });
    await store.close();
    expect(await here.doubt()).toBe('vanished');
  });

  it('A48 a mark that cannot be read is a doubt; one that is a link is not followed', async () => {
    const here = await createTestStore();
    await here.use(approve);
    writeFileSync(here.mark, 'nonsense');
    expect(await here.doubt()).toBe('replaced');
    const victim = join(here.directory, 'victim');
    writeFileSync(victim, 'mine');
    rmSync(here.mark);
    symlinkSync(victim, here.mark);
    await here.use(approve);
    expect(readFileSync(victim, 'utf8')).toBe('mine');
    expect(lstatSync(here.mark).isFile()).toBe(true);
    removeDatabase(here);
    writeFileSync(here.mark, 'nonsense');
    expect(await here.doubt()).toBe('vanished');
  });
});
