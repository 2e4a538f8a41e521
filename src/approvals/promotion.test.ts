import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { exportFiles, inForce, promotionIn } from '../../test/support/promotion.js';

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

  it('SEC-9 does not replace a folder that another program created', async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, 'approved', 'notes'), { recursive: true });
    await writeFile(join(root, 'approved', 'notes', 'mine.txt'), 'mine');
    await exportFiles(root, { 'a.rtfs': '1' });
    await expect(promotionIn(root).promote('notes')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(inForce(root)).toEqual({ 'mine.txt': 'mine' });
    expect(await readdir(join(root, 'pending', 'notes'))).toEqual(['a.rtfs']);
  });
});
