import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../../../test/support/fake-clock.js';
import { fixture } from '../../../../test/support/fixture.js';
import { openHttpApp } from '../../../../test/support/http-app.js';
import { modernPost } from '../../../../test/support/modern-request.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { JsonObject } from '../../../kernel/json.js';
import { createHttpApp } from '../../http/app.js';
import { listen } from '../../http/listen/listen.js';
import { createPrincipalEndpoints } from '../../http/routes/mcp.js';
import { silentLog } from '../../../kernel/log.js';
import { createMcpEndpoint } from './http.js';

type Post = (init: RequestInit) => Promise<Response>;

const INFO = { name: 'toolscout', version: '9.9.9' };
// Time stands still: no answer becomes a stream because the machine is busy.
const clock = createFakeClock();
const deps = { info: INFO, log: silentLog, clock };

async function openGatewayOf() {
  const gateway = await openToolscout({ servers: { one: fixture('legacy'), slow: fixture('slow') } });
  await gateway.servers.discover();
  return gateway;
}

/** The same front over a socket, and as the plain handler that other apps put their own server before. */
const WAYS: ReadonlyArray<readonly [string, () => Promise<Post>]> = [
  [
    'over a connection',
    async () => {
      const gateway = await openGatewayOf();
      const open = (seen: typeof gateway) => createMcpEndpoint({ gateway: seen, ...deps });
      const endpoints = createPrincipalEndpoints({ gateway, open });
      const app = createHttpApp({
        gateway,
        mcpFor: endpoints.endpointFor,
        log: silentLog,
        version: '9.9.9',
        allowedHosts: [],
        allowedOrigins: ['https://app.example'],
      });
      const front = await listen(app, { host: '127.0.0.1', port: 0 });
      onTestFinished(async () => {
        await endpoints.close();
        await front.close();
      });
      return (init) => fetch(`${front.url}/mcp`, init);
    },
  ],
  [
    'as a handler',
    async () => {
      const { send } = await openHttpApp(await openGatewayOf(), { allowedOrigins: ['https://app.example'], clock });
      return (init) => send('/mcp', init as { headers: Record<string, string> });
    },
  ],
];

const BOTH = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'host', version: '1' } };

async function openLegacy(post: Post): Promise<(params: JsonObject, headers?: JsonObject) => Promise<Response>> {
  let id = 0;
  const send = (method: string, params: JsonObject, headers: object = {}): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params });
    return post({ method: 'POST', headers: { ...BOTH, ...headers }, body });
  };
  const opened = await send('initialize', HELLO);
  expect(opened.headers.get('content-type')).toBe('application/json');
  expect(await opened.json()).toMatchObject({ result: { protocolVersion: '2025-11-25', serverInfo: INFO } });
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25' };
  return (params, headers) => send('tools/call', params, { ...session, ...headers });
}

const call = (tool: string, args: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: 'execute_tool',
  arguments: { server: tool === 'echo' ? 'one' : 'slow', tool, arguments: args },
  ...more,
});
const typeOf = ({ headers }: Response): string | null => headers.get('content-type');

describe.each(WAYS)('an answer %s', (_, open) => {
  it(
    'META-6 EXEC-1 comes alone when nothing was told before it, and is a stream when something was, in both eras',
    STARTS_PROCESSES,
    async () => {
      const post = await open();
      const legacy = await openLegacy(post);
      const hosts = [
        legacy,
        (params: JsonObject, more?: JsonObject) => post(modernPost('tools/call', params, more as never)),
      ];
      for (const host of hosts) {
        const alone = await host(call('echo', { message: 'hello' }), { 'x-trace-id': 'my-trace' });
        expect([alone.status, typeOf(alone), alone.headers.get('x-trace-id')]).toEqual([
          200,
          'application/json',
          'my-trace',
        ]);
        expect(await alone.text()).toContain('hello');
        const told = await host(call('wait', { ms: 20, progress: true }, { _meta: { progressToken: 'p' } }));
        expect(typeOf(told)).toBe('text/event-stream');
        const text = await told.text();
        expect(text.indexOf('"progressToken":"p"')).toBeGreaterThan(-1);
        expect(text.indexOf('"result"')).toBeGreaterThan(text.lastIndexOf('notifications/progress'));
      }
    },
  );

  it('S1 a page that the config allows may read an answer that comes alone', STARTS_PROCESSES, async () => {
    const post = await open();
    const origin = { origin: 'https://app.example' };
    const answer = await post(modernPost('tools/call', call('echo', { message: 'hello' }), origin));
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.example']);
    expect(await answer.json()).toMatchObject({ id: 7, result: { resultType: 'complete' } });
    const foreign = await post(modernPost('tools/call', call('echo', {}), { origin: 'https://evil.example' }));
    expect(foreign.status).toBe(403);
  });
});
