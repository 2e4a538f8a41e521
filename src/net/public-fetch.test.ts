import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPublicFetch } from './public-fetch.js';

type Lookup = NonNullable<Parameters<typeof createPublicFetch>[1]>;

/** A name service that answers these addresses, one list after the other. */
function names(...answers: string[][]): { lookup: Lookup; asked: string[] } {
  const asked: string[] = [];
  const lookup: Lookup = (host, options, callback) => {
    asked.push(host);
    const addresses = answers.length > 1 ? answers.shift()! : answers[0]!;
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    // As that of Node does.
    if (options.all) callback(null, found);
    else callback(null, found[0]!.address, found[0]!.family);
  };
  return { lookup, asked };
}

async function listener(): Promise<{ port: number; hits: () => number }> {
  let hits = 0;
  const server = createServer((_request, response) => {
    hits++;
    response.end('secret');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, hits: () => hits };
}

describe('the public network only', () => {
  it.each([
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '１２７.０.０.１',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    'localhost',
    'ⓛocalhost',
    'localhost.',
    '169.254.169.254',
    '10.0.0.1',
    '[fd00::1]',
  ])('A19 %s is refused, and nothing is dialled', async (host) => {
    const { port, hits } = await listener();
    const { lookup, asked } = names(['127.0.0.1']);
    const attempt = createPublicFetch('x', lookup)(`http://${host}:${port}/`);
    await expect(attempt).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(asked).toEqual([]);
    expect(hits()).toBe(0);
  });

  it.each([[['127.0.0.1']], [['8.8.8.8', '10.0.0.1']], [['::ffff:169.254.169.254']], [[]]])(
    'A19 a name that leads to %j is refused when it is dialled',
    async (addresses) => {
      const { port, hits } = await listener();
      const attempt = createPublicFetch('x', names(addresses).lookup)(`http://public.example:${port}/`);
      await expect(attempt).rejects.toMatchObject({ code: 'FORBIDDEN' });
      expect(hits()).toBe(0);
    },
  );

  it('CONN-1 what is public is asked as with any fetch: method, headers and body arrive, the answer streams back', async () => {
    const server = createServer((request, response) => {
      response.writeHead(201, { 'x-seen': `${request.method} ${request.headers['x-mine']}` });
      request.pipe(response);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    // A machine of the tests that counts as public: everything but the judgement is real.
    const fetch = createPublicFetch('x', names(['127.0.0.1']).lookup, () => false);
    const answer = await fetch(`http://public.example:${port}/a`, {
      method: 'POST',
      headers: { 'x-mine': 'yes' },
      body: 'hello',
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('x-seen')).toBe('POST yes');
    expect(await answer.text()).toBe('hello');
  });

  it.each([204, 205, 304])('CONN-1 an answer %i has no body, and the next one does', async (status) => {
    const server = createServer((request, response) => {
      if (request.url === '/none') response.writeHead(status).end();
      else response.end('body');
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const fetch = createPublicFetch('x', names(['127.0.0.1']).lookup, () => false);
    const answer = await fetch(`http://public.example:${port}/none`);
    expect(answer).toMatchObject({ status, body: null });
    expect(await (await fetch(`http://public.example:${port}/some`)).text()).toBe('body');
  });

  it('CONN-1 answers without a body hold no connection of their own', async () => {
    let connections = 0;
    const server = createServer((_request, response) => void response.writeHead(204).end());
    server.on('connection', () => (connections += 1));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const fetch = createPublicFetch('x', names(['127.0.0.1']).lookup, () => false);
    for (let count = 0; count < 10; count++) await fetch(`http://public.example:${port}/`);
    expect(connections).toBeLessThan(10);
  });

  it('CONN-1 a name that cannot be found fails as the name service says', async () => {
    const error = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    const attempt = createPublicFetch('x', (_host, _options, callback) => callback(error, ''))(
      'http://public.example/',
    );
    await expect(attempt).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('A19 all addresses of a name are judged, and the first is dialled, also where Node asks for one alone', async () => {
    const before = getDefaultAutoSelectFamily();
    setDefaultAutoSelectFamily(false);
    onTestFinished(() => setDefaultAutoSelectFamily(before));
    const { port, hits } = await listener();
    const seen: string[] = [];
    const judge = (address: string): boolean => {
      seen.push(address);
      return false;
    };
    const fetch = createPublicFetch('x', names(['127.0.0.1', '2001:db8::1']).lookup, judge);
    expect(await (await fetch(`http://public.example:${port}/`)).text()).toBe('secret');
    expect(hits()).toBe(1);
    expect(seen).toEqual(['127.0.0.1', '2001:db8::1']);
    const refused = createPublicFetch('x', names(['127.0.0.1', '10.0.0.1']).lookup, (each) => each === '10.0.0.1');
    await expect(refused(`http://public.example:${port}/`)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      delivered: false,
    });
    expect(hits()).toBe(1);
  });

  it('A19 a connection that another part of the process keeps open is not used', async () => {
    const { port, hits } = await listener();
    const url = `http://public.example:${port}/`;
    const { lookup } = names(['127.0.0.1']);
    const others = request(url, { lookup });
    others.end();
    const [answer] = (await once(others, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    await expect(createPublicFetch('x', lookup)(url)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(hits()).toBe(1);
  });

  it('CONN-1 a request that was cancelled before is not sent', async () => {
    const { port, hits } = await listener();
    const { lookup, asked } = names(['127.0.0.1']);
    const fetch = createPublicFetch('x', lookup, () => false);
    await expect(fetch(`http://public.example:${port}/`, { signal: AbortSignal.abort() })).rejects.toThrow('abort');
    expect([asked, hits()]).toEqual([[], 0]);
  });

  it('CONN-1 headers that come several times are all kept', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'] }).end();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const fetch = createPublicFetch('x', names(['127.0.0.1']).lookup, () => false);
    expect((await fetch(`http://public.example:${port}/`)).headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it('A19 a name that flips is looked up for every request, and what was looked up is what is dialled', async () => {
    const { port, hits } = await listener();
    // The first answer is public and not reachable from here; the second is this machine.
    const { lookup, asked } = names(['203.0.114.1'], ['127.0.0.1']);
    const fetch = createPublicFetch('x', lookup);
    const first = fetch(`http://flip.example:${port}/`, { signal: AbortSignal.timeout(300) });
    await expect(first).rejects.toThrow();
    await expect(fetch(`http://flip.example:${port}/`)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(asked).toEqual(['flip.example', 'flip.example']);
    expect(hits()).toBe(0);
  });
});
