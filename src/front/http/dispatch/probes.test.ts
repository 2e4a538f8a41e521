import { describe, expect, it } from 'vitest';
import { openHttpApp } from '../../../../test/support/http-app.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { hostsOf, urlsOf } from '../listen/reachable.js';

const ask = async (
  http: Awaited<ReturnType<typeof openHttpApp>>,
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<Response> =>
  http.app.fetch(new Request(`http://${headers['host'] || '127.0.0.1'}${path}`, { method, headers }));

describe('health checks', STARTS_PROCESSES, () => {
  it.each(['10.1.2.3:7077', 'evil.example', 'pod-7.svc.cluster.local:7077', '[fd00::7]:7077'])(
    'REG-8 /health and /ready answer under the Host %s with their status and nothing else; no other route does',
    async (host) => {
      const http = await openHttpApp(await openToolscout({}));
      for (const [path, status] of [
        ['/health', 'ok'],
        ['/ready', 'ready'],
        ['/ready?verbose=1', 'ready'],
      ] as const) {
        const response = await ask(http, path, { host });
        expect([path, response.status, await response.json()]).toEqual([path, 200, { status }]);
        expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
        const head = await ask(http, path, { host }, 'HEAD');
        expect([head.status, await head.text()]).toEqual([200, '']);
      }
      for (const path of [
        '/metrics',
        '/openapi.json',
        '/v1/servers',
        '/mcp',
        '/health/',
        '/healthz',
        '/.well-known/mcp',
        '/',
      ]) {
        expect([path, (await ask(http, path, { host })).status]).toEqual([path, 403]);
      }
      expect((await ask(http, '/health', { host }, 'POST')).status).toBe(403);
    },
  );

  it('S1 a page is refused as everywhere, be its name ours or not', async () => {
    const http = await openHttpApp(await openToolscout({}));
    for (const host of ['evil.example', '127.0.0.1:7077']) {
      const response = await ask(http, '/health', { host, origin: 'http://evil.example' });
      expect([host, response.status]).toEqual([host, 403]);
    }
  });

  it('REG-8 under a Host that is ours everything is told', async () => {
    const http = await openHttpApp(await openToolscout({}));
    expect(await (await http.send('/health')).json()).toEqual({ status: 'ok', version: '9.9.9' });
    expect(await (await http.send('/ready')).json()).toMatchObject({ status: 'ready', servers: 0 });
  });
});

describe('where a listener is reached', STARTS_PROCESSES, () => {
  const own = (wildcard: string): string[] => ['192.168.7.2', ...(wildcard === '::' ? ['2001:db8::7'] : [])];

  it.each([
    [{ host: '127.0.0.1', port: 1 }, ['http://127.0.0.1:1']],
    [{ host: '[::1]', port: 1 }, ['http://[::1]:1']],
    [{ host: '::1', port: 1 }, ['http://[::1]:1']],
    [{ host: '0.0.0.0', port: 1 }, ['http://127.0.0.1:1', 'http://192.168.7.2:1']],
    [{ host: '::', port: 1 }, ['http://127.0.0.1:1', 'http://192.168.7.2:1', 'http://[2001:db8::7]:1']],
    [{ host: '10.0.0.9', port: 1, publicUrl: 'https://t.example/' }, ['https://t.example', 'http://10.0.0.9:1']],
  ])('CLI-1 %j', (listener, urls) => {
    expect(urlsOf(listener, own)).toEqual(urls);
  });

  it('S1 the address that it is bound to may be used as Host', () => {
    expect(hostsOf('10.0.0.9', own)).toEqual(['10.0.0.9']);
    expect(hostsOf('::', own)).toEqual(['192.168.7.2', '[2001:db8::7]']);
  });
});
