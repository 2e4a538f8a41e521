import { checkResourceAllowed, extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../../test/support/fake-clock.js';
import { fixture, startHttpFixture } from '../../../../test/support/fixture.js';
import { openHttpApp, type TestApp } from '../../../../test/support/http-app.js';
import { modernPost } from '../../../../test/support/modern-request.js';
import { openToolscout, startCounter } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { wrapGateway, type Gateway } from '../../../gateway/index.js';
import { sha256 } from '../../../kernel/hash.js';
import type { ConfigInput } from '../../../model/config.js';
import { listen } from '../listen/listen.js';
import { viewerOf } from '../../../gateway/index.js';

const READ = 'reader-key-0123456789';
const CALL = 'caller-key-0123456789';
const ROOT = 'admin-key-00123456789';
const SOME = 'some-servers-key-0123456';
const env = { PATH: process.env['PATH'], READ, ROOT, SOME };

const AUTH: NonNullable<ConfigInput['http']> = {
  auth: {
    keys: [
      { name: 'reader', key: '${READ}', scopes: ['read'] },
      { name: 'caller', hash: sha256(CALL) },
      { name: 'root', key: '${ROOT}', scopes: ['admin'] },
      { name: 'some', key: '${SOME}', scopes: ['call'], servers: ['old', 'unheard-of'] },
    ],
  },
};
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
const echo = { server: 'old', tool: 'echo', arguments: { message: 'hi' } };

async function openLocked(config: ConfigInput = {}): Promise<{ gateway: Gateway; http: TestApp }> {
  const gateway = await openToolscout(
    { servers: { old: fixture('legacy'), hidden: fixture('modern') }, http: AUTH, ...config },
    { env },
  );
  return { gateway, http: await openHttpApp(gateway) };
}

const MCP = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'h', version: '1' } },
};

