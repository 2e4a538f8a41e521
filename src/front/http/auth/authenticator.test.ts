import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../../test/support/fake-clock.js';
import type { Session, SessionVerbs } from '../../../gateway/index.js';
import { sha256 } from '../../../kernel/hash.js';
import { silentLog } from '../../../kernel/log.js';
import type { HttpAuth } from '../../../model/config.js';
import { LOCAL, type Principal } from '../../../model/principal.js';
import type { Received } from '../../../net/http-message.js';
import { createAuthenticator, identityOf, keyGone, type ConfiguredAuthenticator } from './auth.js';
import { createTokenReader } from './token.js';
import { createBrowserSessions, demandCsrf, type BrowserSessions } from './browser-sessions.js';

const BASE = 'http://127.0.0.1:7077';
const KEY = 'reader-key-0123456789';
const keyOf = (name: string, key: string, more: object = {}): object => ({
  name,
  hash: sha256(key),
  scopes: ['read'],
  ...more,
});
const authOf = (keys: object[], oauth?: object): HttpAuth => ({ keys, ...(oauth && { oauth }) }) as never;
const READER = authOf([keyOf('reader', KEY)]);
const OAUTH = { issuer: 'https://issuer.example', audience: 'x', jwksUri: 'https://issuer.example/k', scopePrefix: '' };

const request = (headers: Record<string, string> = {}, path = '/v1/tools', method = 'GET'): Received =>
  ({ method, url: `${BASE}${path}`, headers: new Headers(headers) }) as Partial<Received> as Received;
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
const session = (id: string, more: Partial<Session> = {}): Session =>
  ({
    id,
    by: 'key',
    principal: 'reader',
    scopes: ['read'],
    until: 5000,
    credential: `key:${sha256(KEY)}`,
    ...more,
  }) as Session;

interface Opened {
  readonly sessions: BrowserSessions;
  readonly stored: Map<string, Session>;
  readonly opened: unknown[];
  end(id: string): void;
}

/** Sessions of the gateway, in memory. */
function openSessions(baseUrl = BASE): Opened {
  const stored = new Map<string, Session>();
  const opened: unknown[] = [];
  const listeners = new Set<(id: string) => void>();
  const end = (id: string): void => {
    for (const [token, each] of stored) if (each.id === id) stored.delete(token);
    for (const listener of listeners) listener(id);
  };
  const verbs: Partial<SessionVerbs> = {
    open: async (made) => (opened.push(made), 'new-token'),
    find: async (token) => stored.get(token),
    end: async (token) => end(stored.get(token)?.id ?? ''),
    isLive: (id) => [...stored.values()].some((each) => each.id === id),
    onEnd: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
  };
  return {
    sessions: createBrowserSessions({ sessions: verbs as SessionVerbs, baseUrl: () => baseUrl }),
    stored,
    opened,
    end,
  };
}

function authenticatorOf(auth: { current: HttpAuth | undefined }, more: object = {}): ConfiguredAuthenticator {
  return createAuthenticator({
    auth: () => auth.current,
    required: false,
    baseUrl: () => BASE,
    clock: createFakeClock(),
    log: silentLog,
    fetchDocument: async () => undefined,
    ...more,
  });
}

