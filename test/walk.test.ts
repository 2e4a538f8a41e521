import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { renderWalks, type Walk } from '../bench/walk/section.js';
import { patient } from './support/patience.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Files that one request may enter; a reader has to follow it through all of them. */
const MAX_FILES: Readonly<Record<string, number>> = {
  'a call over stdio': 27,
  'a call over HTTP': 38,
  'a call over the HTTP API': 33,
  'a search': 22,
};

async function walkAnew(): Promise<Walk[]> {
  const args = ['--import', 'tsx', 'bench/walk/walk.ts', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  return JSON.parse(stdout) as Walk[];
}

/** The files of a list, whatever their order. */
function wordsOf(list: string): string[] {
  return [...new Set(list.split(/\s+/).filter((word) => word !== '' && word !== '```'))].toSorted();
}

describe('what one call walks through', () => {
  it(
    'ARCH-8 ARCHITECTURE.md lists the files that a call, a search and a learned list enter, in order',
    async () => {
      const page = readFileSync(`${root}ARCHITECTURE.md`, 'utf8');
      // An answer that takes long is streamed, and then counted before the call has ended: the files are the same, their order is not.
      const listed = ({ name }: Walk): string[] =>
        wordsOf(page.slice(page.indexOf(`\n${name}: `)).split('\n\n')[0] ?? '');
      const entered = (walk: Walk): string[] => wordsOf(renderWalks([walk]));
      let walks = await walkAnew();
      // On a busy machine work in the background comes in between; a list that is wrong is wrong every time.
      if (!walks.every((walk) => isDeepStrictEqual(listed(walk), entered(walk)))) walks = await walkAnew();
      // `npm run walk -- --write` writes the lists anew.
      for (const walk of walks) expect(entered(walk)).toEqual(listed(walk));
      const long = walks.filter(({ name, files }) => files.length > (MAX_FILES[name] ?? Infinity));
      expect(long.map(({ name, files }) => `${name}: ${files.length}`)).toEqual([]);
    },
    patient(180_000),
  );
});
