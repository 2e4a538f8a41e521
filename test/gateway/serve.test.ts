import { EventEmitter } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ServeOptions } from '../../src/front/cli/context.js';
import { createTerminal } from '../../src/front/cli/terminal.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { ConfigInput } from '../../src/model/config.js';
import { serve } from '../../src/app/serve.js';
import { commandLinesWith, fixture, isAlive, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { modernPost } from '../support/modern-request.js';
import { startCounter } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

/** A process as far as serving needs one: streams, signals, and an exit that is only noted. */
class FakeProcess extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = { text: '', write: (text: string): boolean => ((this.stderr.text += text), true) };
  readonly exits: number[] = [];
  out = '';
  readonly messages: JsonObject[] = [];

  constructor() {
    super();
    let rest = '';
    this.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      this.out += chunk;
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (line.startsWith('{')) this.messages.push(JSON.parse(line) as JsonObject);
    });
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  send(message: JsonObject): void {
    this.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async answer(id: number): Promise<JsonObject> {
    await waitUntil(() => this.messages.some((message) => message['id'] === id), { what: `the answer to ${id}` });
    return this.messages.find((message) => message['id'] === id)!;
  }
}

async function serving(
  config: ConfigInput,
  options: Partial<ServeOptions> = {},
): Promise<{ fake: FakeProcess; done: Promise<void>; write(next: ConfigInput | string): Promise<void> }> {
  const folder = await temporaryDirectory();
  const file = join(folder, 'toolscout.config.json');
  const write = (next: ConfigInput | string): Promise<void> =>
    writeFile(file, typeof next === 'string' ? next : JSON.stringify(next));
  await write({ retryPolicy: { maxRetries: 0 }, ...config });
  const fake = new FakeProcess();
  const terminal = createTerminal({ stdout: fake.stdout, stderr: fake.stderr, plain: true });
  const done = serve(
    { config: file, stateDir: join(folder, 'state'), learnAtStart: true, stdio: true, ...options },
    { terminal, streams: fake as unknown as NodeJS.Process },
  );
  onTestFinished(async () => {
    fake.emit('SIGTERM');
    await done.catch(() => undefined);
  });
  return { fake, done, write };
}

async function handshake(fake: FakeProcess): Promise<void> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'host', version: '1' } };
  fake.send({ id: 0, method: 'initialize', params });
  await fake.answer(0);
  fake.send({ method: 'notifications/initialized' });
}

const execute = (server: string, tool: string, args: JsonObject): JsonObject => ({
  method: 'tools/call',
  params: { name: 'execute_tool', arguments: { server, tool, arguments: args }, _meta: { progressToken: 't' } },
});

const hasProgress = (fake: FakeProcess): boolean =>
  fake.messages.some((message) => message['method'] === 'notifications/progress');

