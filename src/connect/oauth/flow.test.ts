import { describe, expect, it } from 'vitest';
import { json, serveHttp } from '../../../test/support/authorization-server.js';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import type { AuthConfig } from '../../model/config.js';
import { chooseClient, type FlowDeps } from './client.js';
import type { Site } from './discovery.js';
import { createEndpointFetch } from './endpoint.js';
import { readCallback, renew, revoke, scopeFor } from './flow.js';
import type { Grant } from './grants.js';

function siteAt(origin: string, more: object = {}): Site {
  return {
    issuer: origin,
    resource: `${origin}/mcp`,
    isResourceNamed: true,
    metadata: {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      response_types_supported: ['code'],
      ...more,
    } as Site['metadata'],
  };
}

function flowAt(origin: string, auth: AuthConfig = {}): FlowDeps {
  const clock = createFakeClock();
  const scope = { server: 'notes', url: `${origin}/mcp`, ownHosts: ['127.0.0.1'] };
  return { scope, auth, fetchFn: createEndpointFetch(scope, { clock }), now: clock.now, mask: (text) => text };
}

const REDIRECT = 'http://127.0.0.1:1234/callback';
const DOCUMENT = 'https://app.example/client.json';

function grantAt(origin: string, more: Partial<Grant> = {}): Grant {
  const { metadata, issuer, resource } = siteAt(origin);
  const client = { id: 'me', origin: 'registered' as const };
  const kept = { ...metadata, revocation_endpoint: `${origin}/revoke` } as unknown as Grant['metadata'];
  return { server: 'notes', url: resource, issuer, resource, isResourceNamed: true, client, metadata: kept, ...more };
}

describe('the client of toolscout at an authorization server', STARTS_PROCESSES, () => {
  it('S16 configured by hand before a document, a document before registration', async () => {
    const server = await serveHttp((_request, response) =>
      json(response, { client_id: 'registered', redirect_uris: [REDIRECT] }, 201),
    );
    const cimd = { client_id_metadata_document_supported: true, registration_endpoint: `${server.origin}/register` };
    const choose = async (auth: AuthConfig, more: object): Promise<string> =>
      (await chooseClient(siteAt(server.origin, more), REDIRECT, undefined, undefined, flowAt(server.origin, auth))).id;
    expect(await choose({ clientId: 'by-hand', clientMetadataUrl: DOCUMENT }, cimd)).toBe('by-hand');
    expect(await choose({ clientMetadataUrl: DOCUMENT }, cimd)).toBe(DOCUMENT);
    expect(server.seen).toEqual([]);
    const unsupported = { ...cimd, client_id_metadata_document_supported: false };
    expect(await choose({ clientMetadataUrl: DOCUMENT }, unsupported)).toBe('registered');
    expect(await choose({}, cimd)).toBe('registered');
    await expect(choose({}, {})).rejects.toMatchObject({
      code: 'AUTHENTICATION_FAILED',
      suggestion: expect.stringContaining('servers.notes.auth.clientId') as string,
    });
  });

  it('S15 a client is used again at its own issuer only, and only while its secret holds', async () => {
    const server = await serveHttp((_request, response) =>
      json(response, { client_id: 'new', redirect_uris: [REDIRECT] }, 201),
    );
    const site = siteAt(server.origin, { registration_endpoint: `${server.origin}/register` });
    const flow = flowAt(server.origin);
    const client = { id: 'old', origin: 'registered' as const, redirectUri: REDIRECT };
    const choose = async (previous: Grant): Promise<string> =>
      (await chooseClient(site, REDIRECT, undefined, previous, flow)).id;
    expect(await choose(grantAt(server.origin, { client }))).toBe('old');
    expect(await choose(grantAt(server.origin, { client, issuer: 'https://other.example' }))).toBe('new');
    const expired = { ...client, secret: 's', secretExpiresAt: flow.now() - 1 };
    expect(await choose(grantAt(server.origin, { client: expired }))).toBe('new');
    const byHand = { ...client, origin: 'configured' as const };
    expect(await choose(grantAt(server.origin, { client: byHand }))).toBe('new');
  });

  it('A33 a registration or a renewal that fails repeats nothing of the answer but its error', async () => {
    const server = await serveHttp((_request, response) => response.writeHead(500).end('<b>canary-token</b>'));
    const site = siteAt(server.origin, { registration_endpoint: `${server.origin}/register` });
    const flow = flowAt(server.origin);
    const failures = await Promise.all([
      chooseClient(site, REDIRECT, undefined, undefined, flow).catch((thrown: Error) => thrown.message),
      renew(grantAt(server.origin, { refreshToken: 'canary-refresh' }), flow).catch((thrown: Error) => thrown.message),
    ]);
    expect(failures).toEqual([
      'The authorization server of "notes" refused to register toolscout (its answer cannot be understood).',
      'The authorization server of "notes" refused to renew the token (its answer cannot be understood).',
    ]);
  });
});

