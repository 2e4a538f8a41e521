import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { fixture, temporaryDirectory } from '../../../../test/support/fixture.js';
import { openHttpApp, type TestApp } from '../../../../test/support/http-app.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { Gateway } from '../../../gateway/index.js';
import type { ConfigInput } from '../../../model/config.js';
import { CODE_LIFETIME_MS, CODE_TICKET, PROBE_LIFETIME_MS, PROBE_TICKET } from '../../code-ticket.js';

const ROOT = 'admin-key-00123456789';
const SOME = 'some-servers-key-0123456';
const READ = 'reader-key-0123456789';
const env = { PATH: process.env['PATH'], ROOT, SOME, READ };
const AUTH: NonNullable<ConfigInput['http']> = {
  auth: {
    keys: [
      { name: 'root', key: '${ROOT}', scopes: ['admin'] },
      { name: 'some', key: '${SOME}', scopes: ['admin'], servers: ['old'] },
      { name: 'reader', key: '${READ}', scopes: ['read'] },
    ],
  },
};
const servers = { old: fixture('legacy'), hidden: fixture('modern') };

interface State {
  readonly signedIn: boolean;
  readonly csrf?: string;
  readonly [field: string]: unknown;
}

interface SignedIn {
  readonly cookie: string;
  readonly csrf: string;
  readonly state: State;
  readonly setCookie: string;
}

async function signIn({ post }: TestApp, body: object, headers: Record<string, string> = {}): Promise<SignedIn> {
  const answer = await post('/v1/session', body, headers);
  expect(answer.status).toBe(200);
  const setCookie = answer.headers.get('set-cookie')!;
  const state = (await answer.json()) as State;
  return { cookie: setCookie.split(';')[0]!, csrf: state.csrf!, state, setCookie };
}

const stateOf = async ({ send }: TestApp, headers: Record<string, string> = {}): Promise<State> =>
  (await (await send('/v1/session', { headers })).json()) as State;

async function openLocked(config: ConfigInput = {}, stateDir?: string): Promise<{ gateway: Gateway; http: TestApp }> {
  const gateway = await openToolscout({ servers, http: AUTH, ...config }, { env, ...(stateDir && { stateDir }) });
  return { gateway, http: await openHttpApp(gateway, { localAdmin: false }) };
}