describe('serving over stdio', STARTS_PROCESSES, () => {
  it('NEG-5 --skill offers only what the skill declared; an unknown skill ends it, with nothing left behind', async () => {
    const folder = await temporaryDirectory();
    await writeFile(join(folder, 'skill.md'), '# Reader\n\n## Capabilities\n- old:echo\n');
    const config = { servers: { old: fixture('legacy'), other: fixture('legacy') }, skills: { directories: [folder] } };
    const { fake } = await serving(config, { skill: basename(folder) });
    await handshake(fake);
    fake.send({ id: 1, ...execute('old', 'echo', { message: 'hi' }) });
    expect(await fake.answer(1)).toMatchObject({ result: { content: [{ text: 'hi' }] } });
    for (const [id, server, tool] of [
      [2, 'old', 'env'],
      [3, 'other', 'echo'],
    ] as const) {
      fake.send({ id, ...execute(server, tool, { message: 'hi' }) });
      expect(JSON.stringify(await fake.answer(id))).toContain('FORBIDDEN');
    }
    fake.send({ id: 4, method: 'tools/call', params: { name: 'list_mcp_servers', arguments: {} } });
    expect(JSON.stringify(await fake.answer(4))).not.toContain('other');
    const unknown = await serving(config, { skill: 'nobody' });
    await expect(unknown.done).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  });

  it('R7 CONN-4 ends with its host: exit code 0, no child left', async () => {
    const starts = await startCounter();
    const { fake, done } = await serving({ servers: { old: fixture('legacy', starts.flag) } });
    await handshake(fake);
    fake.send({ id: 1, ...execute('old', 'echo', { message: 'hi' }) });
    expect(await fake.answer(1)).toMatchObject({ result: { content: [{ text: 'hi' }] } });
    fake.stdin.end();
    await done;
    expect(fake.exits).toEqual([0]);
    expect((await starts.pids()).filter(isAlive)).toEqual([]);
    expect(fake.stderr.text).toBe('');
  });

  it.each(['SIGTERM', 'SIGINT'])(
    'R7 on %s a call in flight finishes and its answer reaches the host',
    async (signal) => {
      const { fake, done } = await serving({ servers: { slow: fixture('slow') } });
      await handshake(fake);
      fake.send({ id: 1, ...execute('slow', 'wait', { ms: 600, steps: 10 }) });
      await waitUntil(() => hasProgress(fake), { what: 'progress' });
      fake.emit(signal);
      await done;
      expect(fake.exits).toEqual([0]);
      expect(fake.messages.find((message) => message['id'] === 1)).toMatchObject({
        result: { content: [{ text: 'waited 600' }] },
      });
    },
  );

  it('R7 a second signal means now', async () => {
    const { fake, done } = await serving({ servers: { slow: fixture('slow') } });
    await handshake(fake);
    fake.send({ id: 1, ...execute('slow', 'wait', { ms: 600, steps: 10 }) });
    await waitUntil(() => hasProgress(fake), { what: 'progress' });
    fake.emit('SIGTERM');
    await new Promise((resolve) => setImmediate(resolve));
    fake.emit('SIGTERM');
    expect(fake.exits[0]).toBe(1);
    await done;
  });

  it('CFG-6 SIGHUP reloads; a broken file is logged and changes nothing', async () => {
    // Put up first, so that it is taken down last: what toolscout logs while it stops is not for the test's reader.
    const quiet = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => quiet.mockRestore());
    const { fake, write } = await serving({ servers: { old: fixture('legacy') } }, { logLevel: 'info', watch: false });
    await handshake(fake);
    await write('{"servers": ');
    fake.emit('SIGHUP');
    await waitUntil(() => fake.stderr.text.includes('config.invalid'), { what: 'the complaint' });
    fake.send({ id: 1, ...execute('old', 'echo', { message: 'still here' }) });
    expect(await fake.answer(1)).toMatchObject({ result: { content: [{ text: 'still here' }] } });

    await write({ servers: { old: fixture('legacy'), second: fixture('many', '--name=two') } });
    fake.emit('SIGHUP');
    await waitUntil(() => fake.stderr.text.includes('config.reloaded'), { what: 'the reload' });
    fake.send({ id: 2, ...execute('second', 'ping_two', {}) });
    expect(await fake.answer(2)).toMatchObject({ result: { content: [{ text: 'pong two' }] } });
  });

  it('CONN-4 A33 an uncaught error is logged, children are stopped, and the exit code is 1', async () => {
    const starts = await startCounter();
    const { fake, done } = await serving({ servers: { old: fixture('legacy', starts.flag) } });
    await handshake(fake);
    fake.send({ id: 1, ...execute('old', 'echo', { message: 'hi' }) });
    await fake.answer(1);
    fake.emit('uncaughtException', new Error('out of cheese'));
    await done;
    expect(fake.exits).toEqual([1]);
    expect(fake.stderr.text).toContain('out of cheese');
    expect((await starts.pids()).filter(isAlive)).toEqual([]);
    const second = await serving({});
    await handshake(second.fake);
    second.fake.emit('unhandledRejection', 'just text');
    await second.done;
    expect(second.fake.exits).toEqual([1]);
    expect(second.fake.stderr.text).toContain('just text');
  });
});

