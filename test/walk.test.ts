import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { renderWalks, type Walk } from '../bench/walk/section.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Files that one request may enter; a reader has to follow it through all of them. */
const MOST: Readonly<Record<string, number>> = {
  'a call over stdio': 40,
  'a call over HTTP': 52,
  'a call over the HTTP API': 45,
  'a search': 52,
};

async function walkAnew(): Promise<Walk[]> {
  const args = ['--import', 'tsx', 'bench/walk/walk.ts', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  return JSON.parse(stdout) as Walk[];
}

describe('what one call walks through', () => {
  it('ARCH-8 ARCHITECTURE.md lists the files that a call, a search and a learned list enter, in order', async () => {
    const page = readFileSync(`${root}ARCHITECTURE.md`, 'utf8');
    const isListed = (walk: Walk): boolean => page.includes(`\n${renderWalks([walk])}\n`);
    let walks = await walkAnew();
    // On a busy machine work in the background comes in between; a list that is wrong is wrong every time.
    for (let again = 0; again < 2 && !walks.every(isListed); again++) walks = await walkAnew();
    // `npm run walk -- --write` writes the lists anew.
    for (const walk of walks) expect(page).toContain(`\n${renderWalks([walk])}\n`);
    const long = walks.filter(({ name, files }) => files.length > (MOST[name] ?? Infinity));
    expect(long.map(({ name, files }) => `${name}: ${files.length}`)).toEqual([]);
  }, 180_000);
});
