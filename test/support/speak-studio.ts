import { expect } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import { ToolscoutError } from '../../src/kernel/errors.js';
import type { Contract } from './contract.js';
import { fixture } from './fixture.js';
import { openHttpApp } from './http-app.js';
import { openToolscout } from './open-toolscout.js';
import { STUDIO_PAGE } from './studio-page.js';

const KEY = 'studio-key-of-more-than-sixteen';
const HUGE = 'x'.repeat(5e6);

/** Has every documented answer of the routes of the page occur. */
export async function speakStudio(contract: Contract, gateway: Gateway): Promise<void> {
  const { send, post } = await openHttpApp(gateway, { contract, studio: STUDIO_PAGE });
  const statusOf = async (path: string, init?: Parameters<typeof send>[1]): Promise<number> =>
    (await send(path, init)).status;
  for (const path of [
    '/',
    '/studio/index-B3x9kQ2a.js',
    '/studio/index-C7aa01Zz.css',
    '/studio/logo.svg',
    '/studio/icon.png',
    '/studio/mono.woff2',
    '/v1/session',
    '/v1/overview',
    '/v1/servers/old',
    '/v1/servers/old/sign-in',
  ]) {
    expect([path, await statusOf(path)]).toEqual([path, 200]);
  }
  for (const path of [
    '/studio/none.js',
    '/v1/servers/nowhere',
    '/v1/servers/nowhere/sign-in',
    '/v1/session/oauth/start',
  ])
    expect([path, await statusOf(path)]).toEqual([path, 404]);
  for (const verb of ['disconnect', 'connect', 'discover', 'sign-in']) {
    const status = verb === 'sign-in' ? 400 : 200;
    expect([verb, (await post(`/v1/servers/old/${verb}`, undefined)).status]).toEqual([verb, status]);
    expect((await post(`/v1/servers/nowhere/${verb}`, undefined)).status).toBe(404);
  }
  for (const verb of ['connect', 'discover']) expect((await post(`/v1/servers/absent/${verb}`, {})).status).toBe(502);
  expect((await post('/v1/servers/old/sign-in', { redirected: HUGE })).status).toBe(413);
  expect((await post('/v1/session', { key: HUGE })).status).toBe(413);
  expect((await post('/v1/session', { key: KEY })).status).toBe(401);
  expect((await post('/v1/session', {})).status).toBe(400);
  expect(await statusOf('/v1/session', { method: 'DELETE' })).toBe(204);
  expect(await statusOf('/v1/session/oauth/callback?state=x')).toBe(303);
  const unbuilt = await openHttpApp(gateway, { contract, studio: { read: async () => undefined } });
  expect((await unbuilt.send('/')).status).toBe(503);
  const auth = {
    keys: [{ name: 'team', key: '${KEY}', scopes: ['admin' as const] }],
    oauth: { issuer: 'https://login.example.com', audience: 'https://tools.example.com', clientId: 'studio' },
  };
  const guarded = await openToolscout({ http: { auth } }, { env: { KEY } });
  const locked = await openHttpApp(guarded, { contract });
  expect((await locked.post('/v1/session', { key: KEY })).status).toBe(200);
  expect((await locked.send('/v1/session/oauth/start')).status).toBe(502);
  const issuer = {
    issuer: 'https://login.example.com',
    authorization_endpoint: 'https://login.example.com/authorize',
    token_endpoint: 'https://login.example.com/token',
  };
  const reached = await openHttpApp(guarded, { contract, fetchDocument: async () => issuer });
  expect((await reached.send('/v1/session/oauth/start')).status).toBe(303);
  const asking = await openToolscout({ servers: { remote: { ...fixture('legacy') } } });
  const signing = await openHttpApp(
    {
      ...asking,
      servers: {
        ...asking.servers,
        signInStatus: async (server) => ({ server, state: 'signed-out' }),
        signIn: (server, { open }) => {
          if (server === 'refused') throw new ToolscoutError('AUTHENTICATION_FAILED', 'No.');
          void open('https://login.example.com/authorize');
          return Promise.resolve({ server, state: 'signed-in' as const });
        },
      },
    },
    { contract },
  );
  expect((await signing.post('/v1/servers/remote/sign-in', undefined)).status).toBe(200);
  expect((await signing.post('/v1/servers/refused/sign-in', undefined)).status).toBe(502);
}
