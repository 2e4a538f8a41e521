import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, isAlive, startHttpFixture, temporaryDirectory, waitUntil } from '../../test/support/fixture.js';
import { httpServer, stdioServer } from '../../test/support/test-server.js';
import { STARTS_PROCESSES } from '../../test/support/patience.js';
import { systemClock } from '../kernel/clock.js';
import type { JsonObject } from '../kernel/json.js';
import { silentLog } from '../kernel/log.js';
import type { Server } from '../model/server.js';
import type { Upstream, UpstreamNotification } from '../model/upstream.js';
import { createChildKeeper } from './transport/child.js';
import type { EraDecision } from './era/era.js';
import { openUpstream, type OpenDeps } from './open.js';

const require = createRequire(import.meta.url);

function setUp(overrides: Partial<OpenDeps> = {}) {
  const memory = new Map<string, EraDecision>();
  const children = createChildKeeper({ clock: systemClock, log: silentLog });
  onTestFinished(() => children.closeAll());
  const deps: OpenDeps = {
    clock: systemClock,
    log: silentLog,
    children,
    verdicts: {
      recall: async (server) => memory.get(server.digest),
      remember: async (server, verdict) => void memory.set(server.digest, verdict),
    },
    baseEnv: { ...process.env, SECRET_OF_ANOTHER: 'hidden' },
    clientInfo: { name: 'toolscout', version: '0.0.0' },
    ...overrides,
  };
  const open = async (server: Server): Promise<Upstream> => {
    const upstream = await openUpstream(server, deps);
    onTestFinished(() => upstream.close());
    return upstream;
  };
  return { open, memory, children, deps };
}

const call = (upstream: Upstream, name: string, args: JsonObject = {}, options = {}) =>
  upstream.request('tools/call', { name, arguments: args }, options);

const textOf = (result: JsonObject) => (result['content'] as Array<{ text: string }>)[0]!.text;

async function startFile() {
  const path = join(await temporaryDirectory(), 'starts');
  return { path, starts: () => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0) };
}

async function start(name: 'http' | 'sse', ...flags: string[]) {
  const running = await startHttpFixture(name, ...flags);
  onTestFinished(() => running.stop());
  return running;
}

async function installed(name: string): Promise<string> {
  return join(dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)), 'dist/index.js');
}

