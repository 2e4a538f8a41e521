import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { openGateway } from '../../src/app/open-gateway.js';
import { wrapGateway, type Gateway } from '../../src/gateway/index.js';
import { ToolscoutError } from '../../src/kernel/errors.js';
import type { Contract } from './contract.js';
import { fixture, temporaryDirectory } from './fixture.js';
import { openHttpApp } from './http-app.js';
import { openToolscout } from './open-toolscout.js';
import { STUDIO_PAGE } from './studio-page.js';

const KEY = 'studio-key-of-more-than-sixteen';
const HUGE = 'x'.repeat(5e6);

/** Has every documented answer of the routes that change the config occur. */
async function speakConfig(contract: Contract): Promise<void> {
  const home = await temporaryDirectory();
  const config = join(home, 'toolscout.json');
  await writeFile(config, JSON.stringify({ servers: { old: fixture('legacy') } }));
  const env = { PATH: process.env['PATH'], HOME: home };
  const gateway = await openGateway({ config, cwd: home, env, stateDir: join(home, 'state'), learnAtStart: false });
  onTestFinished(() => gateway.close({ drainMs: 0 }));
  const find: Gateway['registry']['search'] = async (query) => {
    if (query === 'away') throw new ToolscoutError('REGISTRY_UNAVAILABLE', 'No.');
    return { servers: [], truncated: false, dropped: 0, learnedAt: 1 };
  };
  const plan: Gateway['registry']['plan'] = async (name) => {
    if (name === 'none') throw new ToolscoutError('NOT_FOUND', 'No.');
    if (name === 'away') throw new ToolscoutError('REGISTRY_UNAVAILABLE', 'No.');
    const launch = { way: 'npm', ok: false as const, reason: 'No.' };
    const about = { name, description: '', version: '1', status: 'active', state: 'pending', launch } as const;
    return { candidate: about, id: 'x', ways: [] };
  };
  const { send, post } = await openHttpApp(
    wrapGateway(gateway, () => ({ 'registry.search': find, 'registry.plan': plan })),
    { contract },
  );
  const change = { toolRules: [] };
  expect((await send('/v1/config/file')).status).toBe(200);
  const planned = (await (await post('/v1/config/plan', { change })).json()) as { plan: string };
  expect((await post('/v1/config/apply', { change, plan: planned.plan })).status).toBe(200);
  for (const verb of ['disable', 'enable']) {
    expect((await post(`/v1/servers/old/${verb}`, undefined)).status).toBe(200);
    expect((await post(`/v1/servers/nowhere/${verb}`, undefined)).status).toBe(404);
  }
  expect((await post('/v1/rules/preview', { toolRules: [] })).status).toBe(200);
  expect((await send('/v1/imports')).status).toBe(200);
  expect((await post('/v1/imports', {})).status).toBe(200);
  expect((await send('/v1/registry/search?q=x')).status).toBe(200);
  expect((await send('/v1/registry/plan?name=some&answer=a=b')).status).toBe(200);
  for (const path of ['/v1/registry/search', '/v1/registry/plan']) expect((await send(path)).status).toBe(400);
  expect((await send('/v1/registry/plan?name=none')).status).toBe(404);
  expect((await send('/v1/registry/plan?name=away')).status).toBe(503);
  expect((await send('/v1/registry/search?q=away')).status).toBe(503);
  for (const path of ['/v1/config/plan', '/v1/config/apply', '/v1/imports', '/v1/rules/preview']) {
    expect((await post(path, { text: HUGE })).status).toBe(413);
    expect((await post(path, { odd: 1 })).status).toBe(400);
  }
  const fixed = await openHttpApp(await openToolscout({}), { contract });
  expect((await fixed.send('/v1/imports')).status).toBe(400);
}

/** Has every documented answer about calls that ask back, and about the traffic, occur. */
async function speakCalls(contract: Contract): Promise<void> {
  const gateway = await openToolscout({ servers: { asking: fixture('asking') } });
  const { send, post } = await openHttpApp(gateway, { contract });
  const body = { server: 'asking', tool: 'roots', ask: true };
  const running = await post('/v1/call', body, { accept: 'text/event-stream' });
  let text = '';
  for await (const chunk of running.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const id = /"id":"([^"]+)","kind":"roots"/.exec(text)?.[1];
    if (id === undefined || text.includes('event: result')) continue;
    expect((await post(`/v1/asks/${id}`, { answer: { roots: [] } })).status).toBe(204);
  }
  expect((await post('/v1/asks/none', { refusal: 'No.' })).status).toBe(404);
  expect((await post('/v1/asks/none', { odd: 1 })).status).toBe(400);
  expect((await post('/v1/asks/none', { answer: { pad: HUGE } })).status).toBe(413);
  expect((await send('/v1/traffic?format=json')).status).toBe(200);
  expect((await send('/v1/traffic?format=odd')).status).toBe(400);
  const followed = await Promise.all(Array.from({ length: 101 }, () => send('/v1/traffic')));
  expect(followed.filter(({ status }) => status === 429)).toHaveLength(1);
  await Promise.all(followed.map(({ body: stream }) => stream?.cancel()));
}

/** Has every documented answer of the routes of the page occur. */
export async function speakStudio(contract: Contract, gateway: Gateway): Promise<void> {
  await speakConfig(contract);
  await speakCalls(contract);
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
  const label = { query: 'say it again', server: 'old', tool: 'echo' };
  expect((await post('/v1/labels', label)).status).toBe(201);
  expect((await post('/v1/labels', { ...label, tool: 'none' })).status).toBe(404);
  expect(await statusOf('/v1/labels')).toBe(200);
  const stateless = await openHttpApp(await openToolscout({}, { stateDir: 'memory' }), { contract });
  expect((await stateless.send('/v1/labels')).status).toBe(400);
  const saved = { name: 'mine', server: 'old', tool: 'echo' };
  const { calls } = (await (await post('/v1/saved-calls', saved)).json()) as { calls: Array<{ id: string }> };
  expect(await statusOf('/v1/saved-calls?format=json')).toBe(200);
  expect(await statusOf('/v1/saved-calls?format=odd')).toBe(400);
  expect(await statusOf(`/v1/saved-calls/${calls[0]!.id}`, { method: 'DELETE' })).toBe(204);
  expect(await statusOf('/v1/saved-calls/none', { method: 'DELETE' })).toBe(404);
  for (const path of ['/v1/labels', '/v1/saved-calls']) {
    expect((await post(path, { odd: 1 })).status).toBe(400);
    expect((await post(path, { name: HUGE })).status).toBe(413);
  }
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
