import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { systemClock } from '../kernel/clock.js';
import { silentLog } from '../kernel/log.js';
import { createPromotion, type Promotion } from './promotion.js';

const SCRIPT = fileURLToPath(new URL('../../test/contract/promotion-process.ts', import.meta.url));

function promotionIn(root: string): Promotion {
  return createPromotion({
    pending: () => join(root, 'pending'),
    folderOf: (server) => server,
    clock: systemClock,
    log: silentLog,
  });
}

async function exportFiles(root: string, files: Record<string, string>): Promise<void> {
  await mkdir(join(root, 'pending', 'notes'), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, 'pending', 'notes', name), text);
}

/** Every file of the version in force, by name. */
function inForce(root: string): Record<string, string> | undefined {
  const folder = join(root, 'approved', 'notes');
  if (!existsSync(folder)) return undefined;
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

describe('promotion', () => {
  it('SEC-9 files go from pending to approved, and the version before to archived', async () => {
    const root = await temporaryDirectory();
    const promotion = promotionIn(root);
    expect(await promotion.promote('notes')).toBeUndefined();
    await exportFiles(root, { 'read.rtfs': 'one', 'server.rtfs': 's' });
    expect(await promotion.promote('notes')).toBe(join(root, 'approved', 'notes'));
    expect(inForce(root)).toEqual({ 'read.rtfs': 'one', 'server.rtfs': 's' });
    expect(existsSync(join(root, 'pending', 'notes'))).toBe(false);
    expect(existsSync(join(root, 'archived'))).toBe(false);

    await exportFiles(root, { 'write.rtfs': 'two' });
    await promotion.promote('notes');
    expect(inForce(root)).toEqual({ 'write.rtfs': 'two' });
    const [old] = await readdir(join(root, 'archived', 'notes'));
    expect(await readFile(join(root, 'archived', 'notes', old!, 'read.rtfs'), 'utf8')).toBe('one');
    expect(await promotion.promote('notes')).toBeUndefined();
    expect(inForce(root)).toEqual({ 'write.rtfs': 'two' });
  });

  it('SEC-9 publishing puts exactly the approved files in force and leaves only what waits in pending', async () => {
    const root = await temporaryDirectory();
    const promotion = promotionIn(root);
    await exportFiles(root, { 'a.rtfs': '1', 'b.rtfs': '1', 'server.rtfs': 'a b' });
    const first = { approved: new Map([['a.rtfs', '1'], ['server.rtfs', 'a']]), pending: new Set(['b.rtfs', 'server.rtfs']) }; // prettier-ignore
    expect(await promotion.publish('notes', first)).toEqual({
      folder: join(root, 'approved', 'notes'),
      written: 2,
      unchanged: 0,
    });
    expect(inForce(root)).toEqual({ 'a.rtfs': '1', 'server.rtfs': 'a' });
    expect(await readdir(join(root, 'pending', 'notes'))).toEqual(['b.rtfs', 'server.rtfs']);

    // The same again changes nothing, and makes no version.
    expect(await promotion.publish('notes', first)).toMatchObject({ written: 0, unchanged: 2 });
    expect(existsSync(join(root, 'archived'))).toBe(false);

    const all = new Map([['a.rtfs', '1'], ['b.rtfs', '1'], ['server.rtfs', 'a b']]); // prettier-ignore
    await promotion.publish('notes', { approved: all, pending: new Set() });
    expect(inForce(root)).toEqual({ 'a.rtfs': '1', 'b.rtfs': '1', 'server.rtfs': 'a b' });
    expect(existsSync(join(root, 'pending', 'notes'))).toBe(false);

    // A tool in quarantine stays as it was approved; one that is gone goes.
    const fewer = new Map([['server.rtfs', 'a']]);
    await promotion.publish('notes', { approved: fewer, pending: new Set(), kept: new Set(['b.rtfs', 'never.rtfs']) });
    expect(inForce(root)).toEqual({ 'b.rtfs': '1', 'server.rtfs': 'a' });
  });

  it('SEC-9 withdrawing a server leaves nothing of it in pending or in force, and archives what was approved', async () => {
    const root = await temporaryDirectory();
    const promotion = promotionIn(root);
    await promotion.withdraw('notes');
    expect(existsSync(join(root, 'approved'))).toBe(false);
    await promotion.publish('notes', { approved: new Map([['a.rtfs', '1']]), pending: new Set() });
    await exportFiles(root, { 'b.rtfs': '1' });
    expect(await promotion.isExported('notes')).toBe(true);
    await promotion.withdraw('notes');
    expect(inForce(root)).toBeUndefined();
    expect(existsSync(join(root, 'pending', 'notes'))).toBe(false);
    expect(await readdir(join(root, 'archived', 'notes'))).toHaveLength(1);
    expect(await promotion.isExported('notes')).toBe(false);
  });

  it('A21 a link in the place of the approved folder is not followed', async () => {
    const [root, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
    await symlink(elsewhere, join(root, 'approved'));
    const files = { approved: new Map([['a.rtfs', '1']]), pending: new Set<string>() };
    await expect(promotionIn(root).publish('notes', files)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it('SEC-9 the same files twice are one version; a version that was archived can come back', async () => {
    const root = await temporaryDirectory();
    const promotion = promotionIn(root);
    for (const text of ['one', 'one', 'two', 'one']) {
      await exportFiles(root, { 'a.rtfs': text });
      await promotion.promote('notes');
      expect(inForce(root)).toEqual({ 'a.rtfs': text });
    }
  });

  it('SEC-9 several processes that publish at once leave one whole version in force', async () => {
    const root = await temporaryDirectory();
    const [one, two] = [promotionIn(root), promotionIn(root)];
    const versions = Array.from({ length: 8 }, (_, at) => new Map([['a.rtfs', `${at}`], ['b.rtfs', `${at}`]])); // prettier-ignore
    await Promise.all(
      versions.map((approved, at) => (at % 2 ? one : two).publish('notes', { approved, pending: new Set() })),
    );
    const files = inForce(root);
    expect(Object.keys(files ?? {})).toEqual(['a.rtfs', 'b.rtfs']);
    expect(files?.['a.rtfs']).toBe(files?.['b.rtfs']);
  });

  it('A20 no name leaves its folder, and links are neither followed nor promoted', async () => {
    const root = await temporaryDirectory();
    const promotion = promotionIn(root);
    for (const name of ['..', '.', '', 'a/b', '../x', 'a\\b', 'a\0b', '.versions']) {
      expect(await promotion.promote(name)).toBeUndefined();
    }
    await writeFile(join(root, 'secret'), 'canary');
    await exportFiles(root, { 'a.rtfs': '1' });
    await symlink(join(root, 'secret'), join(root, 'pending', 'notes', 'b.rtfs'));
    await promotion.promote('notes');
    expect(inForce(root)).toEqual({ 'a.rtfs': '1' });
  });

  it('SEC-9 a folder that somebody else made is not replaced', async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, 'approved', 'notes'), { recursive: true });
    await writeFile(join(root, 'approved', 'notes', 'mine.txt'), 'mine');
    await exportFiles(root, { 'a.rtfs': '1' });
    await expect(promotionIn(root).promote('notes')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(inForce(root)).toEqual({ 'mine.txt': 'mine' });
    expect(await readdir(join(root, 'pending', 'notes'))).toEqual(['a.rtfs']);
  });

  it(
    'R4 after kill -9 at any moment it is wholly the old version or wholly the new one, 500 times',
    { timeout: 600_000 },
    async () => {
      const home = await temporaryDirectory();
      const program = join(home, 'promote.mjs');
      const bundle = await rolldown({ input: SCRIPT, platform: 'node' });
      await bundle.write({ file: program, format: 'esm' });
      await bundle.close();
      const lanes = Array.from({ length: LANES }, (_, at) => join(home, String(at)));
      const moments = await Promise.all(lanes.map((root) => killAgainAndAgain(program, root, ROUNDS / LANES)));
      // It was not always the same moment: versions went by while it was killed.
      expect(Math.min(...moments)).toBeGreaterThan(20);

      // And whoever comes next finishes what is left and leaves nothing lying about.
      const [root] = lanes;
      await rm(join(root!, 'pending'), { recursive: true, force: true });
      await exportFiles(root!, { 'last.rtfs': 'last' });
      await promotionIn(root!).promote('notes');
      expect(inForce(root!)).toEqual({ 'last.rtfs': 'last' });
      expect((await readdir(join(root!, 'approved'))).toSorted()).toEqual(['.versions', 'notes']);
      expect(await readdir(join(root!, 'approved', '.versions', 'notes'))).toHaveLength(1);
    },
  );
});

const ROUNDS = 500;
const LANES = 4;

/** Starts, kills and looks, so many times; answers how many different versions were found in force. */
async function killAgainAndAgain(program: string, root: string, rounds: number): Promise<number> {
  let next = 0;
  let kept = -1;
  let span = 20;
  const seen = new Set<number>();
  for (let at = 0; at < rounds; at++) {
    const child = spawn(process.execPath, [program, root, String(next)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const gone = once(child, 'exit');
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    // Killed in the first, second or third promotion, anywhere within the time that one takes here and now.
    const wanted = 1 + Math.floor(Math.random() * 3);
    let began = 0;
    while (said.split('\n').length <= wanted) {
      await once(child.stdout, 'data');
      began ||= performance.now();
    }
    if (wanted > 1) span = (performance.now() - began) / (wanted - 1);
    await delay(Math.random() * span);
    child.kill('SIGKILL');
    await gone;
    const begun = Number(said.trim().split('\n').at(-1));
    next = begun + 1;
    const version = versionIn(inForce(root));
    if (version === undefined) {
      expect(kept).toBe(-1);
      continue;
    }
    // Never further than what was begun, never behind what was there before.
    expect(version).toBeLessThanOrEqual(begun);
    expect(version).toBeGreaterThanOrEqual(kept);
    kept = version;
    seen.add(version);
  }
  return seen.size;
}

/** The one version that all files in force are of, each of them complete. */
function versionIn(files: Record<string, string> | undefined): number | undefined {
  if (!files) return undefined;
  expect(Object.entries(files).map(([name, text]) => [name, text.split('\n').length])).toEqual(
    [0, 1, 2, 3].map((file) => [`tool${file}.rtfs`, 51 + file]),
  );
  const versions = new Set(Object.values(files).flatMap((text) => text.trimEnd().split('\n')));
  expect(versions.size).toBe(1);
  return Number([...versions][0]!.slice('version '.length));
}