describe('keys', STARTS_PROCESSES, () => {
  it('FIND-5 S12 why a tool is or is not offered: a server that is not to be seen is none, and a key that may only look is told so', async () => {
    const { gateway, http } = await openLocked({
      servers: { old: fixture('legacy'), older: fixture('legacy'), hidden: fixture('modern') },
      toolRules: [{ pattern: 'crash', enabled: false }],
    });
    await gateway.servers.discover();
    const why = async (key: string, path: string): Promise<unknown> =>
      (await http.send(`/v1/why/${path}`, { headers: bearer(key) })).json();
    expect(await why(ROOT, 'hidden/echo')).toMatchObject({ address: 'hidden:echo', offered: true, because: 'none' });
    expect(await why(SOME, 'old/echo')).toMatchObject({ offered: true, because: 'none' });
    expect(await why(SOME, 'old/crash')).toMatchObject({ offered: false, because: 'rule' });
    expect(await why(SOME, 'old/nothing')).toMatchObject({ offered: false, because: 'unknown-tool' });
    for (const unseen of ['hidden', 'older', 'hiddem', 'nowhere', 'unheard-of', '__proto__']) {
      expect(await why(SOME, `${unseen}/echo`)).toEqual({
        address: `${unseen}:echo`,
        offered: false,
        because: 'server',
        reason: `No server "${unseen}" is configured.`,
      });
    }
    expect(await why(READ, 'old/echo')).toEqual({
      address: 'old:echo',
      offered: false,
      because: 'scope',
      reason: '"old:echo" is offered, but "reader" may not call it: the scope "call" is missing.',
    });
    // What stands in everybody's way is told first.
    expect(await why(READ, 'old/crash')).toMatchObject({ because: 'rule' });
    expect((await http.send('/v1/why/old/echo')).status).toBe(401);
  });

  it('S9 A7 a caller without a key is refused on every route that is not public, the MCP endpoint and streams included', async () => {
    const { http } = await openLocked();
    const wrong: Array<Record<string, string>> = [
      {},
      bearer('wrong-key-0123456789'),
      bearer(READ.slice(0, -1)),
      bearer(`${READ}x`),
      { authorization: READ },
      { authorization: `Basic ${btoa(`a:${READ}`)}` },
      { authorization: 'Bearer ' },
      { cookie: `key=${READ}` },
      { 'x-api-key': READ },
    ];
    for (const headers of wrong) {
      for (const path of [
        '/v1/tools',
        '/v1/servers',
        '/v1/events',
        '/v1/config',
        '/metrics',
        '/mcp',
        '/v0.1/servers',
      ]) {
        const response = await http.send(path, { headers });
        expect({ path, status: response.status }).toEqual({ path, status: 401 });
        expect(response.headers.get('www-authenticate')).toMatch(
          /^Bearer .*resource_metadata="http:\/\/127\.0\.0\.1:7077\/\.well-known\/oauth-protected-resource"$/,
        );
      }
    }
    for (const path of ['/health', '/ready', '/openapi.json', '/.well-known/mcp']) {
      expect((await http.send(path)).status).toBe(200);
    }
  });

  it('S10 a key in the address is refused, even beside a good one', async () => {
    const { http } = await openLocked();
    expect((await http.send(`/v1/servers?access_token=${READ}`)).status).toBe(401);
    expect((await http.send(`/v1/servers?access_token=${READ}`, { headers: bearer(READ) })).status).toBe(401);
  });

  it('S10 S12 a scope that is missing is a 403 that names it; more scope holds less', async () => {
    const { gateway, http } = await openLocked();
    const refused = await http.post('/v1/call', echo, bearer(READ));
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="call"');
    expect((await http.post('/mcp', initialize, { ...MCP, ...bearer(READ) })).status).toBe(403);
    expect((await http.send('/v1/config', { headers: bearer(CALL) })).status).toBe(403);
    expect((await http.post('/v1/config/reload', undefined, bearer(CALL))).status).toBe(403);
    expect((await http.send('/v1/servers', { headers: bearer(CALL) })).status).toBe(200);
    expect((await http.post('/v1/call', echo, bearer(CALL))).status).toBe(200);
    expect((await http.send('/v1/config', { headers: bearer(ROOT) })).status).toBe(200);
    expect((await http.post('/v1/call', echo, bearer(ROOT))).status).toBe(200);
    expect((await http.post('/v1/config/reload', undefined, bearer(ROOT))).status).toBe(200);
    expect(await gateway.audit.list({ kind: 'reload' })).toMatchObject([{ principal: 'root' }]);
  });

  it.each([
    ['POST', '/v1/servers', { id: 'n1', command: 'touch', args: ['/tmp/pwn'] }],
    ['POST', '/v1/servers', { id: 'n1', url: 'https://a.example/mcp' }],
    ['POST', '/v1/introspections', { url: 'https://a.example/mcp' }],
    ['DELETE', '/v1/servers/test', undefined],
    ['POST', '/v1/approvals/test/approve', {}],
    ['POST', '/v1/approvals/test/reject', {}],
    ['POST', '/v1/config/reload', undefined],
    ['POST', '/v1/store/accept', undefined],
  ])('A1 SEC-9 without keys %s %s needs serve --admin', async (method, path, body) => {
    const gateway = await openToolscout({ servers: { test: fixture('legacy') }, approval: 'manual' });
    const plain = await openHttpApp(gateway, { localAdmin: false });
    const init = {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    };
    const refused = await plain.send(path, init);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      detail: expect.stringContaining('http.auth') as string,
      suggestion: expect.stringContaining('--admin') as string,
    });
    expect(await gateway.audit.list({ kind: 'reload' })).toEqual([]);
    expect((await gateway.approvals.list()).filter(({ state }) => state !== 'pending')).toEqual([]);
    const admin = await openHttpApp(gateway, { localAdmin: true });
    const answered = await admin.send(path, init);
    const told = answered.status === 204 ? '' : await answered.text();
    expect(told).not.toContain('--admin');
  });

  it('A34 S12 how servers are launched is shown to the scope admin alone', async () => {
    const { http } = await openLocked();
    const seenWith = async (key: string): Promise<object[]> => {
      const answer = await http.send('/v1/servers', { headers: bearer(key) });
      const { servers } = (await answer.json()) as { servers: Array<{ transport: object }> };
      return servers.map(({ transport }) => transport);
    };
    for (const key of [READ, CALL]) {
      for (const transport of await seenWith(key)) expect(Object.keys(transport)).toEqual(['type']);
    }
    const whole = { type: 'stdio', target: expect.stringContaining('node') as string, secrets: [] };
    expect(await seenWith(ROOT)).toContainEqual(whole);
  });

  it('A34 S12 approvals and events name the command of a server to the scope admin alone', async () => {
    const { http, gateway } = await openLocked();
    const readEvents = async (key: string): Promise<ReadableStreamDefaultReader<string>> => {
      const answer = await http.send('/v1/events', { headers: bearer(key) });
      return answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    };
    const streams = await Promise.all([readEvents(READ), readEvents(ROOT)]);
    await gateway.servers.register({ id: 'proposed', command: 'launch-me', args: ['--now'] });
    const paths = ['/v1/approvals', '/v1/approvals/proposed/diff'];
    for (const [at, key] of [READ, ROOT].entries()) {
      const told = await Promise.all(
        paths.map(async (path) => (await http.send(path, { headers: bearer(key) })).text()),
      );
      let event = '';
      while (!/event: approval\ndata: .*\n/.test(event)) event += (await streams[at]!.read()).value;
      for (const text of [...told, event]) {
        expect(text).toContain('proposed');
        expect(text.includes('launch-me')).toBe(key === ROOT);
      }
      await streams[at]!.cancel();
    }
  });

  it('A1 A3 A8 nothing in a request starts a program, changes a transport or changes who its sender is', async () => {
    const { http } = await openLocked();
    for (const path of ['/v1/servers', '/v1/servers/test', '/mcp-rest/test', '/v1/call']) {
      const body = { ...echo, command: 'sh', args: ['-c', 'touch /tmp/pwn'], transport: 'stdio' };
      const response = await http.post(path, body, bearer(CALL));
      expect([400, 403, 404, 405]).toContain(response.status);
    }
    const internal = { 'x-forwarded-user': 'root', 'x-toolscout-principal': 'root', 'x-original-url': '/health' };
    expect((await http.send('/v1/config', { headers: internal })).status).toBe(401);
    expect((await http.send('/v1/config', { headers: { ...internal, ...bearer(READ) } })).status).toBe(403);
    const forwarded = await http.send('/.well-known/oauth-protected-resource', {
      headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' },
    });
    expect(await forwarded.text()).not.toContain('evil.example');
  });

  it('EXEC-5 S12 what a key does stands under its name in the audit log', async () => {
    const { gateway, http } = await openLocked();
    const traced = { ...bearer(CALL), 'x-trace-id': 'trace-7' };
    expect((await http.post('/v1/call', echo, traced)).headers.get('x-trace-id')).toBe('trace-7');
    await expect
      .poll(async () => gateway.audit.list({ kind: 'execution' }))
      .toMatchObject([{ principal: 'caller', route: 'http', traceId: 'trace-7', server: 'old' }]);
  });

  it('SEC-9 S12 only an administrator approves, in their own name; a limited caller sees no other requests', async () => {
    const { http } = await openLocked({ approval: 'manual' });
    const pending = async (key: string): Promise<Array<{ ref: string; server: string }>> => {
      const response = await http.send('/v1/approvals?state=pending', { headers: bearer(key) });
      return ((await response.json()) as { approvals: Array<{ ref: string; server: string }> }).approvals;
    };
    await http.send('/v1/servers/old/tools', { headers: bearer(READ) });
    await http.send('/v1/servers/hidden/tools', { headers: bearer(READ) });
    expect(new Set((await pending(READ)).map(({ server }) => server))).toEqual(new Set(['old', 'hidden']));
    expect(new Set((await pending(SOME)).map(({ server }) => server))).toEqual(new Set(['old']));
    expect((await http.send('/v1/approvals/hidden/diff', { headers: bearer(SOME) })).status).toBe(404);
    const path = '/v1/approvals/old%3Aecho/approve';
    expect((await http.post('/v1/call', echo, bearer(CALL))).status).toBe(403);
    for (const key of [READ, CALL, SOME]) expect((await http.post(path, {}, bearer(key))).status).toBe(403);
    expect((await http.post(path, { reason: 'not read' }, bearer(ROOT))).status).toBe(403);
    await http.send('/v1/approvals/old%3Aecho/diff', { headers: bearer(ROOT) });
    const approved = await http.post(path, { reason: 'read it' }, bearer(ROOT));
    expect(await approved.json()).toMatchObject({
      approvals: [{ ref: 'old:echo', state: 'approved', ruling: { by: 'root', reason: 'read it' } }],
    });
    expect((await http.post('/v1/call', echo, bearer(CALL))).status).toBe(200);
  });

  it('A33 neither a key nor its hash is in anything that is shown', async () => {
    const { http, gateway } = await openLocked();
    const shown = await (await http.send('/v1/config', { headers: bearer(ROOT) })).text();
    for (const key of [READ, CALL, ROOT, SOME]) {
      expect(shown).not.toContain(key);
      expect(shown).not.toContain(sha256(key));
    }
    expect(shown).toContain('"name":"reader"');
    expect(JSON.stringify(gateway.internal.loaded().config)).not.toContain(READ);
  });

  it('CFG-3 a key that is not set or too short opens nothing and is named; one written out is refused', async () => {
    const keys = [
      { name: 'a', key: '${NOT_SET}' },
      { name: 'b', key: '${SHORT}' },
    ];
    const gateway = await openToolscout({ http: { auth: { keys } } }, { env: { SHORT: 'short' } });
    const http = await openHttpApp(gateway);
    for (const key of ['', 'short', '${NOT_SET}']) {
      expect((await http.send('/v1/servers', { headers: bearer(key) })).status).toBe(401);
    }
    const paths = gateway.internal.loaded().warnings.map(({ path }) => path);
    expect(paths).toEqual(['http.auth.keys[0].key', 'http.auth.keys[1].key']);
    await expect(openToolscout({ http: { auth: { keys: [{ name: 'a', key: 'written-out' }] } } })).rejects.toThrow(
      'http.auth.keys[0]',
    );
    await expect(openToolscout({ http: { auth: { keys: [{ name: 'a' }] } } })).rejects.toThrow('either key or hash');
  });
});

