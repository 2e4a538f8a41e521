import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../../../test/support/fixture.js';
import { openHttpApp, type TestApp } from '../../../../test/support/http-app.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { COMPUTES_LONG, patient } from '../../../../test/support/patience.js';
import { wrapGateway, type Gateway } from '../../../gateway/index.js';
import type { JsonObject } from '../../../kernel/json.js';
import { listen } from '../listen/listen.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const ODD_PATHS = [
  '/nowhere',
  '/',
  '//v1/tools',
  '/v1/tools/',
  '/%76%31/tools',
  '/V1/tools',
  '/v1/tools/old/%zz',
  '/v1/tools/old/%FF',
  '/mcp/',
  '/%6dcp',
  '/servers//mcp',
  '/servers/%zz/mcp',
];
const PROBLEM = /^content-type: application\/problem\+json/im;

interface Documented {
  readonly method: string;
  readonly path: string;
  readonly id: string;
  readonly scope?: string;
}

/** Every route of the table, as the document names it, with values for what varies. */
function routesOf({ document }: TestApp): Documented[] {
  const paths = document['paths'] as unknown as Record<string, Record<string, JsonObject>>;
  return Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations)
      .filter(([method]) => method !== 'options')
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: template.replaceAll('{ref}', 'nobody').replaceAll(/\{\w+\}/g, 'old'),
        id: String(operation['operationId']),
        scope: operation['x-scope'] as string | undefined,
      })),
  );
}

async function ask(
  { app }: TestApp,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const request = new Request(`http://127.0.0.1:7077${path}`, {
    method,
    headers: { host: '127.0.0.1:7077', 'content-type': 'application/json', 'x-trace-id': 'one', ...headers },
    ...(method === 'POST' ? { body: '{}' } : {}),
  });
  const answer = await app.fetch(request);
  onTestFinished(() => answer.body?.cancel().catch(() => undefined));
  return answer;
}

async function openKnown(): Promise<Gateway> {
  const gateway = await openToolscout({ servers: { old: fixture('legacy') }, limits: { searchWaitMs: 20 } });
  await gateway.servers.discover();
  await (await gateway.registry.get())!.refresh();
  return gateway;
}

