import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');

/** A row whose first cell is a statement of the families that this page is about. */
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => /^[ACRS]\d{1,2}$/.test(cells[1] ?? ''));

interface Promised {
  readonly id: string;
  readonly sentence: string;
  readonly file: string;
  readonly size: string;
}

const PROMISES: Promised[] = rowsOf(read('SECURITY.md')).map(([, id = '', sentence = '', link = '', size = '']) => ({
  id,
  sentence,
  file: /\]\(([^)]+)\)/.exec(link)?.[1] ?? '',
  size,
}));

/** The ids that begin the titles of a test file, or that a bench mentions. */
function idsIn(path: string): Set<string> {
  const text = read(path);
  if (path.startsWith('bench/')) return new Set(text.match(/\b[ACRS]\d{1,2}\b/g));
  const titles = text.matchAll(/\(\s*['"`]((?:(?:[A-Z]{2,}-\d{1,2}|[ACRS]\d{1,2}) )+)/g);
  return new Set([...titles].flatMap((match) => match[1]!.trim().split(' ')));
}

const numberOf = (text: string): number => Number(text.replaceAll(/[,_]/g, ''));

describe('the promises of SECURITY.md', () => {
  it('DOC-6 name every statement about security and reliability once, with the sentence of docs/requirements.md', () => {
    const wanted = rowsOf(read('docs/requirements.md')).map(([, id, sentence]) => `${id} ${sentence}`);
    expect(PROMISES.map(({ id, sentence }) => `${id} ${sentence}`).toSorted()).toEqual(wanted.toSorted());
  });

  it('DOC-6 each has a test with its id in the file that is named', () => {
    const wrong = PROMISES.filter(({ id, file }) => !existsSync(`${ROOT}${file}`) || !idsIn(file).has(id));
    expect(wrong.map(({ id, file }) => `${id}: ${file}`)).toEqual([]);
  });

  it('DOC-6 the sizes are those of the tests', () => {
    const wrong = PROMISES.filter(({ file, size }) => {
      const repeated = /^([\d,]+) \/ ([\d,]+) \w/.exec(size);
      if (!repeated) return size !== (file.startsWith('bench/') ? 'by hand' : 'whole');
      const forms = [...read(file).matchAll(/(?:repetitions|formOf)\(([\d_]+), ([\d_]+)\)/g)];
      return !forms.some(
        ([, short = '', long = '']) =>
          numberOf(short) === numberOf(repeated[1]!) && numberOf(long) === numberOf(repeated[2]!),
      );
    });
    expect(wrong.map(({ id, size }) => `${id}: ${size}`)).toEqual([]);
  });
});
