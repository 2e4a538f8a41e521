import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { stdioServer } from '../../test/support/test-server.js';
import { systemClock } from '../kernel/clock.js';
import { silentLog } from '../kernel/log.js';
import { openSqliteStore } from '../store/index.js';
import { createApprovals } from './approvals.js';

const SCRIPT = fileURLToPath(new URL('../../test/contract/approvals-process.ts', import.meta.url));

/** Runs until it has acknowledged something, a little longer, and kills it; answers what it acknowledged. */
async function runAndKill(directory: string, name: string, first: number): Promise<string[]> {
  const args = ['--import', 'tsx', SCRIPT, directory, name, String(first)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'close');
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  await once(child.stdout, 'data');
  await delay(Math.random() * 50);
  child.kill('SIGKILL');
  await gone;
  return said.split('\n').slice(0, -1);
}

describe('approvals among processes', { timeout: 240_000 }, () => {
  it('R4 no approval that was acknowledged is lost by kill -9, with two processes at once', async () => {
    const directory = await temporaryDirectory();
    let first = 0;
    for (let round = 0; round < 12; round++) {
      const said = await Promise.all(['one', 'two'].map((name) => runAndKill(directory, name, first)));
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
