import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../../test/support/fixture.js';
import { openHttpApp, type TestApp } from '../../../test/support/http-app.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import type { Gateway } from '../../gateway/index.js';
import { listen } from './listen/listen.js';

/** A page that may ask but with which nothing is shared: its requests walk through the app, others do not. */
const WALKING = { origin: 'http://localhost:3000' };
const FOREIGN: ReadonlyArray<Record<string, string>> = [
  { host: 'evil.example' },
  { origin: 'http://evil.example' },
  { host: 'evil.example', ...WALKING },
];
const SHARED = { allowedOrigins: ['https://studio.example'] };
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const ODD_PATHS = [
  '/nowhere',
  '/',
  '//v1/tools',
  '/v1/tools/',
  '/v1/../health',
  '/%68ealth',
  '/V1/tools',
  '/v1/tools/old/%zz',
  '/v1/tools/old/%FF',
  '/v1/tools?alive=maybe',
  '/v1/tools?q=old',
  '/mcp',
  '/mcp/',
  '/%6dcp',
  '/servers/old/mcp',
  '/servers/nobody/mcp',
  '/servers/a%2Fb/mcp',
  '/servers//mcp',
];

interface Seen {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** What differs from one request to the next in any case. */
const lasting = (body: string): string =>
  body.replaceAll(/"(trace_id|generated_at|last_checked_ts|since|time|id|resetAt)":("[^"]*"|\d+)/g, '"$1":0');

async function ask(http: TestApp, method: string, path: string, headers: Record<string, string>): Promise<Seen> {
  const request = new Request(`http://127.0.0.1:7077${path}`, {
    method,
    headers: { host: '127.0.0.1:7077', 'content-type': 'application/json', 'x-trace-id': 'one', ...headers },
    ...(method === 'POST' ? { body: '{}' } : {}),
  });
  const answer = await http.app.fetch(request);
  const isStream = answer.headers.get('content-type') === 'text/event-stream';
  if (isStream) await answer.body?.cancel();
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: isStream ? '' : lasting(await answer.text()),
  };
}

function pathsOf({ document }: TestApp): string[] {
  const paths = Object.keys(document['paths'] as object).map((path) =>
    path.replaceAll('{ref}', 'nobody').replaceAll(/\{\w+\}/g, 'old'),
  );
  // What is counted changes by being asked for.
  return [...paths.filter((path) => path !== '/metrics' && path !== '/v1/audit'), ...ODD_PATHS];
}

async function openKnown(): Promise<Gateway> {
  const gateway = await openToolscout({ servers: { old: fixture('legacy') }, limits: { searchWaitMs: 20 } });
  await gateway.discover();
  await (await gateway.registry())!.refresh();
  return gateway;
}

const counted = (text: string): string[] =>
  text.split('\n').filter((line) => line.startsWith('toolscout_http_requests'));

describe('two ways to one answer', () => {
  it('REG-1 S1 S12 whether or not a request walks through the app, the answer and what is counted are the same', async () => {
    const gateway = await openKnown();
    const [direct, walked] = [await openHttpApp(gateway, SHARED), await openHttpApp(gateway, SHARED)];
    for (const path of pathsOf(direct)) {
      for (const method of METHODS) {
        const wanted = { method, path, ...(await ask(walked, method, path, WALKING)) };
        expect({ method, path, ...(await ask(direct, method, path, {})) }).toEqual(wanted);
        if (method === 'HEAD') expect(wanted.body).toBe('');
      }
    }
    const measured = async ({ send }: TestApp, headers: Record<string, string>): Promise<string[]> =>
      counted(await (await send('/metrics', { headers })).text());
    const lines = await measured(direct, {});
    expect(lines.length).toBeGreaterThan(30);
    expect(await measured(walked, WALKING)).toEqual(lines);
  }, 120_000);

  it('S1 A7 what is refused is refused on both ways alike', async () => {
    const gateway = await openKnown();
    const [plain, sharing] = [await openHttpApp(gateway), await openHttpApp(gateway, SHARED)];
    // Probes answer under any Host, however they are spelled; their own test has them.
    const paths = pathsOf(plain).filter((path) => !/^\/(?:health|ready|%68ealth|v1\/\.\.\/health)$/.test(path));
    for (const path of [...paths, '/metrics', '/v1/audit']) {
      for (const method of METHODS) {
        for (const headers of FOREIGN) {
          const wanted = { method, path, ...(await ask(sharing, method, path, headers)) };
          expect(wanted).toMatchObject({
            status: 403,
            body: method === 'HEAD' ? '' : expect.stringContaining('may not'),
          });
          expect({ method, path, ...(await ask(plain, method, path, headers)) }).toEqual(wanted);
        }
      }
    }
  }, 120_000);

  it('S9 S10 keys are asked for and challenged alike', async () => {
    const gateway = await openToolscout(
      { http: { auth: { keys: [{ name: 'team', key: '${KEY}', scopes: ['read'] }] } } },
      { env: { KEY: 'a-key-of-more-than-sixteen' } },
    );
    const http = await openHttpApp(gateway, SHARED);
    for (const path of [
      '/v1/tools',
      '/v1/servers',
      '/v1/config',
      '/v1/call',
      '/mcp',
      '/servers/x/mcp',
      '/v0.1/servers',
    ]) {
      for (const authorization of ['', 'Bearer wrong', 'Bearer a-key-of-more-than-sixteen']) {
        for (const method of ['GET', 'POST']) {
          const wanted = { path, ...(await ask(http, method, path, { authorization, ...WALKING })) };
          expect({ path, ...(await ask(http, method, path, { authorization })) }).toEqual(wanted);
        }
      }
    }
  });

  it('S1 A1 first lines and hosts that no library would send are judged alike', async () => {
    const { app } = await openHttpApp(await openKnown(), SHARED);
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
    const judged = (text: string): string[] => [
      /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? text,
      /^content-type: (.*)$/im.exec(text)?.[1]?.trim() ?? '',
      /"code":"?([\w-]+)/.exec(text)?.[1] ?? '',
      String(/^x-trace-id: \S+/im.test(text)),
    ];
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
      const direct = judged(await send(target, hosts, ''));
      expect({ target, hosts, direct }).toEqual({ target, hosts, direct: [String(status), ...direct.slice(1)] });
      expect({ target, hosts, seen: judged(await send(target, hosts, `Origin: ${WALKING.origin}\r\n`)) }).toEqual({
        target,
        hosts,
        seen: direct,
      });
      expect(direct[3]).toBe('true');
    }
  });

  it('REG-1 a fault that nobody foresaw is a problem on both ways, and tells nothing', async () => {
    const gateway = await openKnown();
    const broken = { ...gateway, listServers: () => Promise.reject(new Error('secret-detail')) };
    const http = await openHttpApp(broken, { ...SHARED, mcpOver: gateway });
    const direct = await ask(http, 'GET', '/v1/servers', {});
    expect([direct.status, direct.headers['content-type']]).toEqual([500, 'application/problem+json']);
    expect(direct.body).not.toContain('secret-detail');
    expect(await ask(http, 'GET', '/v1/servers', WALKING)).toEqual(direct);
  });
});