describe('the steps of a sign-in', STARTS_PROCESSES, () => {
  it('S13 scopes: those of the config and the refusal, else those of the server; and to stay signed in', () => {
    const site: Site = { ...siteAt('https://a.example'), scope: 'known' };
    expect(scopeFor(site, {}, undefined)).toBe('known');
    expect(scopeFor(site, {}, 'asked')).toBe('asked');
    expect(scopeFor(site, { scopes: ['mine'] }, 'asked mine')).toBe('mine asked');
    expect(scopeFor(siteAt('https://a.example'), {})).toBe(undefined);
    const staying = { ...siteAt('https://a.example', { scopes_supported: ['offline_access'] }), scope: 'known' };
    expect(scopeFor(staying, {})).toBe('known offline_access');
    expect(scopeFor(staying, { type: 'client-credentials' })).toBe('known');
  });

  it('S14 state and issuer are checked before a code or an error is read; a bare code has neither', () => {
    const site = siteAt('https://a.example');
    const strict = siteAt('https://a.example', { authorization_response_iss_parameter_supported: true });
    const read = (query: string, at = site, isBareCode = false): string =>
      readCallback({ params: new URLSearchParams(query), isBareCode }, 'right', at, 'notes');
    expect(read('code=c&state=right')).toBe('c');
    expect(read('code=c&state=right&iss=https://a.example')).toBe('c');
    expect(() => read('code=c&state=wrong')).toThrow(/does not belong/);
    expect(() => read('code=c')).toThrow(/does not belong/);
    // As long as the state in characters, and longer in bytes.
    expect(() => read(`code=c&state=${encodeURIComponent('rüght')}`)).toThrow(/does not belong/);
    expect(() => read('code=c&state=right', strict)).toThrow(/does not come from/);
    expect(() => read('code=c&state=right&iss=https://A.example', strict)).toThrow(/does not come from/);
    expect(() => read('error=e&error_description=liar&state=wrong')).not.toThrow(/liar/);
    expect(() => read('error=e&error_description=liar&state=right&iss=https://evil.example')).not.toThrow(/liar/);
    expect(() => read('state=right')).toThrow(/without a code/);
    expect(read('code=c', site, true)).toBe('c');
    expect(() => read('code=c', strict, true)).toThrow(/does not come from/);
  });

  it('CONN-6 a refresh token that is not replaced goes on serving; a new one takes its place', async () => {
    let next: string | undefined;
    const server = await serveHttp((_request, response) =>
      json(response, {
        access_token: 'new',
        token_type: 'Bearer',
        expires_in: 60,
        ...(next && { refresh_token: next }),
      }),
    );
    const flow = flowAt(server.origin);
    const grant = grantAt(server.origin, { accessToken: 'old', refreshToken: 'first', scope: 'a', expiresAt: 1 });
    expect(await renew(grant, flow)).toMatchObject({ accessToken: 'new', refreshToken: 'first', scope: 'a' });
    next = 'second';
    const renewed = await renew(grant, flow);
    expect(renewed).toMatchObject({ refreshToken: 'second', expiresAt: flow.now() + 60_000 });
  });

  it('CONN-6 revocation authenticates as the client is registered, and says when it failed', async () => {
    let status = 200;
    const server = await serveHttp((_request, response) => response.writeHead(status).end());
    const flow = flowAt(server.origin);
    const tokens = { accessToken: 'a', refreshToken: 'r' };
    const client = { id: 'me', secret: 's', origin: 'configured' as const };
    expect(await revoke(grantAt(server.origin, tokens), flow)).toBe(true);
    expect(await revoke(grantAt(server.origin, { ...tokens, client }), flow)).toBe(true);
    const post = { ...client, method: 'client_secret_post' };
    expect(await revoke(grantAt(server.origin, { accessToken: 'a', client: post }), flow)).toBe(true);
    const [open, basic, form] = server.seen.map(({ body, authorization }) => [body, authorization]);
    expect(open).toEqual(['token=r&token_type_hint=refresh_token&client_id=me', undefined]);
    expect(basic).toEqual(['token=r&token_type_hint=refresh_token', `Basic ${btoa('me:s')}`]);
    expect(form).toEqual(['token=a&token_type_hint=access_token&client_id=me&client_secret=s', undefined]);
    status = 503;
    expect(await revoke(grantAt(server.origin, tokens), flow)).toBe(false);
    expect(await revoke(grantAt(server.origin), flow)).toBe(false);
  });
});
