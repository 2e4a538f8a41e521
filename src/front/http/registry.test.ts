import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, temporaryDirectory } from '../../../test/support/fixture.js';
import { openHttpApp, type TestApp } from '../../../test/support/http-app.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import type { Gateway } from '../../gateway/index.js';
import type { ConfigInput } from '../../model/config.js';
import type { Snapshot } from '../../model/snapshot.js';

async function startService(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const good: RequestListener = ({ url }, response) => {
  const documents: Record<string, object> = {
    '/.well-known/mcp': { name: 'Incidents', version: '2.1.0', capabilities: ['incident:read', 'incident:write'] },
    '/health': { status: 'ok' },
  };
  const document = documents[url ?? ''];
  response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(document ?? {}));
};

async function openOver(
  inventory: unknown,
  options: { config?: ConfigInput; env?: Record<string, string> } = {},
): Promise<{ gateway: Gateway; http: TestApp; get(query?: string): Promise<Snapshot> }> {
  const cwd = await temporaryDirectory();
  const file = join(cwd, 'tools.yaml');
  if (inventory !== undefined) await writeFile(file, JSON.stringify(inventory));
  const env = {
    PATH: process.env['PATH'] ?? '',
    TOOLS_YAML_PATH: file,
    REGISTRY_ALLOWED_HOSTS: '127.0.0.1',
    ...options.env,
  };
  const gateway = await openToolscout(options.config ?? {}, { cwd, env });
  const http = await openHttpApp(gateway);
  return {
    gateway,
    http,
    get: async (query = '') => (await http.send(`/v1/tools${query}`)).json() as Promise<Snapshot>,
  };
}

