import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openOfflineGateway } from '../../../test/support/offline-gateway.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { fixture } from '../../../test/support/fixture.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import { wrapGateway, type Gateway } from '../../gateway/index.js';
import { systemClock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { silentLog } from '../../kernel/log.js';
import { createMcpEndpoint } from '../mcp/http/http.js';
import { createHttpApp } from './app.js';
import { isLoopback } from './dispatch/guard.js';
import { listen, type HttpFront } from './listen/listen.js';

type App = ReturnType<typeof createHttpApp>;

async function appOver(gateway?: Gateway, allowed: { hosts?: string[]; origins?: string[] } = {}): Promise<App> {
  const known = gateway ?? (await openOfflineGateway([])).gateway;
  const mcp = createMcpEndpoint({
    gateway: known,
    info: { name: 'toolscout', version: '9.9.9' },
    log: silentLog,
    clock: systemClock,
  });
  onTestFinished(() => mcp.close());
  return createHttpApp({
    gateway: known,
    mcpFor: () => mcp,
    log: silentLog,
    version: '9.9.9',
    allowedHosts: allowed.hosts ?? [],
    allowedOrigins: allowed.origins ?? [],
    localAdmin: true,
  });
}

const get = async (app: App, path: string, headers: Record<string, string> = {}): Promise<Response> =>
  app.fetch(new Request(`http://127.0.0.1:7077${path}`, { headers: { host: '127.0.0.1:7077', ...headers } }));

describe('the guard', STARTS_PROCESSES, () => {
  it.each([['127.0.0.1:7077'], ['localhost'], ['LOCALHOST:80'], ['[::1]:7077']])(
    'S1 lets through what is addressed to this machine: %s',
    async (host) => {
      expect((await get(await appOver(), '/health', { host })).status).toBe(200);
    },
  );

  it.each([
    ['evil.example'],
    ['evil.example:7077'],
    ['127.0.0.1.evil.example'],
    ['localhost.evil.example'],
    ['127.0.0.1@evil.example'],
    ['x?'],
    ['127.0.0.1?'],
    ['127.0.0.1:7077/health?x'],
    ['localhost#'],
    ['user@localhost'],
    ['0.0.0.0'],
    [''],
  ])('S1 A1 A7 refuses a foreign Host on every route but those of health checks: "%s"', async (host) => {
    const app = await appOver();
    const isHost = /^[\w.:]*$/.test(host);
    for (const path of ['/health', '/ready']) {
      expect((await get(app, path, { host })).status).toBe(isHost ? 200 : 403);
    }
    for (const path of ['/mcp', '/servers/x/mcp', '/v1/tools', '/v1/events', '/nowhere']) {
      const response = await get(app, path, { host });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ code: 'FORBIDDEN', status: 403 });
    }
  });

  it.each([
    ['http://evil.example'],
    ['https://127.0.0.1.evil.example'],
    ['null'],
    ['file://'],
    ['http://evil.example#localhost'],
    ['garbage'],
  ])('S1 refuses a foreign Origin on every route: %s', async (origin) => {
    const app = await appOver();
    for (const path of ['/health', '/ready', '/mcp', '/servers/x/mcp', '/v1/tools', '/v1/events'])
      expect((await get(app, path, { origin })).status).toBe(403);
    const post = await app.fetch(
      new Request('http://127.0.0.1/mcp', { method: 'POST', headers: { host: '127.0.0.1', origin }, body: '{}' }),
    );
    expect(post.status).toBe(403);
  });

  it('S1 A17 refuses what a page of another port sends blindly, and lets links and allowed pages through', async () => {
    const app = await appOver(undefined, { origins: ['http://localhost:3000'] });
    const ask = async (method: string, headers: Record<string, string>): Promise<number> =>
      (
        await app.fetch(
          new Request('http://127.0.0.1/openapi.json', { method, headers: { host: '127.0.0.1', ...headers } }),
        )
      ).status;
    const from = (site: string, mode: string, origin?: string): Record<string, string> => ({
      'sec-fetch-site': site,
      'sec-fetch-mode': mode,
      ...(origin !== undefined && { origin }),
    });
    for (const site of ['same-site', 'cross-site']) {
      expect(await ask('POST', from(site, 'navigate', 'http://127.0.0.1:5000'))).toBe(403);
      expect(await ask('POST', from(site, 'no-cors', 'http://127.0.0.1:5000'))).toBe(403);
      expect(await ask('GET', from(site, 'no-cors'))).toBe(403);
      expect(await ask('GET', from(site, 'navigate'))).toBe(200);
      expect(await ask('GET', from(site, 'cors', 'http://localhost:3000'))).toBe(200);
    }
    expect(await ask('GET', from('same-origin', 'cors', 'http://127.0.0.1'))).toBe(200);
    expect(await ask('GET', from('none', 'navigate'))).toBe(200);
  });

  it('S1 lets through its own page, by any name of this machine, and hosts and origins that were allowed', async () => {
    const app = await appOver(undefined, { hosts: ['Gateway.Internal'], origins: ['https://studio.example'] });
    expect((await get(app, '/health', { origin: 'http://localhost:3000' })).status).toBe(200);
    expect((await get(app, '/health', { origin: 'https://Studio.example' })).status).toBe(200);
    expect((await get(app, '/openapi.json', { host: 'gateway.internal:7077' })).status).toBe(200);
    expect((await get(app, '/health', { origin: 'https://other.example' })).status).toBe(403);
    expect((await get(app, '/openapi.json', { host: 'other.internal' })).status).toBe(403);
  });

  it('S2 knows what only this machine can reach', () => {
    for (const host of ['127.0.0.1', 'localhost', 'LocalHost', '::1', '[::1]']) expect(isLoopback(host)).toBe(true);
    for (const host of ['0.0.0.0', '::', '192.168.0.1', 'example.org', '127.0.0.1.example', '', '2130706433']) {
      expect(isLoopback(host)).toBe(false);
    }
  });
});

