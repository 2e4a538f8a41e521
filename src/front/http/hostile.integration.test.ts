import { wrapGateway } from '../../gateway/index.js';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, waitUntil } from '../../../test/support/fixture.js';
import { openHttpApp } from '../../../test/support/http-app.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { silentLog } from '../../kernel/log.js';
import { listen } from './listen/listen.js';

const CALL = '{"server":"old","tool":"echo","arguments":{"message":"hi"}}';
const JSON_TYPE = { 'content-type': 'application/json' };

async function openPort(): Promise<number> {
  const { app } = await openHttpApp(await openToolscout({ servers: { old: fixture('legacy') } }));
  const front = await listen(app, { host: '127.0.0.1', port: 0, slowestHeadersMs: 1000 });
  onTestFinished(() => front.close());
  return Number(new URL(front.url).port);
}

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Everything that comes back for these bytes until the connection is closed. */
async function talk(port: number, bytes: string | Buffer): Promise<Answer> {
  const socket = connect(port, '127.0.0.1');
  const text = await new Promise<string>((resolve) => {
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
    socket.on('error', () => resolve(received));
    socket.on('close', () => resolve(received));
    socket.write(bytes);
  });
  const [head = '', ...body] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body: body.join('\r\n\r\n') };
}

const close = 'Connection: close\r\n\r\n';

