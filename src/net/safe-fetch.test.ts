import { getEventListeners, once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import {
  createServer as createTcpServer,
  getDefaultAutoSelectFamily,
  setDefaultAutoSelectFamily,
  type AddressInfo,
  type Server,
} from 'node:net';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { systemClock } from '../kernel/clock.js';
import { isInternalAddress } from './address.js';
import { createSafeFetch, type FetchOptions, type SafeFetchDeps } from './safe-fetch.js';

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  onTestFinished(() => server.closeAllConnections());
  return listen(server);
}

const make = (deps: Partial<SafeFetchDeps> = {}) =>
  createSafeFetch({ clock: systemClock, userAgent: 'test/1', timeoutMs: 10_000, maxBytes: 1000, ...deps });
const OWN: FetchOptions = { own: true };

describe('an address', () => {
  it('A19 everything that is not the public Internet is internal', () => {
    for (const address of [
      '127.0.0.1',
      '127.255.1.2',
      '0.0.0.0',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '::1',
      '::',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:10.0.0.1',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '64:ff9b::169.254.169.254',
      'fe80::1',
      'fe80::1%eth0',
      'fc00::1',
      'fd12::1',
      'ff02::1',
      '2002:7f00:1::',
      '2001:0:1::1',
      '::ffff:0:8.8.8.8',
      '4000::1',
      '1fff::1',
      '5f00::1',
      '64:ff9b:1::808:808',
      '[::1]',
      'nonsense',
      '',
    ]) {
      expect(isInternalAddress(address), address).toBe(true);
    }
    for (const address of [
      '1.1.1.1',
      '8.8.8.8',
      '172.32.0.1',
      '192.167.1.1',
      '2606:4700::1111',
      '::ffff:8.8.8.8',
      '64:ff9b::808:808',
    ]) {
      expect(isInternalAddress(address), address).toBe(false);
    }
  });

  it('A19 an IPv4 address is judged the same in each of its IPv6 spellings', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
        for (const spelling of [`::ffff:${address}`, `::ffff:${hex}`, `0:0:0:0:0:ffff:${hex}`, `64:ff9b::${hex}`]) {
          expect(isInternalAddress(spelling)).toBe(isInternalAddress(address));
        }
      }),
    );
  });
});