describe('the routes', STARTS_PROCESSES, () => {
  it('A48 R9 /health says when nothing can be stored and when the store must be accepted, without naming a path', async () => {
    const { gateway } = await openOfflineGateway([]);
    const over = (status: Awaited<ReturnType<Gateway['config']['storeStatus']>>): Promise<App> =>
      appOver(wrapGateway(gateway, () => ({ 'config.storeStatus': async () => status })));
    const location = '/home/ann/toolscout.db';
    const full = await over({ location, writable: false, problem: `${location}: disk full` });
    const answer = await get(full, '/health');
    expect(answer.status).toBe(200);
    const health = (await answer.json()) as object;
    expect(health).toMatchObject({ status: 'degraded', store: { writable: false, accepted: true } });
    expect(JSON.stringify(health)).not.toContain('/home');
    const lost = await over({ location, writable: true, doubt: { reason: 'vanished', at: 1 } });
    expect(await (await get(lost, '/health')).json()).toMatchObject({
      status: 'degraded',
      store: { writable: true, accepted: false, problem: expect.stringContaining('vanished') as string },
    });
  });

  it('A48 REG-8 /ready is 503 while the store must be accepted, since no server is used until then', async () => {
    const { gateway } = await openOfflineGateway([]);
    const doubt = { reason: 'vanished', at: 1 } as const;
    const storeStatus: Gateway['config']['storeStatus'] = async () => ({ location: 'x', writable: true, doubt });
    const app = await appOver(wrapGateway(gateway, () => ({ 'config.storeStatus': storeStatus })));
    const answer = await get(app, '/ready');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ status: 'store-unaccepted', servers: 0 });
    const probed = await get(app, '/ready', { host: '10.1.2.3:7077' });
    expect(probed.status).toBe(503);
    expect(await probed.json()).toEqual({ status: 'store-unaccepted' });
  });

  it('REG-8 /health lives, /ready counts, everything else names the way', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy'), hung: fixture('slow', '--hang'), absent: { command: '/no/such/program' } },
      limits: { searchWaitMs: 20 },
    });
    await gateway.servers.discover(['old', 'absent']);
    const app = await appOver(gateway);
    expect(await (await get(app, '/health')).json()).toEqual({ status: 'ok', version: '9.9.9' });
    expect(await (await get(app, '/ready')).json()).toMatchObject({ status: 'ready', servers: 3, learning: 0 });
    await gateway.search('x');
    expect(await (await get(app, '/ready')).json()).toMatchObject({ status: 'learning', servers: 3, learning: 1 });
    const lost = await get(app, '/no/such/page');
    expect(lost.status).toBe(404);
    expect(await lost.json()).toMatchObject({
      code: 'NOT_FOUND',
      detail: 'No route matches GET /no/such/page.',
      suggestion: expect.stringContaining('/mcp') as string,
    });
    const wrong = await get(app, '/mcp');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
  });
});

