import { describe, expect, it, onTestFinished } from 'vitest';
import {
  json,
  serveHttp,
  startAuthorizationServer,
  startProtectedServer,
  type Recorded,
} from '../../../test/support/authorization-server.js';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { temporaryDirectory } from '../../../test/support/fixture.js';
import { signInTo, type SignedIn } from '../../../test/support/sign-in.js';
import { httpServer, stdioServer } from '../../../test/support/test-server.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import { systemClock } from '../../kernel/clock.js';
import type { JsonObject } from '../../kernel/json.js';
import { silentLog } from '../../kernel/log.js';
import { createSecretMask } from '../../kernel/secrets.js';
import { createMemoryStore, openSqliteStore } from '../../store/index.js';
import { createSignIns } from './sign-ins.js';

const ROBOT = {
  client_id: 'robot',
  client_secret: 'robot-secret-robot-secret',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
};

const patient = STARTS_PROCESSES;

const tokenRequests = (issuer: Recorded, grant: string): URLSearchParams[] =>
  issuer.seen.filter(({ path, form }) => path === '/token' && form.get('grant_type') === grant).map(({ form }) => form);

const echo = async (signedIn: SignedIn, text = 'hi'): Promise<unknown> =>
  (await signedIn.connect()).request('tools/call', { name: 'echo', arguments: { text } });

/** Runs the sign-in up to the redirect, and sends a changed one. */
const tampered =
  (change: (callback: URL) => void) =>
  async (page: string): Promise<void> => {
    const jar = new Map<string, string>();
    let url = page;
    for (let steps = 0; steps < 10; steps++) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
      for (const line of response.headers.getSetCookie()) jar.set(line.split('=')[0]!, /=([^;]*)/.exec(line)![1]!);
      const next = new URL(response.headers.get('location') ?? '', url);
      if (next.pathname === '/callback') {
        change(next);
        await fetch(next);
        return;
      }
      url = next.href;
    }
  };

/** A server and its issuer; it accepts every token but those in `refused`. */
async function startRefusing() {
  const issuer = await startAuthorizationServer();
  const refused = new Set<string>();
  const server = await startProtectedServer({
    issuers: () => [issuer.origin],
    accepts: (token) => !refused.has(token),
  });
  return { issuer, server, refused };
}

/** A signed-in client of a server, by a clock that the test moves. */
async function startSignedIn() {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer({ issuers: () => [issuer.origin] });
  const clock = createFakeClock(systemClock.now());
  const mine = signInTo(server.url, { clock });
  await mine.signIn();
  return { issuer, server, clock, mine };
}

