import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, isAlive, waitUntil } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { run, servicesOf, sharedHost } from '../support/shared-hosts.js';
import { workplace } from '../support/toolscout.js';

const linesOf = async (path: string): Promise<string[]> =>
  readFile(path, 'utf8').then(
    (text) => text.trim().split('\n'),
    () => [],
  );

describe('one service for many hosts', STARTS_PROCESSES, () => {
  it('STORE-6 five hosts with ten servers that connect at once run one service and ten server processes', async () => {
    const place = await workplace({});
    const starts = join(place.folder, 'starts');
    const names = Array.from({ length: 10 }, (_, n) => `s${n}`);
    await place.write({
      servers: Object.fromEntries(names.map((name) => [name, fixture('legacy', `--start-file=${starts}`)])),
    });
    expect((await place.run('warm')).code).toBe(0);
    const before = await linesOf(starts);
    const hosts = await Promise.all(Array.from({ length: 5 }, () => sharedHost(place)));
    expect(servicesOf(place)).toHaveLength(1);
    await Promise.all(
      hosts.flatMap(({ client }, n) =>
        names.map(async (name) => {
          const answer = await run(client, name, 'echo', { message: `${n} ${name}` });
          expect(answer).toMatchObject({ content: [{ type: 'text', text: `${n} ${name}` }] });
        }),
      ),
    );
    const pids = (await linesOf(starts)).slice(before.length).map(Number);
    expect(pids.filter(isAlive)).toHaveLength(10);
    expect(pids).toHaveLength(10);
  });

  it('STORE-6 after kill -9 of the service a call in flight gets one typed error and the host goes on with a new one', async () => {
    const place = await workplace({});
    const starts = join(place.folder, 'starts');
    await place.write({
      servers: { slow: fixture('slow', `--start-file=${starts}`), old: fixture('legacy', `--start-file=${starts}`) },
    });
    const one = await sharedHost(place);
    const two = await sharedHost(place);
    await run(one.client, 'old', 'echo', { message: 'hi' });
    const [service] = servicesOf(place);
    const children = (await linesOf(starts)).map(Number).filter(isAlive);
    const lost = run(one.client, 'slow', 'wait', { ms: 60_000 });
    await waitUntil(async () => (await linesOf(starts)).length > children.length, { what: 'the call' });
    process.kill(service!, 'SIGKILL');
    const failed = await lost;
    expect(failed.isError).toBe(true);
    expect(JSON.stringify(failed.content)).toContain('SERVER_CONNECTION_ERROR');
    for (const { client } of [one, two]) {
      expect(await run(client, 'old', 'echo', { message: 'again' })).toMatchObject({
        content: [{ type: 'text', text: 'again' }],
      });
    }
    expect(servicesOf(place)).toHaveLength(1);
    expect(servicesOf(place)).not.toContain(service);
    await waitUntil(() => !children.some(isAlive), { what: 'the end of the servers of the killed service' });
  });
});