describe('serving over HTTP', STARTS_PROCESSES, () => {
  it('CLI-1 S2 says where it is and how to connect, answers there, and stops', async () => {
    const { fake, done } = await serving({ servers: { old: fixture('legacy') } }, { stdio: false, port: 0 });
    await waitUntil(() => fake.out.includes('Ctrl-C'), { what: 'the welcome' });
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(fake.out)?.[0];
    expect(fake.out).toContain('1 server from');
    expect(fake.out).toContain(`claude mcp add --transport http toolscout ${url}/mcp`);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    fake.emit('SIGTERM');
    await done;
    expect(fake.exits).toEqual([0]);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });

  it('CLI-1 FIND-5 logs which servers are available once that is known, and why others are not', async () => {
    const servers = { old: fixture('legacy'), gone: { command: 'does-not-exist' } };
    const { fake } = await serving({ servers }, { stdio: false, port: 0 });
    await waitUntil(() => fake.out.includes('! gone'), { what: 'the report' });
    expect(fake.out).toMatch(/Ready: 9 tools of 1 server\.\n {2}! gone: The command "does-not-exist" was not found/);
  });

  it('R7 a call in flight is answered before the process exits', async () => {
    const { fake, done } = await serving({ servers: { slow: fixture('slow') } }, { stdio: false, port: 0 });
    await waitUntil(() => fake.out.includes('Ctrl-C'), { what: 'the welcome' });
    const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(fake.out)![0];
    const { params } = execute('slow', 'wait', { ms: 800, steps: 8 }) as { params: JsonObject };
    let told = false;
    const progressing = modernPost('tools/call', { ...params, _meta: { progressToken: 1 } });
    const answer = fetch(url, progressing).then(async (response) => {
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        text += part.value;
        // The first progress shows that the call is at the server.
        if (fake.listenerCount('SIGTERM') > 0 && !told && text.includes('notifications/progress')) {
          told = true;
          fake.emit('SIGTERM');
        }
      }
      return text;
    });
    expect(await answer.catch((thrown: unknown) => String(thrown))).toContain('waited 800');
    await done;
    expect(fake.exits).toEqual([0]);
  });

  it('CONN-4 CLI-2 a port that is taken ends the start with an error, and nothing is left running', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const starts = await startCounter();
    const { done } = await serving({ servers: { old: fixture('legacy', starts.flag) } }, { stdio: false, port });
    await expect(done).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    // What the background had started by then is on its way out, also what has not yet noted its start.
    await expect.poll(() => commandLinesWith(starts.flag)).toEqual([]);
  });

  it('CLI-1 prints addresses that can be opened, with the real port, when it listens on every interface', async () => {
    process.env['SERVE_TEST_KEY'] = 'a-key-that-is-long-enough';
    onTestFinished(() => void delete process.env['SERVE_TEST_KEY']);
    const auth = { keys: [{ name: 'team', key: '${SERVE_TEST_KEY}' }] };
    const { fake } = await serving({ http: { auth } }, { stdio: false, host: '0.0.0.0', port: 0 });
    await waitUntil(() => fake.out.includes('Ctrl-C'), { what: 'the welcome' });
    expect(fake.out).not.toContain('0.0.0.0');
    const urls = [...new Set(fake.out.match(/http:\/\/[\d.]+:\d+(?=\/mcp|,|\n)/g))];
    expect(urls[0]).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(fake.out).toContain(`HTTP API      ${urls[0]}/v1 (described in ${urls[0]}/openapi.json)`);
    expect(fake.out).toContain(`${urls[0]}/mcp --header "Authorization: Bearer $KEY"`);
    const headers = { authorization: 'Bearer a-key-that-is-long-enough' };
    // Every one of them, those of the network too, is let in by the guard.
    for (const url of urls) expect([url, (await fetch(`${url}/v1/servers`, { headers })).status]).toEqual([url, 200]);
  });

  it('S12 refuses to start when no key can be used, and names the variable', async () => {
    const auth = { keys: [{ name: 'team', key: '${SERVE_TEST_UNSET_KEY}' }] };
    for (const host of ['127.0.0.1', '0.0.0.0']) {
      const { done } = await serving({ http: { auth } }, { stdio: false, host, port: 0 });
      await expect(done).rejects.toMatchObject({
        code: 'CONFIGURATION_ERROR',
        message: expect.stringContaining('SERVE_TEST_UNSET_KEY, which is not set') as string,
      });
    }
    const { done } = await serving({ http: { auth: {} } }, { stdio: false, port: 0 });
    await expect(done).rejects.toMatchObject({
      message: 'http.auth has no usable key: it has neither keys nor oauth.',
      suggestion: expect.stringContaining('Add a key to http.auth.keys') as string,
    });
  });

  it('S12 names a key whose variable is not set, in the log, and lets the others in', async () => {
    process.env['SERVE_TEST_KEY'] = 'a-key-that-is-long-enough';
    onTestFinished(() => void delete process.env['SERVE_TEST_KEY']);
    const keys = [
      { name: 'team', key: '${SERVE_TEST_KEY}' },
      { name: 'others', key: '${SERVE_TEST_UNSET_KEY}' },
    ];
    let own = '';
    const spy = vi.spyOn(process.stderr, 'write').mockImplementation((line) => ((own += String(line)), true));
    onTestFinished(() => spy.mockRestore());
    const { fake } = await serving({ http: { auth: { keys } } }, { stdio: false, port: 0, logLevel: 'warn' });
    await waitUntil(() => fake.out.includes('Ctrl-C'), { what: 'the welcome' });
    expect(own).toMatch(/"event":"config.warning".*keys\[1\].*SERVE_TEST_UNSET_KEY, which is not set/);
    expect(own).not.toContain('keys[0]');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(fake.out)![0];
    const ask = async (key: string): Promise<number> =>
      (await fetch(`${url}/v1/servers`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect([await ask('a-key-that-is-long-enough'), await ask(''), await ask('undefined')]).toEqual([200, 401, 401]);
  });

  it('EXEC-5 logs one line when it starts, for each call, and when it stops; never arguments', async () => {
    let own = '';
    const spy = vi.spyOn(process.stderr, 'write').mockImplementation((line) => ((own += String(line)), true));
    onTestFinished(() => spy.mockRestore());
    const servers = { old: fixture('legacy') };
    const { fake, done } = await serving({ servers }, { stdio: false, port: 0, logLevel: 'info' });
    await waitUntil(() => fake.out.includes('Ctrl-C'), { what: 'the welcome' });
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(fake.out)![0];
    const call = async (tool: string): Promise<Response> =>
      fetch(`${url}/v1/call`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ server: 'old', tool, arguments: { message: 'canary-argument' } }),
      });
    const good = await call('echo');
    const bad = await call('nothing');
    fake.emit('SIGTERM');
    await done;
    const lines = (text: string): JsonObject[] =>
      text
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as JsonObject);
    // Lines are written together, a moment later.
    await waitUntil(() => fake.stderr.text.includes('serve.stopped') && lines(own).length >= 2, { what: 'the log' });
    const calls = lines(own).filter(({ event }) => event === 'call');
    expect(calls).toMatchObject([
      { level: 'info', server: 'old', tool: 'echo', outcome: 'success', ms: expect.any(Number) as number },
      { level: 'info', server: 'old', tool: 'nothing', outcome: 'refused', code: 'TOOL_NOT_FOUND' },
    ]);
    expect(calls.map((line) => line['trace_id'])).toEqual([good, bad].map(({ headers }) => headers.get('x-trace-id')));
    const [started, stopped] = lines(fake.stderr.text).filter(({ event }) => String(event).startsWith('serve.'));
    expect(started).toMatchObject({
      event: 'serve.started',
      over: 'http',
      addresses: [url],
      servers: 1,
      config: expect.stringContaining('toolscout.config.json') as string,
      version: expect.any(String) as string,
    });
    expect(stopped).toMatchObject({ event: 'serve.stopped', reason: 'SIGTERM', seconds: expect.any(Number) as number });
    expect(own + fake.stderr.text).not.toContain('canary-argument');
  });
});
