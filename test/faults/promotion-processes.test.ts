import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/fixture.js';
import { nextOutput } from '../support/next-output.js';
import { countTrials, formOf } from '../support/long-form.js';
import { exportFiles, inForce, promotionIn } from '../support/promotion.js';
import { patient } from '../support/patience.js';

const SCRIPT = fileURLToPath(new URL('../contract/promotion-process.ts', import.meta.url));
const ROUNDS = formOf(15, 500);
const LANES = 4;

describe('promotion among processes', () => {
  it(
    'R4 after kill -9 at any moment it is wholly the old version or wholly the new one, again and again',
    // Each round starts a process.
    { timeout: patient(600_000) },
    async () => {
      const home = await temporaryDirectory();
      const program = join(home, 'promote.mjs');
      const bundle = await rolldown({ input: SCRIPT, platform: 'node' });
      await bundle.write({ file: program, format: 'esm' });
      await bundle.close();
      const lanes = Array.from({ length: LANES }, (_, at) => join(home, String(at)));
      const moments = await Promise.all(
        lanes.map((root) => killAgainAndAgain(program, root, countTrials(ROUNDS / LANES))),
      );
      // It was not always the same moment: versions went by while it was killed. One lane may be killed early each time.
      expect(moments.reduce((sum, seen) => sum + seen, 0)).toBeGreaterThan(ROUNDS / 6);

      // And whoever comes next finishes what is left and leaves nothing lying about.
      const [root] = lanes;
      await rm(join(root!, 'pending'), { recursive: true, force: true });
      await exportFiles(root!, { 'last.rtfs': 'last' });
      await promotionIn(root!).promote('notes');
      expect(inForce(root!)).toEqual({ 'last.rtfs': 'last' });
      expect((await readdir(join(root!, 'approved'))).toSorted()).toEqual(['.versions', 'notes']);
      expect(await readdir(join(root!, 'approved', '.versions', 'notes'))).toHaveLength(1);
    },
  );
});

/** Starts, kills and looks, so many times; answers how many different versions were found in force. */
async function killAgainAndAgain(program: string, root: string, rounds: number): Promise<number> {
  let next = 0;
  let kept = -1;
  let span = 20;
  const seen = new Set<number>();
  for (let at = 0; at < rounds; at++) {
    const child = spawn(process.execPath, [program, root, String(next)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const gone = once(child, 'exit');
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    // Killed in the first, second or third promotion, anywhere within the time that one takes here and now.
    const wanted = 1 + Math.floor(Math.random() * 3);
    let began = 0;
    while (said.split('\n').length <= wanted) {
      await nextOutput(child);
      began ||= performance.now();
    }
    if (wanted > 1) span = (performance.now() - began) / (wanted - 1);
    await delay(Math.random() * span);
    child.kill('SIGKILL');
    await gone;
    const begun = Number(said.trim().split('\n').at(-1));
    next = begun + 1;
    const version = versionIn(inForce(root));
    if (version === undefined) {
      expect(kept).toBe(-1);
      continue;
    }
    // Never further than what was begun, never behind what was there before.
    expect(version).toBeLessThanOrEqual(begun);
    expect(version).toBeGreaterThanOrEqual(kept);
    kept = version;
    seen.add(version);
  }
  return seen.size;
}

/** The one version that all files in force are of, each of them complete. */
function versionIn(files: Record<string, string> | undefined): number | undefined {
  if (!files) return undefined;
  expect(Object.entries(files).map(([name, text]) => [name, text.split('\n').length])).toEqual(
    [0, 1, 2, 3].map((file) => [`tool${file}.rtfs`, 51 + file]),
  );
  const versions = new Set(Object.values(files).flatMap((text) => text.trimEnd().split('\n')));
  expect(versions.size).toBe(1);
  return Number([...versions][0]!.slice('version '.length));
}
