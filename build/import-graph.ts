import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A source file and the files it imports, type imports included. Paths are relative to `src/`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

/** The layers, lowest first. A file imports its own layer's folder and the layers below, never a layer above. */
export const LAYERS: ReadonlyArray<readonly string[]> = [
  ['kernel'],
  ['protocol', 'net'],
  ['model'],
  [
    'answers',
    'approvals',
    'audit',
    'clients',
    'config',
    'confirm',
    'connect',
    'discover',
    'execute',
    'export',
    'lock',
    'normalize',
    'redact',
    'registry',
    'scripts',
    'search',
    'skills',
    'store',
  ],
  ['catalog'],
  ['gateway'],
  ['front'],
  ['app'],
];

/** The one import between rooms: files of other programs are read with the parser and the checks of the config. */
const BETWEEN_ROOMS: ReadonlySet<string> = new Set(['clients → config']);

const source = fileURLToPath(new URL('../src', import.meta.url));

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesBelow(path);
    return path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : [];
  });
}

/** Every source file that is not a test. */
export function readSources(): SourceFile[] {
  return filesBelow(source).map((path) => {
    const text = readFileSync(path, 'utf8');
    const specifiers = [...text.matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)].map((match) => match[1]!);
    const imports = specifiers
      .map((specifier) => relative(source, join(dirname(path), specifier)).replace(/\.js$/, '.ts'))
      .filter((target) => !target.startsWith('..'));
    return { path: relative(source, path), text, imports: [...new Set(imports)] };
  });
}

/** The folder of `src/` that a file belongs to; the files of `src/` itself belong to the app. */
export function roomOf(path: string): string {
  return path.includes('/') ? path.split('/')[0]! : 'app';
}

function layerOf(room: string): number {
  return LAYERS.findIndex((layer) => layer.includes(room));
}

/** Whether a file of one folder may import a file of another. */
function mayImport(from: string, to: string): boolean {
  if (from === to || BETWEEN_ROOMS.has(`${from} → ${to}`)) return true;
  // Fronts see the rooms only through the gateway.
  if (from === 'front') return layerOf(to) < layerOf('approvals') || to === 'gateway';
  return layerOf(to) < layerOf(from);
}

/** Imports that go the wrong way, each as a sentence. */
export function wrongImports(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, imports }) => {
    const room = roomOf(path);
    const unknown = layerOf(room) < 0 ? [`${path} is in a folder that has no layer`] : [];
    const wrong = imports.filter((target) => !mayImport(room, roomOf(target)));
    return [...unknown, ...wrong.map((target) => `${path} imports ${target}`)];
  });
}

/** Groups of files that import each other in a ring (strongly connected components with more than one file). */
export function cyclesOf(files: readonly SourceFile[]): string[][] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const rings: string[][] = [];
  const visit = (path: string): void => {
    order.set(path, order.size);
    low.set(path, order.get(path)!);
    open.push(path);
    for (const target of byPath.get(path)!.imports) {
      if (!byPath.has(target)) continue;
      if (!order.has(target)) visit(target);
      if (open.includes(target)) low.set(path, Math.min(low.get(path)!, low.get(target)!));
    }
    if (low.get(path) !== order.get(path)) return;
    const ring = open.splice(open.indexOf(path));
    if (ring.length > 1) rings.push(ring.toSorted());
  };
  for (const { path } of files) if (!order.has(path)) visit(path);
  return rings;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints what each folder imports, then what is wrong; exits with 1 if anything is. */
function main(): void {
  const files = readSources();
  for (const [level, layer] of LAYERS.entries()) {
    for (const room of layer) {
      const own = files.filter(({ path }) => roomOf(path) === room);
      const targets = new Set(own.flatMap(({ imports }) => imports.map(roomOf)));
      targets.delete(room);
      const names = [...targets].toSorted((a, b) => layerOf(a) - layerOf(b) || a.localeCompare(b));
      print(`${level} ${room.padEnd(10)} ${String(own.length).padStart(3)} files  → ${names.join(' ') || 'nothing'}`);
    }
  }
  const wrong = wrongImports(files);
  const rings = cyclesOf(files);
  for (const line of wrong) print(`wrong: ${line}`);
  for (const ring of rings) print(`cycle: ${ring.join(' ↔ ')}`);
  print(`${files.length} files, ${wrong.length} imports against the layers, ${rings.length} cycles`);
  if (wrong.length > 0 || rings.length > 0) process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
