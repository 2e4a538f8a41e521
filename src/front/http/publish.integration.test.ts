import { wrapGateway } from '../../gateway/index.js';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../../test/support/fixture.js';
import { openHttpApp } from '../../../test/support/http-app.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../../../test/support/patience.js';
import { listen } from './listen/listen.js';

interface Page {
  readonly servers: Array<{ server: { name: string; version: string; remotes: Array<{ url: string }> } }>;
  readonly metadata: { count: number; nextCursor?: string };
}

const never = (id: string): { command: string; args: string[] } => ({
  command: '/secret/path',
  args: ['--token=canary', id],
});

describe('what toolscout publishes of itself', STARTS_PROCESSES, () => {
  it('REG-8 the card is the same at every place, and the catalog leads to it', async () => {
    const http = await openHttpApp(await openToolscout({}));
    const json = async (path: string): Promise<Record<string, unknown>> =>
      (await (await http.send(path)).json()) as Record<string, unknown>;
    const card = await json('/mcp/server-card');
    expect(card).toMatchObject({
      version: '9.9.9',
      remotes: [{ type: 'streamable-http', url: 'http://127.0.0.1:7077/mcp' }],
    });
    for (const place of [
      '/.well-known/mcp/server-card.json',
      '/.well-known/mcp/server-card',
      '/.well-known/mcp-server-card.json',
    ]) {
      expect(await json(place)).toEqual(card);
    }
    const { entries } = (await json('/.well-known/ai-catalog.json')) as { entries: Array<{ url: string }> };
    expect(await json(new URL(entries[0]!.url).pathname)).toEqual(card);
    expect(await json('/.well-known/mcp')).toMatchObject({ name: 'toolscout', version: '9.9.9' });
  });

  it('REG-8 REG-5 another toolscout understands it', async () => {
    const http = await openHttpApp(await openToolscout({}));
    const front = await listen(http.app, { host: '127.0.0.1', port: 0 });
    onTestFinished(() => front.close());
    const watcher = await openToolscout({ servers: { scout: { url: `${front.url}/mcp` } } });
    const registry = (await watcher.registry.get())!;
    await registry.refresh();
    expect(registry.snapshot().items[0]).toMatchObject({ alive: true, failure_reason: null, version: '9.9.9' });
  });

  it('REG-8 the approved servers are listed as a registry lists servers, page by page, without how they are started', async () => {
    const ids = Array.from({ length: 7 }, (_, index) => `server-${index}`);
    const servers = Object.fromEntries(ids.map((id) => [id, never(id)]));
    const gateway = await openToolscout({ servers: { ...servers, off: { ...never('off'), enabled: false } } });
    const http = await openHttpApp(gateway);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const response = await http.send(`/v0.1/servers?limit=3${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      const text = await response.text();
      expect(text).not.toMatch(/canary|secret/);
      const page = JSON.parse(text) as Page;
      expect(page.metadata.count).toBe(page.servers.length);
      seen.push(...page.servers.map(({ server }) => server.name));
      cursor = page.metadata.nextCursor;
    } while (cursor);
    expect(seen).toEqual(ids.map((id) => `local.toolscout/${id}`));
    const found = (await (await http.send('/v0.1/servers?search=SERVER-3&version=latest')).json()) as Page;
    expect(found.servers.map(({ server }) => server.name)).toEqual(['local.toolscout/server-3']);
    const one = (await (
      await http.send('/v0.1/servers/local.toolscout%2Fserver-3/versions/latest')
    ).json()) as Page['servers'][0];
    expect(one.server.remotes[0]!.url).toBe('http://127.0.0.1:7077/servers/server-3/mcp');
    const later = (await (await http.send('/v0.1/servers?updated_since=2090-01-01T00:00:00Z')).json()) as Page;
    expect(later.servers).toEqual([]);
    const preflight = await http.send('/v0.1/servers', { method: 'OPTIONS' });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'GET, HEAD']);
  });

  it('REG-8 a server is found by its title too, and by whatever version it says it has', async () => {
    const gateway = await openToolscout({ servers: { gh: { ...never('gh'), title: 'GitHub Issues' } } });
    const registry = (await gateway.registry.get())!;
    await registry.sync();
    const { items, ...rest } = registry.snapshot();
    const version = `1.0.0-${'x'.repeat(190)}`;
    const snapshot: typeof registry.snapshot = () => ({ ...rest, items: items.map((item) => ({ ...item, version })) });
    const http = await openHttpApp(
      wrapGateway(gateway, () => ({ 'registry.get': async () => ({ ...registry, snapshot }) })),
    );
    const names = async (query: string): Promise<string[]> =>
      ((await (await http.send(`/v0.1/servers?${query}`)).json()) as Page).servers.map(({ server }) => server.name);
    expect(await names('search=issues')).toEqual(['local.toolscout/gh']);
    expect(await names('search=gitlab')).toEqual([]);
    expect(await names(`version=${version}`)).toEqual(['local.toolscout/gh']);
    expect((await http.send(`/v0.1/servers/local.toolscout%2Fgh/versions/${version}`)).status).toBe(200);
  });

  it('REG-8 SEC-9 what is not approved is not listed', async () => {
    const gateway = await openToolscout({ servers: { mine: fixture('legacy') } });
    await gateway.servers.register({ id: 'found', url: 'https://mcp.example.com/mcp' });
    expect((await gateway.servers.list()).map(({ id }) => id)).toEqual(['found', 'mine']);
    const http = await openHttpApp(gateway);
    const { servers } = (await (await http.send('/v0.1/servers')).json()) as Page;
    expect(servers.map(({ server }) => server.name)).toEqual(['local.toolscout/mine']);
  });
});

describe('slow clients', STARTS_PROCESSES, () => {
  it('A29 a request that never ends its headers is ended, and others are served meanwhile', async () => {
    const http = await openHttpApp(await openToolscout({}));
    const front = await listen(http.app, { host: '127.0.0.1', port: 0, slowestHeadersMs: 300 });
    onTestFinished(() => front.close());
    const socket = connect(Number(new URL(front.url).port), '127.0.0.1');
    const ended = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('error', () => resolve(text));
      socket.on('close', () => resolve(text));
    });
    socket.write('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
    expect((await fetch(`${front.url}/health`)).status).toBe(200);
    expect(await ended).not.toContain('200 OK');
  });

  it('A29 a client that reads nothing of an answer for too long is disconnected, and one that waits for an answer is not', async () => {
    const gone: string[] = [];
    const chunk = new Uint8Array(1024 * 1024);
    const answer = async (request: Request): Promise<Response> => {
      const { pathname } = new URL(request.url);
      request.signal.addEventListener('abort', () => gone.push(pathname));
      if (pathname === '/late') {
        // It is answered after the other was let go, so it waited longer than that one was given.
        await expect.poll(() => gone, { timeout: patient(60_000) }).toContain('/stalled');
        return new Response('late');
      }
      let left = 64;
      return new Response(
        new ReadableStream({
          pull(controller) {
            if (left-- > 0) controller.enqueue(chunk);
            else controller.close();
          },
        }),
      );
    };
    const front = await listen({ serve: ({ web }) => answer(web) }, { host: '127.0.0.1', port: 0, stalledMs: 1000 });
    onTestFinished(() => front.close());
    const socket = connect(Number(new URL(front.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    socket.pause();
    socket.write('GET /stalled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    expect(await (await fetch(`${front.url}/late`)).text()).toBe('late');
    expect(gone).toEqual(['/stalled']);
    const whole = await (await fetch(`${front.url}/whole`)).arrayBuffer();
    expect(whole.byteLength).toBe(64 * chunk.length);
  });

  it('A29 a connection that was kept open and asks for nothing more is closed', async () => {
    const front = await listen({ serve: () => new Response('once') }, { host: '127.0.0.1', port: 0 });
    onTestFinished(() => front.close());
    const socket = connect(Number(new URL(front.url).port), '127.0.0.1');
    const closed = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('close', () => resolve(text));
    });
    socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    expect(await closed).toContain('once');
  });
});