describe('a caller limited to some servers', STARTS_PROCESSES, () => {
  it('S12 neither sees nor finds nor calls others, and cannot tell them from what does not exist', async () => {
    const { gateway, http } = await openLocked();
    await gateway.servers.discover();
    await (await gateway.registry.get())!.refresh();
    const headers = bearer(SOME);
    const get = async (path: string): Promise<string> => (await http.send(path, { headers })).text();
    for (const path of [
      '/v1/tools',
      '/v1/servers',
      '/v1/search?q=echo%20message&limit=100',
      '/v1/search?q=zzzzqq',
      '/v0.1/servers',
      '/v0.1/servers/local.toolscout%2Fhidden/versions',
      '/v1/tools/old/ech',
    ]) {
      expect({ path, text: await get(path) }).toEqual({ path, text: expect.not.stringContaining('"hidden') as string });
      expect(await get(path)).not.toContain('hidden:');
    }
    expect(await get('/v1/servers')).toContain('"old"');
    const { hits } = JSON.parse(await get('/v1/search?q=echo')) as { hits: Array<{ server: string; tool: string }> };
    expect(hits[0]).toMatchObject({ server: 'old', tool: 'echo' });
    expect(new Set(hits.map(({ server }) => server))).toEqual(new Set(['old']));
    const like = async (server: string): Promise<unknown> => {
      const trace = { ...headers, 'x-trace-id': 't' };
      const called = await http.post('/v1/call', { server, tool: 'echo', arguments: { message: 'x' } }, trace);
      const listed = await http.send(`/v1/servers/${server}/tools`, { headers: trace });
      return [called.status, await called.json(), listed.status, await listed.json()];
    };
    const hidden = JSON.stringify(await like('hidden'));
    expect(hidden).toBe(JSON.stringify(await like('nosuch')).replaceAll('nosuch', 'hidden'));
    expect(hidden).toBe(JSON.stringify(await like('unheard-of')).replaceAll('unheard-of', 'hidden'));
    expect((await http.post('/v1/call', echo, headers)).status).toBe(200);
    for (const path of ['/metrics', '/v1/audit', '/v1/config']) {
      expect((await http.send(path, { headers })).status).toBe(403);
    }
    // No further scope would help, so none is asked for; where one would, it is named.
    const asked = async (path: string): Promise<string | null> =>
      (await http.send(path, { headers })).headers.get('www-authenticate');
    expect(await asked('/metrics')).toBeNull();
    expect(await asked('/v1/audit')).toContain('scope="admin"');
  });

  it('S12 the same holds at the MCP endpoint', async () => {
    const { gateway, http } = await openLocked();
    await gateway.servers.discover();
    const opened = await http.post('/mcp', initialize, { ...MCP, ...bearer(SOME) });
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')! };
    expect(await opened.text()).not.toContain('hidden');
    const call = async (name: string, args: object): Promise<string> => {
      const body = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: args } };
      return (await http.post('/mcp', body, { ...MCP, ...session, ...bearer(SOME) })).text();
    };
    expect(await call('list_mcp_servers', {})).not.toContain('hidden');
    expect(await call('search_tools', { query: 'echo' })).not.toContain('hidden');
    const refused = await call('execute_tool', { server: 'hidden', tool: 'echo', arguments: { message: 'x' } });
    expect(refused).toContain('SERVER_NOT_FOUND');
    expect(await call('execute_tool', { server: 'old', tool: 'echo', arguments: { message: 'seen' } })).toContain(
      'seen',
    );
    await expect
      .poll(async () => gateway.audit.list({ kind: 'execution' }))
      .toMatchObject([
        { principal: 'some', server: 'old', outcome: 'success' },
        { principal: 'some', server: 'hidden', outcome: 'refused', code: 'SERVER_NOT_FOUND', route: 'mcp' },
      ]);
  });

  it('EXEC-5 S12 a call of a server that they may not see is in the audit log as refused, at every door, and starts nothing', async () => {
    const starts = await startCounter();
    const { gateway, http } = await openLocked({
      servers: { old: fixture('legacy'), hidden: fixture('legacy', starts.flag) },
    });
    const headers = { ...bearer(SOME), 'x-trace-id': 'asked-by-some' };
    const call = { server: 'hidden', tool: 'echo', arguments: { message: 'x', password: 'arg-canary' } };
    expect((await http.post('/v1/call', call, headers)).status).toBe(404);
    const streamed = await http.post('/v1/call', call, { ...headers, accept: 'text/event-stream' });
    expect(await streamed.text()).toContain('SERVER_NOT_FOUND');
    expect((await http.post('/v1/call', { ...call, server: 'unheard-of' }, headers)).status).toBe(404);
    const opened = await http.post('/mcp', initialize, { ...MCP, ...headers });
    await opened.text();
    const rpc = { jsonrpc: '2.0', id: 2, method: 'tools/call' };
    const session = { ...MCP, ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id')! };
    await (await http.post('/mcp', { ...rpc, params: { name: 'execute_tool', arguments: call } }, session)).text();
    const direct = { ...rpc, params: { name: 'echo', arguments: call.arguments } };
    expect((await http.post('/servers/hidden/mcp', direct, { ...MCP, ...headers })).status).toBe(404);
    await expect.poll(async () => (await gateway.audit.list({ outcome: 'refused' })).length).toBe(5);
    const records = await gateway.audit.list({ outcome: 'refused' });
    expect(records.map(({ server, route }) => `${server} ${route}`).toSorted()).toEqual([
      'hidden http',
      'hidden http',
      'hidden mcp',
      'hidden mcp',
      'unheard-of http',
    ]);
    for (const record of records) {
      expect(record).toMatchObject({ kind: 'execution', principal: 'some', tool: 'echo', code: 'SERVER_NOT_FOUND' });
    }
    expect(new Set(records.map(({ traceId }) => traceId))).toEqual(new Set(['asked-by-some']));
    expect(JSON.stringify(records)).not.toContain('arg-canary');
    expect(await starts.pids()).toEqual([]);
  });

  it('EXEC-5 S12 so is what they want to read of it', async () => {
    const { gateway } = await openLocked();
    const seen = gateway.as(viewerOf({ name: 'some', scopes: new Set(['call']), servers: new Set(['old']) }));
    const reading = seen.hosts.relay('hidden', 'resources/read', { uri: 'file:///secret' }, { route: 'mcp' });
    await expect(reading).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND', message: 'There is no server "hidden".' });
    await expect
      .poll(async () => gateway.audit.list({ kind: 'resource-read' }))
      .toMatchObject([{ principal: 'some', server: 'hidden', outcome: 'refused', code: 'SERVER_NOT_FOUND' }]);
  });

  it('S5 a session of one is of no use to another', async () => {
    const { http } = await openLocked();
    const opened = await http.post('/mcp', initialize, { ...MCP, ...bearer(CALL) });
    const session = { ...MCP, 'mcp-session-id': opened.headers.get('mcp-session-id')! };
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await http.post('/mcp', list, { ...session, ...bearer(CALL) })).status).toBe(200);
    expect((await http.post('/mcp', list, { ...session, ...bearer(ROOT) })).status).toBe(404);
    expect((await http.post('/mcp', list, session)).status).toBe(401);
  });
});

