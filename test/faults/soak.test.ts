import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../../src/app/open-gateway.js';
import { fixture, startHttpFixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { formOf, repetitions } from '../support/long-form.js';

/** What this process holds open: files, sockets, pipes, children and timers. */
function held(): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) kinds[kind] = (kinds[kind] ?? 0) + 1;
  if (existsSync('/proc/self/fd')) kinds['files'] = readdirSync('/proc/self/fd').length;
  return kinds;
}

// What is left behind in each round shows after a few; each round starts processes.
it(
  'R13 servers that come and go, calls, searches and reloads leave nothing open behind',
  async () => {
    const far = await startHttpFixture('http');
    onTestFinished(() => far.stop());
    const folder = await temporaryDirectory();
    const config = join(folder, 'toolscout.config.json');
    const rateLimit = { requestsPerSecond: 100_000, burstSize: 100_000 };
    const write = (round: number): Promise<void> =>
      writeFile(
        config,
        JSON.stringify({
          // A busy machine is not what this is about.
          overload: false,
          servers: {
            stays: { ...fixture('legacy'), rateLimit },
            far: { url: far.url, rateLimit },
            [`comes${round}`]: { ...fixture('many'), rateLimit },
          },
        }),
      );
    await write(0);
    const options = {
      config,
      stateDir: join(folder, 'state'),
      env: { PATH: process.env['PATH'] },
      learnAtStart: false,
    };
    const gateway = await openGateway(options);
    onTestFinished(() => gateway.close({ drainMs: 0 }));

    const round = async (number: number): Promise<void> => {
      await write(number);
      await gateway.reload();
      await gateway.servers.discover();
      const calls = Array.from({ length: 100 }, (_, call) =>
        gateway.call(call % 2 === 0 ? 'stays' : 'far', 'echo', { message: String(call) }),
      );
      const failed = (await Promise.all(calls)).flatMap(({ error }) => (error ? [error] : []));
      expect(failed.map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
      await gateway.search('echo a message');
      const listening = gateway.onEvent(() => undefined);
      gateway.audit.follow(() => undefined)();
      listening();
    };
    for (let number = 1; number <= 4; number++) await round(number);
    const before = held();
    const last = 4 + repetitions(4, 200);
    for (let number = 5; number <= last; number++) await round(number);
    // Whoever was removed may still be on its way out.
    await waitUntil(() => Object.entries(held()).every(([kind, count]) => count <= (before[kind] ?? 0) + 2), {
      what: `what is open to be as before: ${JSON.stringify({ before, now: held() })}`,
    });
  },
  formOf(600_000, 1_800_000),
);
