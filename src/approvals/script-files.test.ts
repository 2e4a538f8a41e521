import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { sha256 } from '../kernel/hash.js';
import { scriptsOf, unpinnedFilesOf } from './script-files.js';

interface Launch {
  readonly folder: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}
const transportOf = ({ folder, command = 'node', args = [], env = {} }: Launch): Parameters<typeof scriptsOf>[0] =>
  ({ type: 'stdio', command, args, env, cwd: folder }) as Parameters<typeof scriptsOf>[0];

/** A folder with these files; a text that begins with `->` makes a link. */
async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    if (text.startsWith('->')) await symlink(text.slice(2), path);
    else await writeFile(path, text);
  }
  return folder;
}

/** The files that a launch pins, by their path in the folder. */
const pinned = (launch: Launch): string[] => [
  ...new Set(scriptsOf(transportOf(launch)).map((facts) => String(facts[1]).replace(`${launch.folder}/`, ''))),
];

describe('the files that a launch is approved with', () => {
  it('A42 a file is noted with the word that names it, where it really lies, and the checksum of all of it', async () => {
    const folder = await folderWith({ 'real.mjs': 'one', 'link.mjs': '->real.mjs' });
    expect(scriptsOf(transportOf({ folder, args: ['link.mjs'] }))).toEqual([
      ['link.mjs', join(folder, 'real.mjs'), sha256('one')],
    ]);
    expect(scriptsOf(transportOf({ folder, args: ['none.mjs', 'x'] }))).toEqual([]);
  });

  it('A42 a program that is named by its path is one of them; its data are not, scripts behind it are', async () => {
    const folder = await folderWith({
      'bin/notes': 'binary',
      'data.txt': 'text',
      'tool.PY': 'code',
      tool: '#!/bin/sh',
      'x.json': '{}',
    });
    const args = ['data.txt', 'tool.PY', './tool', '--config=x.json'];
    expect(pinned({ folder, command: './bin/notes', args })).toEqual(['bin/notes', 'tool.PY', 'tool']);
    expect(pinned({ folder, command: 'notes', args: ['first.txt', ...args] })).toEqual(['tool.PY', 'tool']);
    // A program without a path may run what follows it, and so do runners and wrappers that have one.
    expect(pinned({ folder, command: 'notes', args: ['data.txt', 'x.json'] })).toEqual(['data.txt']);
    expect(pinned({ folder, command: '/usr/bin/node', args: ['data.txt', 'x.json'] })).toEqual(['data.txt']);
    expect(pinned({ folder, command: '/usr/bin/nice', args: ['data.txt'] })).toEqual([]);
    expect(pinned({ folder, command: '/usr/bin/timeout', args: ['9', 'node', 'data.txt'] })).toEqual(['data.txt']);
  });

  it('A42 programs of the system and the runtime itself are not compared, but a link to one is noted', async () => {
    const folder = await folderWith({ runtime: `->${process.execPath}` });
    expect(scriptsOf(transportOf({ folder, command: '/bin/sleep', args: ['1'] })).map(([word]) => word)).toEqual(
      // On most systems /bin is a link itself.
      scriptsOf(transportOf({ folder, command: '/bin/sleep', args: [] })).map(([word]) => word),
    );
    expect(scriptsOf(transportOf({ folder, command: process.execPath }))).toEqual([]);
    expect(scriptsOf(transportOf({ folder, command: './runtime' }))).toEqual([['./runtime', process.execPath]]);
  });

  it('A42 a link that leads nowhere or in a circle is noted; a path through a file is none', async () => {
    const folder = await folderWith({ 'lost.js': '->gone.js', 'circle.js': '->circle.js', file: 'text' });
    expect(scriptsOf(transportOf({ folder, args: ['lost.js'] }))).toEqual([['lost.js', 'ENOENT']]);
    expect(scriptsOf(transportOf({ folder, args: ['circle.js'] }))).toEqual([['circle.js', 'ELOOP']]);
    expect(scriptsOf(transportOf({ folder, args: ['file/x.js'] }))).toEqual([]);
    expect(scriptsOf(transportOf({ folder, args: [`${'a'.repeat(300)}.js`] }))).toEqual([]);
  });

  it.each<[what: string, args: string[], expected: string[]]>([
    ['the program, not its data', ['main', 'data'], ['main']],
    ['what runners run', ['env', 'node', 'main', 'data'], ['main']],
    ['a module that is loaded first', ['-r', './hook', 'main', 'data'], ['hook', 'main']],
    ['one in the same word as its flag', ['-r./hook', 'main'], ['hook', 'main']],
    ['one behind an equals sign', ['--import=./hook', 'main', 'data'], ['hook', 'main']],
    ['the value of a flag that is no file', ['--title', 'notes', 'main', 'data'], ['main']],
    ['a file behind a flag without a value', ['--quiet', 'main', 'data'], ['main']],
    ['a module that is started', ['-m', 'notes', 'main'], []],
    ['files in code', ['-c', 'cat ./hook | "./main"'], ['hook', 'main']],
    ['a path that ends like a runner', ['./python', 'data'], ['python']],
    ['a variable that loads code, before the program', ['NODE_OPTIONS=-r ./hook', 'node', 'main'], ['hook', 'main']],
    ['a variable that loads nothing, before the program', ['A=1', 'B=x', 'node', 'main', 'data'], ['main']],
    ['a program behind words of the one that starts it', ['timeout', '10', 'node', 'main', 'data'], ['main']],
    ['a program with an equals sign in its path', ['./x=1', './main'], ['x=1']],
    ['a program whose name ends like one of those', ['./transcript', './main'], ['transcript']],
    ['a program whose name begins like one of those', ['./sudo', './main'], ['sudo']],
    ['such a program without a runner', ['flock', 'lock', './main'], ['main']],
  ])('A42 %s', async (_what, args, expected) => {
    const folder = await folderWith({
      main: 'one',
      data: 'two',
      hook: 'three',
      python: 'four',
      transcript: '5',
      sudo: '6',
      'x=1': '7',
    });
    expect(pinned({ folder, args }).toSorted()).toEqual(expected);
    expect(pinned({ folder, command: 'env', args }).toSorted()).toEqual(expected);
    if (args[0] === 'timeout') expect(pinned({ folder, command: 'timeout', args: args.slice(1) })).toEqual(expected);
  });

  it('A42 a runner of packages takes names, so files behind the name are data', async () => {
    const folder = await folderWith({ notes: 'x', 'index.js': 'y', data: 'z' });
    expect(pinned({ folder, command: 'npx', args: ['-y', 'notes', '.', 'data'] })).toEqual(['notes']);
    expect(pinned({ folder, command: 'npx', args: ['--prefix=.', 'notes'] })).toEqual(['notes']);
    expect(pinned({ folder, command: 'npx', args: ['.'] })).toEqual(['index.js']);
    expect(pinned({ folder, command: '/usr/bin/npx.cmd', args: ['.'] })).toEqual(['index.js']);
  });

  it.each<[manifest: string, expected: string[]]>([
    ['{"main":"lib/main"}', ['lib/main.js']],
    ['{"main":"lib/main.js"}', ['lib/main.js']],
    ['{"main":"lib"}', ['lib/index.js']],
    ['{"bin":"lib/cli.mjs"}', ['lib/cli.mjs']],
    ['{"bin":{"a":"lib/cli.mjs","b":"lib/main.js"}}', ['lib/cli.mjs', 'lib/main.js']],
    ['{"main":5,"bin":null}', []],
    ['[]', []],
    ['not JSON', []],
  ])('A42 a folder is started by what its package.json names: %s', async (manifest, expected) => {
    const usual = ['index.js', 'index.json', 'index.node', 'index.mjs', 'index.ts', '__main__.py'];
    const folder = await folderWith({
      ...Object.fromEntries(usual.map((name) => [name, name])),
      'package.json': manifest,
      'lib/main.js': 'a',
      'lib/index.js': 'b',
      'lib/cli.mjs': 'c',
      'lib/other.js': 'd',
    });
    expect(pinned({ folder, args: ['.', 'x'] }).toSorted()).toEqual(['package.json', ...usual, ...expected].toSorted());
    // Behind the program a folder is data.
    expect(pinned({ folder, args: ['lib/other.js', '.'] })).toEqual(['lib/other.js']);
  });

  it('A42 an ending is added to a path without one, not to a plain word', async () => {
    const endings = ['.js', '.json', '.node', '.mjs', '.cjs', '.ts'];
    const folder = await folderWith(Object.fromEntries(endings.map((end) => [`main${end}`, end])));
    expect(pinned({ folder, args: ['./main'] }).toSorted()).toEqual(endings.map((end) => `main${end}`).toSorted());
    expect(pinned({ folder, args: ['main'] })).toEqual([]);
    expect(pinned({ folder, args: ['./main.x'] })).toEqual([]);
  });

  it('A42 the variables that decide what code runs are searched, and no others', async () => {
    const folder = await folderWith({ 'a.so': '1', 'b.so': '2', 'c.js': '3', plain: '4' });
    expect(pinned({ folder, command: 'x', env: { LD_PRELOAD: './a.so:./b.so' } })).toEqual(['a.so', 'b.so']);
    expect(pinned({ folder, command: 'x', env: { NODE_OPTIONS: '--import=./c.js --title x' } })).toEqual(['c.js']);
    expect(pinned({ folder, command: 'x', env: { BASH_ENV: 'plain' } })).toEqual(['plain']);
    expect(pinned({ folder, command: 'x', env: { NOTES_FILE: './plain' } })).toEqual([]);
  });

  it('A42 a database is data, however large; a text that merely holds its name is not', async () => {
    const head = 'SQLite format 3\0';
    const folder = await folderWith({ small: `${head}1`, large: `${head}2`, code: `x${head}`, 'large.txt': 'y' });
    await truncate(join(folder, 'large'), 5 * 1024 * 1024);
    await truncate(join(folder, 'large.txt'), 5 * 1024 * 1024);
    expect(pinned({ folder, args: ['./small'] })).toEqual([]);
    expect(pinned({ folder, args: ['./large'] })).toEqual([]);
    expect(pinned({ folder, args: ['./code'] })).toEqual(['code']);
    expect(pinned({ folder, args: ['./large.txt'] })).toEqual(['large.txt']);
    expect(pinned({ folder, args: ['./code', './large.txt'] })).toEqual(['code']);
  });

  it('A28 A42 what is looked at is bounded in words and in their length', async () => {
    const folder = await folderWith({ 'last.js': 'x' });
    const words = Array.from({ length: 1000 }, (_, at) => `w${at}.js`);
    expect(pinned({ folder, args: [...words, 'last.js'] })).toEqual(['last.js']);
    expect(pinned({ folder, args: [...words, 'one-more.js', 'last.js'] })).toEqual([]);
    const padded = (length: number): string => 'last.js'.padStart(length, './');
    expect(pinned({ folder, args: [padded(4095)] })).toEqual(['last.js']);
    expect(pinned({ folder, args: [padded(4097)] })).toEqual([]);
  });
});

describe('files that are too large to be compared', () => {
  it('A42 are named once when they are the program, and not when they are data or missing', async () => {
    const folder = await folderWith({ big: 'x', edge: 'x', circle: '->circle' });
    await truncate(join(folder, 'big'), 64 * 1024 * 1024 + 1);
    await truncate(join(folder, 'edge'), 64 * 1024 * 1024);
    const unpinned = (args: string[], command = 'node'): string[] =>
      unpinnedFilesOf(transportOf({ folder, command, args }));
    expect(unpinned(['./big', './big'])).toEqual(['./big']);
    expect(unpinned(['./edge'])).toEqual([]);
    expect(unpinned(['./edge', './big'])).toEqual([]);
    expect(unpinned(['./none', 'big/x'])).toEqual([]);
    expect(unpinned(['./circle'])).toEqual([]);
    expect(unpinned(['.'])).toEqual([]);
    expect(unpinned([], process.execPath)).toEqual([]);
    expect(scriptsOf(transportOf({ folder, args: ['./big'] }))).toEqual([]);
  });
});