describe('the sign-in to a server', STARTS_PROCESSES, () => {
  it('S13 S16 PKCE, the resource byte for byte, and a native client that registers itself', patient, async () => {
    const issuer = await startAuthorizationServer();
    // Without a slash at the end: writing one is a different resource to a strict authorization server.
    const resource = (url: string): string => new URL(url).origin;
    const server = await startProtectedServer({ issuers: () => [issuer.origin], resource });
    const mine = signInTo(server.url);
    await mine.signIn();
    const asked = issuer.seen.find(({ path }) => path === '/auth')!.query;
    expect(asked.get('resource')).toBe(server.origin);
    expect(asked.get('code_challenge_method')).toBe('S256');
    expect(asked.get('code_challenge')).toMatch(/^[\w-]{43}$/);
    expect(asked.get('state')).toMatch(/^[\w-]{43}$/);
    expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const [redeemed] = tokenRequests(issuer, 'authorization_code');
    expect(redeemed?.get('resource')).toBe(server.origin);
    expect(redeemed?.get('code_verifier')).toMatch(/^[\w.~-]{43,128}$/);
    const registration = JSON.parse(issuer.seen.find(({ path }) => path === '/reg')!.body) as JsonObject;
    expect(registration).toMatchObject({ application_type: 'native', token_endpoint_auth_method: 'none' });
    expect(await echo(mine)).toMatchObject({ content: [{ text: 'hi' }] });
  });

  it(
    'CONN-6 a token that is refused in the middle is renewed once for all calls, and the calls succeed',
    patient,
    async () => {
      const { issuer, server, refused } = await startRefusing();
      const mine = signInTo(server.url);
      await mine.signIn();
      const upstream = await mine.connect();
      await upstream.request('tools/list', {});
      refused.add(server.tokens.at(-1)!);
      const calls = Array.from({ length: 20 }, (_, i) =>
        upstream.request('tools/call', { name: 'echo', arguments: { text: String(i) } }),
      );
      const answers = (await Promise.all(calls)) as Array<{ content: Array<{ text: string }> }>;
      expect(answers.map(({ content }) => content[0]?.text)).toEqual(Array.from({ length: 20 }, (_, i) => String(i)));
      const renewals = tokenRequests(issuer, 'refresh_token');
      expect(renewals).toHaveLength(1);
      expect(renewals[0]?.get('resource')).toBe(server.url);
    },
  );

  it(
    'CONN-6 a token that is about to end is renewed before it is sent, and its successor is rotated in',
    patient,
    async () => {
      const { issuer, clock, mine } = await startSignedIn();
      const first = await mine.session.grant();
      expect(await mine.session.token()).toBe(first?.accessToken);
      await clock.advance(3_590_000);
      const tokens = await Promise.all(Array.from({ length: 10 }, () => mine.session.token()));
      expect(new Set(tokens).size).toBe(1);
      expect(tokens[0]).not.toBe(first?.accessToken);
      expect(tokenRequests(issuer, 'refresh_token')).toHaveLength(1);
      const second = await mine.session.grant();
      expect(second?.refreshToken).not.toBe(first?.refreshToken);
      expect(second?.scope).toBe(first?.scope);
    },
  );

  it(
    'CONN-6 two processes over one store renew one after the other: the second finds the new token',
    patient,
    async () => {
      const { issuer, server, refused } = await startRefusing();
      const directory = await temporaryDirectory();
      const stores = await Promise.all(
        [1, 2].map(() => openSqliteStore({ directory, clock: systemClock, log: silentLog })),
      );
      for (const store of stores) onTestFinished(() => store.close());
      const [one, two] = stores.map((store) => signInTo(server.url, { store }));
      await one!.signIn();
      const links = await Promise.all([one!.connect(), two!.connect()]);
      for (const token of server.tokens) refused.add(token);
      const calls = links.flatMap((link) =>
        [1, 2, 3].map(() => link.request('tools/call', { name: 'echo', arguments: {} })),
      );
      expect(await Promise.all(calls)).toHaveLength(6);
      expect(tokenRequests(issuer, 'refresh_token')).toHaveLength(1);
    },
  );

  it(
    'CONN-6 a grant that was revoked ends in an error that says what to do, and is not tried again',
    patient,
    async () => {
      const { issuer, server, refused } = await startRefusing();
      const mine = signInTo(server.url);
      await mine.signIn();
      const upstream = await mine.connect();
      const { client, refreshToken, accessToken } = (await mine.session.grant())!;
      const revoked = await fetch(`${issuer.origin}/token/revocation`, {
        method: 'POST',
        body: new URLSearchParams({ token: refreshToken!, client_id: client.id }),
      });
      expect(revoked.status).toBe(200);
      refused.add(accessToken!);
      const failure = upstream.request('tools/call', { name: 'echo', arguments: {} });
      await expect(failure).rejects.toMatchObject({
        code: 'AUTHENTICATION_FAILED',
        message: 'The sign-in to "notes" has ended or was revoked.',
        suggestion: 'Sign in: toolscout auth login notes',
      });
      const asked = tokenRequests(issuer, 'refresh_token').length;
      await expect(upstream.request('tools/list', {})).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' });
      expect(tokenRequests(issuer, 'refresh_token')).toHaveLength(asked);
      expect(await mine.session.token()).toBe(undefined);
    },
  );

  it(
    'CONN-6 an authorization server that cannot be reached does not matter while the token holds',
    patient,
    async () => {
      const { issuer, clock, mine } = await startSignedIn();
      const { accessToken } = (await mine.session.grant())!;
      await issuer.close();
      await clock.advance(3_590_000);
      expect(await mine.session.token()).toBe(accessToken);
      await clock.advance(20_000);
      await expect(mine.session.token()).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: false });
    },
  );

  it.each([
    ['another issuer', (url: URL): void => url.searchParams.set('iss', 'https://evil.example')],
    ['a slash more', (url: URL): void => url.searchParams.set('iss', `${url.searchParams.get('iss')}/`)],
    ['two of them', (url: URL): void => url.searchParams.append('iss', url.searchParams.get('iss')!)],
    ['none although it is promised', (url: URL): void => url.searchParams.delete('iss')],
    [
      'another issuer with an error',
      (url: URL): void => {
        url.searchParams.set('iss', 'https://evil.example');
        url.searchParams.set('error', 'server_error');
        url.searchParams.set('error_description', 'call 555 to confirm');
      },
    ],
  ])(
    'S14 the issuer of an answer is compared exactly before the code is redeemed: %s',
    patient,
    async (_name, change) => {
      const issuer = await startAuthorizationServer();
      const server = await startProtectedServer({ issuers: () => [issuer.origin] });
      const mine = signInTo(server.url);
      const failure = await mine.signIn({ open: tampered(change) }).catch((thrown: Error) => thrown);
      expect(failure).toMatchObject({ code: 'AUTHENTICATION_FAILED' });
      expect((failure as Error).message).not.toContain('555 to confirm');
      expect(tokenRequests(issuer, 'authorization_code')).toEqual([]);
    },
  );

  it('S14 an error from the right issuer is shown, on one line and printable', patient, async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const change = (url: URL): void => {
      url.searchParams.delete('code');
      url.searchParams.set('error', 'access_denied');
      url.searchParams.set('error_description', 'you\n\u001b[2Jsaid no');
    };
    const failure = signInTo(server.url).signIn({ open: tampered(change) });
    await expect(failure).rejects.toThrow(/\(access_denied: you \\u001b\[2Jsaid no\)/);
  });

  it(
    'S15 where the server moves to another authorization server, nothing of the old one is sent there',
    patient,
    async () => {
      const [old, next] = [await startAuthorizationServer(), await startAuthorizationServer()];
      const trusted = [old.origin];
      const server = await startProtectedServer({ issuers: () => trusted });
      const mine = signInTo(server.url);
      await mine.signIn();
      const before = (await mine.session.grant())!;
      const upstream = await mine.connect();
      trusted.splice(0, 1, next.origin);
      await expect(upstream.request('tools/list', {})).rejects.toMatchObject({
        code: 'AUTHENTICATION_FAILED',
        message: expect.stringContaining('now uses another authorization server') as string,
      });
      await mine.signIn();
      const after = (await mine.session.grant())!;
      expect(after.issuer).toBe(next.origin);
      expect(after.client.id).not.toBe(before.client.id);
      const secrets = [before.client.id, before.accessToken!, before.refreshToken!];
      const sent = JSON.stringify(
        next.seen.map(({ query, body, authorization }) => [String(query), body, authorization]),
      );
      expect(secrets.filter((secret) => sent.includes(secret))).toEqual([]);
      expect(tokenRequests(old, 'refresh_token')).toEqual([]);
      expect(await upstream.request('tools/list', {})).toMatchObject({ tools: [{ name: 'echo' }] });
    },
  );

  it('S15 two servers of one authorization server never share a token or a client', patient, async () => {
    const issuer = await startAuthorizationServer();
    const issuers = (): string[] => [issuer.origin];
    const [a, b] = [await startProtectedServer({ issuers }), await startProtectedServer({ issuers })];
    const store = createMemoryStore({ clock: systemClock });
    const [one, two] = [signInTo(a.url, { id: 'one', store }), signInTo(b.url, { id: 'two', store })];
    await one.signIn();
    // A client without a sign-in sends no token, least of all that of another server.
    await expect(two.connect()).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' });
    expect(b.tokens).toEqual([]);
    await two.signIn();
    await Promise.all([echo(one), echo(two)]);
    expect(a.tokens.filter((token) => b.tokens.includes(token))).toEqual([]);
    expect(await signInTo(b.url, { id: 'one', store }).session.token()).toBe(undefined);
    expect(await signInTo(a.url, { id: 'two', store }).session.token()).toBe(undefined);
  });

  it('S15 more scope is asked for at the next sign-in, together with what there was', patient, async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin], callScope: 'mcp:write' });
    const mine = signInTo(server.url);
    await mine.signIn();
    const upstream = await mine.connect();
    await expect(upstream.request('tools/call', { name: 'echo', arguments: {} })).rejects.toMatchObject({
      code: 'AUTHENTICATION_FAILED',
      message: expect.stringContaining('(mcp:write)') as string,
      suggestion: 'Sign in: toolscout auth login notes',
    });
    await mine.signIn();
    expect((await mine.session.grant())?.scope?.split(' ')).toEqual(expect.arrayContaining(['mcp:read', 'mcp:write']));
    expect(await upstream.request('tools/call', { name: 'echo', arguments: {} })).toMatchObject({ content: [{}] });
  });

  it('S15 a server that is never satisfied is asked a bounded number of times', patient, async () => {
    const issuer = await startAuthorizationServer({
      clients: [ROBOT],
    });
    const server = await startProtectedServer({ issuers: () => [issuer.origin], callScope: 'mcp:never' });
    const auth = {
      type: 'client-credentials' as const,
      clientId: 'robot',
      clientSecret: 'robot-secret-robot-secret',
      scopes: ['mcp:read'],
    };
    const mine = signInTo(server.url, { auth });
    const upstream = await mine.connect();
    const before = server.seen.length;
    await expect(upstream.request('tools/call', { name: 'echo', arguments: {} })).rejects.toMatchObject({
      code: 'AUTHENTICATION_FAILED',
      message: 'The server "notes" also refused the new access token (HTTP 403).',
      suggestion: 'Check servers.notes.auth in the config.',
    });
    const calls = server.seen.slice(before).filter(({ path }) => path === '/mcp');
    expect(calls.length).toBeLessThanOrEqual(3);
  });

  it('CONN-6 client credentials need no person, and their token is shared through the store', patient, async () => {
    const secret = 'robot-secret-robot-secret';
    const issuer = await startAuthorizationServer({
      clients: [ROBOT],
    });
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const auth = { type: 'client-credentials' as const, clientId: 'robot', clientSecret: secret };
    const store = createMemoryStore({ clock: systemClock });
    expect(await echo(signInTo(server.url, { auth, store }))).toMatchObject({ content: [{ text: 'hi' }] });
    expect(await echo(signInTo(server.url, { auth, store }))).toMatchObject({ content: [{ text: 'hi' }] });
    const asked = tokenRequests(issuer, 'client_credentials');
    expect(asked).toHaveLength(1);
    expect(asked[0]?.get('resource')).toBe(server.url);
    const wrong = signInTo(server.url, { auth: { ...auth, clientSecret: 'another-secret-entirely' } });
    const failure = await wrong.connect().catch((thrown: Error) => thrown);
    expect(failure).toMatchObject({
      code: 'AUTHENTICATION_FAILED',
      message: expect.stringContaining('invalid_client') as string,
    });
    expect(JSON.stringify(failure) + String((failure as Error).stack)).not.toContain('another-secret');
  });

  it(
    'S15 a client secret goes only to the authorization server it was first used with, or the configured one',
    patient,
    async () => {
      const [good, evil] = [await startAuthorizationServer({ clients: [ROBOT] }), await startAuthorizationServer()];
      const trusted = [good.origin];
      const server = await startProtectedServer({ issuers: () => trusted });
      const auth = {
        type: 'client-credentials' as const,
        clientId: 'robot',
        clientSecret: 'robot-secret-robot-secret',
      };
      const store = createMemoryStore({ clock: systemClock });
      const pinned = signInTo(server.url, { auth: { ...auth, issuer: good.origin } });
      const first = signInTo(server.url, { auth, store });
      await first.connect();
      trusted[0] = evil.origin;
      await expect(pinned.connect()).rejects.toThrow(/does not name the authorization server of its config/);
      expect(evil.seen).toEqual([]);
      await expect(first.connect()).rejects.toThrow(/the client secret was not sent there/);
      expect(evil.seen.filter(({ path }) => path === '/token')).toEqual([]);
    },
  );

  it('S11 a server that redirects elsewhere gets no token there', patient, async () => {
    const issuer = await startAuthorizationServer();
    const evil = await serveHttp((_request, response) => json(response, {}));
    let moved = false;
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const front = await serveHttp(async (request, response, seen) => {
      if (moved) return response.writeHead(307, { location: `${evil.origin}/mcp` }).end();
      const answer = await fetch(`${server.origin}${seen.path}`);
      return response
        .writeHead(answer.status, { 'content-type': 'application/json' })
        .end((await answer.text()).replaceAll(server.origin, `http://${request.headers.host}`));
    });
    const mine = signInTo(`${front.origin}/mcp`);
    await mine.signIn();
    moved = true;
    await expect(mine.connect()).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR' });
    expect(evil.seen).toEqual([]);
  });

  it('CONN-6 signing out revokes and forgets', patient, async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const mine = signInTo(server.url);
    await mine.signIn();
    const { refreshToken, client } = (await mine.session.grant())!;
    expect(await mine.session.signOut()).toEqual({ removed: true, revoked: true });
    expect(await mine.session.token()).toBe(undefined);
    const again = await fetch(`${issuer.origin}/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken!, client_id: client.id }),
    });
    expect(again.status).toBe(400);
    expect(await mine.session.signOut()).toEqual({ removed: false, revoked: false });
  });

  it(
    'CONN-6 a client that was registered before is used again as long as its redirect is the same',
    patient,
    async () => {
      const issuer = await startAuthorizationServer();
      const server = await startProtectedServer({ issuers: () => [issuer.origin] });
      const mine = signInTo(server.url);
      await mine.signIn();
      const { client } = (await mine.session.grant())!;
      await mine.signIn({ port: Number(new URL(client.redirectUri!).port) });
      const registrations = (): number => issuer.seen.filter(({ path }) => path === '/reg').length;
      expect(registrations()).toBe(1);
      expect((await mine.session.grant())?.client).toEqual(client);
      // Another port is another client to an authorization server that compares redirects exactly.
      await mine.signIn();
      expect(registrations()).toBe(2);
    },
  );
});

describe('sign-ins', STARTS_PROCESSES, () => {
  const signIns = createSignIns({
    store: createMemoryStore({ clock: systemClock }),
    clock: systemClock,
    log: silentLog,
    mask: createSecretMask(),
  });

  it('CONN-6 a credential of the config or the environment comes first; a local server has none', () => {
    const authorization = { transport: { headers: { authorization: 'Bearer configured' } } };
    expect(signIns.session(httpServer('a', 'https://a.example/mcp', authorization))).toBe(undefined);
    expect(signIns.session(stdioServer('b', { command: 'b' }))).toBe(undefined);
    const other = { transport: { headers: { 'x-key': 'k' } } };
    expect(signIns.session(httpServer('c', 'https://c.example/mcp', other))).toBeDefined();
  });

  it('CONN-6 all connections to one server share its session; another URL is another session', () => {
    const session = signIns.session(httpServer('a', 'https://a.example/mcp'));
    expect(signIns.session(httpServer('a', 'https://a.example/mcp'))).toBe(session);
    expect(signIns.session(httpServer('a', 'https://a.example/other'))).not.toBe(session);
  });
});
