import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, isAlive, waitUntil } from '../support/fixture.js';
import { repetitions } from '../support/long-form.js';
import { CLI, lineMatching, workplace, type Workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

async function host(place: Workplace): Promise<{ client: Client; pid: number; logged: () => string }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'serve', '--stdio', ...place.flags],
    stderr: 'pipe',
  });
  let text = '';
  transport.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const client = new Client({ name: 'test-host', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, pid: transport.pid!, logged: () => text };
}

const linesOf = async (path: string): Promise<string[]> =>
  readFile(path, 'utf8').then(
    (text) => text.trim().split('\n'),
    () => [],
  );

describe('the life of a gateway', STARTS_PROCESSES, () => {
  it('CONN-2 with a warm store nothing is started to answer initialize, tools/list, list_mcp_servers or search', async () => {
    const place = await workplace({});
    const starts = join(place.folder, 'starts');
    await place.write({ servers: { old: fixture('legacy', `--start-file=${starts}`) } });
    expect((await place.run('warm')).code).toBe(0);
    expect(await linesOf(starts)).toHaveLength(1);

    const { client } = await host(place);
    await client.listTools();
    await client.callTool({ name: 'list_mcp_servers', arguments: {} });
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'echo a message' } });
    expect(JSON.stringify(found)).toContain('echo');
    await client.callTool({ name: 'get_tool_details', arguments: { server: 'old', tool: 'echo' } });
    expect(await linesOf(starts)).toHaveLength(1);

    const args = { server: 'old', tool: 'echo', arguments: { message: 'hi' } };
    await client.callTool({ name: 'execute_tool', arguments: args });
    expect(await linesOf(starts)).toHaveLength(2);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
    'CONN-4 A38 after %s of toolscout no child remains, whatever it ignores',
    async (signal) => {
      const place = await workplace({});
      const pids = join(place.folder, 'pids');
      await place.write({ servers: { stubborn: fixture('stubborn', `--pid-file=${pids}`) } });
      const { client, pid } = await host(place);
      const args = { server: 'stubborn', tool: 'echo', arguments: { message: 'hi' } };
      expect(await client.callTool({ name: 'execute_tool', arguments: args })).toMatchObject({
        content: [{ type: 'text', text: 'hi' }],
      });
      const children = (await readFile(pids, 'utf8')).trim().split(/\s+/).map(Number);
      expect(children.length).toBeGreaterThanOrEqual(2);
      expect(children.every(isAlive)).toBe(true);

      process.kill(pid, signal);
      await waitUntil(() => ![pid, ...children].some(isAlive), { timeoutMs: 10_000, what: 'every process has ended' });
    },
  );

  /** A package with one command, as npx finds it in the folder where it is run. */
  const packaged = async (folder: string): Promise<void> => {
    const bin = join(folder, 'node_modules', '.bin');
    await mkdir(bin, { recursive: true });
    const [script] = fixture('stubborn').args;
    await writeFile(join(bin, 'stubborn'), `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`, { mode: 0o755 });
    await writeFile(join(folder, 'package.json'), '{"name":"here","version":"1.0.0"}');
  };
  const KINDS = {
    'wrapped in npx': (pids: string) => ({ command: 'npx', args: ['--no-install', 'stubborn', `--pid-file=${pids}`] }),
    'wrapped in setsid': (pids: string) => {
      const { command, args } = fixture('stubborn', `--pid-file=${pids}`);
      return { command: 'setsid', args: ['--wait', command, ...args] };
    },
    'that starts a daemon': (pids: string) => fixture('runaway', `--pid-file=${pids}`),
  };
  it
    .skipIf(process.platform !== 'linux')
    .each(
      Object.entries(KINDS).flatMap(([kind, entry]) =>
        (['SIGTERM', 'SIGKILL'] as const).map((signal) => [signal, kind, entry] as const),
      ),
    )('CONN-4 A38 after %s of toolscout nothing remains of a server %s', async (signal, _kind, entry) => {
    const place = await workplace({});
    await packaged(place.folder);
    const rounds = repetitions(1, 10);
    for (let round = 0; round < rounds; round++) {
      const pids = join(place.folder, `pids-${round}`);
      await place.write({ servers: { stubborn: { ...entry(pids), cwd: place.folder } } });
      const { client, pid } = await host(place);
      const args = { server: 'stubborn', tool: 'echo', arguments: { message: 'hi' } };
      expect(await client.callTool({ name: 'execute_tool', arguments: args })).toMatchObject({
        content: [{ type: 'text', text: 'hi' }],
      });
      // A server that was started to be listed may be another one.
      const children = new Set<number>();
      await waitUntil(
        async () => {
          const found = (await linesOf(pids)).flatMap((line) => line.split(' ').map(Number));
          for (const each of found) children.add(each);
          return found.length > 1 && found.every(isAlive);
        },
        { what: 'the server and its programs' },
      );
      process.kill(pid, signal);
      await waitUntil(() => ![pid, ...children].some(isAlive), { timeoutMs: 10_000, what: 'every process has ended' });
    }
  });

  it('EXEC-4 R5 fifty parallel calls to a server killed in the middle each get one answer or one typed error at once', async () => {
    const place = await workplace({});
    const starts = join(place.folder, 'starts');
    const rateLimit = { requestsPerSecond: 1000, burstSize: 1000 };
    await place.write({ servers: { slow: { ...fixture('slow', `--start-file=${starts}`), rateLimit } } });
    const { client } = await host(place);
    const call = (ms: number): Promise<unknown> =>
      client.callTool({ name: 'execute_tool', arguments: { server: 'slow', tool: 'wait', arguments: { ms } } });
    await call(1);
    const calls = Array.from({ length: 50 }, (_, index) => call(index < 10 ? 10 : 20_000));
    await Promise.all(calls.slice(0, 10));
    process.kill(Number((await linesOf(starts)).at(-1)), 'SIGKILL');
    const answers = (await Promise.all(calls)) as Array<{ isError?: boolean; content: Array<{ text: string }> }>;
    expect(answers).toHaveLength(50);
    expect(answers.slice(0, 10).every((answer) => !answer.isError)).toBe(true);
    for (const answer of answers.slice(10)) {
      expect(answer.isError).toBe(true);
      expect(JSON.parse(answer.content[0]!.text)).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', server: 'slow' });
    }
    expect(await call(1)).toMatchObject({ content: [{ type: 'text' }] });
  });

  it('CFG-6 a changed file is taken over, an invalid one leaves the old state serving', async () => {
    const place = await workplace({});
    const starts = join(place.folder, 'starts');
    const old = fixture('legacy', `--start-file=${starts}`);
    await place.write({ servers: { old } });
    const { client, logged } = await host(place);
    const text = async (name: string, args: Record<string, unknown>): Promise<string> =>
      JSON.stringify(await client.callTool({ name, arguments: args }));
    const echo = { server: 'old', tool: 'echo', arguments: { message: 'still here' } };
    expect(await text('execute_tool', echo)).toContain('still here');
    const before = await linesOf(starts);

    await writeFile(place.configFile, '{"servers": {"old": {"comand": 1}}}');
    await expect.poll(logged).toContain('comand');
    expect(await text('execute_tool', echo)).toContain('still here');

    await place.write({
      servers: { old, second: fixture('modern') },
      toolRules: [{ pattern: 'fail', enabled: false }],
    });
    await expect
      .poll(() => text('execute_tool', { server: 'second', tool: 'echo', arguments: { message: 'new' } }))
      .toContain('new');
    const refused = await text('execute_tool', { server: 'old', tool: 'fail', arguments: {} });
    expect(refused).toContain('TOOL_DISABLED');
    expect(refused).toContain('rule 1 (pattern');
    expect(await text('execute_tool', echo)).toContain('still here');
    // The unchanged server was neither restarted by the invalid nor by the valid change.
    expect(await linesOf(starts)).toEqual(before);
  });

  it('CLI-1 S22 serve --stdio writes nothing but protocol to stdout', async () => {
    const place = await workplace({ servers: { noisy: fixture('noisy'), gone: { command: 'does-not-exist' } } });
    const child = place.start('serve', '--stdio', '--verbose');
    const lines: string[] = [];
    child.stdout!.on('data', (chunk: Buffer) => lines.push(...chunk.toString().split('\n').filter(Boolean)));
    child.stderr!.resume();
    const send = (message: object): void =>
      void child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const clientInfo = { name: 'raw', version: '1' };
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo } });
    send({ method: 'notifications/initialized' });
    const args = { server: 'noisy', tool: 'echo', arguments: { message: 'x' } };
    send({ id: 2, method: 'tools/call', params: { name: 'execute_tool', arguments: args } });
    await expect.poll(() => lines.some((line) => line.includes('"id":2'))).toBe(true);
    child.stdin!.end();
    await new Promise((resolve) => child.once('exit', resolve));
    expect(child.exitCode).toBe(0);
    const messages = lines.map((line) => JSON.parse(line) as { jsonrpc: string; id?: number; method?: string });
    expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
    expect(messages.flatMap(({ id }) => id ?? [])).toEqual([1, 2]);
    // What the server logs in a call is told to the host of the call.
    expect(messages.flatMap(({ method }) => method ?? [])).toEqual(['notifications/message']);
  });

  it('S1 S2 HTTP refuses foreign Host and Origin, and listens on loopback only', async () => {
    const place = await workplace({});
    const child = place.start('serve', '--port', '0');
    const [, base] = await lineMatching(child, /(http:\/\/127\.0\.0\.1:\d+)\/mcp/);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${base}/mcp`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
    expect((await post({ origin: 'http://evil.example' })).status).toBe(403);
    expect((await fetch(`${base}/health`, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
    expect((await fetch(`${base}/health`)).status).toBe(200);
    expect((await hostHeader(`${base}/v1/tools`, 'evil.example')).status).toBe(403);
    // Load balancers ask by address, and are told the status alone.
    expect((await hostHeader(`${base}/health`, 'evil.example')).status).toBe(200);

    const open = await place.run('serve', '--host', '0.0.0.0', '--port', '0');
    expect(open.code).toBe(2);
    expect(open.stderr).toContain('does not listen on "0.0.0.0": without authentication');
  });
});

/** `fetch` does not let a caller set Host. */
async function hostHeader(url: string, hostName: string): Promise<{ status: number }> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { host: hostName } }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0 });
    });
    sent.once('error', reject);
    sent.end();
  });
}
