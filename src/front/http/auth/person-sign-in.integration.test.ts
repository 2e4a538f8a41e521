import { describe, expect, it } from 'vitest';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { serveHttp, json } from '../../../../test/support/authorization-server.js';
import { openHttpApp, type TestApp } from '../../../../test/support/http-app.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { createDocumentFetch, createFormPost } from '../../../app/serve-http.js';
import type { HttpAuth } from '../../../model/config.js';

const AUDIENCE = 'https://tools.example.com/mcp';

interface Provider {
  readonly origin: string;
  /** What the token endpoint answers instead of a token. */
  broken?: object;
  scope: string;
  readonly forms: URLSearchParams[];
}

/** An identity provider that checks PKCE and gives tokens as JWTs. */
async function startProvider(more: object = {}): Promise<Provider> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' };
  const provider = { scope: 'read admin', forms: [] as URLSearchParams[] } as unknown as {
    -readonly [K in keyof Provider]: Provider[K];
  };
  const { origin } = await serveHttp(async (request, response, seen, own) => {
    if (seen.path.startsWith('/.well-known/')) {
      return json(response, {
        issuer: own,
        authorization_endpoint: `${own}/authorize`,
        token_endpoint: `${own}/token`,
        jwks_uri: `${own}/jwks`,
        authorization_response_iss_parameter_supported: true,
        ...more,
      });
    }
    if (seen.path === '/jwks') return json(response, { keys: [jwk] });
    for await (const _chunk of request);
    provider.forms.push(seen.form);
    if (provider.broken) return json(response, provider.broken, 200);
    const token = await new SignJWT({ scope: provider.scope })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setIssuer(own)
      .setAudience(AUDIENCE)
      .setSubject('ada')
      .setExpirationTime('10m')
      .sign(privateKey);
    return json(response, { access_token: token, token_type: 'Bearer' });
  });
  return Object.assign(provider, { origin });
}

async function open(provider: Provider, oauth: object = {}): Promise<TestApp> {
  const auth = { oauth: { issuer: provider.origin, audience: AUDIENCE, clientId: 'studio', ...oauth } };
  const gateway = await openToolscout({ http: { auth } });
  const current = (): HttpAuth | undefined => gateway.internal.loaded().config.http.auth;
  return openHttpApp(gateway, { fetchDocument: createDocumentFetch(current), postForm: createFormPost(current) });
}

const cookiesOf = (response: Response): string[] => response.headers.getSetCookie().map((each) => each.split(';')[0]!);

/** Goes to the provider; the answer is where it was sent, and the browser's cookie. */
async function start({ send }: TestApp): Promise<{ url: URL; cookie: string; setCookie: string }> {
  const answer = await send('/v1/session/oauth/start');
  expect(answer.status).toBe(303);
  const setCookie = answer.headers.get('set-cookie')!;
  return { url: new URL(answer.headers.get('location')!), cookie: setCookie.split(';')[0]!, setCookie };
}

async function comeBack({ send }: TestApp, query: Record<string, string>, cookie?: string): Promise<Response> {
  const path = `/v1/session/oauth/callback?${new URLSearchParams(query)}`;
  return send(path, cookie === undefined ? {} : { headers: { cookie } });
}

