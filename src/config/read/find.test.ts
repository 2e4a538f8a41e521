import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FORMATS } from './find.js';
import { findConfig } from '../index.js';

let root: string;
const at = (...parts: string[]): string => join(root, ...parts);
const touch = async (path: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '');
};
const find = (extra: { file?: string; xdgConfigHome?: string } = {}): Promise<string | undefined> =>
  findConfig({ cwd: at('work'), home: at('home'), ...extra });

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'toolscout-find-'));
  await mkdir(at('work'));
  await mkdir(at('home'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('findConfig', () => {
  const order = [
    'work/.toolscout/config',
    'work/toolscout.config',
    'work/anygpt.config',
    'home/.config/toolscout/config',
  ];

  it.each(order.map((stem, i) => [stem, order.slice(i)] as const))(
    'CFG-1 %s wins over every place after it',
    async (stem, places) => {
      for (const place of places) await touch(at(`${place}.toml`));
      expect(await find()).toBe(at(`${stem}.toml`));
    },
  );

  it.each(FORMATS.flatMap((format) => order.map((stem) => [`${stem}.${format}`])))('CFG-1 finds %s', async (file) => {
    await touch(at(file));
    expect(await find()).toBe(at(file));
  });

  it('CFG-1 within one place the formats have an order', async () => {
    for (const format of FORMATS.toReversed()) {
      await touch(at(`work/toolscout.config.${format}`));
      expect(await find()).toBe(at(`work/toolscout.config.${format}`));
    }
  });

  it('CFG-1 a given file wins over everything, relative to the working directory or absolute', async () => {
    await touch(at('work/.toolscout/config.json'));
    await touch(at('work/sub/my.yaml'));
    expect(await find({ file: 'sub/my.yaml' })).toBe(at('work/sub/my.yaml'));
    expect(await find({ file: at('work/sub/my.yaml') })).toBe(at('work/sub/my.yaml'));
  });

  it('CFG-1 a given file that is missing is an error that names it, even when another config exists', async () => {
    await touch(at('work/.toolscout/config.json'));
    await mkdir(at('work/directory.json'));
    for (const file of ['nowhere.json', 'directory.json']) {
      await expect(find({ file })).rejects.toMatchObject({
        code: 'CONFIGURATION_ERROR',
        message: expect.stringContaining(at('work', file)) as string,
      });
    }
  });

  it('CFG-1 XDG_CONFIG_HOME replaces ~/.config', async () => {
    await touch(at('home/.config/toolscout/config.json'));
    await touch(at('xdg/toolscout/config.yaml'));
    expect(await find({ xdgConfigHome: at('xdg') })).toBe(at('xdg/toolscout/config.yaml'));
    expect(await find({ xdgConfigHome: at('elsewhere') })).toBeUndefined();
  });

  it('CFG-1 nothing found is not an error; directories and dangling links are not configs', async () => {
    expect(await find()).toBeUndefined();
    await mkdir(at('work/toolscout.config.ts'));
    await symlink(at('nowhere'), at('work/toolscout.config.json'));
    expect(await find()).toBeUndefined();
    await touch(at('home/real.json'));
    await symlink(at('home/real.json'), at('work/toolscout.config.jsonc'));
    expect(await find()).toBe(at('work/toolscout.config.jsonc'));
  });
});