describe('who sends a request', () => {
  it('S2 A7 without keys in the config it is the user of this machine, unless other machines can reach this', () => {
    expect(authenticatorOf({ current: undefined }).authenticate(request())).toBe(LOCAL);
    expect(() => authenticatorOf({ current: undefined }, { required: true }).authenticate(request())).toThrow(
      expect.objectContaining({
        code: 'UNAUTHENTICATED',
        suggestion: 'The operator must configure http.auth, or listen on this machine only.',
      }),
    );
    const { admits } = authenticatorOf({ current: undefined });
    expect([admits(LOCAL), admits({ ...LOCAL }), admits({ name: 'x', scopes: new Set() })]).toEqual([
      true,
      false,
      false,
    ]);
    expect(authenticatorOf({ current: undefined }, { required: true }).admits(LOCAL)).toBe(false);
  });

  it('S10 A7 a key opens what its line in the config says; a line without a hash opens nothing', () => {
    const auth = authOf([
      keyOf('limited', 'limited-key-0123456', { scopes: ['call'], servers: ['a'] }),
      { name: 'unset', scopes: ['admin'] },
      keyOf('reader', KEY),
    ]);
    const { authenticate, holderOf } = authenticatorOf({ current: auth });
    expect(authenticate(request(bearer(KEY)))).toEqual({
      name: 'reader',
      scopes: new Set(['read']),
      credential: `key:${sha256(KEY)}`,
    });
    expect(authenticate(request({ authorization: 'bearer   limited-key-0123456' }))).toMatchObject({
      name: 'limited',
      servers: new Set(['a']),
    });
    expect([holderOf(KEY)?.name, holderOf('undefined'), holderOf('')]).toEqual(['reader', undefined, undefined]);
    expect(authenticatorOf({ current: undefined }).holderOf(KEY)).toBeUndefined();
    const wrong: Array<Record<string, string>> = [
      {},
      bearer(''),
      bearer('x'),
      bearer(`${KEY} x`),
      { authorization: KEY },
      { authorization: `x Bearer ${KEY}` },
    ];
    for (const headers of wrong) {
      expect(() => authenticate(request(headers))).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }));
    }
    expect(() => authenticate(request(bearer(KEY), `/v1/tools?access_token=${KEY}`))).toThrow('A token in the URL');
    expect(() => authenticate(request(bearer(KEY), '/v1/tools?x=access_token'))).not.toThrow();
  });

  it('S12 a principal is admitted as long as the config names the same key with the same rights', () => {
    const auth = { current: READER };
    const { authenticate, admits } = authenticatorOf(auth);
    const reader = authenticate(request(bearer(KEY))) as Principal;
    expect(admits(reader)).toBe(true);
    auth.current = authOf([keyOf('other', 'other-key-0123456789'), keyOf('reader', KEY)]);
    expect(admits(reader)).toBe(true);
    for (const keys of [
      [keyOf('reader', KEY, { scopes: ['call'] })],
      [keyOf('reader', KEY, { servers: ['a'] })],
      [keyOf('reader', 'another-key-01234567')],
      [keyOf('renamed', KEY)],
      [],
    ]) {
      auth.current = authOf(keys);
      expect(admits(reader), JSON.stringify(keys)).toBe(false);
    }
    expect(keyGone()).toMatchObject({ code: 'UNAUTHENTICATED', message: 'This API key has been revoked.' });
  });

  it('S5 S12 an identity is the name, the rights and the credential, in any order', () => {
    const base: Principal = { name: 'n', scopes: new Set(['read', 'call']), servers: new Set(['a', 'b']) };
    const same: Principal = { ...base, scopes: new Set(['call', 'read']), servers: new Set(['b', 'a']), until: 5 };
    expect(identityOf(same)).toBe(identityOf(base));
    const { servers: _all, ...everywhere } = base;
    const others: Principal[] = [
      { ...base, name: 'm' },
      { ...base, scopes: new Set(['read']) },
      { ...base, servers: new Set() },
      { ...base, credential: 'c' },
      everywhere,
    ];
    expect(new Set([base, ...others].map(identityOf)).size).toBe(6);
  });

  it('S9 S10 the challenge names the resource that was asked for, and what was wrong', () => {
    const { challenge } = authenticatorOf({ current: READER });
    const metadata = `${BASE}/.well-known/oauth-protected-resource`;
    expect(challenge(request())).toBe(`Bearer resource_metadata="${metadata}"`);
    expect(challenge(request(bearer('x')))).toBe(`Bearer error="invalid_token", resource_metadata="${metadata}"`);
    expect(challenge(request(bearer('x')), 'call')).toBe(
      `Bearer error="insufficient_scope", scope="call", resource_metadata="${metadata}"`,
    );
    expect(challenge(request({}, '/servers/a%20b/mcp?x=1'))).toContain(`"${metadata}/servers/a%20b/mcp"`);
    for (const path of ['/x/servers/a/mcp', '/servers/a/mcp/x', '/servers/a/b/mcp', '/servers//mcp']) {
      expect(challenge(request({}, path)), path).toBe(`Bearer resource_metadata="${metadata}"`);
    }
  });
});

