import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../src/kernel/version.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesBelow(path);
    return path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : [];
  });
}

const files = filesBelow(source).map((path) => ({
  path: relative(source, path),
  room: relative(source, path).includes('/') ? relative(source, path).split('/')[0]! : 'top',
  text: readFileSync(path, 'utf8'),
}));

function importsOf(file: (typeof files)[number]): string[] {
  const found = file.text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g);
  return [...found].map((match) => relative(source, join(source, dirname(file.path), match[1]!)));
}

const MAY_IMPORT: Record<string, readonly string[]> = {
  kernel: [],
  model: ['kernel'],
  gateway: [
    'kernel',
    'model',
    'config',
    'connect',
    'discover',
    'normalize',
    'search',
    'execute',
    'redact',
    'negotiate',
    'approvals',
    'audit',
    'export',
    'store',
    'registry',
  ],
  front: ['kernel', 'model', 'gateway'],
};

describe('architecture', () => {
  it('ARCH-1 imports go one way: kernel ← model ← rooms ← gateway ← front ← main', () => {
    const wrong = files
      .filter((file) => file.room !== 'top')
      .flatMap((file) => {
        const allowed = new Set([...(MAY_IMPORT[file.room] ?? ['kernel', 'model']), file.room]);
        return importsOf(file)
          .filter((target) => !allowed.has(target.split('/')[0]!))
          .map((target) => `${file.path} imports ${target}`);
      });
    expect(wrong).toEqual([]);
  });

  it('ARCH-2 only the top files and the env loader touch process.env and argv; only the clock reads time', () => {
    const wrong = files
      .filter((file) => file.room !== 'top')
      .flatMap(({ path, text }) => {
        const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|`[^`]*`/g, '');
        const faults = [];
        if (/process\.(env|argv)\b/.test(code)) faults.push(`${path} reads process.env or argv`);
        if (
          path !== 'kernel/clock.ts' &&
          /Date\.now\(|performance\.now\(|\bsetTimeout\(|\bsetInterval\(|new Date\(\)/.test(code)
        ) {
          faults.push(`${path} reads time`);
        }
        return faults;
      });
    expect(wrong).toEqual([]);
  });

  it('ARCH-3 every export is documented, and none is a default export', () => {
    const wrong = files.flatMap(({ path, text }) => {
      const lines = text.split('\n');
      return lines.flatMap((line, index) => {
        if (line.startsWith('export default')) return [`${path}:${index + 1} default export`];
        if (!/^export (?:declare )?(?:async )?(?:function|class|const|interface|type|enum)\b/.test(line)) return [];
        if (line.startsWith('export type {')) return [];
        let above = index - 1;
        while (above >= 0 && /^\s*\/\/|^\s*@/.test(lines[above]!)) above -= 1;
        return lines[above]?.trimEnd().endsWith('*/') ? [] : [`${path}:${index + 1} ${line}`];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('ARCH-4 no file is longer than 400 lines', () => {
    const long = files.filter(({ text }) => text.split('\n').length > 400).map(({ path }) => path);
    expect(long).toEqual([]);
  });

  it('ARCH-5 the version in the code is that of the package', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(VERSION).toBe(manifest.version);
  });

  it('ARCH-6 tests run with the Node.js that was chosen, not with one that a dependency brings', () => {
    expect(process.execPath).not.toContain('node_modules');
  });

  it('ARCH-7 the map in ARCHITECTURE.md names every file of src/, kernel/, model/ and gateway/', () => {
    const map = /^src\/\n([\s\S]*?)^test\//m.exec(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'))![1]!;
    // A folder begins a paragraph; the files of src/ itself come before the first.
    const [own = '', ...folders] = map.split(/^ {2}(?=[a-z]+\/)/m);
    const named = (room: string): Set<string> => {
      const text = room === 'top' ? own : (folders.find((folder) => folder.startsWith(`${room}/`)) ?? '');
      return new Set(text.match(/[a-z]+(?:-[a-z]+)*/g));
    };
    const missing = files
      .filter(({ room, path }) => /^(top|kernel|model|gateway)$/.test(room) && path !== `${room}/index.ts`)
      .filter(({ room, path }) => !named(room).has(basename(path, '.ts')))
      .map(({ path }) => path);
    expect(missing).toEqual([]);
  });
});