describe('what goes on to servers', STARTS_PROCESSES, () => {
  it('S11 neither the key of a caller nor a cookie ever does; the trace does', async () => {
    const upstream = await startHttpFixture('http');
    try {
      const { http } = await openLocked({ servers: { far: { url: upstream.url, headers: { 'X-Own': 'ours' } } } });
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const response = await http.post(
        '/v1/call',
        { server: 'far', tool: 'headers' },
        {
          ...bearer(CALL),
          cookie: 'session=cookie-canary',
          'x-evil': 'evil-canary',
          traceparent,
          tracestate: 'vendor=1',
        },
      );
      const body = await response.text();
      expect({ status: response.status, trace: response.headers.get('x-trace-id') }).toEqual({
        status: 200,
        trace: '0af7651916cd43dd8448eb211c80319c',
      });
      expect(body).toContain('ours');
      for (const canary of [CALL, 'cookie-canary', 'evil-canary']) expect(body).not.toContain(canary);
    } finally {
      await upstream.stop();
    }
  });
});

describe('tokens', STARTS_PROCESSES, () => {
  const ISSUER = 'https://login.example/tenant';
  const AUDIENCE = 'https://tools.example/mcp';

  async function openWithIssuer(more: object = {}, mode: ConfigInput['mode'] = 'meta') {
    const oauth = { issuer: ISSUER, audience: AUDIENCE, ...more };
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const stranger = await generateKeyPair('RS256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' };
    const clock = createFakeClock();
    const asked: string[] = [];
    const served = new Map<string, unknown>([
      [
        'https://login.example/.well-known/oauth-authorization-server/tenant',
        { issuer: ISSUER, jwks_uri: 'https://login.example/keys' },
      ],
      ['https://login.example/keys', { keys: [jwk] }],
    ]);
    const gateway = await openToolscout({
      servers: { old: fixture('legacy'), hidden: fixture('modern') },
      http: { auth: { oauth } },
      mode,
    });
    const http = await openHttpApp(gateway, {
      clock,
      fetchDocument: async (url) => {
        asked.push(url);
        return served.get(url);
      },
    });
    const now = Math.floor(clock.now() / 1000);
    const good: JWTPayload = { sub: 'ann', iss: ISSUER, aud: AUDIENCE, exp: now + 600, scope: 'read call' };
    const sign = (payload: JWTPayload, key = privateKey, header: object = {}): Promise<string> =>
      new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'one', ...header }).sign(key);
    const status = async (token: string, path = '/v1/servers'): Promise<number> =>
      (await http.send(path, { headers: bearer(token) })).status;
    return { http, gateway, oauth, clock, asked, served, good, sign, status, stranger, now, jwk };
  }

  it('S9 S10 a token of the issuer opens what its scopes say, and the document names the issuer', async () => {
    const { http, gateway, good, sign, status, asked } = await openWithIssuer();
    const token = await sign(good);
    expect(await status(token)).toBe(200);
    expect(await status(token, '/v1/config')).toBe(403);
    expect((await http.post('/v1/call', echo, bearer(token))).status).toBe(200);
    await expect
      .poll(async () => gateway.audit.list({ kind: 'execution' }))
      .toMatchObject([{ principal: 'oauth:ann' }]);
    // Metadata and keys are asked for once, however many come.
    expect(asked).toHaveLength(2);
    const document = await (await http.send('/.well-known/oauth-protected-resource')).json();
    expect(document).toMatchObject({ resource: AUDIENCE, authorization_servers: [ISSUER] });
  });

  it('S10 refuses another audience, another issuer, what has expired or never does, no signature, and a strange one', async () => {
    const { good, sign, status, stranger, now, http } = await openWithIssuer();
    const { exp: _exp, ...endless } = good;
    const bad = {
      audience: await sign({ ...good, aud: 'https://other.example' }),
      noAudience: await sign({ ...good, aud: undefined }),
      issuer: await sign({ ...good, iss: 'https://login.example/tenant/' }),
      expired: await sign({ ...good, exp: now - 60 }),
      early: await sign({ ...good, nbf: now + 600 }),
      endless: await sign(endless),
      nobody: await sign({ ...good, sub: undefined }),
      stranger: await sign(good, stranger.privateKey),
      none: new UnsecuredJWT(good).encode(),
      shared: await new SignJWT(good).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(Buffer.alloc(64, 1)),
      cut: (await sign(good)).slice(0, -4),
      garbage: 'a.b.c',
    };
    for (const [what, token] of Object.entries(bad)) {
      expect({ what, status: await status(token) }).toEqual({ what, status: 401 });
    }
    const token = await sign(good);
    expect((await http.send(`/v1/servers?access_token=${token}`)).status).toBe(401);
    expect(await status(await sign({ ...good, scope: '' }))).toBe(403);
    expect(await status(await sign({ ...good, scope: 'reader admins' }))).toBe(403);
  });

  it('S10 a new key of the issuer is asked for, but strangers cannot make us ask again and again', async () => {
    const { good, sign, status, stranger, clock, asked, served, jwk } = await openWithIssuer();
    expect(await status(await sign(good))).toBe(200);
    const unknown = await sign(good, stranger.privateKey, { kid: 'two' });
    for (let turn = 0; turn < 20; turn++) expect(await status(unknown)).toBe(401);
    expect(asked).toHaveLength(2);
    const next = { ...(await exportJWK(stranger.publicKey)), kid: 'two', alg: 'RS256' };
    served.set('https://login.example/keys', { keys: [jwk, next] });
    await clock.advance(31_000);
    expect(await status(unknown)).toBe(200);
    expect(asked).toHaveLength(4);
  });

  it('S10 metadata of another issuer is not believed, and without keys every request is refused', async () => {
    const { good, sign, status, served } = await openWithIssuer();
    served.set('https://login.example/.well-known/oauth-authorization-server/tenant', {
      issuer: 'https://evil.example',
      jwks_uri: 'https://evil.example/keys',
    });
    expect(await status(await sign(good))).toBe(401);
  });

  it('S9 REG-8 a client of one server is led to a resource that covers it, and to an audience that is accepted', async () => {
    const audience = ['https://tools.example/mcp', 'https://tools.example/', 'not-a-url'];
    const { http, gateway } = await openWithIssuer({ audience });
    const loaded = gateway.internal.loaded();
    const withUrl = { ...loaded.config, http: { ...loaded.config.http, publicUrl: 'https://tools.example' } };
    const { send } = await openHttpApp(
      wrapGateway(gateway, () => ({ 'internal.loaded': () => ({ ...loaded, config: withUrl }) })),
    );
    for (const [path, expected] of [
      ['/mcp', 'https://tools.example/mcp'],
      ['/servers/old/mcp', 'https://tools.example/'],
      ['/servers/no%20such/mcp', 'https://tools.example/'],
    ]) {
      const refused = await send(path!, { method: 'POST' });
      expect(refused.status).toBe(401);
      const place = extractWWWAuthenticateParams(refused).resourceMetadataUrl!;
      expect(place.href).toBe(
        `https://tools.example/.well-known/oauth-protected-resource${path === '/mcp' ? '' : path}`,
      );
      for (const about of [place.pathname, `/.well-known/oauth-protected-resource${path}`]) {
        const { resource } = (await (await send(about)).json()) as { resource: string };
        const requestedResource = `https://tools.example${path}`;
        expect(checkResourceAllowed({ requestedResource, configuredResource: resource })).toBe(true);
        expect(audience).toContain(resource);
        if (about !== '/.well-known/oauth-protected-resource') expect(resource).toBe(expected);
      }
    }
    expect((await http.send('/.well-known/oauth-protected-resource/servers/a/b/mcp')).status).toBe(404);
  });

  it('S5 S12 two subjects that begin alike are two principals, however long their names are', async () => {
    const { http, gateway, good, sign } = await openWithIssuer();
    for (const last of ['a', 'b']) {
      const headers = bearer(await sign({ ...good, sub: `${'x'.repeat(254)}${last}` }));
      expect((await http.post('/v1/call', echo, headers)).status).toBe(200);
    }
    await expect.poll(async () => (await gateway.audit.list({ kind: 'execution' })).length).toBe(2);
    const names = (await gateway.audit.list({ kind: 'execution' })).map(({ principal }) => principal);
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name!.length).toBeLessThan(300);
  });

  it('S12 the claim that lists servers narrows, and a token without it sees none', async () => {
    const { http, good, sign } = await openWithIssuer({ serversClaim: 'mcp_servers', scopePrefix: 'ts:' });
    const idsFor = async (payload: JWTPayload): Promise<string[]> => {
      const headers = bearer(await sign({ ...good, scope: 'ts:read', ...payload }));
      const { servers } = (await (await http.send('/v1/servers', { headers })).json()) as {
        servers: Array<{ id: string }>;
      };
      return servers.map(({ id }) => id);
    };
    expect(await idsFor({ mcp_servers: ['old'] })).toEqual(['old']);
    expect(await idsFor({ mcp_servers: 'old hidden' })).toEqual(['hidden', 'old']);
    expect(await idsFor({})).toEqual([]);
  });

  /** A session with a stream, and a modern host that listens. */
  async function followWith(http: TestApp, key: string) {
    const opened = await http.post('/mcp', initialize, { ...MCP, ...bearer(key) });
    await opened.text();
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')! };
    const follow = (withKey: string): Promise<Response> =>
      http.send('/mcp', { headers: { ...MCP, ...session, ...bearer(withKey) } });
    const listen = modernPost('subscriptions/listen', { notifications: { toolsListChanged: true } }, bearer(key));
    const streams = [
      await follow(key),
      await http.send('/mcp', listen as { headers: Record<string, string> }),
      await http.send('/v1/events', { headers: bearer(key) }),
    ];
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
    const ended = streams.map(() => false);
    for (const [at, { body }] of streams.entries()) void new Response(body).text().then(() => (ended[at] = true));
    return { session, follow, ended };
  }

  it('S5 S10 with its token a stream expires; the session goes on with the next token of the same person', async () => {
    const { http, good, sign, clock, now } = await openWithIssuer({}, 'passthrough');
    const { follow, ended } = await followWith(http, await sign({ ...good, exp: now + 100 }));
    await clock.advance(100_000);
    expect(ended).toEqual([false, false, false]);
    // By as much as clocks may differ it is good for longer.
    await clock.advance(30_000);
    await expect.poll(() => ended).toEqual([true, true, true]);
    const again = await follow(await sign({ ...good, exp: now + 900 }));
    expect(again.status).toBe(200);
    await again.body?.cancel();
    expect((await follow(await sign({ ...good, sub: 'bob', exp: now + 900 }))).status).toBe(404);
  });

  it('S5 S10 an issuer that the config does not name any more takes its sessions and streams along', async () => {
    const { http, gateway, good, sign, oauth } = await openWithIssuer({}, 'passthrough');
    const { ended, follow } = await followWith(http, await sign(good));
    await gateway.reload();
    expect(ended).toEqual([false, false, false]);
    oauth.audience = 'https://elsewhere.example';
    await gateway.reload();
    await expect.poll(() => ended).toEqual([true, true, true]);
    expect((await follow(await sign(good))).status).toBe(401);
    expect((await follow(await sign({ ...good, aud: 'https://elsewhere.example' }))).status).toBe(404);
  });
});