describe('requests that are none', STARTS_PROCESSES, () => {
  it.each([
    ['a method nobody knows', 400, `FOO /health HTTP/1.1\r\nHost: 127.0.0.1\r\n${close}`],
    ['no HTTP at all', 400, '\u0016\u0003\u0001 hello\r\n\r\n'],
    ['a target that is none', 400, `GET health HTTP/1.1\r\nHost: 127.0.0.1\r\n${close}`],
    ['a star for a target', 400, `OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n${close}`],
    ['a broken address', 400, `GET http://[bad/health HTTP/1.1\r\nHost: 127.0.0.1\r\n${close}`],
    ['a broken Host', 400, `GET /health HTTP/1.1\r\nHost: a b\r\n${close}`],
    ['a port that is none', 400, `GET /health HTTP/1.1\r\nHost: 127.0.0.1:99999\r\n${close}`],
    ['a message to a broken Host', 400, `POST /mcp HTTP/1.1\r\nHost: a b\r\nContent-Length: 2\r\n${close}{}`],
    [
      'a message to a port that is none',
      400,
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:99999\r\nContent-Length: 2\r\n${close}{}`,
    ],
    [
      'a message to a short form of an address',
      400,
      `POST /mcp HTTP/1.1\r\nHost: 127.1:80\r\nContent-Length: 99999999\r\n${close}{`,
    ],
    ['no Host', 403, `GET /openapi.json HTTP/1.1\r\n${close}`],
    [
      'a foreign Host in the target',
      403,
      `GET http://evil.example/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n${close}`,
    ],
    ['headers without end', 431, `GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'a'.repeat(20_000)}\r\n${close}`],
    [
      'two lengths',
      400,
      `POST /v1/call HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n${close}`,
    ],
    ['headers that never end', 408, 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: '],
    ['an expectation', 417, `GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: tea\r\n${close}`],
  ])(
    'REG-1 S1 A29 %s is a problem like every other: %i',
    async (_, status, bytes) => {
      const { head, body, status: answered } = await talk(await openPort(), bytes);
      expect({ answered, body }).toEqual({ answered: status, body: expect.any(String) as string });
      expect(head.toLowerCase()).toContain('content-type: application/problem+json');
      const problem = JSON.parse(body) as Record<string, unknown>;
      expect(problem).toMatchObject({ status, type: expect.stringMatching(/^urn:toolscout:problem:/) as string });
      for (const field of ['title', 'detail', 'code', 'suggestion', 'severity', 'trace_id']) {
        expect(problem[field]).toEqual(expect.any(String));
      }
      expect(head.toLowerCase()).toContain(`x-trace-id: ${String(problem['trace_id'])}`);
    },
    20_000,
  );

  it('REG-1 garbage after a stream has begun ends the connection, and is not answered into the stream', async () => {
    const port = await openPort();
    const socket = connect(port, '127.0.0.1');
    const text = await new Promise<string>((resolve) => {
      let received = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        if (received === '') socket.write('garbage\r\n\r\n');
        received += chunk;
      });
      socket.on('error', () => resolve(received));
      socket.on('close', () => resolve(received));
      socket.write('GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    });
    expect(text).toContain('200 OK');
    expect(text).not.toContain('400');
  });

  it('S1 S3 no header is dropped, however many stand before it', async () => {
    const port = await openPort();
    const many = Array.from({ length: 2100 }, () => 'x:\r\n').join('');
    const head = `GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
    expect((await talk(port, `${head}${many}${close}`)).status).toBe(200);
    expect((await talk(port, `${head}${many}Origin: http://evil.example\r\n${close}`)).status).toBe(403);
  });

  it('R5 garbage behind a request that is being answered is not its answer', async () => {
    const port = await openPort();
    const bytes = `POST /v1/call HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${CALL.length}\r\n\r\n${CALL}`;
    expect((await talk(port, `${bytes}garbage\r\n\r\n`)).head).toBe('');
  });

  it('A10 a message that says it is packed is refused, since others would read it in another way', async () => {
    const port = await openPort();
    const message = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const send = (encoding: string) =>
      talk(
        port,
        `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${message.length}\r\n${close}${message}`,
      );
    for (const encoding of ['gzip', 'identity, gzip', 'br']) expect((await send(encoding)).status, encoding).toBe(415);
    expect((await send('Identity')).status).toBe(400);
  });

  it('REG-1 a request that is too large is answered with 413, however it is sent', async () => {
    const port = await openPort();
    const body = 'x'.repeat(9_000_000);
    for (const [path, connection] of ['/v1/call', '/mcp'].flatMap((to) => [
      [to, 'close'] as const,
      [to, 'keep-alive'] as const,
    ])) {
      const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: ${connection}\r\nContent-Length: ${body.length}\r\n\r\n`;
      const socket = connect(port, '127.0.0.1');
      const answer = new Promise<string>((resolve, reject) => {
        socket.setEncoding('utf8').once('data', resolve);
        socket.on('error', reject);
      });
      socket.write(head + body);
      expect(await answer).toContain('413');
      socket.destroy();
    }
  });
});

describe('bodies that do not come', STARTS_PROCESSES, () => {
  it('A29 a client that breaks off is not logged as a failure of toolscout', async () => {
    const failed: unknown[] = [];
    const log = { ...silentLog, error: (event: string, fields?: object) => void failed.push([event, fields]) };
    const { app } = await openHttpApp(await openToolscout({}), { log });
    const front = await listen(app, { host: '127.0.0.1', port: 0 });
    onTestFinished(() => front.close());
    const port = Number(new URL(front.url).port);
    for (const path of ['/mcp', '/servers/x/mcp', '/v1/call']) {
      for (const rest of ['{"jsonrpc"', '']) {
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect');
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n${rest}`,
        );
        // Whoever comes later is answered later, so the head of the first has arrived.
        expect((await fetch(`${front.url}/health`)).status).toBe(200);
        socket.destroy();
        await once(socket, 'close');
      }
      const { status } = await talk(
        port,
        `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nZZ\r\n`,
      );
      expect(status).toBe(400);
    }
    expect((await fetch(`${front.url}/health`)).status).toBe(200);
    await front.close();
    expect(failed).toEqual([]);
  });
});

describe('too many clients', STARTS_PROCESSES, () => {
  it('A43 one key cannot take all places: its further requests are refused, those of others are answered', async () => {
    const keys = [
      { name: 'greedy', key: '${GREEDY}', scopes: ['read' as const, 'call' as const] },
      { name: 'modest', key: '${MODEST}', scopes: ['read' as const, 'call' as const] },
    ];
    const gateway = await openToolscout(
      { servers: { slow: fixture('slow') }, http: { auth: { keys } } },
      { env: { GREEDY: 'g'.repeat(32), MODEST: 'm'.repeat(32) } },
    );
    const { app } = await openHttpApp(gateway, { maxOpenEach: 3 });
    const front = await listen(app, { host: '127.0.0.1', port: 0 });
    onTestFinished(() => front.close());
    const leaving = new AbortController();
    const call = (key: string, ms: number, signal?: AbortSignal): Promise<Response> =>
      fetch(`${front.url}/v1/call`, {
        method: 'POST',
        headers: { ...JSON_TYPE, authorization: `Bearer ${key.repeat(32)}` },
        body: JSON.stringify({ server: 'slow', tool: 'wait', arguments: { ms } }),
        signal,
      });
    expect((await call('m', 0)).status).toBe(200);
    const held = Array.from({ length: 3 }, () => call('g', 60_000, leaving.signal).catch(() => undefined));
    let refused = await call('g', 0);
    await waitUntil(async () => (refused = await call('g', 0)).status === 429, { what: 'the fourth to be refused' });
    expect(refused.headers.get('retry-after')).toBe('5');
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    const session = (key: string): Promise<Response> =>
      fetch(`${front.url}/mcp`, {
        method: 'POST',
        headers: {
          ...JSON_TYPE,
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${key.repeat(32)}`,
        },
        body: JSON.stringify(initialize),
      });
    expect((await session('g')).status).toBe(429);
    expect((await session('m')).status).not.toBe(429);
    expect((await call('m', 0)).status).toBe(200);
    leaving.abort();
    await Promise.all(held);
    await waitUntil(async () => (await call('g', 0)).status === 200, { what: 'a place to be free again' });
  });

  it('R12 with no memory left new connections are closed, open ones are served, and later new ones are accepted again', async () => {
    const { app } = await openHttpApp(await openToolscout({}));
    const world = { isFull: false };
    const front = await listen(app, { host: '127.0.0.1', port: 0, accepts: () => !world.isFull });
    onTestFinished(() => front.close());
    const port = Number(new URL(front.url).port);
    const request = 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
    const open = (): Socket => {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8');
      onTestFinished(() => void socket.destroy());
      return socket;
    };
    const ask = (socket: Socket): Promise<string> =>
      new Promise((resolve) => {
        socket.once('data', (text: string) => resolve(text.slice(0, 12))).once('close', () => resolve('closed'));
        socket.on('error', () => resolve('closed'));
        socket.write(request);
      });
    const inside = open();
    expect(await ask(inside)).toBe('HTTP/1.1 200');
    world.isFull = true;
    expect(await ask(open())).toBe('closed');
    expect(await ask(inside)).toBe('HTTP/1.1 200');
    world.isFull = false;
    expect(await ask(open())).toBe('HTTP/1.1 200');
  });

  it('R10 A29 open connections stay, a further one is told when to come back, and is accepted once there is room', async () => {
    const { app } = await openHttpApp(await openToolscout({}));
    const front = await listen(app, { host: '127.0.0.1', port: 0, mostConnections: 4 });
    onTestFinished(() => front.close());
    const port = Number(new URL(front.url).port);
    const request = 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
    const sockets: Socket[] = [];
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    /** Comes in, and says what is heard of a first request. */
    const enter = async (): Promise<{ socket: Socket; heard: string }> => {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8');
      sockets.push(socket);
      socket.write(request);
      const heard = await new Promise<string>((resolve) => {
        socket.once('data', resolve).once('close', () => resolve('closed'));
        socket.on('error', () => resolve('closed'));
      });
      return { socket, heard };
    };
    const inside = [await enter(), await enter(), await enter(), await enter()];
    expect(inside.map(({ heard }) => heard.slice(0, 12))).toEqual(Array.from({ length: 4 }, () => 'HTTP/1.1 200'));
    for (let turn = 0; turn < 20; turn++) {
      const { heard, socket } = await enter();
      const [head = '', body = ''] = heard.split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 503 /);
      expect(head.toLowerCase()).toContain('\r\nretry-after: 5');
      expect(head.toLowerCase()).toContain('\r\nconnection: close');
      expect(JSON.parse(body)).toMatchObject({
        status: 503,
        code: 'OVERLOADED',
        detail: 'The limit of 4 open connections is reached.',
        suggestion: expect.stringContaining('ulimit -n') as string,
        retry_after_ms: 5000,
      });
      await waitUntil(() => socket.closed);
    }
    // Who says nothing is not told anything either, and does not take the place of others for long.
    const silent = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    sockets.push(...silent);
    await waitUntil(() => silent.filter(({ closed }) => closed).length === 6, { what: 'the surplus to be sent away' });
    for (const each of silent) each.destroy();
    for (const { socket } of inside) {
      socket.write(request);
      expect(await new Promise<string>((resolve) => socket.once('data', resolve))).toContain('200 OK');
    }
    inside[0]!.socket.destroy();
    await waitUntil(async () => (await enter()).heard.includes('200 OK'), { what: 'a place to become free' });
  });
});

describe('odd input', STARTS_PROCESSES, () => {
  it('REG-2 numbers are whole and written as such', async () => {
    const { send } = await openHttpApp(await openToolscout({}));
    for (const limit of ['0x10', '1e1', '%2010', '10%20', '+1', '1.0', '-0', 'NaN', 'Infinity', '٣', '9'.repeat(400)]) {
      for (const path of [
        `/v1/search?q=x&limit=${limit}`,
        `/v1/audit?since=${limit}`,
        `/v0.1/servers?limit=${limit}`,
      ]) {
        const answer = await send(path);
        expect({ path, status: answer.status }).toEqual({ path, status: 400 });
        const { problems } = (await answer.json()) as { problems: Array<{ path: string }> };
        expect(problems.map((each) => each.path)).toEqual([path.includes('since') ? 'since' : 'limit']);
      }
    }
    expect((await send('/v1/search?q=x&limit=10')).status).toBe(200);
    expect((await send('/v1/audit?since=1794798523596&limit=007')).status).toBe(200);
    const empty = (await (await send('/v1/search?q=')).json()) as { problems: unknown[] };
    expect(empty.problems).toEqual([{ path: 'q', message: 'is empty' }]);
  });

  it('REG-1 a body is UTF-8 or it is refused, with or without a mark before it', async () => {
    const { send } = await openHttpApp(await openToolscout({ servers: { old: fixture('legacy') } }));
    const post = async (body: Uint8Array | string): Promise<number> =>
      (await send('/v1/call', { method: 'POST', headers: JSON_TYPE, body: body as string })).status;
    expect(await post(`\ufeff${CALL}`)).toBe(200);
    const at = CALL.indexOf('hi');
    const broken = Buffer.from(CALL);
    broken[at] = 0xff;
    expect(await post(broken)).toBe(400);
    expect(await post(Buffer.from(CALL, 'utf16le'))).toBe(400);
  });

  it('REG-1 a name that no server and no tool can have is refused before it is looked for', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const { post, send } = await openHttpApp(gateway);
    const long = 'x'.repeat(501);
    for (const names of [
      { server: long, tool: 'echo' },
      { server: 'old', tool: long },
    ]) {
      expect((await post('/v1/call', names)).status).toBe(400);
    }
    expect((await post('/v1/skills/x/call', { capability: long, tool: 'x' })).status).toBe(400);
    expect((await send(`/v1/tools/old/${long}`)).status).toBe(400);
    expect((await send(`/v1/servers/${long}/tools`)).status).toBe(400);
    expect(await gateway.audit.list({ kind: 'execution' })).toEqual([]);
  });

  it('REG-1 who has gone before the stream begins leaves nothing behind', async () => {
    const gateway = await openToolscout({});
    let listeners = 0;
    const onEvent: typeof gateway.onEvent = (listener) => {
      listeners += 1;
      const stop = gateway.onEvent(listener);
      return () => {
        listeners -= 1;
        stop();
      };
    };
    const { send } = await openHttpApp({ ...gateway, onEvent }, { mcpOver: gateway });
    for (let count = 0; count < 120; count++) {
      const answer = await send('/v1/events', { signal: AbortSignal.abort() });
      expect(answer.status).toBe(200);
    }
    expect(listeners).toBe(0);
  });

  it('REG-3 a trace that names no span is none', async () => {
    const { send } = await openHttpApp(await openToolscout({}));
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const idFor = async (traceparent: string): Promise<string | null> =>
      (await send('/health', { headers: { traceparent } })).headers.get('x-trace-id');
    expect(await idFor(`00-${trace}-b7ad6b7169203331-01`)).toBe(trace);
    for (const wrong of [
      `00-${trace}-${'0'.repeat(16)}-01`,
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `00-${trace}`,
    ]) {
      expect(await idFor(wrong)).not.toBe(wrong.slice(3, 35));
    }
  });

  it('REG-1 a server that refuses our credentials is not the fault of the caller', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const refuse = (): Promise<never> => Promise.reject(new ToolscoutError('AUTHENTICATION_FAILED', 'No.'));
    const { send } = await openHttpApp(wrapGateway(gateway, () => ({ 'tools.list': refuse, details: refuse })));
    for (const path of ['/v1/servers/old/tools', '/v1/tools/old/echo']) {
      const answer = await send(path);
      expect(answer.status).toBe(502);
      expect(await answer.json()).toMatchObject({ code: 'AUTHENTICATION_FAILED', status: 502 });
    }
  });

  it('REG-1 a body that is packed is refused, and the reason says so', async () => {
    const { send } = await openHttpApp(await openToolscout({ servers: { old: fixture('legacy') } }));
    const post = async (encoding: string, body: Uint8Array | string): Promise<Response> =>
      send('/v1/call', {
        method: 'POST',
        headers: { ...JSON_TYPE, 'content-encoding': encoding },
        body: body as string,
      });
    for (const encoding of ['gzip', 'br', 'gzip, identity', 'no-such']) {
      const answer = await post(encoding, gzipSync(CALL));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ problems: [{ path: 'content-encoding' }] });
    }
    expect((await post('Identity', CALL)).status).toBe(200);
  });

  it('EXEC-1 events are sent to a client that accepts them, and not to one that excludes them', async () => {
    const { post } = await openHttpApp(await openToolscout({ servers: { old: fixture('legacy') } }));
    const typeFor = async (accept: string): Promise<string | null> =>
      (await post('/v1/call', CALL, { accept })).headers.get('content-type');
    for (const wanted of ['text/event-stream', 'application/json, Text/Event-Stream; q=0.5', 'text/event-stream;q=1']) {
      expect([wanted, await typeFor(wanted)]).toEqual([wanted, 'text/event-stream']);
    }
    for (const not of [
      'text/event-stream;q=0',
      'application/json, text/event-stream; q=0.0',
      '*/*',
      'text/event-streams',
    ]) {
      expect([not, await typeFor(not)]).toEqual([not, 'application/json']);
    }
  });
});