describe('GET /v1/tools', STARTS_PROCESSES, () => {
  it('REG-1 REG-5 gives every server with its health, sorted, and nothing else', async () => {
    const base = await startService(good);
    const { gateway, get } = await openOver(
      {
        tools: [
          { id: 'zeta', base_url: base, tags: ['b', 'a', 'b'] },
          { id: 'down', base_url: 'http://127.0.0.1:1' },
        ],
      },
      { config: { servers: { local: fixture('legacy') } } },
    );
    await (await gateway.registry.get())!.refresh();
    const { registry_hash: hash, generated_at: at, items } = await get();
    expect(hash).toMatch(/^sha256-[A-Za-z0-9+/]{43}=$/);
    expect(Number.isNaN(Date.parse(at))).toBe(false);
    expect(items.map(({ id }) => id)).toEqual(['down', 'zeta', 'local']);
    expect(items[1]).toEqual({
      id: 'zeta',
      name: 'Incidents',
      version: '2.1.0',
      base_url: base,
      transport: 'http',
      alive: true,
      latency_ms: expect.any(Number) as number,
      capabilities: ['incident:read', 'incident:write'],
      tags: ['a', 'b'],
      last_checked_ts: expect.any(String) as string,
      failure_reason: null,
      consecutive_failures: 0,
    });
    expect(items[0]).toMatchObject({
      alive: false,
      consecutive_failures: 1,
      failure_reason: expect.stringMatching(/_error:refused$/) as string,
    });
    expect(items[2]).toMatchObject({ base_url: null, transport: 'stdio' });
  });

  it('REG-2 filters hold all at once, and a bad value is a 400 that names it', async () => {
    const base = await startService(good);
    const { gateway, http, get } = await openOver([
      { id: 'one', base_url: base, tags: ['x', 'y'] },
      { id: 'two', base_url: 'http://127.0.0.1:1', tags: ['x'] },
    ]);
    await (await gateway.registry.get())!.refresh();
    const ids = async (query: string): Promise<string[]> => (await get(query)).items.map(({ id }) => id);
    for (const yes of ['true', '1', 'yes', 'on', 'YES']) expect(await ids(`?alive=${yes}`)).toEqual(['one']);
    for (const no of ['false', '0', 'no', 'off']) expect(await ids(`?alive=${no}`)).toEqual(['two']);
    expect(await ids('?tag=x')).toEqual(['one', 'two']);
    expect(await ids('?tag=x&tag=y')).toEqual(['one']);
    expect(await ids('?capability=incident:read&capability=incident:write')).toEqual(['one']);
    expect(await ids('?capability=incident:read&capability=none')).toEqual([]);
    expect(await ids('?q=INCID')).toEqual(['one']);
    expect(await ids('?q=two&tag=y')).toEqual([]);
    expect(await ids('?unknown=parameter')).toEqual(['one', 'two']);
    for (const [query, path] of [
      ['alive=maybe', 'alive'],
      ['alive=', 'alive'],
      ['alive=true&alive=false', 'alive'],
      ['tag=', 'tag'],
      [`capability=${'x'.repeat(300)}`, 'capability'],
      [`q=${'x'.repeat(300)}`, 'q'],
    ]) {
      const response = await http.send(`/v1/tools?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', problems: [{ path }] });
    }
    expect(await (await http.send('/v1/tools?alive=maybe')).text()).toContain('maybe');
  });

  it('REG-3 the same servers in the same health have the same hash in every run; a weak ETag answers 304', async () => {
    const base = await startService(good);
    const entries = [
      { id: 'one', base_url: base, tags: ['x', 'y'] },
      { id: 'two', base_url: base },
    ];
    const first = await openOver(entries);
    const second = await openOver({ servers: entries.toReversed() });
    for (const { gateway } of [first, second]) await (await gateway.registry.get())!.refresh();
    await (await second.gateway.registry.get())!.refresh();
    const { registry_hash: hash } = await first.get();
    expect((await second.get()).registry_hash).toBe(hash);
    const { http } = first;
    const whole = await http.send('/v1/tools');
    expect(whole.headers.get('etag')).toBe(`W/"${hash}"`);
    for (const tag of [`W/"${hash}"`, `"${hash}"`, `"other", W/"${hash}"`, '*']) {
      const same = await http.send('/v1/tools', { headers: { 'if-none-match': tag } });
      expect({ tag, status: same.status, etag: same.headers.get('etag') }).toEqual({
        tag,
        status: 304,
        etag: `W/"${hash}"`,
      });
    }
    expect((await http.send('/v1/tools', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    const narrow = await http.send('/v1/tools?q=one');
    expect(narrow.headers.get('etag')).not.toBe(`W/"${hash}"`);
    const tag = narrow.headers.get('etag')!;
    expect((await http.send('/v1/tools?q=one', { headers: { 'if-none-match': tag } })).status).toBe(304);
  });

  it('REG-3 a change of health changes the tag at once, although the bytes are kept', async () => {
    let isWell = true;
    const base = await startService((request, response) => {
      if (isWell) return good(request, response);
      response.writeHead(503).end();
    });
    const { gateway, http, get } = await openOver([{ id: 'one', base_url: base }]);
    const registry = (await gateway.registry.get())!;
    await registry.refresh();
    const before = await get();
    expect(before.items[0]!.alive).toBe(true);
    isWell = false;
    await registry.refresh();
    const tag = `W/"${before.registry_hash}"`;
    const after = await http.send('/v1/tools', { headers: { 'if-none-match': tag } });
    expect(after.status).toBe(200);
    expect(((await after.json()) as Snapshot).items[0]).toMatchObject({
      alive: false,
      name: 'Incidents',
      capabilities: ['incident:read', 'incident:write'],
    });
  });

  it('REG-3 X-Trace-Id is echoed when it is one, and made when it is not', async () => {
    const { http } = await openOver([]);
    const idFor = async (given?: string): Promise<string | null> =>
      (await http.send('/health', { headers: given === undefined ? {} : { 'x-trace-id': given } })).headers.get(
        'x-trace-id',
      );
    expect(await idFor('abc-1.2:3_4')).toBe('abc-1.2:3_4');
    for (const bad of ['two words', 'x'.repeat(200), '<script>']) expect(await idFor(bad)).toMatch(/^[0-9a-f]{32}$/);
    expect(await idFor()).not.toBe(await idFor());
  });

  it('REG-4 without an inventory it is 424, before the first check 503, and bad entries are skipped', async () => {
    const none = await openOver(undefined);
    await (await none.gateway.registry.get())!.sync();
    const missing = await none.http.send('/v1/tools');
    expect(missing.status).toBe(424);
    expect(await missing.json()).toMatchObject({
      code: 'REGISTRY_MISCONFIGURED',
      type: 'urn:toolscout:problem:registry_misconfigured',
    });
    const fresh = await openOver([{ id: 'one', base_url: 'http://127.0.0.1:1' }]);
    await (await fresh.gateway.registry.get())!.sync();
    const early = await fresh.http.send('/v1/tools');
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await early.json()).toMatchObject({ type: 'urn:toolscout:problem:registry_unavailable' });
    const mixed = await openOver([
      { id: 'one', base_url: 'http://127.0.0.1:1' },
      7,
      { base_url: 'x' },
      { id: '__proto__' },
    ]);
    await (await mixed.gateway.registry.get())!.refresh();
    expect((await mixed.get()).items.map(({ id }) => id)).toEqual(['one']);
  });

  it('CFG-7 TOOLS_REGISTRY_ENABLED=false takes the routes away', async () => {
    const { http } = await openOver([], { env: { TOOLS_REGISTRY_ENABLED: 'false' } });
    for (const path of ['/v1/tools', '/v0.1/servers', '/v0.1/servers/a%2Fb/versions']) {
      expect((await http.send(path)).status).toBe(404);
    }
    expect(await (await http.send('/v1/tools')).json()).toMatchObject({
      detail: 'The registry is switched off (TOOLS_REGISTRY_ENABLED).',
      suggestion: expect.stringContaining('Unset TOOLS_REGISTRY_ENABLED, or set it to true') as string,
    });
    expect((await http.send('/v1/servers')).status).toBe(200);
  });

  it('A19 every spelling of an address inside is refused before anything is dialled', async () => {
    let asked = 0;
    const base = await startService((_request, response) => {
      asked += 1;
      response.end('{}');
    });
    const { port } = new URL(base);
    const spellings = [
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '0177.0.0.1',
      '127.1',
      '１２７.０.０.１',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      'localhost',
      'ⓛocalhost',
      '169.254.169.254',
      '0.0.0.0',
      '10.0.0.1',
    ];
    const { gateway, get } = await openOver(
      spellings.map((host, index) => ({ id: `s${index}`, base_url: `http://${host}:${port}` })),
      { env: { REGISTRY_ALLOWED_HOSTS: '' } },
    );
    await (await gateway.registry.get())!.refresh();
    const { items } = await get();
    expect(items).toHaveLength(spellings.length);
    for (const { alive, failure_reason: reason } of items) {
      expect({ alive, reason }).toEqual({
        alive: false,
        reason: expect.stringMatching(/^host_not_allowed:/) as string,
      });
    }
    expect(asked).toBe(0);
  });
});
