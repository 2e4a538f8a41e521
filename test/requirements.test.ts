import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = 'docs/requirements.md';
const FOLDERS = ['src', 'web', 'test', 'bench', 'docs', 'examples', 'train'];

/** Names of standards that are written like an id. */
const STANDARDS = /^(?:SHA|UTF|PDDL|ISO|RFC|BCP)-/;
const ID = String.raw`(?:[A-Z]{2,}-[0-9]{1,2}|[ACRS][0-9]{1,2})`;
/** The ids at the beginning of a title: the first text that is handed to `it`, `describe` or the function that `each` returns. */
const TITLE = new RegExp(String.raw`\(\s*(['"\`])((?:${ID} )+)`, 'g');
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*/g;

interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** One row of the page. */
interface Requirement {
  readonly id: string;
  readonly sentence: string;
  /** `tests`, or the folder of a bench. */
  readonly shownBy: readonly string[];
}

function filesBelow(folder: string): SourceFile[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|mjs|md)$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => !path.includes('node_modules') && path !== PAGE)
    .map(read);
}

function read(path: string): SourceFile {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

/** The ids that begin the titles of a test file. */
function titleIds({ path, text }: SourceFile): string[] {
  if (!path.endsWith('.test.ts')) return [];
  return [...text.matchAll(TITLE)].flatMap((match) => match[2]!.trim().split(' '));
}

/** The ids that the comments of a source file or the text of a page mention. */
function mentionedIds({ path, text }: SourceFile): string[] {
  const prose = path.endsWith('.md') ? text : (text.match(COMMENT) ?? []).join('\n');
  const found = prose.match(new RegExp(String.raw`(?<![\w/-])${ID}(?![\w-])`, 'g')) ?? [];
  return found.filter((id) => !STANDARDS.test(id));
}

function readRequirements(text: string): Requirement[] {
  return text
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => new RegExp(`^${ID}$`).test(cells[1] ?? ''))
    .map(([, id, sentence, shownBy]) => ({
      id: id!,
      sentence: sentence ?? '',
      shownBy: (shownBy ?? '').split(',').map((part) => part.trim()),
    }));
}

const topPages = readdirSync(ROOT).filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md');
const files = [...FOLDERS.flatMap(filesBelow), ...topPages.map(read)];
const requirements = readRequirements(read(PAGE).text);

describe('the requirements page', () => {
  it('DOC-4 has each id that code, tests, benches and docs cite', () => {
    const known = new Set(requirements.map(({ id }) => id));
    const missing = files.flatMap((file) => {
      const unknown = [...titleIds(file), ...mentionedIds(file)].filter((id) => !known.has(id));
      return [...new Set(unknown)].map((id) => `${id} is cited in ${file.path} and has no row in ${PAGE}`);
    });
    expect(missing).toEqual([]);
  });

  it('DOC-4 names a proof for each id: a test whose title begins with it, or a bench that cites it', () => {
    const titled = new Set(files.flatMap(titleIds));
    const inBenches = new Set(
      files
        .filter(({ path }) => path.startsWith('bench/'))
        .flatMap((file) => mentionedIds(file).map((id) => `${id} ${dirname(file.path)}`)),
    );
    const unproven = requirements.flatMap(({ id, shownBy }) =>
      shownBy.flatMap((proof) => {
        if (proof === 'tests') return titled.has(id) ? [] : [`${id}: no test title begins with it`];
        if (!proof.startsWith('bench/')) return [`${id}: "${proof}" is neither "tests" nor a folder of bench/`];
        return inBenches.has(`${id} ${proof}`) ? [] : [`${id}: no comment in ${proof} cites it`];
      }),
    );
    expect(unproven).toEqual([]);
  });

  it('DOC-4 has each id once, with one sentence', () => {
    const ids = requirements.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(150);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    const wrong = requirements.filter(({ sentence }) => !/^\S.*\.$/.test(sentence) || /\. [A-Z]/.test(sentence));
    expect(wrong).toEqual([]);
  });

  it.each([
    ["it('PAT-2 A10 wins', …)", ['PAT-2', 'A10']],
    ["it.each([\n  ['A1 x'],\n])(\n  'C1 S24 %s passes', …)", ['C1', 'S24']],
    ["expect(text).toBe('E42: full')", []],
    ["it('says PAT-2 later', …)", []],
  ])('DOC-4 reads the ids of %j', (text, ids) => {
    expect(titleIds({ path: 'x.test.ts', text })).toEqual(ids);
  });

  it.each([
    ['x.ts', "// Bounded (A28, CFG-3).\nconst A1 = 'PAT-1';\n/** In UTF-8; see FIND-7. */", ['A28', 'CFG-3', 'FIND-7']],
    ['x.ts', "fetch('https://a.example/A1');", []],
    ['x.md', '## Lists (PAT-2)\n\nA SHA-256, a PR-06.', ['PAT-2', 'PR-06']],
  ])('DOC-4 reads the ids that %s mentions', (path, text, ids) => {
    expect(mentionedIds({ path, text })).toEqual(ids);
  });
});