describe('signing in with a key', STARTS_PROCESSES, () => {
  it('STUDIO-6 a key opens a session whose cookie no script reads and no other site sends', async () => {
    const { http } = await openLocked();
    expect(await stateOf(http)).toEqual({
      signedIn: false,
      required: true,
      scopes: [],
      mayAdminister: false,
      methods: ['key'],
    });
    const { setCookie, state, cookie } = await signIn(http, { key: ROOT });
    expect(setCookie).toMatch(/^toolscout_session_7077=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200$/);
    expect(state).toMatchObject({
      signedIn: true,
      principal: 'root',
      scopes: ['read', 'call', 'admin'],
      mayAdminister: true,
    });
    expect(await stateOf(http, { cookie })).toEqual(state);
    expect((await http.send('/v1/config', { headers: { cookie } })).status).toBe(200);
    expect((await http.send('/v1/config')).status).toBe(401);
    const wrong = [
      [{ key: 'wrong-key-0123456789' }, 'Enter a key'],
      [{ code: 'x'.repeat(43) }, 'Run toolscout studio again'],
    ] as const;
    for (const [body, suggestion] of wrong) {
      const refused = await http.post('/v1/session', body);
      expect([refused.status, refused.headers.has('set-cookie')]).toEqual([401, false]);
      expect(await refused.json()).toMatchObject({ suggestion: expect.stringContaining(suggestion) as string });
    }
    expect((await http.post('/v1/session', { key: ROOT, code: 'x' })).status).toBe(400);
  });

  it('STUDIO-6 behind https the cookie is for this host and https alone', async () => {
    const { http } = await openLocked({ http: { ...AUTH, publicUrl: 'https://tools.example.com' } });
    const { setCookie, cookie } = await signIn(http, { key: ROOT });
    expect(setCookie).toMatch(/^__Host-toolscout_session=.*; Secure$/);
    expect((await http.send('/v1/config', { headers: { cookie } })).status).toBe(200);
    expect((await http.send('/v1/config', { headers: { cookie: cookie.replace('__Host-', '') } })).status).toBe(401);
  });

  it('STUDIO-6 S1 a change without the token of the page is refused, and so is one with the token of another session', async () => {
    const { http } = await openLocked();
    const ada = await signIn(http, { key: ROOT });
    const bob = await signIn(http, { key: ROOT });
    const reload = async (headers: Record<string, string>): Promise<number> =>
      (await http.post('/v1/config/reload', undefined, { cookie: ada.cookie, ...headers })).status;
    expect(await reload({})).toBe(403);
    expect(await reload({ 'x-toolscout-csrf': '' })).toBe(403);
    expect(await reload({ 'x-toolscout-csrf': bob.csrf })).toBe(403);
    expect(await reload({ 'x-toolscout-csrf': ada.csrf })).toBe(200);
    const out = { method: 'DELETE', headers: { cookie: ada.cookie } };
    expect((await http.send('/v1/session', out)).status).toBe(403);
    expect((await http.send('/v1/config', { headers: { cookie: ada.cookie } })).status).toBe(200);
    // A key in a header is no cookie: a page cannot send it behind anybody's back.
    expect((await http.post('/v1/config/reload', undefined, { authorization: `Bearer ${ROOT}` })).status).toBe(200);
  });

  it('STUDIO-6 S1 a page of another site, another port, or under another name cannot use the session', async () => {
    const { http } = await openLocked();
    const { cookie, csrf } = await signIn(http, { key: ROOT });
    const headers = { cookie, 'x-toolscout-csrf': csrf };
    for (const site of ['cross-site', 'same-site']) {
      expect((await http.send('/v1/config', { headers: { ...headers, 'sec-fetch-site': site } })).status).toBe(403);
    }
    for (const site of ['same-origin', 'none']) {
      expect((await http.send('/v1/config', { headers: { ...headers, 'sec-fetch-site': site } })).status).toBe(200);
    }
    const others: Array<Record<string, string>> = [
      { host: 'evil.example' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ];
    for (const foreign of others) {
      expect((await http.send('/v1/config', { headers: { ...headers, ...foreign } })).status).toBe(403);
      expect((await http.post('/v1/session', { key: ROOT }, foreign)).status).toBe(403);
      expect((await http.send('/v1/session', { headers: foreign })).status).toBe(403);
    }
    // A cookie that somebody else has set beside ours makes neither of them good.
    const twice = `${cookie}; ${cookie.split('=')[0]}=${'x'.repeat(43)}`;
    expect((await http.send('/v1/config', { headers: { cookie: twice } })).status).toBe(401);
    // Hosts bring a key; the cookie of the page does not open the MCP endpoint.
    const mcp = await http.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, headers);
    expect(mcp.status).toBe(401);
    expect((await http.send('/metrics', { headers })).status).toBe(401);
  });

  it('STUDIO-6 a stolen cookie opens nothing after sign-out, also not in a second process over the same store', async () => {
    const stateDir = await temporaryDirectory();
    const one = await openLocked({}, stateDir);
    const two = await openLocked({}, stateDir);
    const { cookie, csrf } = await signIn(one.http, { key: ROOT });
    const headers = { cookie, 'x-toolscout-csrf': csrf };
    expect((await two.http.send('/v1/config', { headers })).status).toBe(200);
    const stream = await two.http.send('/v1/events', { headers });
    const reader = stream.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('event: hello');
    const out = await one.http.send('/v1/session', { method: 'DELETE', headers });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    for (const { http } of [one, two]) {
      expect((await http.send('/v1/config', { headers })).status).toBe(401);
      expect((await http.post('/v1/config/reload', undefined, headers)).status).toBe(401);
      expect(await stateOf(http, headers)).toMatchObject({ signedIn: false });
    }
    // What was open in the other process ends as well.
    for (let next = await reader.read(); !next.done; next = await reader.read());
    const records = await one.gateway.audit.list({ kind: 'session-end' });
    expect(records).toMatchObject([{ principal: 'root' }]);
  });

  it('STUDIO-6 signing in anew ends the session before it', async () => {
    const { http } = await openLocked();
    const first = await signIn(http, { key: READ });
    const second = await signIn(http, { key: ROOT }, { cookie: first.cookie });
    expect(second.cookie).not.toBe(first.cookie);
    expect(await stateOf(http, { cookie: first.cookie })).toMatchObject({ signedIn: false });
  });

  it('STUDIO-6 S12 a session has the servers of its key, and no more', async () => {
    const { gateway, http } = await openLocked();
    await gateway.servers.discover();
    const { cookie, csrf, state } = await signIn(http, { key: SOME });
    expect(state).toMatchObject({ servers: ['old'] });
    const get = async (path: string): Promise<unknown> => (await http.send(path, { headers: { cookie } })).json();
    expect(await get('/v1/servers')).toMatchObject({ servers: [{ id: 'old' }] });
    const overview = (await get('/v1/overview')) as { servers: { total: number }; tools: { total: number } };
    expect(overview.servers.total).toBe(1);
    const whole = (await (
      await http.send('/v1/overview', { headers: { authorization: `Bearer ${ROOT}` } })
    ).json()) as typeof overview;
    expect(overview.tools.total).toBeLessThan(whole.tools.total);
    expect(await get('/v1/servers/old')).toMatchObject({ id: 'old', toolCounts: { total: overview.tools.total } });
    expect((await http.send('/v1/servers/hidden', { headers: { cookie } })).status).toBe(404);
    const act = await http.post('/v1/servers/old/connect', undefined, { cookie, 'x-toolscout-csrf': csrf });
    expect(act.status).toBe(403);
  });

  it('STUDIO-6 a key that is removed, or has other rights, ends its sessions; others stay', async () => {
    const directory = await temporaryDirectory();
    const file = join(directory, 'toolscout.json');
    const write = (keys: object[]): Promise<void> => writeFile(file, JSON.stringify({ http: { auth: { keys } } }));
    const root = { name: 'root', key: '${ROOT}', scopes: ['admin'] };
    const reader = { name: 'reader', key: '${READ}', scopes: ['read'] };
    const some = { name: 'some', key: '${SOME}', scopes: ['read', 'call'] };
    await write([root, reader, some]);
    const { openGateway } = await import('../../../app/open-gateway.js');
    const gateway = await openGateway({ config: file, stateDir: directory, env, learnAtStart: false });
    const http = await openHttpApp(gateway);
    const [kept, removed, narrowed] = [
      await signIn(http, { key: ROOT }),
      await signIn(http, { key: READ }),
      await signIn(http, { key: SOME }),
    ];
    await write([root, { ...some, scopes: ['read'] }]);
    await gateway.reload();
    const status = async ({ cookie }: SignedIn): Promise<number> =>
      (await http.send('/v1/servers', { headers: { cookie } })).status;
    expect([await status(kept), await status(removed), await status(narrowed)]).toEqual([200, 401, 401]);
    // With the key back, the session is not.
    await write([root, reader, some]);
    await gateway.reload();
    expect([await status(kept), await status(removed), await status(narrowed)]).toEqual([200, 401, 401]);
    await gateway.close({ drainMs: 0 });
  });
});

