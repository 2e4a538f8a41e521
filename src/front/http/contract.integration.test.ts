import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, temporaryDirectory } from '../../../test/support/fixture.js';
import { openHttpApp, type TestApp } from '../../../test/support/http-app.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { scriptedServer } from '../../../test/support/scripted-server.js';
import { speakStudio } from '../../../test/support/speak-studio.js';
import { patient, STARTS_PROCESSES } from '../../../test/support/patience.js';
import { wrapGateway, type Gateway } from '../../gateway/index.js';
import { ToolscoutError, type ErrorCode } from '../../kernel/errors.js';
import type { CallResult } from '../../model/call.js';
import type { JsonObject } from '../../kernel/json.js';

interface Documented {
  readonly paths: Record<string, Record<string, { operationId: string; responses: object; requestBody?: object }>>;
}

/** Every operation as a request that can be sent. */
function operationsOf({ document }: TestApp): Array<{ method: string; path: string; template: string }> {
  const { paths } = document as unknown as Documented;
  return Object.entries(paths).flatMap(([template, operations]) =>
    Object.keys(operations).map((method) => ({
      method: method.toUpperCase(),
      template,
      path: template.replaceAll(/\{\w+\}/g, 'x') + (QUERIES.get(template) ?? ''),
    })),
  );
}

/** Queries without which a route is not answered. */
const QUERIES = new Map([
  ['/v1/search', '?q=x'],
  ['/v1/search/preview', '?q=x'],
  ['/v1/registry/search', '?q=x'],
  ['/v1/registry/plan', '?name=x'],
]);
const CALL = JSON.stringify({ server: 'old', tool: 'echo', arguments: { message: 'x' } });
const SCRIPT = JSON.stringify({ script: 'return 1' });
const SKILL_CALL = JSON.stringify({ capability: 'talk:echo', tool: 'echo' });
/** They answer under any Host; pages are refused there too. */
const PROBES = new Set(['/health', '/ready']);
const JSON_TYPE = { 'content-type': 'application/json' };

/** A gateway each verb of which fails in a way nobody foresaw. */
function broken(gateway: Gateway): Gateway {
  const fail = (): never => {
    throw new Error('secret-detail');
  };
  const all = (verbs: object): object =>
    Object.fromEntries(
      Object.entries(verbs).map(([name, verb]) => [name, typeof verb === 'function' ? fail : all(verb as object)]),
    );
  return { ...all(gateway), internal: { ...all(gateway.internal), loaded: gateway.internal.loaded } } as never;
}

/** A gateway whose calls end with a code. */
function failing(gateway: Gateway, code: ErrorCode): Gateway {
  const { remedy, suggestion, severity } = new ToolscoutError(code, '');
  const error = { code, message: 'No.', server: 'old', tool: 'echo', remedy, suggestion, severity, retryAfterMs: 1500 };
  return { ...gateway, call: async () => ({ success: false, error }) };
}

/** A folder with a skill that may talk. */
async function talkingSkill(): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'talker'));
  await writeFile(
    join(directory, 'talker', 'skill.md'),
    '# Talker\n\n## Capabilities\n\n- `talk:echo`\n- `talk:fail`\n',
  );
  return directory;
}

