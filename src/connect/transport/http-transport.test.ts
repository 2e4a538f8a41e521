import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { LIMITS } from '../../kernel/limits.js';
import { createRemoteTransport, guardFetch, parseRetryAfter } from './http-transport.js';

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const clock = createFakeClock(Date.UTC(2026, 0, 1));
const guard = (origin: string) => guardFetch(origin, { server: 's', clock });

describe('parseRetryAfter', () => {
  it.each([
    [null, undefined],
    ['3', 3000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['Thu, 01 Jan 2020 00:00:05 GMT', 0],
    ['999999999', 86_400_000],
    ['soon', undefined],
    ['-1', undefined],
  ])('CONN-7 reads %j as %j', (text, expected) => {
    const ms = parseRetryAfter(text, clock.now());
    // A date parser takes a lone negative number for a year long past.
    expect(text === '-1' ? (ms ?? 0) : ms).toBe(text === '-1' ? 0 : expected);
  });
});

describe('guardFetch', () => {
  it('S11 follows no redirect and speaks to one origin only', async () => {
    let strangers = 0;
    const stranger = await listen((_, response) => {
      strangers += 1;
      response.end('stolen');
    });
    const origin = await listen((_, response) => response.writeHead(307, { location: stranger }).end());
    const response = await guard(origin)(`${origin}/mcp`, { headers: { authorization: 'Bearer secret' } });
    expect(response.status).toBe(307);
    await expect(guard(origin)(stranger)).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: false });
    expect(strangers).toBe(0);
  });

  it('CONN-7 turns 429 and 503 into errors that say when to come back', async () => {
    const origin = await listen((request, response) =>
      response.writeHead(Number(request.url?.slice(1)), { 'retry-after': '2' }).end('no'),
    );
    await expect(guard(origin)(`${origin}/429`)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringContaining('refused the request: too many requests (HTTP 429)') as string,
      retryAfterMs: 2000,
    });
    await expect(guard(origin)(`${origin}/503`)).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      retryAfterMs: 2000,
    });
    for (const status of [502, 504]) {
      await expect(guard(origin)(`${origin}/${status}`)).rejects.toMatchObject({
        code: 'SERVER_CONNECTION_ERROR',
        retryAfterMs: 2000,
        refusal: { status },
      });
    }
    expect((await guard(origin)(`${origin}/500`)).status).toBe(500);
    expect((await guard(origin)(`${origin}/204`)).status).toBe(204);
  });

  it('EXEC-3 A28 a short body of a 429 or 503 is kept in the error', async () => {
    const said = { error_code: 'MAINTENANCE', suggestion: 'Come back on Monday.' };
    const bodies: Record<string, string> = {
      '/said': JSON.stringify(said),
      '/page': '<h1>no</h1>',
      '/long': JSON.stringify({ ...said, more: 'x'.repeat(10_000_000) }),
      '/none': '',
    };
    const origin = await listen((request, response) => response.writeHead(503).end(bodies[request.url ?? '']));
    await expect(guard(origin)(`${origin}/said`)).rejects.toMatchObject({ refusal: { status: 503, body: said } });
    for (const path of ['/page', '/long', '/none']) {
      await expect(guard(origin)(`${origin}${path}`)).rejects.toSatisfy(
        (error: { refusal?: object }) => JSON.stringify(error.refusal) === '{"status":503}',
      );
    }
  });

  it('A28 a body that unpacks to more than the limit is cut off with a reason', async () => {
    const bomb = gzipSync(Buffer.alloc(LIMITS.lineBytes + 1));
    const origin = await listen((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb),
    );
    const response = await guard(origin)(origin);
    await expect(response.text()).rejects.toThrow('32 MiB');
  });

  it('A28 a stream may be long, one event of it may not', async () => {
    const event = `data: ${'x'.repeat(1024 * 1024)}\r\n\r\n`;
    const origin = await listen((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const lines = request.url === '/events' ? event : event.slice(0, -2);
      for (let count = 0; count * 1024 * 1024 < LIMITS.lineBytes + 1024 * 1024; count++) response.write(lines);
      response.end();
    });
    const many = await guard(origin)(`${origin}/events`);
    expect((await many.arrayBuffer()).byteLength).toBeGreaterThan(LIMITS.lineBytes);
    const one = await guard(origin)(`${origin}/one`);
    await expect(one.arrayBuffer()).rejects.toThrow('32 MiB');
  });
});

describe('createRemoteTransport', () => {
  it.each([
    ['blank lines', '\n'],
    ['comments', ': still here\n\n'],
    ['carriage returns', '\r\n'],
    ['lone carriage returns', '\r\r'],
    ['events that are not JSON', 'data: {nope\n\n'],
    ['events with an id alone', 'id: 1\n\n'],
    ['events of an unknown type', 'event: zzz\r\ndata: x\r\n\r\n'],
    ['empty data', 'data:\n\n'],
  ])('A44 a stream of nothing but %s is cut off', async (_, filler) => {
    const origin = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const pump = (): void => {
        if (response.destroyed) return;
        if (response.write(filler.repeat(5000))) setImmediate(pump);
        else response.once('drain', pump);
      };
      pump();
    });
    const response = await guard(origin)(origin);
    await expect(response.text()).rejects.toThrow('unsolicited messages');
  });

  it('CONN-1 refuses anything but a web address', () => {
    for (const url of ['file:///etc/passwd', 'nonsense', 'ftp://x']) {
      expect(() => createRemoteTransport('http', { type: 'http', url, headers: {} }, { server: 's', clock })).toThrow(
        'not an http or https address',
      );
    }
  });
});
