import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Passages of one package that are learned from: a few large manuals would outweigh all others. */
const MAX_PASSAGES = 60;
/** Shorter passages say little, longer ones are no passages. */
const LEAST_TEXT = 60;
const MAX_TEXT = 1200;
/** Files of types that are read for their comments, of one package, and characters of each. */
const MAX_FILES = 40;
const MAX_FILE = 400_000;

const OPEN = /^\(?(?:mit|isc|apache-2\.0|bsd|0bsd|cc0|cc-by|unlicense|blueoak|python)/i;

/** A passage of the documentation of a package: what somebody wrote for readers who are no models. */
export interface Passage {
  readonly package: string;
  readonly text: string;
}

interface Manifest {
  readonly name?: string;
  readonly license?: unknown;
}

/** Passages of READMEs and of the comments of types, of all packages below `node_modules` with an open licence. */
export function readDocumentation(folder: string): Passage[] {
  return packagesIn(folder).flatMap((home) => {
    const manifest = join(home, 'package.json');
    if (!existsSync(manifest)) return [];
    const { name = '', license } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest;
    if (typeof license !== 'string' || !OPEN.test(license)) return [];
    const all = [...new Set([...readmeOf(home), ...commentsOf(home)])];
    const step = Math.max(1, all.length / MAX_PASSAGES);
    return Array.from({ length: Math.min(all.length, MAX_PASSAGES) }, (_, at) => ({
      package: name,
      text: all[Math.floor(at * step)]!,
    }));
  });
}

function packagesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .toSorted()
    .flatMap((name) => {
      const path = join(folder, name);
      return name.startsWith('@')
        ? readdirSync(path)
            .toSorted()
            .map((each) => join(path, each))
        : [path];
    });
}

function isPassage(text: string): boolean {
  return text.length >= LEAST_TEXT && text.length <= MAX_TEXT && / \w+ \w+ \w+ /.test(text);
}

function readmeOf(home: string): string[] {
  const name = readdirSync(home).find((each) => /^readme\.(?:md|markdown)$/i.test(each));
  if (name === undefined) return [];
  return readFileSync(join(home, name), 'utf8')
    .replace(/```[\s\S]*?```|<[^>\n]{0,300}>/g, '\n\n')
    .replace(/!?\[([^\]\n]{0,200})\]\([^)\n]{0,400}\)/g, '$1')
    .split(/\n\s*\n/)
    .map((text) => text.replace(/^[#>\s*-]+/, '').trim())
    .filter((text) => isPassage(text) && !text.startsWith('|') && !text.startsWith('['));
}

function* typesIn(home: string): Generator<string> {
  const folders = [home];
  let count = 0;
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== 'node_modules') folders.push(path);
      } else if (entry.name.endsWith('.d.ts') && statSync(path).size < MAX_FILE && ++count <= MAX_FILES) yield path;
    }
  }
}

function commentsOf(home: string): string[] {
  return [...typesIn(home)].flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/\/\*\*((?:(?!\*\/)[\s\S]){40,4000})\*\//g)]
      .map(([, body = '']) =>
        body
          .replace(/^\s*\* ?/gm, '')
          .replace(/```[\s\S]*?(?:```|$)/g, '')
          .replace(/\{@link ([^}]{1,100})\}/g, '$1')
          .replace(/@example[\s\S]*$/, '')
          .trim(),
      )
      .filter(isPassage),
  );
}