describe('openUpstream over stdio', STARTS_PROCESSES, () => {
  it.each([
    ['legacy', [], 1],
    ['legacy', ['--exit-on-probe'], 2],
    ['legacy', ['--silent-on-probe'], 1],
    ['modern', [], 1],
    ['modern', ['--dual'], 1],
  ] as const)(
    'CONN-1 %s %j is understood with %i start(s), and again without a question',
    async (name, flags, starts) => {
      const { open, memory } = setUp();
      const file = await startFile();
      const server = stdioServer('s', fixture(name, ...flags, `--start-file=${file.path}`));
      const first = await open(server);
      expect([first.era, file.starts()]).toEqual([name, starts]);
      expect(textOf(await call(first, 'echo', { message: 'hi' }))).toBe('hi');
      await first.ping(2000);
      expect(memory.get(server.digest)).toMatchObject({ kind: name });
      expect(memory.get(server.digest)?.decidedAt).toBeGreaterThan(Date.UTC(2026, 0, 1));
      const second = await open(server);
      expect(textOf(await call(second, 'echo', { message: 'again' }))).toBe('again');
      expect(file.starts()).toBe(starts + 1);
    },
  );

  it('CONN-1 a second start makes no probe', async () => {
    const { open } = setUp();
    const path = join(await temporaryDirectory(), 'messages');
    const server = stdioServer('s', fixture('recorder', `--file=${path}`));
    const methods = () =>
      readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as JsonObject)['method']);
    await (await open(server)).ping(2000);
    expect(methods()).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'ping']);
    writeFileSync(path, '');
    await (await open(server)).ping(2000);
    expect(methods()).toEqual(['initialize', 'notifications/initialized', 'ping']);
  });

  it('CONN-1 a server that was upgraded since is negotiated again', async () => {
    const { open, memory } = setUp();
    const server = stdioServer('s', fixture('modern'));
    memory.set(server.digest, { kind: 'legacy', decidedAt: 1 });
    expect((await open(server)).era).toBe('modern');
    expect(memory.get(server.digest)).toMatchObject({ kind: 'modern' });
  });

  it.each([[[]], [['--exit-on-probe']]])(
    'CONN-1 a server that was downgraded since (%j) is not believed twice',
    async (flags) => {
      const { open, memory } = setUp();
      const server = stdioServer('s', fixture('legacy', ...flags));
      const discover = { supportedVersions: ['2026-07-28'], capabilities: {}, ttlMs: 0, cacheScope: 'private' };
      memory.set(server.digest, { kind: 'modern', discover, decidedAt: 1 });
      const misjudged = await open(server);
      await expect(call(misjudged, 'echo', { message: 'hi' })).rejects.toMatchObject({
        code: 'SERVER_CONNECTION_ERROR',
      });
      expect(misjudged.closed).toBe(true);
      const upstream = await open(server);
      expect(upstream.era).toBe('legacy');
      expect(textOf(await call(upstream, 'echo', { message: 'hi' }))).toBe('hi');
    },
  );

  it.each([
    [[], 'modern', 2],
    [['--dual'], 'legacy', 1],
  ] as const)(
    'CONN-1 a modern server %j that is slow to start is known as modern next time',
    async (flags, era, starts) => {
      const { open, memory } = setUp();
      const file = await startFile();
      const { command, args } = fixture('modern', ...flags, `--start-file=${file.path}`);
      const server = stdioServer('s', {
        command: '/bin/sh',
        args: ['-c', 'sleep 2; exec "$0" "$@"', command, ...args],
      });
      const upstream = await open(server);
      expect(textOf(await call(upstream, 'echo', { message: 'hi' }))).toBe('hi');
      expect([upstream.era, file.starts()]).toEqual([era, starts]);
      await waitUntil(() => memory.get(server.digest)?.kind === 'modern');
    },
  );

  it('CONN-1 a server of both eras uses the era of its only host', async () => {
    const key = { id: 'host:ann', capabilities: {}, prefers: 'legacy' as const };
    const { open, memory } = setUp({ key });
    const file = await startFile();
    const server = stdioServer('s', fixture('modern', '--dual', `--start-file=${file.path}`));
    // Before it is known to know both, it is asked as always.
    expect((await open(server)).era).toBe('modern');
    const native = await open(server);
    expect([native.era, file.starts()]).toEqual(['legacy', 2]);
    expect(textOf(await call(native, 'echo', { message: 'hi' }))).toBe('hi');
    expect(memory.get(server.digest)).toMatchObject({ kind: 'modern' });
  });

  it('CONN-1 a server that refuses the older handshake is not asked for it twice', async () => {
    const key = { id: 'host:ann', capabilities: {}, prefers: 'legacy' as const };
    const { open, memory } = setUp({ key });
    const file = await startFile();
    const server = stdioServer('s', fixture('modern', `--start-file=${file.path}`));
    await (await open(server)).ping(2000);
    const refused = await open(server);
    await refused.ping(2000);
    expect([refused.era, file.starts()]).toEqual(['modern', 3]);
    expect(memory.get(server.digest)).toMatchObject({ kind: 'modern', only: true });
    const third = await open(server);
    expect(textOf(await call(third, 'echo', { message: 'hi' }))).toBe('hi');
    expect([third.era, file.starts()]).toEqual(['modern', 4]);
  });

  it('CONN-1 an error of a tool does not shake a verdict that is right', async () => {
    const { open, memory } = setUp();
    const server = stdioServer('s', fixture('modern'));
    await open(server);
    const upstream = await open(server);
    await expect(call(upstream, 'no_such_tool')).rejects.toMatchObject({ upstream: { code: -32602 } });
    expect(textOf(await call(upstream, 'echo', { message: 'hi' }))).toBe('hi');
    expect(memory.get(server.digest)?.discover).toBeDefined();
  });

  it.each([
    ['server-everything', ['stdio'], 'echo', { message: 'hi' }],
    ['server-filesystem', ['/tmp'], 'list_allowed_directories', {}],
    ['server-memory', [], 'read_graph', {}],
  ])('CONN-1 the real %s works', async (name, args, tool, given) => {
    const { open } = setUp();
    const upstream = await open(
      stdioServer('s', { command: process.execPath, args: [await installed(name), ...args] }),
    );
    expect(upstream.protocolVersion).toBe('2025-11-25');
    expect(((await upstream.request('tools/list', {}))['tools'] as unknown[]).length).toBeGreaterThan(5);
    expect((await call(upstream, tool, given))['content']).toBeDefined();
    await upstream.ping(2000);
    await upstream.close();
    expect(isAlive(upstream.pid!)).toBe(false);
  });

  it('EXEC-1 vendor fields of a result survive at every level', async () => {
    const { open } = setUp();
    const upstream = await open(stdioServer('s', fixture('legacy')));
    expect(await call(upstream, 'image')).toMatchObject({
      content: [{ vendorHint: { zoom: 2 } }],
      vendorTop: ['kept', 1],
      _meta: { 'example.org/trace': 'abc' },
    });
    const { tools } = await upstream.request('tools/list', {});
    expect(tools).toContainEqual(expect.objectContaining({ name: 'image', 'x-vendor': { kept: true } }));
  });

  it('A32 a server sees its own secrets and no others', async () => {
    const { open } = setUp();
    const upstream = await open(stdioServer('s', fixture('legacy'), { transport: { env: { MINE: 'yes' } } }));
    const seen = JSON.parse(textOf(await call(upstream, 'env'))) as JsonObject;
    expect(seen).toMatchObject({ MINE: 'yes', PATH: process.env['PATH'] });
    expect(Object.keys(seen)).not.toContain('SECRET_OF_ANOTHER');
    expect(Object.keys(seen)).not.toContain('VITEST');
  });

  it('EXEC-4 a server that dies in the middle of a call ends the call at once', async () => {
    const { open, children } = setUp();
    const upstream = await open(stdioServer('s', fixture('legacy'), { timeoutMs: 60_000 }));
    const closed = new Promise((resolve) => {
      upstream.onClose(resolve);
    });
    const lost = call(upstream, 'crash');
    await expect(lost).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: undefined });
    await expect(lost).rejects.toThrow('The server "s" exited with code 1');
    expect(await closed).toMatchObject({ message: 'The server "s" exited with code 1' });
    await expect(call(upstream, 'echo')).rejects.toMatchObject({ delivered: false });
    await waitUntil(() => children.count === 0);
  });

  it('EXEC-1 progress, timeout and cancellation reach their ends', async () => {
    let stderr = '';
    const { open } = setUp({ onStderr: (_, chunk) => (stderr += chunk) });
    const upstream = await open(stdioServer('s', fixture('slow')));
    const steps: number[] = [];
    const onProgress = ({ progress }: { progress: number }) => void steps.push(progress);
    await call(upstream, 'wait', { ms: 10, burst: true }, { onProgress });
    expect(steps).toEqual([1, 2, 3, 4]);
    await expect(call(upstream, 'wait', { ms: 60_000 }, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_TIMEOUT',
    });
    const controller = new AbortController();
    const cancelled = call(upstream, 'wait', { ms: 60_000 }, { signal: controller.signal });
    controller.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
    await waitUntil(() => stderr.split('cancelled').length === 3);
  });

  it('S22 noise is counted and harms nothing', async () => {
    let noise = 0;
    const { open } = setUp({ onNoise: () => (noise += 1) });
    const upstream = await open(stdioServer('s', fixture('noisy')));
    expect(textOf(await call(upstream, 'shout', { message: 'hi' }))).toBe('HI');
    expect(noise).toBeGreaterThan(10);
  });

  it('A28 a hostile server is disconnected or contained, never followed', async () => {
    const { open } = setUp();
    const server = stdioServer('s', fixture('hostile'));
    const upstream = await open(server);
    expect(textOf(await call(upstream, 'flood', { n: 5000 }))).toBe('flooded 5000');
    expect(textOf(await call(upstream, 'twice'))).toBe('first answer');
    await expect(call(upstream, 'wrong_id', {}, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_TIMEOUT',
    });
    await expect(call(upstream, 'both')).rejects.toMatchObject({ upstream: { code: -32603 } });
    await call(upstream, 'pollute');
    expect(({} as JsonObject)['polluted']).toBeUndefined();
    await expect(call(upstream, 'big', { bytes: 33 * 1024 * 1024 })).rejects.toThrow('more than 32 MiB');
    expect(upstream.closed).toBe(true);
  });

  it.each(['blank', 'garbage', 'json', 'notification', 'ping', 'progress', 'answer'])(
    'A44 CONN-4 a child that floods with %s is cut off and killed, and says why',
    async (kind) => {
      const { open, children } = setUp();
      const upstream = await open(stdioServer('s', fixture('flooding', `--kind=${kind}`)));
      await expect(call(upstream, 'flood')).rejects.toMatchObject({
        code: 'SERVER_CONNECTION_ERROR',
        message: expect.stringContaining('unsolicited messages') as string,
        retryAfterMs: 30_000,
      });
      expect(upstream.closed).toBe(true);
      await waitUntil(() => children.count === 0);
    },
  );

  it('A54 what looks like a secret in the last line of stderr is not part of the error', async () => {
    const { open } = setUp({ hideForms: (text) => text.replace(/API_KEY=\S+/, 'API_KEY=***') });
    const dying = {
      command: process.execPath,
      args: ['-e', 'console.error("bad API_KEY=abc123def456"); process.exit(3)'],
    };
    await expect(open(stdioServer('s', dying))).rejects.toThrow('exited with code 3: bad API_KEY=***');
  });

  it.each(['base64', 'base64url', 'hex'])(
    'A54 a secret of its environment is not part of the error in %s either',
    async (form) => {
      const { open } = setUp();
      const script = `console.error("bad " + Buffer.from("ann:" + process.env.API_TOKEN).toString("${form}")); process.exit(3)`;
      const dying = { command: process.execPath, args: ['-e', script], env: { API_TOKEN: 'canary-7f3a91c2' } };
      const error = await open(stdioServer('s', dying)).catch((thrown: unknown) => thrown);
      expect(String(error)).toContain('exited with code 3: bad ');
      expect(String(error)).toContain('***');
      expect(String(error)).not.toContain(
        Buffer.from('ann:canary-7f3a91c2')
          .toString(form as 'hex')
          .slice(6),
      );
    },
  );

  it('A44 a child that floods before its handshake is cut off too', async () => {
    const { open, children } = setUp();
    const server = stdioServer('s', fixture('flooding', '--kind=garbage', '--at-start'));
    await expect(open(server)).rejects.toMatchObject({
      message: expect.stringContaining('unsolicited messages') as string,
    });
    await waitUntil(() => children.count === 0);
  });

  it('A44 a flood on stderr makes the child wait, and its calls go on', async () => {
    let bytes = 0;
    const { open } = setUp({ onStderr: (_, chunk) => void (bytes += chunk.length) });
    const upstream = await open(stdioServer('s', fixture('flooding', '--kind=stderr', '--at-start')));
    expect(textOf(await call(upstream, 'calm'))).toBe('calm');
    await waitUntil(() => bytes > 4 * 1024 * 1024);
    expect(textOf(await call(upstream, 'calm'))).toBe('calm');
    expect(bytes).toBeLessThan(64 * 1024 * 1024);
  });

  it('CONN-1 changes are announced in both eras', async () => {
    const { open } = setUp();
    for (const flags of [[], ['--dual']]) {
      const upstream = await open(stdioServer('s', fixture('modern', ...flags)));
      const heard: UpstreamNotification[] = [];
      upstream.onNotification((notification) => heard.push(notification));
      await waitUntil(async () => {
        await call(upstream, 'announce');
        return heard.some(({ method }) => method === 'notifications/tools/list_changed');
      });
    }
  });

  it('META-6 without a host what a server asks is declined', async () => {
    const asking = `
      const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
      let call;
      require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method, error } = JSON.parse(line);
        if (method === 'server/discover') send({ id, error: { code: -32601, message: 'no' } });
        if (method === 'initialize') send({ id, result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'a', version: '1' } } });
        if (method === 'tools/call') { call = id; send({ id: 'back', method: 'sampling/createMessage', params: {} }); }
        if (id === 'back') send({ id: call, result: { error } });
      });`;
    const { open } = setUp();
    const upstream = await open(stdioServer('s', { command: process.execPath, args: ['-e', asking] }));
    expect(await call(upstream, 'x')).toMatchObject({ error: { code: -1 } });
  });
});