describe('reloading', STARTS_PROCESSES, () => {
  const post = async (app: App, headers: Record<string, string> = {}): Promise<Response> =>
    app.fetch(
      new Request('http://127.0.0.1:7077/v1/config/reload', {
        method: 'POST',
        headers: { host: '127.0.0.1:7077', ...headers },
      }),
    );

  it('CFG-6 POST /v1/config/reload answers what changed', async () => {
    const response = await post(await appOver());
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ changed: false, added: [], removed: [], reconnected: [] });
  });

  it('CFG-6 CFG-3 an invalid config is a 400 that lists the problems, and a page may not ask for it', async () => {
    const { gateway } = await openOfflineGateway([]);
    const problems = [{ path: 'toolRules[0].patern', message: 'unknown key; did you mean "pattern"?' }];
    const reload = (): Promise<never> =>
      Promise.reject(new ToolscoutError('CONFIGURATION_ERROR', 'The config has a problem.', { problems }));
    const app = await appOver({ ...gateway, reload });
    const response = await post(app);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'CONFIGURATION_ERROR', problems });
    expect((await post(app, { origin: 'http://evil.example' })).status).toBe(403);
  });
});

describe('listening', STARTS_PROCESSES, () => {
  async function listening(options: { host: string; port: number }): Promise<HttpFront> {
    const front = await listen(await appOver(), options);
    onTestFinished(() => front.close());
    return front;
  }

  it('S2 listens on a free port of this machine, answers there, and stops', async () => {
    const front = await listening({ host: '127.0.0.1', port: 0 });
    expect(front.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${front.url}/health`)).status).toBe(200);
    await front.close();
    await expect(fetch(`${front.url}/health`)).rejects.toThrow();
  });

  it('R7 one that leaves takes no new connection, ends those that are idle, and answers what is in flight for the last time', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let requests = 0;
    const serve = async (): Promise<Response> => {
      requests += 1;
      if (requests === 3) await held;
      return new Response('late');
    };
    const front = await listen({ serve }, { host: '127.0.0.1', port: 0 });
    onTestFinished(() => front.close());
    const ask = (): { send(): void; ended: Promise<unknown>; heard: () => string } => {
      let text = '';
      const socket = connect(front.port, '127.0.0.1');
      socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      const send = (): void => void socket.write('GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
      send();
      return { send, ended: once(socket, 'close'), heard: () => text };
    };
    const [idle, prompt] = [ask(), ask()];
    for (const { heard } of [idle, prompt]) await expect.poll(heard).toContain('late');
    const busy = ask();
    await expect.poll(() => requests).toBe(3);
    // What somebody was just writing into a connection is still served.
    prompt.send();
    const left = front.leave();
    await expect(fetch(`${front.url}/health`)).rejects.toThrow();
    await left;
    await idle.ended;
    release();
    await Promise.all([busy.ended, prompt.ended]);
    expect(idle.heard()).not.toMatch(/connection: close/i);
    for (const { heard } of [busy, prompt])
      expect(heard()).toMatch(/HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n[^]*late/i);
  });

  it.each(['::1', '[::1]'])('S2 an IPv6 loopback address works and has a URL that can be used: %s', async (host) => {
    const front = await listening({ host, port: 0 });
    expect(front.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${front.url}/health`)).status).toBe(200);
  });

  it.each(['0.0.0.0', '::', '192.168.0.10', 'example.org'])(
    'S2 refuses to listen on %s, and says why',
    async (host) => {
      const attempt = async (): Promise<HttpFront> => listen(await appOver(), { host, port: 0 });
      await expect(attempt()).rejects.toMatchObject({
        code: 'CONFIGURATION_ERROR',
        message: expect.stringContaining(`"${host}"`) as string,
        suggestion: expect.any(String) as string,
      });
    },
  );

  it('CLI-2 a port that is taken is named, with the way out', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    await expect(listen(await appOver(), { host: '127.0.0.1', port })).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
      message: `Port ${port} on 127.0.0.1 is taken by another program.`,
      suggestion: expect.stringContaining('--port') as string,
    });
  });

  it('R7 stopping does not wait for a connection that is kept open', async () => {
    const front = await listening({ host: '127.0.0.1', port: 0 });
    const { port } = new URL(front.url);
    const open = request({ host: '127.0.0.1', port, path: '/health', headers: { connection: 'keep-alive' } });
    const ended = new Promise((resolve) => {
      open.once('close', resolve);
      open.once('error', resolve);
    });
    const answered = new Promise((resolve) => void open.once('response', resolve));
    open.flushHeaders();
    await answered;
    await front.close();
    open.destroy();
    await ended;
  });
});
