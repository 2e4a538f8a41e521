import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fixture, isAlive, waitUntil } from '../support/fixture.js';
import { finish, workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

it(
  'CONN-2 CLI-1 a search among broken servers answers from the good one, and the process ends soon after',
  STARTS_PROCESSES,
  async () => {
    const remote = createServer(() => undefined);
    await new Promise<void>((resolve) => remote.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      remote.closeAllConnections();
      remote.close();
    });
    const place = await workplace({});
    const pidFile = join(place.folder, 'pids');
    await place.write({
      servers: {
        good: fixture('legacy'),
        gone: { command: '/no/such/program' },
        crash: { command: process.execPath, args: ['-e', 'process.exit(3)'] },
        hang: fixture('slow', '--hang'),
        deaf: fixture('stubborn', `--pid-file=${pidFile}`),
        remote: { url: `http://127.0.0.1:${(remote.address() as AddressInfo).port}/mcp` },
      },
      limits: { searchWaitMs: 4000 },
    });
    const child = place.start('search', 'add two numbers', '--json');
    let printed = false;
    child.stdout?.once('data', () => (printed = true));
    // A stubborn child is killed five seconds after it was asked to stop. The command ends before, so it does not wait for that.
    const leftAtExit = new Promise<boolean>((resolve) => {
      child.once('exit', () => resolve(readFileSync(pidFile, 'utf8').trim().split(' ').map(Number).some(isAlive)));
    });
    const finished = finish(child);
    await waitUntil(() => printed, { timeoutMs: 20_000, what: 'the answer' });
    const deafPids = (await readFile(pidFile, 'utf8')).trim().split(' ').map(Number);
    expect(await leftAtExit).toBe(true);
    const { code, stdout } = await finished;
    expect(code).toBe(0);
    const answer = JSON.parse(stdout) as { hits: Array<{ server: string }>; learning: string[] };
    expect(answer.hits[0]?.server).toBe('good');
    expect(answer.learning).toEqual(expect.arrayContaining(['hang', 'remote']));
    // And nothing outlives it for long.
    await waitUntil(() => !deafPids.some(isAlive), { timeoutMs: 15_000, what: 'the stubborn server to end' });

    const again = JSON.parse((await place.run('search', 'add two numbers', '--json')).stdout) as typeof answer & {
      unavailable: Array<{ server: string }>;
    };
    expect(again.learning).toEqual([]);
    expect(again.unavailable.map(({ server }) => server)).toEqual(
      expect.arrayContaining(['gone', 'crash', 'hang', 'remote']),
    );
  },
);
