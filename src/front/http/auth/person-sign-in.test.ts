import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ToolscoutError } from '../../../kernel/errors.js';
import type { JsonObject } from '../../../kernel/json.js';
import { createLog, silentLog } from '../../../kernel/log.js';
import type { HttpAuth } from '../../../model/config.js';
import type { Principal } from '../../../model/principal.js';
import { createPersonSignIn, reasonOf, type PersonSignInDeps } from './person-sign-in.js';

const ISSUER = 'https://issuer.example';
const BASE = 'https://tools.example';
const OAUTH = { issuer: ISSUER, audience: ['tools', 'other'], clientId: 'studio', scopePrefix: 'tools:' };
const METADATA: JsonObject = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize?tenant=1`,
  token_endpoint: `${ISSUER}/token`,
};
const ANN: Principal = { name: 'oauth:ann', scopes: new Set(['read']) };

/** A sign-in whose sealed states are plain texts, and what the issuer was sent. */
function bench(
  metadata: JsonObject | undefined = METADATA,
  deps: Partial<PersonSignInDeps> = {},
  oauth: object = OAUTH,
) {
  const sent: Array<[url: string, form: Record<string, string>]> = [];
  const signIn = createPersonSignIn({
    auth: () => ({ keys: [], oauth }) as unknown as HttpAuth,
    states: {
      sealState: async (payload, binding, use) => Buffer.from(JSON.stringify([payload, binding, use])).toString('hex'),
      async openState(state, binding, use) {
        if (typeof state !== 'string') return undefined;
        const [payload, ...bound] = JSON.parse(Buffer.from(state, 'hex').toString()) as [JsonObject, string, string];
        return bound[0] === binding && bound[1] === use ? payload : undefined;
      },
    },
    baseUrl: () => BASE,
    fetchDocument: async () => metadata,
    async postForm(url, form) {
      sent.push([url, Object.fromEntries(form)]);
      return { access_token: 'good' };
    },
    readToken: (token) => (token === 'good' ? Promise.resolve(ANN) : undefined),
    log: silentLog,
    ...deps,
  });
  const begin = async () => {
    const { url, cookie } = await signIn.start(new Request(`${BASE}/v1/session/oauth/start`));
    const asked = Object.fromEntries(new URL(url).searchParams);
    return { url, cookie, asked, pair: cookie.split(';')[0]! };
  };
  const finish = (query: Record<string, string>, cookie: string): Promise<Principal> =>
    signIn.finish(new Request(`${BASE}/back?${new URLSearchParams(query)}`, { headers: { cookie } }));
  /** Goes to the issuer and comes back with this. */
  const roundTrip = async (query: Record<string, string> = { code: 'c' }): Promise<Principal> => {
    const { asked, pair } = await begin();
    return finish({ state: asked['state']!, ...query }, pair);
  };
  return { signIn, sent, begin, finish, roundTrip };
}

const refused = (message: string) => ({ code: 'UNAUTHENTICATED', message: expect.stringContaining(message) as string });

describe('signing in at an identity provider behind https', () => {
  it('STUDIO-6 the cookie is for this host and https alone, for as long as a person may take', async () => {
    const { begin, signIn } = bench();
    const { cookie } = await begin();
    expect(cookie).toMatch(
      /^__Host-toolscout_sign_in=[0-9a-f]+; HttpOnly; SameSite=Lax; Path=\/; Max-Age=600; Secure$/,
    );
    expect(signIn.forget(new Request(BASE))).toBe(
      '__Host-toolscout_sign_in=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0; Secure',
    );
    const plain = bench(METADATA, { baseUrl: () => 'http://127.0.0.1:7077' });
    expect((await plain.begin()).cookie).not.toContain('Secure');
  });

  it('STUDIO-6 S9 each sign-in has secrets of its own, and names the first audience where it is an address', async () => {
    const { begin } = bench();
    const [one, other] = [await begin(), await begin()];
    expect(one.url).toMatch(/^https:\/\/issuer\.example\/authorize\?tenant=1&/);
    expect(one.asked).toMatchObject({
      client_id: 'studio',
      redirect_uri: `${BASE}/v1/session/oauth/callback`,
      scope: 'tools:read tools:call tools:admin',
    });
    expect(one.asked).not.toHaveProperty('resource');
    for (const name of ['state', 'code_challenge']) {
      expect(one.asked[name]).toMatch(/^[\w-]{43}$/);
      expect(one.asked[name]).not.toBe(other.asked[name]);
    }
    const address = bench(METADATA, {}, { ...OAUTH, audience: ['https://tools.example/mcp', 'x'] });
    expect((await address.begin()).asked['resource']).toBe('https://tools.example/mcp');
  });

  it('STUDIO-6 S9 the code goes to the token endpoint with the verifier of this sign-in', async () => {
    const { begin, finish, sent } = bench();
    const { asked, pair } = await begin();
    expect(await finish({ state: asked['state']!, code: 'c1', iss: ISSUER }, pair)).toBe(ANN);
    const [url, form] = sent[0]!;
    expect(url).toBe(`${ISSUER}/token`);
    expect(form).toMatchObject({
      grant_type: 'authorization_code',
      code: 'c1',
      redirect_uri: asked['redirect_uri'],
      client_id: 'studio',
    });
    expect(createHash('sha256').update(form['code_verifier']!).digest('base64url')).toBe(asked['code_challenge']);
  });

  it('STUDIO-6 A6 an answer must name the issuer where the issuer says that it does, and no other in any case', async () => {
    const naming = bench({ ...METADATA, authorization_response_iss_parameter_supported: true });
    expect(await naming.roundTrip({ code: 'c', iss: ISSUER })).toBe(ANN);
    await expect(naming.roundTrip()).rejects.toMatchObject(refused('issuer'));
    const silent = bench({ ...METADATA, authorization_response_iss_parameter_supported: 'true' });
    expect(await silent.roundTrip()).toBe(ANN);
    await expect(silent.roundTrip({ code: 'c', iss: 'https://evil.example' })).rejects.toMatchObject(refused('issuer'));
    // The config names another issuer by now.
    let issuer = ISSUER;
    const moving = bench(METADATA, { auth: () => ({ keys: [], oauth: { ...OAUTH, issuer } }) as unknown as HttpAuth });
    const { asked, pair } = await moving.begin();
    issuer = 'https://new.example';
    await expect(moving.finish({ state: asked['state']!, code: 'c' }, pair)).rejects.toMatchObject(refused('issuer'));
    expect([naming.sent.length, silent.sent.length, moving.sent.length]).toEqual([1, 1, 0]);
  });

  it('STUDIO-6 A6 nothing is asked of the issuer for another state, without a code or without the cookie', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'debug', now: () => 0, write: (line) => void lines.push(line) });
    const { begin, finish, roundTrip, sent } = bench(METADATA, { log });
    const { asked, pair } = await begin();
    await expect(finish({ state: 'x', code: 'c' }, pair)).rejects.toMatchObject(refused('another browser'));
    await expect(finish({ code: 'c' }, pair)).rejects.toMatchObject(refused('another browser'));
    await expect(finish({ state: asked['state']!, code: 'c' }, 'a=b')).rejects.toMatchObject(
      refused('another browser'),
    );
    await expect(roundTrip({ error: 'access_denied' })).rejects.toMatchObject(refused('refused the sign-in'));
    await expect(roundTrip({})).rejects.toMatchObject(refused('refused the sign-in'));
    expect(sent).toEqual([]);
    expect(lines.join('')).toMatch(/access_denied[^]*no code/);
  });

  it.each<[answer: unknown]>([[undefined], ['text'], [{}], [{ access_token: 7 }], [null]])(
    'STUDIO-6 an answer of the token endpoint without a token opens no session: %j',
    async (answer) => {
      const { roundTrip } = bench(METADATA, { postForm: async () => answer });
      await expect(roundTrip()).rejects.toMatchObject(refused('without an access token'));
    },
  );

  it('STUDIO-6 an issuer that was removed from the config meanwhile opens no session', async () => {
    const gone = bench(METADATA, { readToken: () => undefined });
    await expect(gone.roundTrip()).rejects.toMatchObject(refused('removed from the config'));
    let auth: HttpAuth | undefined = { keys: [], oauth: OAUTH } as unknown as HttpAuth;
    const { signIn, begin, finish } = bench(METADATA, { auth: () => auth });
    const { asked, pair } = await begin();
    expect(signIn.isOffered()).toBe(true);
    for (const next of [undefined, { keys: [] }, { keys: [], oauth: { ...OAUTH, clientId: undefined } }]) {
      auth = next as unknown as HttpAuth | undefined;
      expect(signIn.isOffered()).toBe(false);
      await expect(finish({ state: asked['state']!, code: 'c' }, pair)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(begin()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  it.each([
    'http://localhost:1/a',
    'http://127.0.0.1:1/a',
    'http://[::1]:1/a',
    'https://login.example/a',
    'HTTPS://login.example/a',
  ])('STUDIO-6 A19 an endpoint over https or on this machine is used: %s', async (endpoint) => {
    const { url } = await bench({ ...METADATA, authorization_endpoint: endpoint }).begin();
    expect(url.startsWith(`${new URL(endpoint).href}?`)).toBe(true);
  });

  it.each(['http://login.example/a', 'http://127.0.0.2/a', 'ftp://localhost/a', 'javascript:0', 'a', '', 7, undefined])(
    'STUDIO-6 A19 no code or token goes to %j',
    async (endpoint) => {
      const without = { code: 'SERVER_CONNECTION_ERROR', suggestion: 'Check http.auth.oauth.issuer.' };
      const metadata = (name: string) => ({ ...METADATA, [name]: endpoint }) as JsonObject;
      await expect(bench(metadata('authorization_endpoint')).begin()).rejects.toMatchObject(without);
      const { roundTrip, sent } = bench(metadata('token_endpoint'));
      await expect(roundTrip()).rejects.toMatchObject(without);
      expect(sent).toEqual([]);
    },
  );

  it('STUDIO-6 A19 an issuer that is away, or whose document names another one, is no place to go to', async () => {
    for (const fetched of [undefined, { ...METADATA, issuer: 'https://evil.example' }]) {
      const { begin } = bench(METADATA, { fetchDocument: async () => fetched });
      await expect(begin()).rejects.toMatchObject({
        code: 'SERVER_CONNECTION_ERROR',
        message: 'The identity provider cannot be reached.',
      });
    }
  });
});

describe('why a sign-in failed', () => {
  it('STUDIO-6 REG-7 a refusal is the person’s; everything else is logged for the operator', () => {
    const lines: string[] = [];
    const log = createLog({ level: 'debug', now: () => 0, write: (line) => void lines.push(line) });
    expect(reasonOf(new ToolscoutError('UNAUTHENTICATED', 'no'), log)).toBe('refused');
    expect(lines).toEqual([]);
    expect(reasonOf(new ToolscoutError('SERVER_CONNECTION_ERROR', 'it is away'), log)).toBe('unavailable');
    expect(reasonOf(new Error('broken'), log)).toBe('unavailable');
    expect(lines.join('')).toMatch(/it is away[^]*broken/);
  });
});
