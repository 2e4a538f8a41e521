import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { NO_PUBLISHED_ENTRIES, readPublishedEntries } from '../../test/support/published-entries.js';
import { registryEntry, startRegistry } from '../../test/support/registry-server.js';
import { systemClock, type Clock } from '../kernel/clock.js';
import type { JsonObject } from '../kernel/json.js';
import { silentLog } from '../kernel/log.js';
import type { Store } from '../model/store.js';
import { createMemoryStore } from '../store/index.js';
import { createRegistryClient, type RegistryClient, type RegistryClientDeps } from './official.js';
import { createSafeFetch } from '../net/safe-fetch.js';

const entry = (name: string, more: JsonObject = {}, official: JsonObject = {}): JsonObject =>
  registryEntry({ name, description: `does ${name}`, version: '1.0.0', ...more }, official);

const SAMPLE = ['a', 'b', 'c', 'd', 'e'].map((each) => entry(`io.test/weather-${each}`));

function open(
  url: string,
  {
    clock = createFakeClock(),
    store = createMemoryStore({ clock }),
    ...more
  }: { clock?: Clock; store?: Pick<Store, 'get' | 'put'> } & Partial<RegistryClientDeps> = {},
): RegistryClient {
  return createRegistryClient({
    fetch: createSafeFetch({ clock: systemClock, userAgent: 'test', timeoutMs: 5000, maxBytes: 1_000_000 }),
    cache: store,
    clock,
    log: silentLog,
    url,
    ttlMs: 3_600_000,
    timeoutMs: 5000,
    maxPages: 10,
    own: true,
    ...more,
  });
}

const names = ({ servers }: { servers: ReadonlyArray<{ name: string }> }): string[] => servers.map(({ name }) => name);

