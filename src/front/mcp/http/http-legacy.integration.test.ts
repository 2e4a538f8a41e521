import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, waitUntil } from '../../../../test/support/fixture.js';
import { modernPost } from '../../../../test/support/modern-request.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { Gateway } from '../../../gateway/index.js';
import { systemClock } from '../../../kernel/clock.js';
import type { JsonObject } from '../../../kernel/json.js';
import { silentLog } from '../../../kernel/log.js';
import { MAX_WAITING } from './bounded-stream.js';
import { createMcpEndpoint, type McpEndpoint } from './http.js';

const URL_OF_IT = 'http://127.0.0.1:7077/mcp';

/** A host of the 2025 era in a session of its own. */
interface Host {
  readonly session: string;
  send(body: unknown, headers?: Record<string, string>): Promise<Response>;
  get(headers?: Record<string, string>): Promise<Response>;
}

async function openSlow(): Promise<{ gateway: Gateway; endpoint: McpEndpoint }> {
  const gateway = await openToolscout({ servers: { slow: fixture('slow') } });
  await gateway.servers.discover();
  const info = { name: 'toolscout', version: '9.9.9' };
  const endpoint = createMcpEndpoint({ gateway, info, log: silentLog, clock: systemClock });
  onTestFinished(() => endpoint.close());
  return { gateway, endpoint };
}

async function connect(endpoint: McpEndpoint, protocolVersion = '2025-03-26'): Promise<Host> {
  const base = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': protocolVersion,
  };
  const post = (body: unknown, headers: Record<string, string>): Promise<Response> =>
    endpoint.fetch(
      new Request(URL_OF_IT, { method: 'POST', headers: { ...base, ...headers }, body: JSON.stringify(body) }),
    );
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'host', version: '1' } };
  const opened = await post({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params }, {});
  await opened.text();
  const session = opened.headers.get('mcp-session-id')!;
  const own = { 'mcp-session-id': session };
  const host: Host = {
    session,
    send: (body, headers) => post(body, { ...own, ...headers }),
    get: (headers) => endpoint.fetch(new Request(URL_OF_IT, { headers: { ...base, ...own, ...headers } })),
  };
  await host.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return host;
}

const wait = (id: number | string, ms: number): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'execute_tool', arguments: { server: 'slow', tool: 'wait', arguments: { ms, progress: false } } },
});
const ping = (id: number | string): JsonObject => ({ jsonrpc: '2.0', id, method: 'ping' });
const cancel = (requestId: number | string): JsonObject => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