describe('the session of a browser', () => {
  const cookie = (token = 'token'): Record<string, string> => ({ cookie: `toolscout_session_7077=${token}` });

  it('STUDIO-6 S1 counts only where a cookie is asked for, without a key, and from the page itself', () => {
    const { tokenOf } = openSessions().sessions;
    expect(tokenOf(request(cookie()))).toBe('token');
    expect(tokenOf(request({}))).toBeUndefined();
    expect(tokenOf(request({ ...cookie(), ...bearer('x') }))).toBeUndefined();
    for (const [site, token] of [
      ['same-origin', 'token'],
      ['none', 'token'],
      ['same-site', undefined],
      ['cross-site', undefined],
    ] as const) {
      expect(tokenOf(request({ ...cookie(), 'sec-fetch-site': site })), site).toBe(token);
    }
  });

  it('STUDIO-6 S12 has the rights of its key, ends with it, and does not come back with the same key', async () => {
    const { sessions, stored } = openSessions();
    const auth: { current: HttpAuth | undefined } = { current: READER };
    const { authenticate, admits } = authenticatorOf(auth, { sessions });
    stored.set('token', session('s1'));
    const principal = (await authenticate(request(cookie()), { cookie: true })) as Principal;
    expect(principal).toMatchObject({ name: 'reader', until: 5000, session: { id: 's1' } });
    expect(await authenticate(request(cookie()), { cookie: true })).toBe(principal);
    expect(() => authenticate(request(cookie()))).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }));
    expect(admits(principal)).toBe(true);
    auth.current = authOf([keyOf('reader', KEY, { scopes: ['admin'] })]);
    await expect(authenticate(request(cookie()), { cookie: true })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect([stored.size, admits(principal)]).toEqual([0, false]);
    auth.current = READER;
    expect(admits(principal)).toBe(false);
    stored.set('token', session('s2'));
    auth.current = undefined;
    expect(await authenticate(request(cookie()), { cookie: true })).toBe(LOCAL);
    expect(stored.size).toBe(0);
  });

  it('STUDIO-6 a code of this machine makes an administrator, as long as this machine alone is served or has keys', async () => {
    const { sessions, stored } = openSessions();
    stored.set('token', session('s1', { by: 'code', principal: 'local' }));
    const auth: { current: HttpAuth | undefined } = { current: undefined };
    const principal = await authenticatorOf(auth, { sessions }).bySession('token');
    expect(principal).toMatchObject({ name: 'local', scopes: LOCAL.scopes, session: { id: 's1' } });
    expect(authenticatorOf(auth, { sessions }).admits(principal!)).toBe(true);
    expect(authenticatorOf(auth, { sessions, required: true }).admits(principal!)).toBe(false);
    expect(authenticatorOf({ current: READER }, { sessions, required: true }).admits(principal!)).toBe(true);
    stored.clear();
    expect(authenticatorOf(auth, { sessions }).admits(principal!)).toBe(false);
    expect(await authenticatorOf(auth, { sessions }).bySession('token')).toBeUndefined();
    expect(await authenticatorOf(auth).bySession('token')).toBeUndefined();
  });

  it('S10 STUDIO-6 a session by a token of an issuer is good while the config names this issuer in this way', async () => {
    const { sessions, stored } = openSessions();
    const auth = { current: authOf([], OAUTH) };
    const deps = { clock: createFakeClock(), log: silentLog, fetchDocument: async () => undefined };
    const { credential } = createTokenReader(OAUTH as never, deps);
    const authenticator = authenticatorOf(auth, { sessions });
    const found = (by: 'oauth' | 'key', given: string): Promise<Principal | undefined> => {
      stored.set('token', session(`${by} ${given}`, { by, credential: given, until: 900 }));
      return authenticator.bySession('token');
    };
    const owner = await found('oauth', credential);
    expect(owner).toMatchObject({ name: 'reader', credential, until: 900 });
    expect(authenticator.admits(owner!)).toBe(true);
    expect([await found('oauth', 'key:x'), await found('key', credential)]).toEqual([undefined, undefined]);
    auth.current = authOf([], { ...OAUTH, audience: 'y' });
    expect([authenticator.admits(owner!), await found('oauth', credential)]).toEqual([false, undefined]);
    await expect(authenticator.readToken('x')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(authenticatorOf({ current: READER }).readToken('x')).toBeUndefined();
    expect(authenticatorOf({ current: undefined }).readToken('x')).toBeUndefined();
  });

  it('STUDIO-6 expires with what let its owner in, whichever comes first', async () => {
    const { sessions, stored } = openSessions();
    stored.set('token', session('s1'));
    const until = async (id: string, holder: number | undefined): Promise<number | undefined> => {
      stored.set('token', session(id));
      const owner = { name: 'x', scopes: new Set(), ...(holder !== undefined && { until: holder }) } as Principal;
      return (await sessions.principalOf('token', () => owner))?.until;
    };
    expect([await until('a', 100), await until('b', 9000), await until('c', undefined)]).toEqual([100, 5000, 5000]);
  });

  it('A43 STUDIO-6 a thousand principals are remembered, the oldest goes first, and one that ended goes at once', async () => {
    const { sessions, stored, end } = openSessions();
    const holder: Principal = { name: 'x', scopes: new Set() };
    const find = async (id: string): Promise<Principal | undefined> => {
      stored.set('token', session(id));
      return sessions.principalOf('token', () => holder);
    };
    const first = await find('s0');
    for (let at = 1; at < 1000; at++) await find(`s${at}`);
    expect(await find('s0')).toBe(first);
    const second = await find('s1');
    await find('s1000');
    expect(await find('s1')).toBe(second);
    expect(await find('s0')).not.toBe(first);
    const kept = await find('s500');
    end('s500');
    expect(await find('s500')).not.toBe(kept);
    // Other rights of the same key make another principal.
    stored.set('token', session('s500'));
    expect(await sessions.principalOf('token', () => ({ ...holder }))).not.toBe(await find('s999'));
  });

  it('STUDIO-6 S1 a change needs the token of its page; looking does not', async () => {
    const { sessions, stored } = openSessions();
    stored.set('token', session('s1'));
    const principal = (await sessions.principalOf('token', () => ({ name: 'x', scopes: new Set() })))!;
    const change = (headers: Record<string, string>, method = 'POST') =>
      demandCsrf(principal, request(headers, '/', method));
    for (const method of ['GET', 'HEAD']) expect(() => change({}, method)).not.toThrow();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'get']) {
      expect(() => change({}, method)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
      expect(() => change({ 'x-toolscout-csrf': 'x' }, method)).toThrow();
      expect(() => change({ 'x-toolscout-csrf': principal.session!.csrf }, method)).not.toThrow();
    }
    expect(() => demandCsrf(LOCAL, request({}, '/', 'POST'))).not.toThrow();
  });

  it('STUDIO-6 signing in ends the session before it and stores the rights; signing out takes the cookie back', async () => {
    const { sessions, stored, opened } = openSessions();
    stored.set('old', session('s1'));
    const principal: Principal = {
      name: 'n',
      scopes: new Set(['read']),
      servers: new Set(['a']),
      credential: 'c',
      until: 7,
    };
    expect(await sessions.open(principal, 'key', request(cookie('old')))).toEqual({
      token: 'new-token',
      cookie: 'toolscout_session_7077=new-token; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200',
    });
    expect([stored.size, opened]).toEqual([
      0,
      [{ by: 'key', principal: 'n', scopes: ['read'], servers: ['a'], credential: 'c', until: 7 }],
    ]);
    await sessions.open({ name: 'm', scopes: new Set() }, 'code', request());
    expect(opened[1]).toEqual({ by: 'code', principal: 'm', scopes: [] });
    stored.set('old', session('s1'));
    expect(await sessions.end(request())).toContain('toolscout_session_7077=; ');
    expect(stored.size).toBe(1);
    expect(await sessions.end(request(cookie('old')))).toMatch(/Max-Age=0$/);
    expect(stored.size).toBe(0);
    const secure = openSessions('https://tools.example').sessions;
    expect((await secure.open(principal, 'key', request())).cookie).toMatch(/^__Host-toolscout_session=.*; Secure$/);
  });
});