describe('the one way of a request', COMPUTES_LONG, () => {
  it('REG-1 every answer of every route carries the trace id, HEAD has no body, and every answer of a route is counted', async () => {
    const http = await openHttpApp(await openKnown());
    const routes = routesOf(http);
    expect(routes.map(({ id }) => id)).toEqual(expect.arrayContaining(['mcp', 'mcpServerEnd', 'health', 'callTool']));
    for (const { method, path } of routes) {
      const answer = await ask(http, method, path);
      expect([method, path, answer.headers.get('x-trace-id')]).toEqual([method, path, 'one']);
      if (method !== 'GET') continue;
      const head = await ask(http, 'HEAD', path);
      expect([path, head.status, await head.text()]).toEqual([path, answer.status, '']);
    }
    const metrics = await (await ask(http, 'GET', '/metrics')).text();
    expect(routes.map(({ id }) => id).filter((id) => !metrics.includes(`{route="${id}",`))).toEqual([]);
  });

  it('REG-1 a method that a path does not have is 405 and names those it has, at /mcp as everywhere', async () => {
    const http = await openHttpApp(await openKnown());
    const routes = routesOf(http);
    for (const path of new Set(routes.map((each) => each.path))) {
      const has = routes.filter((each) => each.path === path).map(({ method }) => method);
      const allowed = [...has, ...(has.includes('GET') ? ['HEAD'] : [])];
      for (const method of ['PUT', 'PATCH', 'DELETE', 'POST', 'GET'].filter((each) => !allowed.includes(each))) {
        const answer = await ask(http, method, path);
        expect([method, path, answer.status, answer.headers.get('allow')?.split(', ').toSorted()]).toEqual([
          method,
          path,
          405,
          allowed.toSorted(),
        ]);
        expect(await answer.json()).toMatchObject({
          code: 'METHOD_NOT_ALLOWED',
          detail: expect.stringContaining(`Method ${method} is not allowed here.`) as string,
          trace_id: 'one',
        });
      }
    }
  });

  it(
    'S1 A7 a foreign Host or Origin is refused at every path and with every method before anything else',
    async () => {
      const gateway = await openKnown();
      const plain = await openHttpApp(gateway);
      const sharing = await openHttpApp(gateway, { allowedOrigins: ['https://studio.example'] });
      const paths = [...new Set([...routesOf(plain).map(({ path }) => path), ...ODD_PATHS])];
      for (const path of paths) {
        for (const method of METHODS) {
          // Health checks answer under any Host; their own test has them.
          const isProbe = ['/health', '/ready'].includes(path) && ['GET', 'HEAD'].includes(method);
          const foreign: ReadonlyArray<Record<string, string>> = [
            ...(isProbe ? [] : [{ host: 'evil.example' }]),
            { origin: 'http://evil.example' },
            { host: 'evil.example', origin: 'http://localhost:3000' },
          ];
          for (const headers of foreign) {
            for (const http of [plain, sharing]) {
              const answer = await ask(http, method, path, headers);
              expect({ method, path, status: answer.status }).toEqual({ method, path, status: 403 });
              const body = await answer.text();
              if (method === 'HEAD') expect(body).toBe('');
              else expect(body).toContain('is not allowed.');
            }
          }
        }
      }
    },
    patient(120_000),
  );

  it('A1 a path that only looks like one of the table is not found, with every method', async () => {
    const http = await openHttpApp(await openKnown(), { studio: undefined });
    for (const path of ODD_PATHS) {
      for (const method of METHODS) {
        const answer = await ask(http, method, path);
        expect({ method, path, status: answer.status }).toEqual({ method, path, status: 404 });
        expect(answer.headers.get('content-type')).toBe('application/problem+json');
      }
    }
  });

  it('S9 S10 every route with a scope asks for a key, and names the scope that is missing', async () => {
    const gateway = await openToolscout(
      { http: { auth: { keys: [{ name: 'team', key: '${KEY}', scopes: ['read'] }] } } },
      { env: { KEY: 'a-key-of-more-than-sixteen' } },
    );
    const http = await openHttpApp(gateway);
    for (const { method, path, scope } of routesOf(http).filter((each) => each.scope !== undefined)) {
      for (const authorization of ['', 'Bearer wrong']) {
        const answer = await ask(http, method, path, { authorization });
        expect([method, path, answer.status]).toEqual([method, path, 401]);
        expect(answer.headers.get('www-authenticate')).toContain('resource_metadata=');
      }
      if (scope === 'read') continue;
      const answer = await ask(http, method, path, { authorization: 'Bearer a-key-of-more-than-sixteen' });
      expect([method, path, answer.status]).toEqual([method, path, 403]);
      expect(answer.headers.get('www-authenticate')).toContain(`error="insufficient_scope", scope="${scope}"`);
    }
  });

  it('S1 A1 judges first lines and Host headers that no library would send', async () => {
    const { app } = await openHttpApp(await openKnown(), { studio: undefined });
    const front = await listen(app, { host: '127.0.0.1', port: 0 });
    onTestFinished(() => front.close());
    const { port } = new URL(front.url);
    const send = (target: string, hosts: string[], more: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(Number(port), '127.0.0.1');
        let text = '';
        socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        socket.on('error', () => resolve('broken'));
        socket.on('close', () => resolve(text));
        const lines = hosts.map((host) => `Host: ${host}\r\n`).join('');
        socket.write(`GET ${target} HTTP/1.1\r\n${lines}${more}Connection: close\r\n\r\n`);
      });
    const ours = `127.0.0.1:${port}`;
    const expected: Array<[target: string, hosts: string[], status: number]> = [
      ['/v1/tools', [ours], 200],
      [`http://${ours}/v1/tools`, [ours], 200],
      [`http://user:pw@${ours}/v1/tools`, [ours], 200],
      [`http://${ours}`, [ours], 404],
      [`http://${ours}?x`, [ours], 404],
      ['http://evil.example/v1/tools', [ours], 403],
      ['http://evil.example/mcp', [ours], 403],
      [`http://${ours}@evil.example/v1/tools`, [ours], 403],
      [`http://${ours}/v1/tools`, ['evil.example'], 403],
      ['ftp://127.0.0.1/v1/tools', [ours], 400],
      ['file:///v1/tools', [ours], 400],
      ['*', [ours], 400],
      ['//evil.example/v1/tools', [ours], 404],
      ['/v1/tools', [], 403],
      ['/v1/tools', [''], 403],
      ['/v1/tools', [ours, 'evil.example'], 403],
      ['/v1/tools', ['evil.example', ours], 403],
      ['/v1/tools', ['[::1'], 400],
      ['/v1/tools', [`${ours},${ours}`], 400],
      ['/v1/tools', ['127.0.0.1:99999'], 400],
      ['/v1/tools', ['127.0.0.1:'], 400],
      ['/mcp', ['127.0.0.1:99999'], 400],
      ['/v1/tools', ['localhost.'], 403],
    ];
    for (const [target, hosts, status] of expected) {
      for (const origin of ['', 'Origin: http://localhost:3000\r\n']) {
        const text = await send(target, hosts, origin);
        expect({ target, hosts, status: /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? text }).toEqual({
          target,
          hosts,
          status: String(status),
        });
        expect(text).toMatch(/^x-trace-id: \S+/im);
        expect(text).toMatch(status === 200 ? /^content-type: application\/json/im : PROBLEM);
      }
    }
  });

  it('REG-1 an unexpected error is a problem without its details, at the API as at /mcp', async () => {
    const gateway = await openKnown();
    const fail = (): never => {
      throw new Error('secret-detail');
    };
    const http = await openHttpApp(
      wrapGateway(gateway, () => ({ 'servers.list': fail })),
      { mcpFor: fail },
    );
    for (const path of ['/v1/servers', '/mcp', '/servers/old/mcp']) {
      const answer = await ask(http, 'GET', path);
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        500,
        'application/problem+json',
      ]);
      expect(await answer.text()).not.toContain('secret-detail');
    }
  });
});
