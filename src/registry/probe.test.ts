import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { systemClock, type Clock } from '../kernel/clock.js';
import type { InventoryItem } from './inventory.js';
import { createProbe, type ProbeResult } from './probe.js';
import { createSafeFetch, type SafeFetchDeps } from '../net/safe-fetch.js';

type Answer = string | number | object | ((response: ServerResponse) => void);

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A server that answers at these paths, and 404 everywhere else. */
async function serve(
  routes: Record<string, Answer>,
): Promise<{ base: string; asked: string[]; routes: Record<string, Answer> }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const answer = routes[request.url ?? ''];
    if (typeof answer === 'function') return answer(response);
    if (answer === undefined) return void response.writeHead(404).end('nothing');
    if (typeof answer === 'number') return void response.writeHead(answer).end();
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  onTestFinished(() => server.closeAllConnections());
  return { base: `http://127.0.0.1:${await listen(server)}`, asked, routes };
}

const itemAt = (baseUrl: string, more: Partial<InventoryItem> = {}): InventoryItem => ({
  id: 'x',
  name: 'X',
  transport: 'http',
  baseUrl,
  shownUrl: baseUrl,
  headers: {},
  tags: [],
  own: true,
  ...more,
});

function probeAt(
  item: InventoryItem,
  {
    clock = systemClock,
    locations = [],
    ...deps
  }: { clock?: Clock; locations?: readonly string[] } & Partial<SafeFetchDeps> = {},
): Promise<ProbeResult> {
  const fetch = createSafeFetch({ clock, userAgent: 'probe/1', timeoutMs: 5000, maxBytes: 1000, ...deps });
  return createProbe({ fetch, clock, timeoutMs: 5000 })(item, locations);
}

const MCP = '/.well-known/mcp';
const SAID = { name: 'Said', version: '1.2', capabilities: ['b', 'a'] };

