import { wrapGateway } from '../../../gateway/index.js';
import { describe, expect, it } from 'vitest';
import { openHttpApp, type TestApp } from '../../../../test/support/http-app.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';

const KEY = 'a-key-of-more-than-sixteen';
const PAGE = { origin: 'https://editor.example' };
const OPEN = [
  '/v0.1/servers',
  '/v0.1/servers/local.toolscout%2Fold/versions',
  '/v0.1/servers/local.toolscout%2Fold/versions/latest',
  '/.well-known/mcp',
  '/.well-known/ai-catalog.json',
  '/.well-known/oauth-protected-resource',
  '/mcp/server-card',
];
const CLOSED = [
  '/v1/tools',
  '/v1/servers',
  '/v1/search?q=x',
  '/v1/events',
  '/v1/config',
  '/health',
  '/metrics',
  '/mcp',
];
const servers = { old: { command: '/no/such/program' } };

async function openLocked(): Promise<TestApp> {
  const http = { auth: { keys: [{ name: 'team', key: '${KEY}' }] } };
  return openHttpApp(await openToolscout({ servers, http }, { env: { KEY } }));
}

describe('pages of other origins', STARTS_PROCESSES, () => {
  it('REG-8 S1 where every request brings a key, any page may read what is published', async () => {
    const { send } = await openLocked();
    for (const path of OPEN) {
      const preflight = await send(path, {
        method: 'OPTIONS',
        headers: {
          ...PAGE,
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'authorization,x-trace-id',
        },
      });
      expect({ path, status: preflight.status }).toEqual({ path, status: 204 });
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
      expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD');
      // A star does not stand for this one (Fetch, "CORS non-wildcard request-header name").
      expect(preflight.headers.get('access-control-allow-headers')?.split(', ')).toContain('Authorization');
      const answer = await send(path, { headers: { ...PAGE, authorization: `Bearer ${KEY}` } });
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      // Nothing that a browser adds by itself opens anything.
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
      const head = await send(path, { method: 'HEAD', headers: { ...PAGE, authorization: `Bearer ${KEY}` } });
      expect(head.status).toBe(200);
    }
  });

  it('REG-8 S9 a page without a key learns that it needs one, and where to get it', async () => {
    const { send } = await openLocked();
    const refused = await send('/v0.1/servers', { headers: { ...PAGE, cookie: `key=${KEY}` } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect(refused.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
  });

  it('S1 with or without keys every other route is closed to them, and so is a foreign Host', async () => {
    const { send, post } = await openLocked();
    const authorization = `Bearer ${KEY}`;
    for (const path of CLOSED) {
      for (const method of ['GET', 'OPTIONS']) {
        const answer = await send(path, { method, headers: { ...PAGE, authorization } });
        expect({ path, method, status: answer.status }).toEqual({ path, method, status: 403 });
        expect(answer.headers.has('access-control-allow-origin')).toBe(false);
      }
    }
    expect((await post('/v0.1/servers', {}, { ...PAGE, authorization })).status).toBe(403);
    expect((await post('/v1/call', {}, { ...PAGE, authorization })).status).toBe(403);
    for (const path of OPEN) {
      expect((await send(path, { headers: { ...PAGE, authorization, host: 'evil.example' } })).status).toBe(403);
    }
    expect((await send('/v0.1/nowhere', { headers: PAGE })).status).toBe(403);
  });

  it('S1 REG-8 where no key is asked for, only pages that the config allows read the list', async () => {
    const { send } = await openHttpApp(await openToolscout({ servers }), {
      allowedOrigins: ['https://studio.example'],
    });
    for (const path of OPEN.filter((each) => !each.includes('oauth'))) {
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        const refused = await send(path, { method, headers: PAGE });
        expect({ path, method, status: refused.status }).toEqual({ path, method, status: 403 });
        expect(refused.headers.has('access-control-allow-origin')).toBe(false);
        const allowed = await send(path, { method, headers: { origin: 'https://studio.example' } });
        expect(allowed.status).toBe(method === 'OPTIONS' ? 204 : 200);
        expect(allowed.headers.get('access-control-allow-origin')).toBe('*');
      }
    }
  });

  it('S1 pages of origins that the config allows may ask and read everything, /mcp included; others still nothing', async () => {
    const origin = 'https://studio.example';
    const http = { auth: { keys: [{ name: 'team', key: '${KEY}' }] } };
    const { send, post } = await openHttpApp(await openToolscout({ servers, http }, { env: { KEY } }), {
      allowedOrigins: ['HTTPS://studio.example'],
    });
    const authorization = `Bearer ${KEY}`;
    for (const path of ['/v1/tools', '/v1/call', '/mcp', '/servers/old/mcp', '/v1/search?q=x', '/nowhere']) {
      const asking = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
      const preflight = await send(path, { method: 'OPTIONS', headers: { origin, ...asking } });
      expect({ path, status: preflight.status }).toEqual({ path, status: 204 });
      expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
      expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, DELETE');
      expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
      expect(preflight.headers.get('vary')?.toLowerCase()).toContain('origin');
      const refused = await send(path, { method: 'OPTIONS', headers: { ...PAGE, ...asking } });
      expect({ path, status: refused.status }).toEqual({ path, status: 403 });
      expect(refused.headers.has('access-control-allow-origin')).toBe(false);
    }
    const read = await send('/v1/servers', { headers: { origin, authorization } });
    expect([read.status, read.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    expect(read.headers.get('access-control-expose-headers')).toContain('Mcp-Session-Id');
    expect(read.headers.has('access-control-allow-credentials')).toBe(false);
    for (const answer of [
      await send('/v1/servers', { headers: { origin } }),
      await post('/v1/call', {}, { origin, authorization }),
      await post('/mcp', {}, { origin, authorization }),
      await post('/mcp', {}, { origin }),
      await send('/nowhere', { headers: { origin } }),
    ]) {
      expect([answer.status >= 400, answer.headers.get('access-control-allow-origin')]).toEqual([true, origin]);
    }
    const plain = await send('/v1/servers', { headers: { authorization } });
    expect(plain.headers.has('access-control-allow-origin')).toBe(false);
    const local = await send('/v1/servers', { headers: { authorization, origin: 'http://localhost:3000' } });
    expect([local.status, local.headers.has('access-control-allow-origin')]).toEqual([200, false]);
  });

  it('S1 REG-8 a reload that takes the keys away closes it again', async () => {
    const gateway = await openToolscout(
      { servers, http: { auth: { keys: [{ name: 'team', key: '${KEY}' }] } } },
      { env: { KEY } },
    );
    let isLocked = true;
    const loaded = gateway.internal.loaded();
    const { auth: _auth, ...open } = loaded.config.http;
    const { send } = await openHttpApp(
      wrapGateway(gateway, () => ({
        'internal.loaded': () => (isLocked ? loaded : { ...loaded, config: { ...loaded.config, http: open } }),
      })),
    );
    const headers = { ...PAGE, authorization: `Bearer ${KEY}` };
    expect((await send('/v0.1/servers', { headers })).status).toBe(200);
    isLocked = false;
    expect((await send('/v0.1/servers', { headers })).status).toBe(403);
  });
});