describe('a key that is taken back', STARTS_PROCESSES, () => {
  it('S12 a stream of events that was opened with it gets no more events', async () => {
    const { gateway } = await openLocked();
    let loaded = gateway.internal.loaded();
    const { send } = await openHttpApp(wrapGateway(gateway, () => ({ 'internal.loaded': () => loaded })));
    const { auth } = loaded.config.http;
    const take = (next: typeof auth): void => {
      const { config } = loaded;
      loaded = { ...loaded, config: { ...config, http: { ...config.http, auth: next } } };
    };
    const follower = (await send('/v1/events', { headers: bearer(READ) })).body!.getReader();
    const next = async (): Promise<string> => {
      const { value, done } = await follower.read();
      return done ? 'the end' : new TextDecoder().decode(value);
    };
    expect(await next()).toContain('event: hello');
    // Read again and found to be the same: nothing has changed for anybody.
    take(structuredClone(auth));
    await gateway.servers.discover(['old']);
    for (let text = ''; !text.includes('event: learned');) text = await next();
    take({ ...auth!, keys: [] });
    await gateway.servers.discover(['hidden']);
    const rest: string[] = [];
    while (rest.at(-1) !== 'the end') rest.push(await next());
    expect(rest.join('')).not.toContain('hidden');
    expect((await send('/v1/events', { headers: bearer(READ) })).status).toBe(401);
  });
});