describe('without keys', STARTS_PROCESSES, () => {
  it('STUDIO-6 A1 every caller on this machine may read; a code of the store allows changes, once', async () => {
    const gateway = await openToolscout({ servers });
    const http = await openHttpApp(gateway, { localAdmin: false });
    expect(await stateOf(http)).toMatchObject({
      signedIn: true,
      required: false,
      principal: 'local',
      mayAdminister: false,
      methods: [],
    });
    expect((await http.send('/v1/overview')).status).toBe(200);
    expect((await http.post('/v1/config/reload', undefined)).status).toBe(403);
    const code = await gateway.sessions.issueTicket(CODE_TICKET, true, CODE_LIFETIME_MS);
    const { cookie, csrf, state } = await signIn(http, { code });
    expect(state).toMatchObject({ principal: 'local', mayAdminister: true });
    expect((await http.post('/v1/session', { code })).status).toBe(401);
    const headers = { cookie, 'x-toolscout-csrf': csrf };
    expect((await http.post('/v1/config/reload', undefined, headers)).status).toBe(200);
    expect((await http.post('/v1/config/reload', undefined, { cookie })).status).toBe(403);
    expect((await http.send('/v1/session', { method: 'DELETE', headers })).status).toBe(204);
    expect((await http.post('/v1/config/reload', undefined, headers)).status).toBe(403);
    // A cookie of nobody is none.
    expect(await stateOf(http, headers)).toMatchObject({ signedIn: true, mayAdminister: false });
    expect((await http.post('/v1/session', { key: ROOT })).status).toBe(401);
  });

  it('STUDIO-6 tells callers of this machine where the state is, and whether a ticket is of this store', async () => {
    const gateway = await openToolscout({});
    const ownFlags = () => ({ stateDir: '/srv/state', config: '/srv/tools.yaml' });
    const http = await openHttpApp(gateway, { localAdmin: false, ownFlags });
    const probe = await gateway.sessions.issueTicket(PROBE_TICKET, true, PROBE_LIFETIME_MS);
    const ask = async (app: TestApp, ticket: string): Promise<unknown> =>
      (await app.send(`/v1/session?probe=${ticket}`)).json();
    expect(await ask(http, probe)).toMatchObject({ ...ownFlags(), sharesStore: true });
    expect(await ask(http, probe)).toMatchObject({ sharesStore: false });
    expect(await stateOf(http)).not.toHaveProperty('sharesStore');
    // Such a ticket signs nobody in.
    const powerless = await gateway.sessions.issueTicket(PROBE_TICKET, true, PROBE_LIFETIME_MS);
    expect((await http.post('/v1/session', { code: powerless })).status).toBe(401);
    const locked = await openHttpApp((await openLocked()).gateway, { localAdmin: false, ownFlags });
    const { state } = await signIn(locked, { key: ROOT });
    for (const name of Object.keys(ownFlags())) expect(state).not.toHaveProperty(name);
  });

  it('STUDIO-6 with serve --admin no code is needed', async () => {
    const http = await openHttpApp(await openToolscout({}));
    expect(await stateOf(http)).toMatchObject({ signedIn: true, mayAdminister: true });
  });
});