const BOTH = { accept: 'application/json, text/event-stream' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** Every answer that an MCP endpoint has for somebody who was let in. */
async function speakMcp({ send, post }: TestApp, path: string): Promise<void> {
  const statusOf = async (answer: Promise<Response>): Promise<number> => {
    const { status, body } = await answer;
    await body?.cancel();
    return status;
  };
  const opened = await post(path, INITIALIZE, BOTH);
  expect([opened.status, opened.headers.get('content-type')]).toEqual([200, 'application/json']);
  await opened.body?.cancel();
  const session = { ...BOTH, 'mcp-session-id': opened.headers.get('mcp-session-id')! };
  const told = { jsonrpc: '2.0', method: 'notifications/initialized' };
  expect(await statusOf(post(path, told, session))).toBe(202);
  const batch = await post(path, [{ jsonrpc: '2.0', id: 1, method: 'ping' }] as never, session);
  expect([batch.status, batch.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  await batch.body?.cancel();
  expect(await statusOf(post(path, told, { 'mcp-session-id': session['mcp-session-id'] }))).toBe(406);
  expect(await statusOf(post(path, told, { ...session, 'content-type': 'text/plain' }))).toBe(415);
  expect(await statusOf(post(path, 'x'.repeat(5e6), BOTH))).toBe(413);
  for (const wrong of ['{', Buffer.from([0x22, 0xff, 0x22]) as unknown as string, '{}']) {
    expect(await statusOf(send(path, { method: 'POST', body: wrong, headers: { ...JSON_TYPE, ...BOTH } }))).toBe(400);
  }
  const following = await send(path, { headers: session });
  expect(following.status).toBe(200);
  expect(await statusOf(send(path, { headers: session }))).toBe(409);
  await following.body?.cancel();
  const json = { 'mcp-session-id': session['mcp-session-id'], accept: 'application/json' };
  expect(await statusOf(send(path, { headers: json }))).toBe(406);
  expect(await statusOf(send(path, { headers: BOTH }))).toBe(405);
  expect(await statusOf(send(path, { method: 'DELETE' }))).toBe(405);
  for (const method of ['GET', 'DELETE']) {
    const headers = { ...session, 'mcp-protocol-version': '1999-01-01' };
    expect([method, await statusOf(send(path, { method, headers }))]).toEqual([method, 400]);
  }
  expect(await statusOf(send(path, { method: 'DELETE', headers: session }))).toBe(200);
  for (const method of ['GET', 'DELETE']) {
    expect([method, await statusOf(send(path, { method, headers: session }))]).toEqual([method, 404]);
  }
  expect(await statusOf(post(path, told, session))).toBe(404);
}

const KEY = 'a-key-of-more-than-sixteen';

describe('the contract', STARTS_PROCESSES, () => {
  it(
    'REG-1 STUDIO-7 every documented answer occurs, and nothing undocumented does',
    async () => {
      const gateway = await openToolscout({
        scripts: true,
        servers: {
          old: { ...fixture('legacy'), capabilities: ['talk:echo', 'talk:fail'] },
          absent: { command: '/no/such/program' },
        },
        toolRules: [
          { pattern: 'echo', tags: ['talk:echo'] },
          { pattern: 'fail', tags: ['talk:fail'] },
        ],
        skills: { directories: [await talkingSkill()] },
        limits: { searchWaitMs: 20 },
      });
      await gateway.servers.discover(['old']);
      const http = await openHttpApp(gateway);
      const { contract, send, post } = http;
      await speakStudio(contract, gateway);

      // What goes well.
      const registry = await gateway.registry.get();
      expect((await send('/v1/tools')).status).toBe(503);
      await registry!.refresh();
      const first = await send('/v1/tools');
      expect(first.status).toBe(200);
      expect((await send('/v1/tools', { headers: { 'if-none-match': first.headers.get('etag')! } })).status).toBe(304);
      const { tools } = (await (await send('/v1/servers/old/tools?include_disabled=true')).json()) as {
        tools: Array<{ tool: string }>;
      };
      const tool = tools[0]!.tool;
      for (const path of [
        '/v1/servers',
        '/v1/search?q=echo&explain=true&include_schema=true&limit=3',
        '/v1/search?q=echo&preview=true',
        '/v1/search/preview?q=echo&limit=3&include_schema=true&server=old',
        '/v1/held-tools?q=echo&server=old',
        `/v1/tools/old/${tool}`,
        `/v1/why/old/${tool}`,
        '/v1/skills',
        '/v1/skills/talker/bindings',
        '/v1/audit?limit=5',
        '/v1/stats?by=server',
        '/v1/audit/verification',
        '/v1/audit/export?format=cef',
        '/v1/config',
        '/v1/approvals',
        '/v1/asks',
        '/v1/marketplace',
        '/health',
        '/ready',
        '/metrics',
        '/openapi.json',
        '/.well-known/ai-catalog.json',
        '/mcp/server-card',
        '/.well-known/mcp/server-card.json',
        '/.well-known/mcp/server-card',
        '/.well-known/mcp-server-card.json',
        '/.well-known/mcp',
        '/.well-known/mcp.json',
        '/v0.1/servers',
        '/v0.1/servers/local.toolscout%2Fold/versions',
        '/v0.1/servers/local.toolscout%2Fold/versions/latest',
      ]) {
        expect({ path, status: (await send(path)).status }).toEqual({ path, status: 200 });
      }
      expect((await post('/v1/config/reload', undefined)).status).toBe(200);
      expect((await post('/v1/call', CALL)).status).toBe(200);
      expect((await post('/v1/scripts', SCRIPT)).status).toBe(200);
      const asSkill = async (capability: string, tool: string, args: JsonObject): Promise<number> =>
        (await post('/v1/skills/talker/call', { capability, tool, arguments: args })).status;
      expect(await asSkill('talk:echo', 'echo', { message: 'x' })).toBe(200);
      expect(await asSkill('talk:echo', 'echo', { message: 7 })).toBe(422);
      expect(await asSkill('talk:echo', 'add', { a: 1, b: 2 })).toBe(403);
      expect(await asSkill('talk:sing', 'echo', { message: 'x' })).toBe(403);
      expect(await asSkill('talk:fail', 'fail', {})).toBe(502);
      const refusals = await gateway.audit.list({ outcome: 'refused', limit: 10 });
      expect(refusals).toContainEqual(
        expect.objectContaining({ skill: 'talker', tool: 'add', code: 'FORBIDDEN', route: 'http' }),
      );
      const streamed = await post('/v1/call', CALL, { accept: 'text/event-stream' });
      expect(await streamed.text()).toContain('event: result');
      for (const path of ['/v1/events', '/v1/audit']) {
        const followed = await send(path, { headers: { accept: 'text/event-stream' } });
        await followed.body?.cancel();
      }

      const waiting = await openToolscout({ servers: { old: fixture('legacy') }, approval: 'manual' });
      await waiting.servers.discover();
      const held = await openHttpApp(waiting, { contract });
      const { approvals } = (await (await held.send('/v1/approvals?state=pending')).json()) as {
        approvals: Array<{ ref: string; hash: string }>;
      };
      expect(approvals.length).toBeGreaterThan(2);
      const [one, two] = approvals.filter(({ ref }) => ref.includes(':')).map(({ ref }) => encodeURIComponent(ref));
      expect((await held.send(`/v1/approvals/${one}/diff`)).status).toBe(200);
      expect((await held.post(`/v1/approvals/${one}/approve`, { hash: approvals[0]!.hash.slice(0, 11) })).status).toBe(
        400,
      );
      expect((await held.post(`/v1/approvals/${one}/approve`, { hash: '' })).status).toBe(400);
      expect((await held.post(`/v1/approvals/${one}/approve`, { reason: 'looked at it' })).status).toBe(200);
      expect((await held.post(`/v1/approvals/${two}/reject`, {})).status).toBe(200);

      // A rule asks before calls of a tool are sent.
      const asking = await openToolscout({
        servers: { old: fixture('legacy') },
        toolRules: [{ pattern: 'echo', confirm: true }],
      });
      const asked = await openHttpApp(asking, { contract });
      for (const verb of ['approve', 'reject']) {
        await asked.post('/v1/call', { server: 'old', tool: 'echo', arguments: { message: verb } });
        const { calls } = (await (await asked.send('/v1/pending-calls?state=waiting')).json()) as {
          calls: Array<{ id: string }>;
        };
        expect((await asked.post(`/v1/pending-calls/${calls[0]!.id}/${verb}`, {})).status).toBe(200);
        expect((await asked.post(`/v1/pending-calls/none/${verb}`, {})).status).toBe(404);
        expect((await asked.post(`/v1/pending-calls/none/${verb}`, { reason: 'x'.repeat(5e6) })).status).toBe(413);
      }
      expect((await asked.send('/v1/pending-calls?state=odd')).status).toBe(400);

      // A server is proposed, looked at before it is approved, and removed again.
      const proposed = await openToolscout({ exportDirectory: join(await temporaryDirectory(), 'pending') });
      const remote = await scriptedServer();
      const introspectRemoteApi: Gateway['servers']['introspect'] = (target, options) =>
        proposed.servers.introspect(target, { ...options, allowPrivate: 'url' in target && target.url === remote.url });
      const proposing = await openHttpApp(
        wrapGateway(proposed, () => ({ 'servers.introspect': introspectRemoteApi })),
        { contract },
      );
      const storeStatus: Gateway['config']['storeStatus'] = async () => ({
        location: 'x',
        writable: true,
        doubt: { reason: 'vanished', at: 1 },
      });
      const unaccepted = await openHttpApp(
        wrapGateway(proposed, () => ({ 'config.storeStatus': storeStatus })),
        { contract },
      );
      expect((await unaccepted.send('/ready')).status).toBe(503);
      const unasked = await openHttpApp(proposed, { contract, localAdmin: false });
      expect((await unasked.post('/v1/servers', { id: 'found', command: 'x' })).status).toBe(403);
      expect((await proposing.post('/v1/servers', { id: 'found', command: 'x' })).status).toBe(201);
      expect((await proposing.post('/v1/introspections', { server: 'found' })).status).toBe(403);
      const looked = await proposing.post('/v1/introspections', { url: remote.url });
      expect([looked.status, ((await looked.json()) as { tools: string[] }).tools]).toEqual([201, ['look']]);
      expect((await proposing.post('/v1/introspections', { url: 'https://nowhere.invalid/' })).status).toBe(502);
      expect((await proposing.send('/v1/servers/found', { method: 'DELETE' })).status).toBe(204);
      expect((await proposing.send('/v1/servers/found', { method: 'DELETE' })).status).toBe(404);
      expect((await proposed.servers.list()).map(({ id }) => id)).toEqual(['127-0-0-1']);
      for (const path of ['/v1/servers', '/v1/introspections']) {
        expect((await proposing.post(path, { id: 'a', uri: 'x' })).status).toBe(400);
        expect((await proposing.post(path, { id: 'a', url: 'x'.repeat(5e6) })).status).toBe(413);
      }

      expect(await (await held.post('/v1/store/accept', {})).json()).toEqual({ accepted: null });
      // What is asked wrongly.
      expect((await send(`/v1/session?probe=${'x'.repeat(201)}`)).status).toBe(400);
      expect((await send('/v1/approvals?state=odd')).status).toBe(400);
      for (const verb of ['approve', 'reject']) {
        expect((await post(`/v1/approvals/x/${verb}`, { why: 'x' })).status).toBe(400);
        expect((await post(`/v1/approvals/x/${verb}`, {})).status).toBe(404);
        expect((await post(`/v1/approvals/x/${verb}`, { reason: 'x'.repeat(5e6) })).status).toBe(413);
      }
      expect((await send('/v1/approvals/nowhere/diff')).status).toBe(404);
      for (const path of [
        '/v1/tools?alive=maybe',
        '/v1/servers/old/tools?include_disabled=x',
        '/v1/search',
        '/v1/search/preview',
        '/v1/held-tools?server=',
      ]) {
        expect((await send(path)).status).toBe(400);
      }
      for (const path of [
        '/v1/audit?limit=0',
        '/v1/audit/verification?head=1',
        '/v1/audit/export?format=x',
        '/v1/stats?by=colour',
        '/v0.1/servers?limit=many',
      ])
        expect((await send(path)).status).toBe(400);
      expect((await post('/v1/call', '{"server":')).status).toBe(400);
      expect((await post('/v1/scripts', {})).status).toBe(400);
      expect((await post('/v1/scripts', { script: 'x'.repeat(5e6) })).status).toBe(413);
      expect(
        (await post('/v1/call', { server: 'old', tool: 'echo', arguments: { pad: 'x'.repeat(5e6) } })).status,
      ).toBe(413);
      for (const path of [
        '/v1/servers/nowhere/tools',
        '/v1/skills/nobody/bindings',
        '/v1/search?q=x&server=nowhere',
        '/v1/tools/old/nothing',
        '/.well-known/oauth-protected-resource',
        '/.well-known/oauth-protected-resource/mcp',
        '/.well-known/oauth-protected-resource/servers/old/mcp',
        '/v0.1/servers/nobody%2Fnothing/versions',
        '/v0.1/servers/local.toolscout%2Fold/versions/9.9.9',
      ]) {
        expect({ path, status: (await send(path)).status }).toEqual({ path, status: 404 });
      }
      for (const path of ['/v1/servers/absent/tools', '/v1/tools/absent/x'])
        expect((await send(path)).status).toBe(502);
      expect((await post('/v1/call', { server: 'old', tool: 'nothing' })).status).toBe(404);
      expect((await post('/v1/rules/preview', { toolRules: [], except: 'old:nothing' })).status).toBe(404);
      expect((await post('/v1/scripts', { script: 'throw new Error("no")' })).status).toBe(422);
      expect((await post('/v1/skills/nobody/call', { capability: 'talk:echo', tool: 'echo' })).status).toBe(404);
      expect((await post('/v1/skills/talker/call', {})).status).toBe(400);
      const pad = { pad: 'x'.repeat(5e6) };
      expect(await asSkill('talk:echo', 'echo', pad)).toBe(413);
      const wrong = await post('/v1/call', { server: 'old', tool: 'echo', arguments: { message: 7 } });
      expect(wrong.status).toBe(422);
      expect(await wrong.json()).toMatchObject({ code: 'TOOL_VALIDATION_ERROR', server: 'old', tool: 'echo' });
      const tired = await openHttpApp(failing(gateway, 'RATE_LIMITED'), { contract });
      const limited = await tired.post('/v1/call', CALL);
      expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '2']);
      // Our credentials were refused, not the caller's.
      const refused = await openHttpApp(failing(gateway, 'AUTHENTICATION_FAILED'), { contract });
      expect((await refused.post('/v1/call', CALL)).status).toBe(502);
      const { remedy, suggestion, severity } = new ToolscoutError('RATE_LIMITED', '');
      const told = { remedy, suggestion, severity };
      const often = { code: 'RATE_LIMITED', message: 'No.', server: '', tool: 'echo', ...told } as const;
      const call = async (): Promise<CallResult> => ({ success: false, error: often });
      const handle = await gateway.skills.get('talker');
      const worn = await openHttpApp(
        wrapGateway(gateway, () => ({ 'skills.get': async () => ({ ...handle, call }) })),
        { contract },
      );
      expect((await worn.post('/v1/skills/talker/call', SKILL_CALL)).status).toBe(429);
      const invalid = new ToolscoutError('CONFIGURATION_ERROR', 'No.', { problems: [{ path: 'a', message: 'b' }] });
      const stuck = await openHttpApp({ ...gateway, reload: () => Promise.reject(invalid) }, { contract });
      expect((await stuck.post('/v1/config/reload', undefined)).status).toBe(400);
      const followers = await Promise.all(Array.from({ length: 101 }, () => stuck.send('/v1/events')));
      expect(followers.filter(({ status }) => status === 429)).toHaveLength(1);
      expect((await stuck.send('/v1/audit', { headers: { accept: 'text/event-stream' } })).status).toBe(429);
      await Promise.all(followers.map(({ body }) => body?.cancel()));

      // Requests that are not allowed, that have no credentials, and that fail.
      const empty = await openToolscout({}, { env: { TOOLS_REGISTRY_ENABLED: 'false' } });
      const off = await openHttpApp(empty, { contract });
      for (const path of ['/v1/tools', '/v0.1/servers']) expect((await off.send(path)).status).toBe(404);
      const bare = await openToolscout({});
      await (await bare.registry.get())!.sync();
      expect((await (await openHttpApp(bare, { contract })).send('/v1/tools')).status).toBe(424);
      const guarded = await openToolscout(
        { http: { auth: { keys: [{ name: 'team', key: '${KEY}' }] } } },
        { env: { KEY } },
      );
      const locked = await openHttpApp(guarded, { contract });
      for (const of of ['', '/mcp', '/servers/old/mcp']) {
        expect((await locked.send(`/.well-known/oauth-protected-resource${of}`)).status).toBe(200);
      }
      for (const path of ['/mcp', '/servers/old/mcp']) await speakMcp(http, path);
      const fail = (): never => {
        throw new Error('secret-detail');
      };
      const shut = await openHttpApp(gateway, { contract, mcpFor: fail });
      for (const path of ['/mcp', '/servers/old/mcp']) {
        for (const method of ['GET', 'POST', 'DELETE']) {
          const answer = await shut.send(path, { method });
          expect([answer.status, (await answer.text()).includes('secret-detail')]).toEqual([500, false]);
        }
      }
      const ruin = await openHttpApp(broken(gateway), { contract, mcpOver: gateway });
      const names = operationsOf(http).filter(
        ({ template, method }) => template.includes('{') && method !== 'OPTIONS' && !template.startsWith('/servers/'),
      );
      for (const { method, template } of names) {
        const path = template.replaceAll(/\{\w+\}/g, 'x'.repeat(601));
        const body = template.includes('skills') ? SKILL_CALL : '{}';
        const init = { method, headers: JSON_TYPE, ...(method === 'POST' ? { body } : {}) };
        expect({ path, status: (await send(path, init)).status }).toEqual({ path, status: 400 });
      }
      for (const { method, path } of operationsOf(http)) {
        const body =
          new Map([
            ['/v1/skills/x/call', SKILL_CALL],
            ['/v1/call', CALL],
            ['/v1/config/plan', JSON.stringify({ change: { toolRules: [] } })],
            ['/v1/config/apply', JSON.stringify({ change: { toolRules: [] }, plan: '0'.repeat(64) })],
            ['/v1/rules/preview', JSON.stringify({ toolRules: [] })],
            ['/v1/labels', JSON.stringify({ query: 'x', server: 'x', tool: 'x' })],
            ['/v1/saved-calls', JSON.stringify({ name: 'x', server: 'x', tool: 'x' })],
            ['/v1/asks/x', JSON.stringify({ refusal: 'x' })],
            ['/v1/session', JSON.stringify({ code: 'x'.repeat(43) })],
            ['/v1/scripts', SCRIPT],
            ['/v1/servers', '{"id":"x","url":"https://a.example/mcp"}'],
            ['/v1/introspections', '{"server":"x"}'],
          ]).get(path) ?? '{}';
        const init = { method, ...(method === 'POST' ? { body } : {}) };
        expect(
          (
            await send(path, {
              ...init,
              headers: {
                ...(PROBES.has(path) ? { origin: 'http://evil.example' } : { host: 'evil.example' }),
                ...JSON_TYPE,
              },
            })
          ).status,
        ).toBe(403);
        await locked.send(path, { ...init, headers: JSON_TYPE });
        const ruined = await ruin.send(path, { ...init, headers: JSON_TYPE });
        if (ruined.status === 500) expect(await ruined.text()).not.toContain('secret-detail');
      }
      // Documents that nothing can break are documented as if something could.
      const unbreakable =
        /^(health|listAsks|openApi|aiCatalog|serverCard\w*|studio\w*|showSession|answerAsk|previewSearch|finishSignIn|startSignIn|wellKnown\w*|protectedResource\w*|showConfig) 500$/;
      expect(contract.missing().filter((each) => !unbreakable.test(each))).toEqual([]);
    },
    patient(120_000),
  );

  it('REG-3 the document is OpenAPI 3.1, names every route once and holds no secret', async () => {
    const { document } = await openHttpApp(await openToolscout({}));
    expect(document['openapi']).toBe('3.1.0');
    const { paths } = document as unknown as Documented;
    const ids = Object.values(paths).flatMap((each) => Object.values(each).map(({ operationId }) => operationId));
    expect(new Set(ids).size).toBe(ids.length);
    const references = JSON.stringify(document).match(/#\/components\/schemas\/\w+/g)!;
    const { schemas } = document['components'] as { schemas: JsonObject };
    expect([...new Set(references)].map((each) => each.slice(21)).filter((id) => !(id in schemas))).toEqual([]);
  });

  it('DOC-1 STUDIO-7 every route of the API stands in its page', async () => {
    const { document } = await openHttpApp(await openToolscout({}));
    const page = await readFile(new URL('../../../docs/http-api.md', import.meta.url), 'utf8');
    const named = new Set([...page.matchAll(/`(?:GET |POST |DELETE )?([/…][^`]*)`/g)].map(([, path]) => path));
    const short = (path: string): string => `…${path.slice(path.lastIndexOf('/'))}`;
    const paths = Object.keys((document as unknown as Documented).paths).filter((path) => path.startsWith('/v1/'));
    expect(paths.length).toBeGreaterThan(15);
    expect(paths.filter((path) => !named.has(path) && !named.has(short(path)))).toEqual([]);
  });

  it('REG-1 an address that is none, and a method that is none, are problems too', async () => {
    const { send } = await openHttpApp(await openToolscout({}));
    const lost = await send('/v1/nothing');
    expect(lost.status).toBe(404);
    expect(lost.headers.get('content-type')).toBe('application/problem+json');
    const wrong = await send('/v1/tools', { method: 'DELETE' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await send('/health', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });
});