describe('openUpstream that fails', STARTS_PROCESSES, () => {
  it('EXEC-4 a handshake that takes too long is explained by what the server wrote to stderr last', async () => {
    const { deps } = setUp();
    const script = 'console.error("Error: no such host\\n    at lookup (dns:1)"); setInterval(() => undefined, 1000)';
    const server = stdioServer('s', { command: process.execPath, args: ['-e', script] }, { connectTimeoutMs: 1500 });
    await expect(openUpstream(server, deps)).rejects.toMatchObject({
      code: 'SESSION_INIT_FAILED',
      message: expect.stringMatching(/within 1\.5 s\. Its last line on stderr: Error: no such host$/) as string,
    });
  });

  it('CONN-1 a server that never answers is given up in time and leaves no child', async () => {
    const { deps, children } = setUp();
    const server = stdioServer('s', fixture('slow', '--hang'), { connectTimeoutMs: 300 });
    await expect(openUpstream(server, deps)).rejects.toMatchObject({ code: 'SESSION_INIT_FAILED', delivered: false });
    await waitUntil(() => children.count === 0);
  });

  it('CONN-1 an aborted attempt is cancelled and leaves no child', async () => {
    const controller = new AbortController();
    const { deps, children } = setUp({ signal: controller.signal });
    const opening = openUpstream(stdioServer('s', fixture('slow', '--hang')), deps);
    setImmediate(() => controller.abort());
    await expect(opening).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(openUpstream(stdioServer('s', fixture('legacy')), deps)).rejects.toMatchObject({ code: 'CANCELLED' });
    await waitUntil(() => children.count === 0);
  });

  it('CONN-1 a server that crashes at once says why, without its secrets', async () => {
    const { deps } = setUp();
    const source = 'console.error("bad key " + process.env.KEY); process.exit(3)';
    const server = stdioServer(
      's',
      { command: process.execPath, args: ['-e', source] },
      { transport: { env: { KEY: 'hunter2-hunter2' } } },
    );
    await expect(openUpstream(server, deps)).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      message: 'The server "s" exited with code 3: bad key ***',
      delivered: false,
    });
  });

  it('CONN-1 of a crash the message is shown, not the stack below it', async () => {
    const { deps } = setUp();
    const source = "throw Object.assign(new Error('no such database'), { errno: 5 })";
    const server = stdioServer('s', { command: process.execPath, args: ['-e', source] });
    await expect(openUpstream(server, deps)).rejects.toMatchObject({
      message: 'The server "s" exited with code 1: Error: no such database',
    });
  });

  it('A28 an endless line is cut off while connecting', async () => {
    const { deps, children } = setUp();
    const server = stdioServer('s', { command: 'cat', args: ['/dev/zero'] });
    await expect(openUpstream(server, deps)).rejects.toThrow('more than 32 MiB');
    await waitUntil(() => children.count === 0);
  });

  it('CONN-1 a refused handshake is named', async () => {
    const { deps, children } = setUp();
    const source = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id } = JSON.parse(line);
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'no license' } }) + '\\n');
    })`;
    const server = stdioServer('s', { command: process.execPath, args: ['-e', source] });
    const failed = openUpstream(server, deps);
    await expect(failed).rejects.toMatchObject({ code: 'SESSION_INIT_FAILED', upstream: { code: -32000 } });
    await expect(failed).rejects.toThrow('no license');
    await waitUntil(() => children.count === 0);
  });

  it('CONN-1 a memory that fails does not fail the connection', async () => {
    const { open } = setUp({
      verdicts: {
        recall: () => Promise.reject(new Error('disk')),
        remember: () => Promise.reject(new Error('disk')),
      },
    });
    expect((await open(stdioServer('s', fixture('legacy')))).era).toBe('legacy');
  });
});

describe('openUpstream over HTTP', STARTS_PROCESSES, () => {
  it.each([
    ['http', [], 'http', 'modern'],
    ['http', ['--modern'], 'http', 'modern'],
    ['http', ['--legacy'], 'http', 'legacy'],
    ['sse', [], 'http', 'legacy'],
    ['sse', ['--post-status=404'], 'http', 'legacy'],
    ['sse', [], 'sse', 'legacy'],
  ] as const)('CONN-1 %s %j configured as %s is %s', async (name, flags, type, era) => {
    const { open, memory } = setUp();
    const { url } = await start(name, ...flags);
    const server = httpServer('s', url, { type });
    for (const message of ['first', 'second']) {
      const upstream = await open(server);
      expect(upstream.era).toBe(era);
      expect(textOf(await call(upstream, 'echo', { message }))).toBe(message);
      const steps: number[] = [];
      await call(
        upstream,
        'wait',
        { ms: 1 },
        { onProgress: ({ progress }: { progress: number }) => steps.push(progress) },
      );
      expect(steps).toEqual([1]);
      await upstream.ping(2000);
      await upstream.close();
      expect(upstream.closed).toBe(true);
    }
    expect(memory.get(server.digest)).toMatchObject({ kind: era, transport: name });
  });

  it('CONN-6 refused credentials are named, configured ones are sent', async () => {
    const { open, deps } = setUp();
    for (const name of ['http', 'sse'] as const) {
      const { url } = await start(name, '--require-token=T0ken');
      await expect(openUpstream(httpServer('s', url, { type: name }), deps)).rejects.toMatchObject({
        code: 'AUTHENTICATION_FAILED',
      });
      const server = httpServer('s', url, { type: name, transport: { headers: { authorization: 'Bearer T0ken' } } });
      expect(textOf(await call(await open(server), 'headers'))).toContain('Bearer T0ken');
    }
  });

  it('CONN-7 an error for status 429 or 503 carries retryAfterMs', async () => {
    const { deps } = setUp();
    const busy = await start('http', '--status=429', '--retry-after=3');
    await expect(openUpstream(httpServer('s', busy.url), deps)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 3000,
    });
    const down = await start('http', '--status=503', '--retry-after=4');
    await expect(openUpstream(httpServer('s', down.url), deps)).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      retryAfterMs: 4000,
    });
  });

  it.each([
    ['http', []],
    ['http', ['--legacy']],
    ['sse', []],
  ] as const)('EXEC-4 a connection of %s %j that breaks ends the call at once', async (name, flags) => {
    const { open } = setUp();
    const { url } = await start(name, ...flags);
    const upstream = await open(httpServer('s', url, { type: name, timeoutMs: 60_000 }));
    await expect(call(upstream, 'drop')).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      delivered: undefined,
    });
  });

  it('CONN-3 a server that is gone closes the connection, and nothing was delivered', async () => {
    const { open, deps } = setUp();
    const running = await start('http', '--legacy');
    const upstream = await open(httpServer('s', running.url));
    await running.stop();
    await expect(
      call(upstream, 'echo', { message: 'x' }).catch(() => call(upstream, 'echo', { message: 'x' })),
    ).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: false });
    expect(upstream.closed).toBe(true);
    await expect(openUpstream(httpServer('s', running.url), deps)).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      delivered: false,
    });
  });
});