describe('a guarded fetch', () => {
  it('REG-5 answers with status, headers and body, and sends the given headers', async () => {
    const seen: Array<string | undefined> = [];
    const port = await serve((request, response) => {
      seen.push(request.headers['user-agent'], request.headers['accept-encoding'], String(request.headers['x-key']));
      response.writeHead(203, { 'X-Thing': 'yes' }).end('hello');
    });
    const answer = await make()(`http://127.0.0.1:${port}/x?y=1`, {
      ...OWN,
      headers: { 'X-Key': 'k', 'User-Agent': 'me' },
    });
    expect(answer).toMatchObject({ ok: true, status: 203, body: 'hello', headers: { 'x-thing': 'yes' } });
    expect(seen).toEqual(['test/1', 'identity', 'k']);
  });

  it('A19 loopback is refused before anything is dialled, in every spelling', async () => {
    let asked = 0;
    const port = await serve((_, response) => {
      asked += 1;
      response.end('secret');
    });
    const fetch = make({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '127.1',
      '１２７.０.０.１',
      '[::ffff:127.0.0.1]',
      '[::1]',
      '0',
      'localhost',
      'ⓛocalhost',
      'evil.example',
      'localhost.',
    ]) {
      expect(await fetch(`http://${host}:${port}/`), host).toMatchObject({ ok: false, problem: 'host_not_allowed' });
    }
    expect(asked).toBe(0);
    expect(await fetch(`http://evil.example:${port}/`, OWN)).toMatchObject({ ok: true, body: 'secret' });
  });

  it('A19 a name that flips between two answers is asked for once, and what was checked is what is dialled', async () => {
    let asked = 0;
    const port = await serve((_, response) => void response.end('secret'));
    const flips = make({
      timeoutMs: 300,
      resolve: async () => {
        asked += 1;
        return [{ address: asked === 1 ? '192.0.2.1' : '127.0.0.1', family: 4 }];
      },
    });
    // 192.0.2.1 is a documentation address: allowed here by name, without a listener.
    const allowed = make({
      timeoutMs: 300,
      allowedHosts: ['flip.example'],
      resolve: async () => {
        asked += 1;
        return [{ address: asked === 1 ? '192.0.2.1' : '127.0.0.1', family: 4 }];
      },
    });
    const answer = await allowed(`http://flip.example:${port}/`);
    expect(answer.ok).toBe(false);
    expect(asked).toBe(1);
    expect(await flips(`http://flip.example:${port}/`)).toMatchObject({ ok: false, problem: 'host_not_allowed' });
    const mixed = make({
      resolve: async () => [
        { address: '1.1.1.1', family: 4 },
        { address: '::1', family: 6 },
      ],
    });
    expect(await mixed(`http://mixed.example:${port}/`)).toMatchObject({ ok: false, problem: 'host_not_allowed' });
  });

  it('A19 REG-6 an allow-list lets internal hosts pass by name, with or without port, and nothing else', async () => {
    const port = await serve((_, response) => void response.end('ok'));
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const fetch = make({ resolve, allowedHosts: ['good.internal', `other.internal:${port}`] });
    expect(await fetch(`http://GOOD.internal:${port}/`)).toMatchObject({ ok: true });
    expect(await fetch(`http://other.internal:${port}/`)).toMatchObject({ ok: true });
    expect(await fetch('http://other.internal:1/')).toMatchObject({
      problem: 'host_not_allowed',
      host: 'other.internal',
    });
    // The list is about who may be asked at all, the user's own servers included.
    expect(await fetch(`http://127.0.0.1:${port}/`, OWN)).toMatchObject({
      problem: 'host_not_allowed',
      host: '127.0.0.1',
    });
  });

  it('A19 REG-6 the allow-list knows the usual ports, and hosts in any case', async () => {
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return Promise.reject(new Error('no such name'));
    };
    const fetch = make({ resolve, allowedHosts: ['Plain.example:80', 'secure.example:443', 'any.EXAMPLE'] });
    const problems = async (...urls: string[]): Promise<unknown[]> =>
      (await Promise.all(urls.map((url) => fetch(url)))).map((answer) => !answer.ok && answer.problem);
    expect(await problems('http://plain.example/', 'https://secure.example/', 'http://any.example:9/')).toEqual(
      Array(3).fill('dns'),
    );
    expect(asked).toEqual(['plain.example', 'secure.example', 'any.example']);
    expect(await problems('https://plain.example/', 'http://secure.example/', 'http://plain.example:8080/')).toEqual(
      Array(3).fill('host_not_allowed'),
    );
    expect(asked).toHaveLength(3);
  });

  it('A19 redirects are answers and are not followed', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/inside') return void response.end('secret');
      response.writeHead(302, { location: `http://127.0.0.1:${port}/inside` }).end();
    });
    expect(await make()(`http://127.0.0.1:${port}/`, OWN)).toMatchObject({ ok: true, status: 302, body: '' });
  });

  it('A19 what was checked is dialled also where Node asks for one address alone', async () => {
    const before = getDefaultAutoSelectFamily();
    setDefaultAutoSelectFamily(false);
    onTestFinished(() => setDefaultAutoSelectFamily(before));
    const port = await serve((_, response) => void response.end('here'));
    const resolve = async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '192.0.2.1', family: 4 },
    ];
    const answer = await make({ resolve })(`http://named.example:${port}/`, OWN);
    expect(answer).toMatchObject({ ok: true, body: 'here' });
  });

  it('A19 only http and https are spoken', async () => {
    for (const url of ['file:///etc/passwd', 'ftp://x.example', 'data:,x', 'javascript:1', 'nonsense', '', 'http://']) {
      expect(await make()(url, OWN), url).toMatchObject({ ok: false, problem: 'invalid_scheme' });
    }
  });

  it('A28 a body that is too large, endless or compressed is not kept', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/exact') return void response.end('x'.repeat(1000));
      if (request.url === '/large') return void response.end('x'.repeat(1001));
      if (request.url === '/gzip') {
        return void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('0'.repeat(1_000_000)));
      }
      response.on('error', () => undefined);
      const pour = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    const at = (path: string) => make()(`http://127.0.0.1:${port}${path}`, OWN);
    expect(await at('/exact')).toMatchObject({ ok: true });
    expect(await at('/large')).toMatchObject({ ok: false, problem: 'too_large' });
    expect(await at('/endless')).toMatchObject({ ok: false, problem: 'too_large' });
    expect(await at('/gzip')).toMatchObject({ ok: false, problem: 'encoding' });
  });

  it('A29 a connection whose answer is refused is ended, however long its server would go on', async () => {
    const ends: Array<Promise<unknown>> = [];
    const port = await serve((request, response) => {
      ends.push(once(request.socket, 'close'));
      response.writeHead(200, { 'content-encoding': 'gzip' }).write('x');
    });
    expect(await make()(`http://127.0.0.1:${port}/`, OWN)).toMatchObject({ ok: false, problem: 'encoding' });
    expect(ends).toHaveLength(1);
    await Promise.all(ends);
  });

  it('A29 the deadline of a fetch that is over waits for nothing any more', async () => {
    const clock = createFakeClock();
    const port = await serve((_request, response) => response.end('{}'));
    const { signal } = new AbortController();
    const fetch = make({ clock });
    expect(await fetch(`http://127.0.0.1:${port}/`, { ...OWN, signal })).toMatchObject({ ok: true });
    expect(await fetch(`http://127.0.0.1:${port}/`)).toMatchObject({ ok: false });
    expect(clock.waiting).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('A29 one deadline holds for name, connection, headers and a body that drips', async () => {
    const clock = createFakeClock();
    const silent = await listen(createTcpServer(() => undefined));
    const half = await listen(createTcpServer((socket) => void socket.write('HTTP/1.1 200 OK\r\nX-A: ')));
    const drip = await serve((_, response) => void response.write('x'));
    const fetch = make({ clock, timeoutMs: 1500, resolve: () => new Promise(() => undefined) });
    const pending = [
      fetch(`http://127.0.0.1:${silent}/`, OWN),
      fetch(`http://127.0.0.1:${half}/`, OWN),
      fetch(`http://127.0.0.1:${drip}/`, OWN),
      fetch('http://never-resolves.example/', OWN),
    ];
    let done = 0;
    for (const each of pending) void each.then(() => (done += 1));
    await clock.advance(1499);
    expect(done).toBe(0);
    await clock.advance(1);
    expect((await Promise.all(pending)).map((answer) => !answer.ok && answer.problem)).toEqual(
      Array(4).fill('timeout'),
    );
    expect(clock.waiting).toBe(0);
  });

  it('REG-5 names each failure: refused, unknown host, cut off, garbage, cancelled', async () => {
    const closed = await serve(() => undefined);
    const cut = await listen(createTcpServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx')));
    const garbage = await listen(createTcpServer((socket) => socket.end('\0\0\0 what\r\n\r\n')));
    const fetch = make();
    expect(await fetch('http://127.0.0.1:1/', OWN)).toMatchObject({ problem: 'refused' });
    expect(
      await make({ resolve: async () => Promise.reject(new Error('ENOTFOUND')) })('http://no.example/'),
    ).toMatchObject({ problem: 'dns', host: 'no.example' });
    expect(await make({ resolve: async () => [] })('http://no.example/')).toMatchObject({ problem: 'dns' });
    expect(await fetch(`http://127.0.0.1:${cut}/`, OWN)).toMatchObject({ problem: 'connection' });
    expect(await fetch(`http://127.0.0.1:${garbage}/`, OWN)).toMatchObject({ problem: 'connection' });
    expect(await fetch(`https://127.0.0.1:${closed}/`, OWN)).toMatchObject({ problem: 'tls' });
    const stop = new AbortController();
    const pending = fetch(`http://127.0.0.1:${closed}/`, { ...OWN, signal: stop.signal });
    stop.abort();
    expect(await pending).toMatchObject({ problem: 'cancelled' });
    expect(await fetch(`http://127.0.0.1:${closed}/`, { ...OWN, signal: stop.signal })).toMatchObject({
      problem: 'cancelled',
    });
  });

  it('A34 a header that would smuggle another one is an answer that failed, not a throw', async () => {
    const port = await serve((_, response) => void response.end('ok'));
    const headers = { 'X-A': 'a\r\nX-B: b' };
    expect(await make()(`http://127.0.0.1:${port}/`, { ...OWN, headers })).toMatchObject({ ok: false });
  });
});

describe('a URL with a password', () => {
  it('A19 does not send credentials of the URL', async () => {
    let sent: string | undefined = 'not asked';
    const port = await serve(({ headers }, response) => {
      sent = headers.authorization;
      response.end('{}');
    });
    expect(await make()(`http://user:secret@127.0.0.1:${port}/`, OWN)).toMatchObject({ ok: true });
    expect(sent).toBeUndefined();
  });
});
