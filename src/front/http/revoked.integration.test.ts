import { request as requestHttp } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, waitUntil } from '../../../test/support/fixture.js';
import { openHttpApp } from '../../../test/support/http-app.js';
import { modernPost } from '../../../test/support/modern-request.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import type { Gateway } from '../../gateway/index.js';
import { sha256 } from '../../kernel/hash.js';
import type { JsonObject } from '../../kernel/json.js';
import type { ConfigInput } from '../../model/config.js';
import { listen } from './listen/listen.js';

type Auth = NonNullable<NonNullable<ConfigInput['http']>['auth']>;

const ANN = 'key-of-ann-0123456789';
const BOB = 'key-of-bob-0123456789';
const bearer = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { authorization: `Bearer ${key}` };
const keyOf = (name: string, key: string): NonNullable<Auth['keys']>[number] => ({ name, hash: sha256(key) });

/** What is heard of a stream, and how it ended. */
interface Heard {
  readonly text: string;
  readonly isOver: boolean;
  readonly status: number;
}

function follow({ body, status }: Response): Heard {
  const heard = { text: '', isOver: false, status };
  const read = async (): Promise<void> => {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) heard.text += chunk;
  };
  const end = (): void => void (heard.isOver = true);
  read().then(end, end);
  return heard;
}

/** Everything that one caller may have open. */
interface Caller {
  readonly session: string;
  readonly events: Heard;
  readonly call: Heard;
  readonly listening: Heard;
  readonly modernCall: Heard;
  list(): Promise<number>;
}

/** A toolscout over real HTTP whose config changes with `http` and a reload. */
async function openShared(http: { auth?: Auth }): Promise<{ gateway: Gateway; url: string }> {
  const servers = { slow: fixture('slow'), old: fixture('legacy') };
  const gateway = await openToolscout({ servers, http, mode: 'passthrough' });
  await gateway.servers.discover();
  const { app } = await openHttpApp(gateway);
  const front = await listen(app, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => front.close());
  return { gateway, url: front.url };
}