describe('signing in at the identity provider', STARTS_PROCESSES, () => {
  it('STUDIO-6 S9 goes there with PKCE and comes back with a session that has the rights of the token', async () => {
    const provider = await startProvider();
    const http = await open(provider);
    expect(await (await http.send('/v1/session')).json()).toMatchObject({ methods: ['key', 'oauth'], signedIn: false });
    const { url, cookie, setCookie } = await start(http);
    expect(setCookie).toMatch(/HttpOnly; SameSite=Lax/);
    const asked = Object.fromEntries(url.searchParams);
    expect(asked).toMatchObject({
      response_type: 'code',
      client_id: 'studio',
      redirect_uri: 'http://127.0.0.1:7077/v1/session/oauth/callback',
      scope: 'read call admin',
      code_challenge_method: 'S256',
      resource: AUDIENCE,
    });
    const back = await comeBack(http, { code: 'c1', state: asked['state']!, iss: provider.origin }, cookie);
    expect([back.status, back.headers.get('location')]).toEqual([303, '/']);
    const { createHash } = await import('node:crypto');
    const form = provider.forms[0]!;
    expect(createHash('sha256').update(form.get('code_verifier')!).digest('base64url')).toBe(asked['code_challenge']);
    expect(Object.fromEntries(form)).toMatchObject({
      grant_type: 'authorization_code',
      code: 'c1',
      client_id: 'studio',
    });
    const session = cookiesOf(back).find((each) => each.startsWith('toolscout_session'))!;
    const state = (await (await http.send('/v1/session', { headers: { cookie: session } })).json()) as object;
    expect(state).toMatchObject({ signedIn: true, principal: 'oauth:ada', scopes: ['read', 'call', 'admin'] });
    expect((await http.send('/v1/config', { headers: { cookie: session } })).status).toBe(200);
    // The same way back opens nothing a second time.
    const replay = await comeBack(http, { code: 'c1', state: asked['state']!, iss: provider.origin }, cookie);
    expect(replay.headers.get('location')).toBe('/#/sign-in?error=refused');
    expect(cookiesOf(replay).some((each) => each.startsWith('toolscout_session'))).toBe(false);
  });

  it('STUDIO-6 A6 another browser, another issuer, no code and no token are refused', async () => {
    const provider = await startProvider();
    const http = await open(provider);
    const refused = async (query: Record<string, string>, cookie?: string): Promise<void> => {
      const begun = await start(http);
      const state = begun.url.searchParams.get('state')!;
      const answer = await comeBack(http, { state, ...query }, cookie ?? begun.cookie);
      expect([query, answer.headers.get('location')]).toEqual([query, '/#/sign-in?error=refused']);
    };
    await refused({ code: 'c', iss: provider.origin }, 'toolscout_sign_in_7077=somebody-else');
    await refused({ code: 'c', iss: 'https://evil.example' });
    await refused({ code: 'c' });
    await refused({ error: 'access_denied', iss: provider.origin });
    await refused({ code: 'c', iss: provider.origin, state: 'x'.repeat(43) });
    provider.broken = { error: 'invalid_grant' };
    await refused({ code: 'c', iss: provider.origin });
    provider.broken = { access_token: 'no.jwt.here' };
    await refused({ code: 'c', iss: provider.origin });
    expect((await comeBack(http, {})).headers.get('location')).toBe('/#/sign-in?error=refused');
  });

  it('STUDIO-6 A43 however many others begin, one who began can finish', async () => {
    const provider = await startProvider();
    const auth = { oauth: { issuer: provider.origin, audience: AUDIENCE, clientId: 'studio' } };
    const gateway = await openToolscout({ http: { auth } });
    const metadata = { issuer: provider.origin, authorization_endpoint: `${provider.origin}/authorize` };
    const current = (): HttpAuth | undefined => gateway.internal.loaded().config.http.auth;
    const real = createDocumentFetch(current);
    let isFlood = false;
    const http = await openHttpApp(gateway, {
      fetchDocument: async (url) => (isFlood ? metadata : real(url)),
      postForm: createFormPost(current),
    });
    const { url, cookie } = await start(http);
    const code = await gateway.sessions.issueTicket('code', true, 600_000);
    isFlood = true;
    for (let each = 0; each < 1000; each++) {
      await http.app.fetch(
        new Request('http://127.0.0.1:7077/v1/session/oauth/start', { headers: { host: '127.0.0.1:7077' } }),
      );
    }
    isFlood = false;
    const state = url.searchParams.get('state')!;
    // A page that leads the browser back with another state does not use up the sign-in either.
    await comeBack(http, { code: 'c', state: 'x'.repeat(43), iss: provider.origin }, cookie);
    const back = await comeBack(http, { code: 'c', state, iss: provider.origin }, cookie);
    expect(back.headers.get('location')).toBe('/');
    expect(await gateway.sessions.takeTicket('code', code)).toBe(true);
  });

  it('STUDIO-6 A19 endpoints that are none, or lead elsewhere in clear, are not used', async () => {
    for (const more of [{ authorization_endpoint: 'http://login.example.com/' }, { authorization_endpoint: 7 }]) {
      const http = await open(await startProvider(more));
      expect((await http.send('/v1/session/oauth/start')).status).toBe(502);
    }
    const http = await open(await startProvider({ token_endpoint: 'http://10.0.0.1/token' }));
    const { url, cookie } = await start(http);
    const iss = url.origin;
    const back = await comeBack(http, { code: 'c', state: url.searchParams.get('state')!, iss }, cookie);
    expect(back.headers.get('location')).toBe('/#/sign-in?error=unavailable');
  });

  it('STUDIO-6 A19 forms go to the written issuer or to the public network, and only JSON is an answer', async () => {
    const { origin } = await serveHttp((_request, response) => response.writeHead(200).end('not JSON'));
    const post = createFormPost(() => ({ keys: [], oauth: { issuer: origin, audience: 'a', scopePrefix: '' } }));
    expect(await post(`${origin}/token`, new URLSearchParams())).toBeUndefined();
    const other = createFormPost(() => undefined);
    await expect(other(`${origin}/token`, new URLSearchParams())).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('STUDIO-6 a session ends with its token, and has no more rights than it', async () => {
    const provider = await startProvider();
    provider.scope = 'read';
    const http = await open(provider, { audience: [AUDIENCE, 'other'] });
    const { url, cookie } = await start(http);
    const back = await comeBack(http, { code: 'c', state: url.searchParams.get('state')!, iss: url.origin }, cookie);
    const session = cookiesOf(back).find((each) => each.startsWith('toolscout_session'))!;
    const state = (await (await http.send('/v1/session', { headers: { cookie: session } })).json()) as {
      until: number;
    };
    expect(state.until).toBeLessThan(Date.now() + 12 * 60_000);
    expect((await http.send('/v1/config', { headers: { cookie: session } })).status).toBe(403);
  });
});