describe('two requests under one id', STARTS_PROCESSES, () => {
  it.each([
    ['a call', wait(5, 10)],
    ['a ping', ping(5)],
    ['a list', { jsonrpc: '2.0', id: 5, method: 'tools/list' }],
    ['a batch', [wait(6, 10), ping(5)]],
  ])('A9 R5 while the first runs %s is refused, and costs the first nothing', async (_, second) => {
    const { endpoint } = await openSlow();
    const host = await connect(endpoint);
    const first = await host.send(wait(5, 400));
    const refused = await host.send(second);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      jsonrpc: '2.0',
      id: 5,
      error: { code: -32_600, message: expect.stringContaining('id 5') as string },
    });
    expect(await first.text()).toContain('waited 400');
    // Once it is answered the id is free; and so is what was refused beside it.
    for (const id of [5, 6, '5']) expect(await (await host.send(wait(id, 1))).text()).toContain('waited 1');
  });

  it('A9 a text and a number are two ids; one batch cannot use one twice', async () => {
    const host = await connect((await openSlow()).endpoint);
    const both = await Promise.all([host.send(wait(1, 200)), host.send(wait('1', 201))]);
    expect(await Promise.all(both.map((response) => response.text()))).toEqual([
      expect.stringContaining('waited 200'),
      expect.stringContaining('waited 201'),
    ]);
    const twice = await host.send([wait(2, 1), wait(2, 1)]);
    expect([twice.status, await twice.json()]).toMatchObject([400, { id: 2, error: { code: -32_600 } }]);
    expect(await (await host.send(wait(2, 1))).text()).toContain('waited 1');
  });

  it('A9 what was refused as a whole leaves its ids free', async () => {
    const host = await connect((await openSlow()).endpoint);
    expect((await host.send(wait(3, 1), { accept: 'application/json' })).status).toBe(406);
    expect((await host.send([wait(3, 1), { jsonrpc: '1.0' }])).status).toBe(400);
    expect((await host.send(wait(3, 1), { 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
    expect(await (await host.send(wait(3, 1))).text()).toContain('waited 1');
  });

  it('A9 hosts of the 2026 era have no session in which ids could meet: each is answered', async () => {
    const { endpoint } = await openSlow();
    const call = (ms: number): Promise<Response> => {
      const args = { server: 'slow', tool: 'wait', arguments: { ms, progress: false } };
      return endpoint.fetch(
        new Request(URL_OF_IT, modernPost('tools/call', { name: 'execute_tool', arguments: args })),
      );
    };
    const answers = await Promise.all([call(300), call(100), call(200)]);
    const texts = await Promise.all(answers.map((response) => response.text()));
    expect(texts.map((text) => /waited \d+/.exec(text)?.[0])).toEqual(['waited 300', 'waited 100', 'waited 200']);
  });
});

describe('the stream of a batch', STARTS_PROCESSES, () => {
  it.each([
    ['answered last', [1, 300]],
    ['answered first', [1, 1]],
  ])('META-6 R7 ends when one member is cancelled and the other is answered: %s', async (_, [, ms]) => {
    const { gateway, endpoint } = await openSlow();
    const host = await connect(endpoint);
    const batch = await host.send([wait(1, 20_000), wait(2, ms!)]);
    if (ms === 1) {
      // The other one has its answer before the first is cancelled.
      while ((await gateway.audit.list({ kind: 'execution' })).length === 0) await new Promise(setImmediate);
    }
    await host.send(cancel(1));
    const text = await batch.text();
    expect(text).toContain(`waited ${ms}`);
    expect(text).not.toContain('"id":1');
    expect(await (await host.send(wait(1, 2))).text()).toContain('waited 2');
  });

  it('META-6 R7 ends when all its members are cancelled, in the batch itself too', async () => {
    const host = await connect((await openSlow()).endpoint);
    const batch = await host.send([wait(1, 20_000), wait(2, 20_000), ping(3)]);
    await host.send([cancel(2), cancel(1)]);
    const text = await batch.text();
    expect(text).toContain('"id":3');
    expect(text).not.toMatch(/"id":[12]/);
    const inside = await host.send([wait(4, 20_000), cancel(4), ping(5), cancel(5)]);
    expect(await inside.text()).not.toContain('"id":4');
  });

  it('META-6 what was cancelled is not told to a host that comes back for its stream, which ends', async () => {
    const host = await connect((await openSlow()).endpoint, '2025-11-25');
    const call = await host.send(wait(1, 20_000));
    const reader = call.body!.pipeThrough(new TextDecoderStream()).getReader();
    let said = '';
    while (!/^id: \S+$/m.test(said)) said += (await reader.read()).value ?? '';
    const [, last] = /^id: (\S+)$/m.exec(said)!;
    await host.send(cancel(1));
    while (!(await reader.read()).done);
    const back = await host.get({ 'last-event-id': last! });
    expect(back.status).toBe(405);
    expect(await back.text()).not.toContain('Cancelled');
  });
});

describe('sessions of others', STARTS_PROCESSES, () => {
  it('S5 an event id of another session gives nothing of it', async () => {
    const { endpoint } = await openSlow();
    const [ann, bob] = [await connect(endpoint, '2025-11-25'), await connect(endpoint, '2025-11-25')];
    const text = await (await ann.send(wait('secret', 300))).text();
    const ids = [...text.matchAll(/^id: (\S+)$/gm)].map(([, id]) => id!);
    expect(ids.length).toBeGreaterThan(1);
    for (const id of [...ids, '0', '-1', '1e3', '__proto__', 'constructor']) {
      const answer = await bob.get({ 'last-event-id': id });
      expect([200, 400, 405]).toContain(answer.status);
      expect(await answer.text()).not.toContain('secret');
    }
  });

  it('S5 R7 a session that is deleted while it works cancels its calls and ends its streams', async () => {
    const { gateway, endpoint } = await openSlow();
    const host = await connect(endpoint, '2025-11-25');
    const other = await connect(endpoint, '2025-11-25');
    const streams = [await host.send(wait(1, 20_000)), await host.get()];
    const mine = await other.send(wait(1, 300));
    expect(endpoint.isBusy).toBe(true);
    const remove = (): Promise<Response> =>
      endpoint.fetch(new Request(URL_OF_IT, { method: 'DELETE', headers: { 'mcp-session-id': host.session } }));
    const removed = await Promise.all([remove(), host.send(wait(2, 20_000)), remove(), remove()]);
    // Who comes in the same moment may be told that it was them; whatever they are told, it ends.
    expect(removed[0]?.status).toBe(200);
    for (const { status } of removed) expect([200, 404]).toContain(status);
    for (const stream of [...streams, ...removed]) expect(await stream.text()).not.toMatch(/"id":[12]/);
    expect((await remove()).status).toBe(404);
    expect((await host.send(ping(3))).status).toBe(404);
    expect(await mine.text()).toContain('waited 300');
    const records = await gateway.audit.list({ kind: 'execution' });
    expect(records.map(({ code }) => code)).toEqual(expect.arrayContaining(['CANCELLED', undefined]));
    expect([endpoint.sessions, endpoint.isBusy]).toEqual([1, false]);
  });

  it('R13 A29 sessions that are opened and left push out each other, not those in which something goes on', async () => {
    const { endpoint } = await openSlow();
    const [working, following, left] = [
      await connect(endpoint, '2025-11-25'),
      await connect(endpoint, '2025-11-25'),
      await connect(endpoint, '2025-11-25'),
    ];
    const call = await working.send(wait(1, 20_000));
    const events = await following.get();
    for (let count = 0; count < 1100; count++) await connect(endpoint, '2025-11-25');
    expect(endpoint.sessions).toBe(1000);
    expect((await working.send(ping(2))).status).toBe(200);
    expect((await following.send(ping(2))).status).toBe(200);
    expect((await left.send(ping(2))).status).toBe(404);
    await Promise.all([call.body?.cancel(), events.body?.cancel()]);
  });
});

describe('a host that does not read', STARTS_PROCESSES, () => {
  const STEPS = 2000;

  /** An endpoint behind which every call reports about 40 MB of progress and then answers. */
  async function openFlood(): Promise<{ endpoint: McpEndpoint; told: () => number; isOver: () => boolean }> {
    const { gateway } = await openOfflineGateway([]);
    const message = 'x'.repeat(20_000);
    let told = 0;
    let isOver = false;
    const executeTool: Gateway['call'] = async (_server, _tool, _args, options) => {
      for (let progress = 1; progress <= STEPS && options?.signal?.aborted !== true; progress++) {
        options?.onProgress?.({ progress, message });
        told = progress;
        if (progress % 5 === 0) await new Promise(setImmediate);
      }
      isOver = true;
      return { success: true, result: { content: [{ type: 'text', text: 'all told' }] } };
    };
    const info = { name: 'toolscout', version: '9.9.9' };
    const flooding = { ...gateway, call: executeTool };
    const endpoint = createMcpEndpoint({ gateway: flooding, info, log: silentLog, clock: systemClock });
    onTestFinished(() => endpoint.close());
    return { endpoint, told: () => told, isOver: () => isOver };
  }
  const params = {
    name: 'execute_tool',
    arguments: { server: 'a', tool: 'b', arguments: {} },
    _meta: { progressToken: 'p' },
  };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };

  it('A28 A29 makes toolscout keep a bounded part of what servers tell it', async () => {
    const { endpoint, isOver } = await openFlood();
    const host = await connect(endpoint, '2025-11-25');
    const unread = await host.send(call);
    await waitUntil(isOver, { what: 'the flood to be over', timeoutMs: 15_000 });
    const text = await unread.text();
    expect(text.length).toBeGreaterThan(MAX_WAITING / 2);
    expect(text.length).toBeLessThan(2 * MAX_WAITING);
    expect(text).not.toContain('all told');
  });

  it('A28 A29 of the 2026 era loses its stream, and its call is cancelled', async () => {
    const { endpoint, told, isOver } = await openFlood();
    const unread = await endpoint.fetch(new Request(URL_OF_IT, modernPost('tools/call', params)));
    await waitUntil(isOver, { what: 'the call to end', timeoutMs: 15_000 });
    expect(told()).toBeLessThan(STEPS);
    await expect(unread.text()).rejects.toThrow('does not read');
  });

  it('A28 loses nothing as long as it reads', async () => {
    const { endpoint } = await openFlood();
    const host = await connect(endpoint, '2025-11-25');
    const ways = [
      () => host.send(call),
      () => endpoint.fetch(new Request(URL_OF_IT, modernPost('tools/call', params))),
    ];
    for (const send of ways) {
      const text = await (await send()).text();
      expect(text).toContain('all told');
      expect(text.match(/"progress":\d+/g)).toHaveLength(STEPS);
    }
  });
});