async function openEverything(url: string, key: string | undefined): Promise<Caller> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
    ...bearer(key),
  };
  const post = (body: JsonObject, more: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}/mcp`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
  const clientInfo = { name: 'host', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const session = opened.headers.get('mcp-session-id')!;
  await opened.text();
  const inSession = { 'mcp-session-id': session };
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, inSession);
  const events = follow(await fetch(`${url}/mcp`, { headers: { ...headers, ...inSession } }));
  const wait = { name: 'slow__wait', arguments: { ms: 20_000, steps: 99 }, _meta: { progressToken: 'p' } };
  const call = follow(await post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: wait }, inSession));
  const modern = (method: string, given: JsonObject): Promise<Response> =>
    fetch(`${url}/mcp`, modernPost(method, given, bearer(key)));
  const listening = follow(await modern('subscriptions/listen', { notifications: { toolsListChanged: true } }));
  // With progress the answer is a stream that begins before the result.
  const modernCall = follow(await modern('tools/call', wait));
  return {
    session,
    events,
    call,
    listening,
    modernCall,
    async list() {
      const answer = await post({ jsonrpc: '2.0', id: 3, method: 'tools/list' }, inSession);
      await answer.text();
      return answer.status;
    },
  };
}

const streamsOf = ({ events, call, listening, modernCall }: Caller): Heard[] => [events, call, listening, modernCall];
const over = (caller: Caller): boolean[] => streamsOf(caller).map(({ isOver }) => isOver);

describe('a key that is taken back', STARTS_PROCESSES, () => {
  it('S5 S12 everything opened with it ends at the reload, and other callers notice nothing', async () => {
    const http = { auth: { keys: [keyOf('ann', ANN), keyOf('bob', BOB)] } };
    const { gateway, url } = await openShared(http);
    const ann = await openEverything(url, ANN);
    const bob = await openEverything(url, BOB);
    expect(streamsOf(ann).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect([over(ann), over(bob)].flat()).toEqual(Array.from({ length: 8 }, () => false));

    http.auth.keys.shift();
    await gateway.reload();
    await waitUntil(() => over(ann).every(Boolean), { what: 'the streams of Ann to end' });
    await waitUntil(
      async () =>
        (await gateway.audit.list({ kind: 'execution' })).filter(({ code }) => code === 'CANCELLED').length === 2,
      { what: 'the calls of Ann to be cancelled' },
    );
    expect((await gateway.audit.list({ kind: 'execution' })).every(({ principal }) => principal === 'ann')).toBe(true);
    expect(await ann.list()).toBe(401);
    expect(over(bob)).toEqual([false, false, false, false]);
    expect(await bob.list()).toBe(200);
    await waitUntil(() => bob.listening.text.includes('notifications/tools/list_changed'), { what: 'news for Bob' });
    expect(ann.listening.text).not.toContain('list_changed');
    expect(ann.events.text).not.toContain('list_changed');
  });

  it.each<[string, (keys: NonNullable<Auth['keys']>) => void]>([
    ['another key under the same name', (keys) => void (keys[0] = keyOf('ann', 'another-key-of-ann-01'))],
    ['fewer servers', (keys) => void (keys[0] = { ...keyOf('ann', ANN), servers: ['old'] })],
    ['another scope', (keys) => void (keys[0] = { ...keyOf('ann', ANN), scopes: ['read'] })],
  ])(
    'S5 S12 the same for %s',
    async (_, change) => {
      const http = { auth: { keys: [keyOf('ann', ANN), keyOf('bob', BOB)] } };
      const { gateway, url } = await openShared(http);
      const ann = await openEverything(url, ANN);
      const bob = await openEverything(url, BOB);
      change(http.auth.keys);
      await gateway.reload();
      await waitUntil(() => over(ann).every(Boolean), { what: 'the streams of Ann to end' });
      expect(await ann.list()).not.toBe(200);
      expect(over(bob)).toEqual([false, false, false, false]);
    },
    30_000,
  );

  it('S5 a reload that changes no key ends nothing', async () => {
    const http = { auth: { keys: [keyOf('ann', ANN), keyOf('bob', BOB)] } };
    const { gateway, url } = await openShared(http);
    const ann = await openEverything(url, ANN);
    http.auth.keys.reverse();
    await gateway.reload();
    await waitUntil(() => ann.listening.text.includes('list_changed'), { what: 'news of the reload' });
    expect(over(ann)).toEqual([false, false, false, false]);
    expect(await ann.list()).toBe(200);
  });

  it('S2 S5 the first key ends the access of callers without one', async () => {
    const http: { auth?: Auth } = {};
    const { gateway, url } = await openShared(http);
    const anybody = await openEverything(url, undefined);
    expect(await anybody.list()).toBe(200);
    http.auth = { keys: [keyOf('ann', ANN)] };
    await gateway.reload();
    await waitUntil(() => over(anybody).every(Boolean), { what: 'the streams without a key to end' });
    expect(await anybody.list()).toBe(401);
    // Whoever comes without a key when none is asked for any more finds the door open, and a new one.
    delete http.auth;
    await gateway.reload();
    expect(await anybody.list()).toBe(404);
    expect((await openEverything(url, undefined)).session).not.toBe(anybody.session);
  });

  it('S5 A29 a body that arrives after the key was taken back is not served', async () => {
    const http = { auth: { keys: [keyOf('ann', ANN), keyOf('bob', BOB)] } };
    const { gateway, url } = await openShared(http);
    const call = { name: 'old__echo', arguments: { message: 'late' } };
    const modern = modernPost('tools/call', call, bearer(ANN));
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'host', version: '1' } };
    const bodies = [
      ['/mcp', modern.headers as Record<string, string>, modern.body as string],
      [
        '/mcp',
        { ...(modern.headers as Record<string, string>), 'mcp-protocol-version': '2025-11-25' },
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello }),
      ],
      [
        '/v1/call',
        { 'content-type': 'application/json', ...bearer(ANN) },
        JSON.stringify({ server: 'old', tool: 'echo', arguments: { message: 'late' } }),
      ],
    ] as const;
    const slow = bodies.map(([path, headers, body]) => {
      const request = requestHttp(`${url}${path}`, { method: 'POST', headers });
      const answered = new Promise<number | undefined>((resolve, reject) => {
        request.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
      });
      request.write(body.slice(0, 20));
      return { answered, finish: () => request.end(body.slice(20)) };
    });
    // Behind both of them on the way in, so that their keys have been looked at by then.
    await openEverything(url, BOB);
    http.auth.keys.shift();
    await gateway.reload();
    for (const { finish } of slow) finish();
    expect(await Promise.all(slow.map(({ answered }) => answered))).toEqual([404, 404, 401]);
    expect((await gateway.audit.list({ kind: 'execution' })).filter(({ principal }) => principal === 'ann')).toEqual(
      [],
    );
  });

  it.each(['/mcp', '/servers/%2e%2e/mcp', '/servers/old/mcp', '/servers/%6fld/mcp', '/x/../mcp'])(
    'A1 S9 %s needs a key, however it is written',
    async (path) => {
      const { url } = await openShared({ auth: { keys: [keyOf('ann', ANN)] } });
      const { port } = new URL(url);
      for (const method of ['GET', 'POST', 'DELETE', 'HEAD']) {
        const status = await new Promise((resolve, reject) => {
          const headers = { host: `127.0.0.1:${port}`, 'mcp-session-id': 'x', accept: 'text/event-stream' };
          requestHttp({ port, path, method, headers }, (response) => resolve(response.resume().statusCode))
            .on('error', reject)
            .end();
        });
        expect({ method, status }).toEqual({ method, status: 401 });
      }
    },
    30_000,
  );
});