describe('a stream of the audit log', STARTS_PROCESSES, () => {
  it('EXEC-5 S12 is for administrators who see all servers, as the query is', async () => {
    const { http } = await openLocked();
    const accept = { accept: 'text/event-stream' };
    for (const [key, status] of [
      [READ, 403],
      [CALL, 403],
      [SOME, 403],
      [ROOT, 200],
    ] as const) {
      const answer = await http.send('/v1/audit', { headers: { ...accept, ...bearer(key) } });
      await answer.body?.cancel();
      expect([key, answer.status]).toEqual([key, status]);
    }
    expect((await http.send('/v1/audit', { headers: accept })).status).toBe(401);
  });

  it.each(['/v1/audit', '/v1/events'])(
    'EXEC-5 S12 %s ends with the next heartbeat when its key was taken back and nothing else happens',
    async (path) => {
      const { gateway } = await openLocked();
      const clock = createFakeClock();
      let loaded = gateway.internal.loaded();
      const quiet = wrapGateway(gateway, () => ({
        'internal.loaded': () => loaded,
        onEvent: () => () => undefined,
      }));
      const { send } = await openHttpApp(quiet, { clock });
      const headers = { accept: 'text/event-stream', ...bearer(ROOT) };
      const follower = (await send(path, { headers })).body!.getReader();
      const next = async (): Promise<string> => {
        const { value, done } = await follower.read();
        return done ? 'the end' : new TextDecoder().decode(value);
      };
      expect(await next()).toContain('event: hello');
      const beating = next();
      await clock.advance(15_000);
      expect(await beating).toBe(': alive\n\n');
      const { config } = loaded;
      loaded = { ...loaded, config: { ...config, http: { ...config.http, auth: { ...config.http.auth!, keys: [] } } } };
      const ending = next();
      await clock.advance(15_000);
      expect(await ending).toBe('the end');
    },
  );
});

describe('listening where others can reach it', STARTS_PROCESSES, () => {
  it('S2 is refused without authentication, and every request is refused when the config loses it', async () => {
    const { gateway, http } = await openLocked();
    await expect(async () => listen(http.app, { host: '0.0.0.0', port: 0 })).rejects.toThrow('without authentication');
    const front = await listen(http.app, { host: '0.0.0.0', port: 0, authenticated: true });
    try {
      const { port } = new URL(front.url);
      expect((await fetch(`http://127.0.0.1:${port}/v1/servers`)).status).toBe(401);
      expect((await fetch(`http://127.0.0.1:${port}/v1/servers`, { headers: bearer(READ) })).status).toBe(200);
    } finally {
      await front.close();
    }
    const loaded = gateway.internal.loaded();
    const bare = { ...loaded, config: { ...loaded.config, http: { ...loaded.config.http, auth: undefined } } };
    const exposed = await openHttpApp(
      wrapGateway(gateway, () => ({ 'internal.loaded': () => bare })),
      { exposed: true },
    );
    expect((await exposed.send('/v1/servers', { headers: bearer(READ) })).status).toBe(401);
  });
});