describe('the official registry', () => {
  it('REG-9 a search reads every page and asks for the latest versions', async () => {
    const registry = await startRegistry(SAMPLE);
    const answer = await open(`${registry.url}/`).search(' weather ');
    expect(names(answer)).toEqual(SAMPLE.map((each) => (each['server'] as JsonObject)['name']));
    expect(answer).toMatchObject({ truncated: false, dropped: 0 });
    expect(registry.asked).toEqual([
      '/v0.1/servers?limit=100&version=latest&search=weather',
      '/v0.1/servers?limit=100&version=latest&search=weather&cursor=2',
      '/v0.1/servers?limit=100&version=latest&search=weather&cursor=4',
    ]);
  });

  it('REG-9 only the latest version of a server counts, deleted ones do not, deprecated ones say so', async () => {
    const registry = await startRegistry([
      entry('io.test/x', { version: '1.0.0' }, { isLatest: false }),
      entry('io.test/x', { version: '2.0.0' }),
      entry('io.test/x', { version: '1.9.0' }),
      entry('io.test/gone', {}, { status: 'deleted' }),
      entry('io.test/old', {}, { status: 'deprecated' }),
      { server: { name: 'io.test/private', version: '1', description: '' } },
    ]);
    const { servers } = await open(registry.url).search('');
    expect(servers.map(({ name, version, status }) => [name, version, status])).toEqual([
      ['io.test/x', '2.0.0', 'active'],
      ['io.test/old', '1.0.0', 'deprecated'],
      ['io.test/private', '1', 'active'],
    ]);
  });

  it('REG-9 updated_since is passed on and is part of the question', async () => {
    const registry = await startRegistry(SAMPLE, 10);
    const client = open(registry.url);
    await client.search('w');
    await client.search('w', { updatedSince: '2026-01-31T00:00:00Z' });
    expect(registry.asked[1]).toContain('updated_since=2026-01-31T00%3A00%3A00Z');
    await expect(client.search('w', { updatedSince: 'yesterday' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(client.search('x'.repeat(3000))).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('DISC-4 REG-9 an answer is remembered for an hour, also by the next process', async () => {
    const registry = await startRegistry(SAMPLE, 10);
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    const first = await open(registry.url, { clock, store }).search('weather');
    await clock.advance(3_599_999);
    expect(await open(registry.url, { clock, store }).search('weather')).toEqual(first);
    expect(registry.asked).toHaveLength(1);
    await open(registry.url, { clock, store }).search('weather', { fresh: true });
    expect(registry.asked).toHaveLength(2);
    await clock.advance(3_600_000);
    await open(registry.url, { clock, store }).search('weather');
    expect(registry.asked).toHaveLength(3);
  });

  it('A22 DISC-4 two questions never share an entry, and keys begin with registry_', async () => {
    const registry = await startRegistry(SAMPLE, 10);
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    const client = open(registry.url, { clock, store });
    for (const query of ['a/b', 'a_b', 'A_b', 'a b', 'a%2Fb', 'a","b']) await client.search(query);
    await open(`${registry.url}/sub/..`, { clock, store })
      .search('a/b')
      .catch(() => undefined);
    const entries = await store.list('registry');
    expect(entries.length).toBeGreaterThanOrEqual(6);
    expect(entries.every(({ key }) => /^registry_[0-9a-f]{64}$/.test(key))).toBe(true);
  });

  it('A23 R11 a damaged, foreign or future entry is a miss', async () => {
    const registry = await startRegistry(SAMPLE, 10);
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    const client = open(registry.url, { clock, store });
    await client.search('weather');
    const [{ key, value }] = (await store.list('registry')) as unknown as [{ key: string; value: JsonObject }];
    const answer = value['answer'] as JsonObject;
    const damaged = [
      'text',
      { ...value, question: 'another' },
      { ...value, answer: { ...answer, servers: [{ name: 'x' }] } },
      { ...value, answer: { ...answer, servers: 'x' } },
      { ...value, answer: { ...answer, learnedAt: clock.now() + 1 } },
    ];
    for (const [at, bad] of damaged.entries()) {
      await store.put('registry', key, bad);
      expect(names(await client.search('weather'))).toHaveLength(5);
      expect(registry.asked).toHaveLength(2 + at);
    }
  });

  it('REG-9 what was learned earlier is served, and marked, while the registry fails', async () => {
    const registry = await startRegistry(SAMPLE, 10);
    const clock = createFakeClock();
    const client = open(registry.url, { clock });
    await client.search('weather');
    await clock.advance(4_000_000);
    registry.misbehave = (_, response) => {
      response.writeHead(500).end();
      return true;
    };
    const answer = await client.search('weather');
    expect(names(answer)).toHaveLength(5);
    expect(answer.stale).toContain('status 500');
    await expect(client.search('never asked')).rejects.toMatchObject({ code: 'REGISTRY_UNAVAILABLE' });
  });

  it('REG-9 a store that fails costs the memory and nothing else', async () => {
    const registry = await startRegistry(SAMPLE, 10);
    const broken = { get: () => Promise.reject(new Error('disk')), put: () => Promise.reject(new Error('disk')) };
    expect(names(await open(registry.url, { store: broken }).search('weather'))).toHaveLength(5);
  });

  it('REG-9 A28 A29 every failure has a clear error', async () => {
    const registry = await startRegistry(SAMPLE);
    const fails = async (how: NonNullable<typeof registry.misbehave>, more: Partial<RegistryClientDeps> = {}) => {
      registry.misbehave = how;
      return open(registry.url, more)
        .search('x')
        .then(
          () => 'no error',
          (error: { code: string; message: string; retryAfterMs?: number }) =>
            `${error.code} ${error.retryAfterMs ?? ''} ${error.message}`,
        );
    };
    const send = (status: number, body: string, headers: Record<string, string> = {}) =>
      fails((_, response) => {
        response.writeHead(status, headers).end(body);
        return true;
      });
    expect(await send(429, '', { 'retry-after': '7' })).toMatch(
      /^RATE_LIMITED 7000 .*refused the request: too many requests \(HTTP 429\)/,
    );
    expect(await send(500, 'oops')).toMatch(/^REGISTRY_UNAVAILABLE .*status 500/);
    expect(await send(302, '', { location: 'http://127.0.0.1:1/' })).toMatch(/status 302/);
    expect(await send(404, '{}')).toMatch(/does not know the route/);
    expect(await send(200, 'garbage {')).toMatch(/not a JSON object/);
    expect(await send(200, '[]')).toMatch(/not a JSON object/);
    expect(await send(200, '{"servers":{}}')).toMatch(/no list of servers/);
    expect(await send(200, `{"servers":[],"x":"${'x'.repeat(5_000_000)}"}`)).toMatch(/larger than/);
    expect(await fails(() => true, { timeoutMs: 100 })).toMatch(/did not answer within 100 ms/);
    expect(await fails((request) => !!request.socket.destroy())).toMatch(/connection failed/);
    await expect(open('http://127.0.0.1:1').search('x')).rejects.toThrow(/connection refused/);
    await expect(open(registry.url, { own: false }).search('x')).rejects.toThrow(/internal address/);
  });

  it('A28 pages without end and a cursor that comes again are bounded', async () => {
    const registry = await startRegistry([]);
    let page = 0;
    registry.misbehave = (request, response) => {
      page += 1;
      const cursor = request.url?.includes('again') ? 'same' : String(page);
      const servers = [entry(`io.test/s${page}`)];
      response.end(JSON.stringify({ servers, metadata: { nextCursor: cursor } }));
      return true;
    };
    expect(await open(registry.url, { maxPages: 4 }).search('endless')).toMatchObject({
      truncated: true,
      servers: { length: 4 },
    });
    expect(await open(registry.url, { maxPages: 50 }).search('again')).toMatchObject({
      truncated: true,
      servers: { length: 2 },
    });
  });

  it('A33 a password in the URL of the registry is in no message', async () => {
    const error = await open('http://me:canary@127.0.0.1:1/sub/?key=canary')
      .search('x')
      .catch((thrown: Error) => thrown);
    expect(String((error as Error).message)).toContain('http://127.0.0.1:1/sub cannot');
    expect(String((error as Error).message)).not.toContain('canary');
  });

  it('A27 REG-9 one bad entry costs only itself', async () => {
    let deep: JsonObject = {};
    for (let depth = 0; depth < 100; depth++) deep = { deep };
    const registry = await startRegistry([], 100);
    const bad = [
      null,
      1,
      'x',
      {},
      { server: null },
      { server: { name: 'x' } },
      { server: { name: 'a/b', version: 1 } },
      entry('../../etc'),
      entry('a/b/c'),
      entry('__proto__'),
      entry(`a/${'b'.repeat(300)}`),
      entry('a/deep', { deep }),
    ];
    registry.misbehave = (_, response) => {
      response.end(JSON.stringify({ servers: [...bad, ...SAMPLE], metadata: null }));
      return true;
    };
    const answer = await open(registry.url).search('x');
    expect(names(answer)).toHaveLength(5);
    expect(answer.dropped).toBe(bad.length);
  });

  it('REG-9 one server is found by its name, and only by its own', async () => {
    const registry = await startRegistry(SAMPLE);
    const client = open(registry.url);
    expect(await client.find('io.test/weather-c')).toMatchObject({ name: 'io.test/weather-c', version: '1.0.0' });
    expect(registry.asked).toEqual(['/v0.1/servers/io.test%2Fweather-c/versions/latest']);
    await expect(client.find('io.test/none')).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
    registry.misbehave = (_, response) => {
      response.end(JSON.stringify(entry('io.test/another')));
      return true;
    };
    await expect(client.find('io.test/weather-c')).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
    registry.misbehave = (_, response) => {
      response.end('{}');
      return true;
    };
    await expect(client.find('io.test/weather-c')).rejects.toMatchObject({ code: 'REGISTRY_UNAVAILABLE' });
  });

  it('REG-9 471 published entries come over the wire: all that have a name are read, the others counted', async (context) => {
    const servers = readPublishedEntries();
    if (!servers) return context.skip(NO_PUBLISHED_ENTRIES);
    const registry = await startRegistry(servers, 100);
    const answer = await open(registry.url).search('');
    expect({ read: answer.servers.length, dropped: answer.dropped, all: servers.length }).toEqual({
      read: 464,
      dropped: 7,
      all: 471,
    });
    expect(registry.asked).toHaveLength(5);
  });
});
