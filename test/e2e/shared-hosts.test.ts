import { spawn } from 'node:child_process';
import { mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, isAlive, waitUntil } from '../support/fixture.js';
import { textOf } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { endServicesAfter, forwarderArgs, servicesOf, sharedHost } from '../support/shared-hosts.js';
import { workplace, type Workplace } from '../support/toolscout.js';

const EVERYTHING = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

const linesOf = async (path: string): Promise<string[]> =>
  readFile(path, 'utf8').then(
    (text) => text.trim().split('\n'),
    () => [],
  );

async function tenServers(): Promise<{ place: Workplace; starts: string; names: string[] }> {
  const place = await workplace({});
  const starts = join(place.folder, 'starts');
  const names = Array.from({ length: 10 }, (_, n) => `s${n}`);
  const servers = Object.fromEntries(names.map((name) => [name, fixture('legacy', `--start-file=${starts}`)]));
  await place.write({ servers });
  expect((await place.run('warm')).code).toBe(0);
  return { place, starts, names };
}

const socketOf = async (place: Workplace): Promise<string> => {
  const folder = join(place.folder, 'state', 'shared');
  const name = (await readdir(folder)).find((each) => each.endsWith('.sock'));
  return join(folder, name!);
};

describe('one service for many hosts', STARTS_PROCESSES, () => {
  it.each([
    ['that cannot be asked anything', 'legacy', {}],
    ['that can be asked everything', 'legacy', EVERYTHING],
    ['of the 2026 era', 'modern', EVERYTHING],
  ] as const)(
    'STORE-6 five hosts %s and ten servers: one service, ten server processes',
    async (_, era, capabilities) => {
      const { place, starts, names } = await tenServers();
      const before = (await linesOf(starts)).length;
      const hosts = await Promise.all(Array.from({ length: 5 }, () => sharedHost(place, { era, capabilities })));
      expect(servicesOf(place)).toHaveLength(1);
      await Promise.all(
        hosts.flatMap((host, n) =>
          names.map(async (name) => {
            const answer = await host.run(name, 'echo', { message: `${n} ${name}` });
            expect(textOf(answer)).toBe(`${n} ${name}`);
          }),
        ),
      );
      const pids = (await linesOf(starts)).slice(before).map(Number);
      expect(pids).toHaveLength(10);
      expect(pids.filter(isAlive)).toHaveLength(10);
    },
  );

  it('STORE-6 after kill -9 of the service a call in flight gets one typed error, hosts go on, and no server is left', async () => {
    const place = await workplace({});
    const starts = join(place.folder, 'starts');
    const called = join(place.folder, 'called');
    await place.write({
      servers: {
        slow: fixture('slow', `--start-file=${starts}`, `--call-file=${called}`),
        old: fixture('legacy', `--start-file=${starts}`),
      },
    });
    const hosts = [
      await sharedHost(place),
      await sharedHost(place, { capabilities: EVERYTHING }),
      await sharedHost(place, { era: 'modern' }),
    ];
    await hosts[1]!.run('old', 'echo', { message: 'hi' });
    const [service] = servicesOf(place);
    const lost = hosts.map((host) => host.run('slow', 'wait', { ms: 60_000 }));
    await waitUntil(async () => (await linesOf(called)).length === lost.length, { what: 'the calls' });
    const children = (await linesOf(starts)).map(Number).filter(isAlive);
    process.kill(service!, 'SIGKILL');
    for (const each of lost) {
      const failed = await each;
      expect(failed['isError']).toBe(true);
      expect(JSON.parse(textOf(failed))).toMatchObject({ code: 'SERVER_CONNECTION_ERROR' });
    }
    for (const host of hosts) expect(textOf(await host.run('old', 'echo', { message: 'again' }))).toBe('again');
    expect(servicesOf(place)).toHaveLength(1);
    expect(servicesOf(place)).not.toContain(service);
    await waitUntil(() => !children.some(isAlive), { what: 'the end of the servers of the killed service' });
  });

  it.each(['legacy', 'modern'] as const)(
    'STORE-6 META-6 questions, roots, sampling, progress and cancellation reach the host (%s) they belong to alone',
    async (era) => {
      const place = await workplace({ servers: { asking: fixture('asking'), slow: fixture('slow') } });
      const names = ['ann', 'bob'];
      const hosts = await Promise.all(
        names.map((name) =>
          sharedHost(place, {
            era,
            capabilities: EVERYTHING,
            root: `file:///home/${name}`,
            onElicit: (message) => ({ action: 'accept', content: { name: `${name} ${message}` } }),
          }),
        ),
      );
      expect(servicesOf(place)).toHaveLength(1);
      // The first question ever shows that the server asks; then both ask at once.
      expect(textOf(await hosts[0]!.run('asking', 'roots'))).toContain('file:///home/ann');
      await Promise.all(
        hosts.map(async (host, n) => {
          const name = names[n]!;
          const [asked, roots, sampled] = await Promise.all([
            host.run('asking', 'elicit', { message: 'who' }),
            host.run('asking', 'roots'),
            host.run('asking', 'sample', { prompt: `of ${name}` }),
          ]);
          expect(JSON.parse(textOf(asked))).toMatchObject({ content: { name: `${name} who` } });
          expect(textOf(roots)).toContain(`file:///home/${name}`);
          expect(textOf(sampled)).toContain('SAMPLED');
        }),
      );
      for (const [n, { asked }] of hosts.entries()) {
        const prompts = asked.filter(({ method }) => method === 'sampling/createMessage');
        expect(JSON.stringify(prompts)).not.toContain(`of ${names[1 - n]}`);
        expect(prompts).toHaveLength(1);
      }
      const heard: number[] = [];
      const timeout = 30_000;
      const onprogress = ({ progress }: { progress: number }): void => void heard.push(progress);
      await hosts[0]!.run('slow', 'wait', { ms: 1500, steps: 3 }, { timeout, onprogress });
      // A client drops the last one when it reads it together with the answer.
      expect(heard.length).toBeGreaterThan(0);
      expect(heard).toEqual(heard.toSorted((a, b) => a - b));
      const stop = new AbortController();
      const hanging = hosts[0]!.run(
        'asking',
        'hang',
        {},
        { timeout, signal: stop.signal, onprogress: () => stop.abort() },
      );
      await expect(hanging).rejects.toThrow();
      await expect
        .poll(async () => JSON.parse(textOf(await hosts[0]!.run('asking', 'seen'))) as object)
        .toMatchObject({ cancelled: 1 });
    },
  );

  it('STORE-6 a host built with the SDK of the 2025 era, large messages and list_changed pass through', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    endServicesAfter(place);
    const client = new OldClient({ name: 'old-host', version: '1' });
    let changes = 0;
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method === 'notifications/tools/list_changed') changes += 1;
    };
    const args = [...forwarderArgs(place), '--mode', 'passthrough'];
    await client.connect(new OldStdio({ command: process.execPath, args, stderr: 'ignore' }));
    onTestFinished(() => client.close());
    await expect.poll(async () => (await client.listTools()).tools.map(({ name }) => name)).toContain('old__echo');
    const message = 'ä"\\\n'.repeat(500_000);
    const answer = await client.callTool({ name: 'old__echo', arguments: { message } });
    expect((answer.content as { text: string }[])[0]!.text).toBe(message);
    await place.write({ servers: { old: fixture('legacy'), more: fixture('slow') } });
    await expect.poll(() => changes).toBeGreaterThan(0);
    await expect.poll(async () => (await client.listTools()).tools.map(({ name }) => name)).toContain('more__wait');
  });

  it('STORE-6 another config or another value of a variable that it names gets a service of its own', async () => {
    const place = await workplace({});
    await place.write({ servers: { old: { ...fixture('legacy'), env: { WHO: '${SHARED_TEST_WHO}' } } } });
    const path = process.env['PATH']!;
    const ask = async (who: string): Promise<string> => {
      const host = await sharedHost(place, { env: { PATH: path, SHARED_TEST_WHO: who } });
      return (JSON.parse(textOf(await host.run('old', 'env'))) as { WHO: string }).WHO;
    };
    expect(await ask('ann')).toBe('ann');
    expect(await ask('bob')).toBe('bob');
    expect(await ask('ann')).toBe('ann');
    expect(servicesOf(place)).toHaveLength(2);
    const other = join(place.folder, 'other.json');
    await writeFile(other, JSON.stringify({ servers: {} }));
    await sharedHost(place, { args: ['--config', other] });
    expect(servicesOf(place)).toHaveLength(3);
  });

  it('STORE-6 the service ends when it is idle and leaves no file that would stop the next one', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const host = await sharedHost(place, { args: ['--idle', '0.2'] });
    const [service] = servicesOf(place);
    await host.close();
    await waitUntil(() => !isAlive(service!), { what: 'the end of the idle service' });
    const again = await sharedHost(place, { args: ['--idle', '0.2'] });
    expect(textOf(await again.run('old', 'echo', { message: 'hi' }))).toBe('hi');
  });

  it('STORE-6 a host that is killed costs the others nothing', async () => {
    const place = await workplace({ servers: { slow: fixture('slow') } });
    const [one, two] = [await sharedHost(place), await sharedHost(place)];
    const running = one.run('slow', 'wait', { ms: 60_000 }).catch(() => 'gone');
    process.kill(one.pid, 'SIGKILL');
    expect(await running).toBe('gone');
    expect(textOf(await two.run('slow', 'echo', { message: 'hi' }))).toBe('hi');
    expect(servicesOf(place)).toHaveLength(1);
  });

  it('STORE-6 a host that is killed while it starts the service stops no other: all have one service', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    endServicesAfter(place);
    const folder = join(place.folder, 'state', 'shared');
    // The variables of the other hosts: with others it would start a service of its own.
    const first = spawn(process.execPath, forwarderArgs(place), { cwd: place.folder, env: getDefaultEnvironment() });
    const isStarting = async (): Promise<boolean> =>
      (await readdir(folder).catch(() => [])).some((name) => name.endsWith('.log'));
    // The log is opened for the service: the lock is held, and nothing listens yet.
    await waitUntil(isStarting, { what: 'the start of the service' });
    first.kill('SIGKILL');
    const hosts = await Promise.all([sharedHost(place), sharedHost(place)]);
    for (const host of hosts) {
      expect(textOf(await host.run('old', 'echo', { message: 'hi' }))).toBe('hi');
      expect(host.logged()).toBe('');
    }
    // The one that the killed host started ends when it finds the other.
    await expect.poll(() => servicesOf(place)).toHaveLength(1);
    await expect.poll(async () => (await readdir(folder)).filter((name) => name.includes('.lock'))).toEqual([]);
    for (const host of hosts) expect(textOf(await host.run('old', 'echo', { message: 'again' }))).toBe('again');
  });

  it('STORE-6 the socket and its files are private, and a process that speaks nonsense or floods gets nothing', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const host = await sharedHost(place);
    const socket = await socketOf(place);
    const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
    expect(await modeOf(join(place.folder, 'state', 'shared'))).toBe(0o700);
    for (const name of await readdir(join(place.folder, 'state', 'shared'))) {
      expect(await modeOf(join(place.folder, 'state', 'shared', name))).toBe(0o600);
    }
    const speak = (text: string | Buffer): Promise<string> =>
      new Promise((resolve) => {
        let heard = '';
        const stranger = connect(socket, () => stranger.write(text));
        stranger.on('data', (chunk: Buffer) => (heard += chunk.toString()));
        stranger.on('error', () => undefined);
        stranger.once('close', () => resolve(heard));
      });
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    const forged = { toolscout: 1, nonce: 'n', proof: '0'.repeat(64), wish: { kind: 'stop' } };
    for (const text of ['GET / HTTP/1.1\r\n\r\n', JSON.stringify(initialize), JSON.stringify(forged), '[]', '\0']) {
      expect(await speak(`${text}\n`)).toBe('');
    }
    expect(await speak(Buffer.alloc(1024 * 1024, 'x'))).toBe('');
    // More silent connections than may wait.
    const silent = Array.from({ length: 200 }, () => connect(socket).on('error', () => undefined));
    onTestFinished(() => silent.forEach((each) => each.destroy()));
    expect(textOf(await host.run('old', 'echo', { message: 'hi' }))).toBe('hi');
    silent.forEach((each) => each.destroy());
    const next = await sharedHost(place);
    expect(textOf(await next.run('old', 'echo', { message: 'hi' }))).toBe('hi');
    expect(servicesOf(place)).toHaveLength(1);
  });

  it('STORE-6 where the socket cannot be private the host is served by a process of its own, which says so', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const elsewhere = join(place.folder, 'elsewhere');
    await mkdir(elsewhere);
    await mkdir(join(place.folder, 'state'), { mode: 0o700 });
    await symlink(elsewhere, join(place.folder, 'state', 'shared'));
    const host = await sharedHost(place);
    expect(textOf(await host.run('old', 'echo', { message: 'hi' }))).toBe('hi');
    expect(host.logged()).toContain('served by a process of its own');
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it('STORE-6 a service that cannot be started again leaves its host to a process of its own', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const host = await sharedHost(place, { capabilities: EVERYTHING });
    expect(textOf(await host.run('old', 'echo', { message: 'one' }))).toBe('one');
    const folder = join(place.folder, 'state', 'shared');
    const [service] = servicesOf(place);
    const log = (await readdir(folder)).find((name) => name.endsWith('.log'))!;
    await writeFile(join(place.folder, 'kept'), '');
    await rm(join(folder, log));
    await symlink(join(place.folder, 'kept'), join(folder, log));
    process.kill(service!, 'SIGKILL');
    await expect.poll(() => host.logged()).toContain('from now on');
    expect(textOf(await host.run('old', 'echo', { message: 'two' }))).toBe('two');
    expect(await readFile(join(place.folder, 'kept'), 'utf8')).toBe('');
  });
});
