import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createApprovals } from '../../src/approvals/approvals.js';
import { systemClock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';
import { openSqliteStore } from '../../src/store/index.js';
import { bundled } from '../support/bundled.js';
import { temporaryDirectory } from '../support/fixture.js';
import { repetitions } from '../support/long-form.js';
import { nextOutput } from '../support/next-output.js';
import { stdioServer } from '../support/test-server.js';
import { patient } from '../support/patience.js';

const SCRIPT = await bundled(fileURLToPath(new URL('../contract/approvals-process.ts', import.meta.url)));

/** Runs until it has acknowledged so many approvals, then kills it amid the next; answers what it acknowledged. */
async function runAndKill(directory: string, name: string, first: number, count: number): Promise<string[]> {
  const args = [SCRIPT, directory, name, String(first)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'close');
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  while (said.split('\n').length <= count) await nextOutput(child);
  child.kill('SIGKILL');
  await gone;
  return said.split('\n').slice(0, -1);
}

// A round starts two processes.
describe('approvals among processes', { timeout: patient(600_000) }, () => {
  it('R4 no approval that was acknowledged is lost by kill -9, with two processes at once', async () => {
    const directory = await temporaryDirectory();
    const rounds = repetitions(3, 50);
    let first = 0;
    for (let round = 0; round < rounds; round++) {
      const said = await Promise.all(['one', 'two'].map((name) => runAndKill(directory, name, first, 1 + (round % 7))));
      first += 100_000;
      const store = await openSqliteStore({ directory, clock: systemClock, log: silentLog });
      const approvals = createApprovals({ store, clock: systemClock, log: silentLog });
      await approvals.load();
      for (const [at, name] of ['one', 'two'].entries()) {
        const acknowledged = said[at]!;
        expect(acknowledged.length).toBeGreaterThan(0);
        const listed = approvals.list([stdioServer(name, { command: 'x' })]);
        const inForce = listed.find(({ state }) => state === 'approved')?.hash;
        const past = listed.filter(({ state }) => state === 'superseded').map(({ hash }) => hash);
        // The last one is in force, or something newer that was decided and not yet acknowledged took its place.
        expect([inForce, ...past]).toContain(acknowledged.at(-1));
      }
      approvals.close();
      await store.close();
    }
  });
});
