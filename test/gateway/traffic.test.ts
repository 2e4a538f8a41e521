import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TrafficRow } from '../../src/model/traffic.js';
import { fixture } from '../support/fixture.js';
import { openHttpApp } from '../support/http-app.js';
import { connectHost, serveOverHttp } from '../support/mcp-host.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import type { Gateway } from '../../src/gateway/index.js';

const servers = { asking: fixture('asking'), modern: fixture('asking', '--modern'), old: fixture('legacy') };

/** Looks at the traffic until the test ends. */
function look(gateway: Gateway): { readonly rows: () => TrafficRow[] } {
  const last = new Map<string, TrafficRow>();
  onTestFinished(gateway.studio.followTraffic((row) => last.set(row.id, row)));
  return { rows: () => [...last.values()] };
}

const execute = (server: string, tool: string, args: object): object => ({
  name: 'execute_tool',
  arguments: { server, tool, arguments: args },
});

describe('the traffic of real hosts', STARTS_PROCESSES, () => {
  it('STUDIO-3 a host with SDK 1 is watched while it calls, is asked for a form and for a model', async () => {
    const gateway = await openToolscout({ servers });
    const url = await serveOverHttp(gateway);
    const { rows } = look(gateway);
    const client = new ClientV1(
      { name: 'host-one', version: '1' },
      { capabilities: { elicitation: {}, sampling: {} } },
    );
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept',
      content: { name: 'Ada', password: 'hunter2!' },
    }));
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: 'm',
      role: 'assistant',
      content: { type: 'text', text: 'sampled words' },
    }));
    await client.connect(new HttpV1(new URL(`${url}/mcp`)) as never);
    onTestFinished(() => client.close());
    await client.listTools();
    await client.callTool(execute('asking', 'elicit', { message: 'Who?' }) as never);
    await client.callTool(execute('asking', 'sample', { prompt: 'Say.' }) as never);
    await client.callTool(execute('asking', 'steps', { steps: 3 }) as never);
    await expect.poll(() => rows().filter(({ state }) => state === 'success').length).toBeGreaterThanOrEqual(4);
    const found = (tool: string): TrafficRow => rows().find((row) => row.tool === tool)!;
    expect(rows().find(({ method }) => method === 'tools/list')).toMatchObject({
      principal: 'local',
      route: 'mcp',
      host: { name: 'host-one', era: 'legacy' },
      servers: [],
    });
    const elicit = found('asking:elicit');
    expect(elicit).toMatchObject({ name: 'execute_tool', servers: ['asking'], state: 'success' });
    expect(elicit.ms).toBeGreaterThan(0);
    expect(elicit.tokens.returned).toBeGreaterThan(0);
    // The connection may be one of an earlier call.
    const children = elicit.children.filter(({ kind }) => kind !== 'connect');
    expect(children.map(({ kind, method }) => `${kind} ${method}`)).toEqual([
      'upstream tools/call',
      'callback elicitation/create',
    ]);
    const [upstream, callback] = children;
    expect(upstream!.endMs).toBeGreaterThanOrEqual(callback!.endMs!);
    expect(callback!.response!.json).toContain('Ada');
    expect(elicit.askedMs).toBeGreaterThan(0);
    expect(elicit.askedMs).toBeLessThan(elicit.ms!);
    // What looks like a credential is never recorded.
    expect(JSON.stringify(rows())).not.toContain('hunter2!');
    expect(found('asking:sample').children[1]).toMatchObject({ kind: 'callback', method: 'sampling/createMessage' });
    expect(found('asking:steps').children.filter(({ kind }) => kind === 'progress')).toHaveLength(3);
  });

  it.each(['stdio', 'http'] as const)(
    'STUDIO-3 a host with SDK 2 over %s is watched, with servers of both eras',
    async (over) => {
      const gateway = await openToolscout({ servers });
      const { rows } = look(gateway);
      const host = await connectHost(gateway, {
        era: 'modern',
        over,
        name: 'host-two',
        onElicit: () => ({ action: 'accept', content: { name: 'Bob' } }),
      });
      onTestFinished(() => host.close());
      for (const server of ['asking', 'modern']) {
        const answer = await host.request('tools/call', execute(server, 'elicit', { message: 'Who?' }) as never);
        expect(JSON.stringify(answer)).toContain('Bob');
        await expect
          .poll(() => rows().filter(({ servers: asked }) => asked.includes(server)).length)
          .toBeGreaterThan(0);
      }
      await expect.poll(() => rows().filter(({ state }) => state === 'open')).toEqual([]);
      expect(rows().every(({ host: from }) => from?.era === 'modern')).toBe(true);
      expect(rows().some(({ tool, host: from }) => tool === 'asking:elicit' && from?.name === 'host-two')).toBe(true);
      expect(JSON.stringify(rows())).toContain('Bob');
    },
  );

  it('STUDIO-3 tells refused from failed as the audit log does, for every way in', async () => {
    const gateway = await openToolscout({
      servers: { ...servers, gone: { command: 'no-such-program-anywhere' } },
      toolRules: [{ pattern: 'old:add', enabled: false }],
    });
    const { rows } = look(gateway);
    const url = await serveOverHttp(gateway);
    const client = new ClientV1({ name: 'host-one', version: '1' }, { capabilities: {} });
    await client.connect(new HttpV1(new URL(`${url}/mcp`)) as never);
    onTestFinished(() => client.close());
    const wanted = [
      ['old', 'add', { a: 1, b: 2 }, 'refused'],
      ['old', 'echo', {}, 'refused'],
      ['old', 'fail', {}, 'failure'],
      ['gone', 'any', {}, 'failure'],
      ['old', 'echo', { message: 'hi' }, 'success'],
    ] as const;
    for (const [server, tool, args] of wanted) {
      await client.callTool(execute(server, tool, args) as never);
      await gateway.call(server, tool, args);
    }
    const twice = wanted.flatMap(([server, tool, , state]) => [
      `${server}:${tool} ${state}`,
      `${server}:${tool} ${state}`,
    ]);
    await expect
      .poll(() => rows().flatMap(({ tool, state }) => (tool === undefined ? [] : [`${tool} ${state}`])))
      .toEqual(twice);
    const audited = (await gateway.audit.list({ kind: 'execution' })).toReversed();
    expect(audited.map(({ server, tool, outcome }) => `${server}:${tool} ${outcome}`)).toEqual(twice);
    // The record names the host, so that several of one caller can be told apart.
    expect(audited.map(({ route, host }) => (route === 'mcp' ? host : (host ?? 'none')))).toEqual(
      audited.map(({ route }) => (route === 'mcp' ? 'host-one' : 'none')),
    );
    expect(rows().find(({ route, state }) => route === 'mcp' && state === 'refused')!.code).toBe('TOOL_DISABLED');
  });

  it('STUDIO-3 records nothing without a watcher, and drops all rows with the last one; keep keeps them', async () => {
    const gateway = await openToolscout({ servers });
    const traffic = gateway.internal.traffic();
    await gateway.call('old', 'echo', { message: 'unseen' });
    expect([traffic.isOn, traffic.rows()]).toEqual([false, []]);
    const stop = gateway.studio.followTraffic(() => undefined);
    await gateway.call('old', 'echo', { message: 'seen' });
    expect(traffic.rows()).toMatchObject([{ tool: 'old:echo', route: 'library', state: 'success' }]);
    stop();
    stop();
    expect([traffic.isOn, traffic.rows()]).toEqual([false, []]);
    const keeping = await openToolscout({ servers, traffic: { keep: 2 } });
    for (const message of ['a', 'b', 'c']) await keeping.call('old', 'echo', { message });
    const kept = keeping.internal.traffic().rows();
    expect(kept.map(({ request }) => request.json.includes('"c"'))).toEqual([false, true]);
  });

  it('STUDIO-3 S12 a limited key sees rows about its servers, and of the rest its own; other keys see none', async () => {
    const keys = [
      { name: 'root', key: '${ROOT}', scopes: ['admin' as const] },
      { name: 'some', key: '${SOME}', scopes: ['admin' as const], servers: ['old'] },
      { name: 'caller', key: '${CALL}' },
    ];
    const env = {
      PATH: process.env['PATH'],
      ROOT: 'root-key-0123456789',
      SOME: 'some-key-0123456789',
      CALL: 'call-key-0123456789',
    };
    const gateway = await openToolscout({ servers, http: { auth: { keys } }, traffic: { keep: 100 } }, { env });
    const { send, post } = await openHttpApp(gateway);
    const as = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
    const call = (key: string, server: string): Promise<Response> =>
      post(
        '/v1/call',
        {
          server,
          tool: server === 'old' ? 'echo' : 'steps',
          arguments: server === 'old' ? { message: `mine-${key}` } : { steps: 1 },
        },
        as(key),
      );
    await call(env.ROOT, 'old');
    await call(env.ROOT, 'asking');
    await call(env.SOME, 'old');
    await call(env.SOME, 'asking');
    const rowsOf = async (key: string, query = ''): Promise<TrafficRow[]> => {
      const answer = await send(`/v1/traffic?format=json${query}`, { headers: as(key) });
      const { log } = (await answer.json()) as { log: { entries: Array<{ _row: TrafficRow }> } };
      return log.entries.map(({ _row }) => _row);
    };
    expect((await rowsOf(env.ROOT)).map(({ principal, servers: asked }) => [principal, ...asked])).toEqual([
      ['root', 'old'],
      ['root', 'asking'],
      ['some', 'old'],
      ['some'],
    ]);
    expect((await rowsOf(env.SOME)).map(({ principal, servers: asked }) => [principal, ...asked])).toEqual([
      ['root', 'old'],
      ['some', 'old'],
      ['some'],
    ]);
    // No row holds a key, neither of the caller nor of others.
    expect(JSON.stringify(await rowsOf(env.ROOT))).not.toMatch(/root-key-0|some-key-0/);
    expect((await send('/v1/traffic?format=json', { headers: as(env.CALL) })).status).toBe(403);
    expect(await rowsOf(env.ROOT, '&server=asking')).toHaveLength(1);
    // It may not see that server: toolscout itself said no.
    expect(await rowsOf(env.ROOT, '&principal=some&state=failure')).toHaveLength(0);
    expect(await rowsOf(env.ROOT, '&principal=some&state=refused')).toHaveLength(1);
    expect(await rowsOf(env.ROOT, '&tool=old:echo&method=tools/call&q=MINE')).toHaveLength(2);
    expect(await rowsOf(env.ROOT, '&method=tools/list')).toHaveLength(0);
  });

  it('STUDIO-3 the stream gives what is in memory, then what happens; a second one costs no second recording', async () => {
    const gateway = await openToolscout({ servers, traffic: { keep: 10 } });
    await gateway.call('old', 'echo', { message: 'before' });
    const { send } = await openHttpApp(gateway);
    const stream = await send('/v1/traffic');
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`The stream ended without ${wanted}`);
        text += value;
      }
    };
    await until('before');
    await gateway.call('old', 'echo', { message: 'after' });
    await until('after');
    expect(text).toMatch(/^event: hello/);
    await reader.cancel();
    await expect.poll(() => gateway.internal.traffic().rows().length).toBe(2);
  });

  it('STUDIO-3 A43 a server that floods, and payloads of any size and depth, stay within bounds', async () => {
    const gateway = await openToolscout({ servers: { ...servers, flood: fixture('hostile') } });
    const { rows } = look(gateway);
    await gateway.call('asking', 'steps', { steps: 500 });
    await expect.poll(() => rows().at(-1)?.state).toBe('success');
    const row = rows().at(-1)!;
    expect(row.children).toHaveLength(200);
    expect(row.dropped).toBe(301);
    await gateway.call('old', 'echo', { message: 'x'.repeat(200_000) });
    const large = rows().find(({ tool }) => tool === 'old:echo')!;
    expect(large.request.json.length).toBeLessThanOrEqual(32 * 1024);
    expect(large.request.bytes).toBeGreaterThan(200_000);
    await gateway.servers.discover(['flood']);
    for (const { name } of await gateway.tools.list('flood', { includeDisabled: true })) {
      await gateway.call('flood', name, {}, { timeoutMs: 2000 });
    }
    for (const { children } of rows()) expect(children.length).toBeLessThanOrEqual(200);
  });
});
