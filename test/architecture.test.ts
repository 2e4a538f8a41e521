import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { cyclesOf, readSources, roomOf, wrongImports } from '../build/import-graph.js';
import { VERSION } from '../src/kernel/version.js';

const root = fileURLToPath(new URL('..', import.meta.url));

const files = readSources().map((file) => ({ ...file, room: roomOf(file.path) }));

describe('architecture', () => {
  it('ARCH-1 imports go one way: kernel ← protocol, net ← model ← rooms ← catalog ← gateway ← front ← app', () => {
    expect(wrongImports(files)).toEqual([]);
  });

  it('ARCH-1 no file imports itself through others, type imports included', () => {
    expect(cyclesOf(files)).toEqual([]);
  });

  it('ARCH-2 only the app and the env loader touch process.env and argv; only the clock reads time', () => {
    const wrong = files
      .filter((file) => file.room !== 'app')
      .flatMap(({ path, text }) => {
        const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|`[^`]*`/g, '');
        const faults = [];
        if (/process\.(env|argv)\b/.test(code)) faults.push(`${path} reads process.env or argv`);
        if (
          path !== 'kernel/clock.ts' &&
          /Date\.now\(|performance\.now\(|(?<!\bsocket\.)\bsetTimeout\(|\bsetInterval\(|new Date\(\)/.test(code)
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

  it('ARCH-7 the map in ARCHITECTURE.md names every folder of src/, and every file of the app, the kernel, the model, the catalog and the gateway', () => {
    const map = /^src\/\n([\s\S]*?)^test\//m.exec(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'))![1]!;
    const named = new Set(map.match(/[a-z]+(?:-[a-z]+)*/g));
    const folders = files.flatMap(({ path }) => dirname(path).split('/'));
    const inside = files
      .filter(({ room, path }) => /^(app|kernel|model|catalog|gateway)$/.test(room) && basename(path) !== 'index.ts')
      .map(({ path }) => basename(path, '.ts'));
    expect([...new Set([...folders, ...inside])].filter((name) => name !== '.' && !named.has(name))).toEqual([]);
  });

  it('ARCH-10 Studio imports nothing of src/ but types, documents its exports and keeps files short', () => {
    const wrong = readdirSync(join(root, 'web'), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path) && !/\.test\.ts$|\.config\.ts$/.test(path))
      .flatMap((path) => {
        const text = readFileSync(join(root, 'web', path), 'utf8');
        const lines = text.split('\n');
        const imports = text.match(/^(?:import|export)\b(?! type\b)[^;]*?from '[^']*\/src\/[^']*'/gm) ?? [];
        const bare = lines.filter(
          (line, index) =>
            /^export (?:async )?(?:function|class|const|interface|type)\b/.test(line) &&
            !lines[index - 1]?.trimEnd().endsWith('*/'),
        );
        return [
          ...imports.map((line) => `${path}: ${line}`),
          ...bare.map((line) => `${path}: ${line} has no comment`),
          ...(lines.length > 400 ? [`${path} has ${lines.length} lines`] : []),
        ];
      });
    expect(wrong).toEqual([]);
  });

  it('ARCH-9 every source file that the pages for contributors name exists', () => {
    const pages = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'CONTEXT.md'];
    const known = readdirSync(root).concat(
      ['src', 'web', 'test', 'bench', 'build', 'train', 'examples'].flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
      ),
    );
    const missing = pages.flatMap((page) => {
      const names = readFileSync(join(root, page), 'utf8').match(/(?<=`)[\w./-]+\.(?:ts|mjs)(?=`)/g) ?? [];
      return names.filter((name) => !known.some((path) => path === name || path.endsWith(`/${name}`)));
    });
    expect([...new Set(missing)]).toEqual([]);
  });
});