describe('a probe', () => {
  it('REG-5 reads name, version and capabilities, and is alive when health says so', async () => {
    const { base } = await serve({ [MCP]: SAID, '/health': { status: 'ok' } });
    expect(await probeAt(itemAt(`${base}/`))).toMatchObject({
      alive: true,
      reason: null,
      description: { name: 'Said', version: '1.2', capabilities: ['a', 'b'] },
      locations: [MCP],
    });
  });

  it('REG-5 REG-6 every failure has its reason; the description comes before the health', async () => {
    const cases: Array<[Record<string, Answer>, string | null, boolean]> = [
      [{ [MCP]: SAID, '/health': 'fine' }, null, true],
      [{ [MCP]: SAID, '/health': 503 }, 'health_status:503', false],
      [{ [MCP]: SAID, '/health': 204 }, 'health_status:204', false],
      [{ [MCP]: SAID }, 'health_status:404', false],
      [{ [MCP]: SAID, '/health': { status: 'down' } }, 'health_error:unhealthy', false],
      [{ [MCP]: SAID, '/health': (r) => void r.destroy() }, 'health_error:connection', false],
      [{ [MCP]: 500, '/health': 'ok' }, 'well_known_status:500', true],
      [{ '/health': 'ok' }, 'well_known_status:404', true],
      [{ [MCP]: 'garbage', '/health': 'ok' }, 'well_known_error:invalid_json', true],
      [{ [MCP]: [1], '/health': 'ok' }, 'well_known_error:invalid_document', true],
      [
        { [MCP]: (r) => void r.writeHead(302, { location: '/health' }).end(), '/health': 'ok' },
        'well_known_status:302',
        true,
      ],
      [{ [MCP]: { ...SAID, x: 'x'.repeat(300_000) }, '/health': 'ok' }, 'well_known_error:too_large', true],
      [{}, 'well_known_status:404', false],
    ];
    for (const [routes, reason, alive] of cases) {
      const { base } = await serve(routes);
      expect(await probeAt(itemAt(base)), `${reason}`).toMatchObject({ reason, alive });
    }
    expect(await probeAt(itemAt('http://127.0.0.1:1'))).toMatchObject({
      reason: 'well_known_error:refused',
      alive: false,
    });
    expect(await probeAt(itemAt('ftp://x.example'))).toMatchObject({ reason: 'invalid_scheme', alive: false });
    expect(await probeAt(itemAt('nonsense'))).toMatchObject({ reason: 'invalid_scheme', alive: false });
  });

  it('A19 REG-6 an inventory entry may not lead inside, unless its host is named', async () => {
    const { base, asked } = await serve({ [MCP]: SAID, '/health': 'ok' });
    const foreign = itemAt(base, { own: false });
    expect(await probeAt(foreign)).toMatchObject({ reason: 'host_not_allowed:127.0.0.1', alive: false });
    expect(asked).toEqual([]);
    expect(await probeAt(foreign, { allowedHosts: ['127.0.0.1'] })).toMatchObject({ alive: true });
    expect(await probeAt(itemAt(base), { allowedHosts: ['other.example'] })).toMatchObject({
      reason: 'host_not_allowed:127.0.0.1',
    });
    const flips = { resolve: async () => [{ address: '169.254.169.254', family: 4 }] };
    expect(await probeAt(itemAt('http://evil.example', { own: false }), flips)).toMatchObject({
      reason: 'host_not_allowed:evil.example',
    });
  });

  it('REG-5 newer locations win over older ones, and capabilities come from whichever location has them', async () => {
    const type = 'application/mcp-server-card+json';
    const { base, asked } = await serve({
      '/.well-known/ai-catalog.json': { specVersion: '1.0', entries: [{ type, url: '/card' }] },
      '/card': { name: 'com.example/new', version: '9', description: 'd' },
      '/.well-known/mcp/server-card': { name: 'com.example/older', version: '8', description: 'd' },
      [MCP]: { capabilities: ['b', 'a'] },
      '/health': 'ok',
    });
    const first = await probeAt(itemAt(base, { mcpUrl: `${base}/mcp` }));
    expect(first).toMatchObject({
      description: { name: 'com.example/new', version: '9', capabilities: ['a', 'b'] },
      reason: null,
    });
    expect(asked).toContain('/mcp/server-card');
    asked.length = 0;
    // The next check asks only where something was found.
    expect(await probeAt(itemAt(base), { locations: first.locations })).toMatchObject({
      description: first.description,
    });
    expect(asked.toSorted()).toEqual(['/.well-known/ai-catalog.json', MCP, '/card', '/health']);
  });

  it('REG-5 a server that says everything in the first location is asked nowhere else', async () => {
    const { base, asked } = await serve({ [MCP]: SAID, '/health': 'ok' });
    await probeAt(itemAt(base));
    expect(asked.toSorted()).toEqual([MCP, '/health']);
  });

  it('REG-5 a location that is gone is looked for again in all the others', async () => {
    const { base } = await serve({ '/.well-known/mcp.json': SAID, '/health': 'ok' });
    expect(await probeAt(itemAt(base), { locations: [MCP] })).toMatchObject({
      description: { name: 'Said' },
      locations: ['mcp.json'],
    });
  });

  it('A19 A33 a catalog leads to no other host, and headers go nowhere else', async () => {
    const other = await serve({ '/card': { name: 'evil/card', version: '1' } });
    const type = 'application/mcp-server-card+json';
    const { base } = await serve({
      '/.well-known/ai-catalog.json': { entries: [{ type, url: `${other.base}/card` }] },
      '/health': 'ok',
    });
    const result = await probeAt(itemAt(base, { headers: { Authorization: 'Bearer canary' } }));
    expect(result.description).toBeUndefined();
    expect(other.asked).toEqual([]);
    const broken = await serve({
      '/.well-known/ai-catalog.json': { entries: [{ type, url: 'http://[' }] },
      '/health': 'ok',
    });
    expect(await probeAt(itemAt(broken.base))).toMatchObject({ alive: true, reason: 'well_known_status:404' });
  });

  it('A29 a host that hangs or drips costs one timeout and is asked twice, not nine times', async () => {
    const clock = createFakeClock();
    let connections = 0;
    const port = await listen(
      createTcpServer((socket) => {
        connections += 1;
        socket.on('error', () => undefined);
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{');
      }),
    );
    const pending = probeAt(itemAt(`http://127.0.0.1:${port}`), { clock });
    await clock.advance(5000);
    expect(await pending).toMatchObject({ reason: 'well_known_error:timeout', alive: false, latencyMs: 5000 });
    expect(connections).toBe(2);
  });

  it('REG-5 asks for the types that stand at its locations, so that who is strict about them answers', async () => {
    const types: Record<string, string> = {
      '/.well-known/ai-catalog.json': 'application/ai-catalog+json',
      '/mcp/server-card': 'application/mcp-server-card+json',
      '/health': 'application/json',
    };
    const card = { name: 'io.test/desk', version: '3', description: 'x' };
    const server = createServer((request, response) => {
      const type = types[request.url ?? ''];
      if (type === undefined) return void response.writeHead(404).end();
      if (!request.headers.accept?.includes(type)) return void response.writeHead(406).end();
      response.end(JSON.stringify(request.url === '/mcp/server-card' ? card : { status: 'ok' }));
    });
    onTestFinished(() => server.closeAllConnections());
    const base = `http://127.0.0.1:${await listen(server)}`;
    expect(await probeAt(itemAt(base, { mcpUrl: `${base}/mcp` }))).toMatchObject({
      alive: true,
      reason: null,
      description: { name: 'io.test/desk', version: '3' },
      locations: ['server-card'],
    });
  });
});
