import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../../src/app/open-gateway.js';
import { signWebhook } from '../../src/confirm/webhook.js';
import { viewerOf, type Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { ConfigInput } from '../../src/model/config.js';
import type { Host } from '../../src/model/host.js';
import { commandLine } from '../support/command-line.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openHttpApp } from '../support/http-app.js';
import { connectHost, serveOverHttp } from '../support/mcp-host.js';
import { modernPost } from '../support/modern-request.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { scriptedServer, scriptedTool } from '../support/scripted-server.js';

const HOSTS = [
  { era: 'legacy', over: 'stdio' },
  { era: 'modern', over: 'stdio' },
  { era: 'legacy', over: 'http' },
  { era: 'modern', over: 'http' },
] as const;
const ALLOW: JsonObject = { action: 'accept', content: { decision: 'allow' } };
const TOOLS = [
  scriptedTool('drop', { inputSchema: { type: 'object', properties: { id: { type: 'number' } } } }),
  scriptedTool('look', { annotations: { readOnlyHint: true } }),
];

/** A remote server, and the arguments of every call that reached it. */
async function notesServer(): Promise<{ url: string; sent: JsonObject[] }> {
  const sent: JsonObject[] = [];
  const { url } = await scriptedServer({
    tools: TOOLS,
    answer(method, params) {
      if (method === 'tools/call') sent.push(params);
      return undefined;
    },
  });
  return { url, sent };
}

const ASKS: ConfigInput = { toolRules: [{ pattern: 'notes:*', confirm: true }] };

/** A toolscout over one server all of whose calls need a confirmation. */
async function place(
  config: ConfigInput = {},
  options: { readonly stateDir?: string } = {},
): Promise<{ gateway: Gateway; sent: JsonObject[]; url: string }> {
  const { url, sent } = await notesServer();
  const gateway = await openToolscout({ servers: { notes: { url } }, ...ASKS, ...config }, options);
  return { gateway, sent, url };
}

const codeOf = async (call: Promise<{ readonly error?: { readonly code: string } }>): Promise<string> =>
  (await call).error?.code ?? 'ran';
const waiting = async (gateway: Gateway): Promise<string[]> =>
  (await gateway.approvals.calls({ state: 'waiting' })).map(({ id }) => id);

describe('hosts are asked', STARTS_PROCESSES, () => {
  it.each(HOSTS)('SEC-11 a $era host over $over is asked before the call is sent', async ({ era, over }) => {
    const { gateway, sent } = await place();
    let decision = 'reject';
    const host = await connectHost(gateway, {
      era,
      over,
      onElicit: () => ({ action: 'accept', content: { decision } }),
    });
    const drop = { name: 'execute_tool', arguments: { server: 'notes', tool: 'drop', arguments: { id: 1 } } };
    expect(JSON.stringify(await host.client.callTool(drop))).toContain('CONFIRMATION_REJECTED');
    expect(sent).toEqual([]);
    decision = 'allow';
    expect(textOf((await host.client.callTool(drop)) as JsonObject)).toBe('did drop');
    expect(sent.map((params) => [params['name'], params['arguments']])).toEqual([['drop', { id: 1 }]]);
    expect(host.asked.map(({ method }) => method)).toEqual(['elicitation/create', 'elicitation/create']);
    expect(host.asked[0]!.params['message']).toMatch(/Server: notes\nTool: drop\nArguments: \{"id":1\}/);
    const records = await gateway.audit.list({ kind: 'confirm' });
    expect(records.map(({ detail, outcome }) => [(detail as { decision: string }).decision, outcome])).toEqual([
      ['approved', 'success'],
      ['rejected', 'refused'],
    ]);
    expect(records[0]).toMatchObject({ principal: 'local', server: 'notes', tool: 'drop', detail: { via: 'host' } });
    // A modern host is asked between two calls, each of which has a record; any other while the call waits.
    for (const { askedMs, latencyMs = 0 } of await gateway.audit.list({ kind: 'execution' })) {
      expect(askedMs === undefined).toBe(era === 'modern');
      expect(askedMs ?? 0).toBeLessThan(latencyMs);
    }
  });

  it.each(HOSTS)('SEC-11 PAT-4 tools by their own names ask a $era host over $over as well', async ({ era, over }) => {
    const { gateway, sent } = await place({ mode: 'passthrough' });
    await gateway.servers.discover();
    const host = await connectHost(gateway, { era, over, onElicit: () => ALLOW });
    const { tools } = await host.client.listTools();
    const name = tools.find((tool) => tool.name.endsWith('drop'))!.name;
    expect(textOf((await host.client.callTool({ name, arguments: { id: 2 } })) as JsonObject)).toBe('did drop');
    expect([host.asked.length, sent.length]).toEqual([1, 1]);
  });

  it.each(HOSTS)('SEC-11 query_tool asks a $era host over $over', async ({ era, over }) => {
    const { gateway, sent } = await place({ splitReads: true });
    const host = await connectHost(gateway, { era, over, onElicit: () => ({ action: 'decline' }) });
    const look = { name: 'query_tool', arguments: { server: 'notes', tool: 'look', arguments: {} } };
    expect(JSON.stringify(await host.client.callTool(look))).toContain('CONFIRMATION_REJECTED');
    expect(sent).toEqual([]);
  });

  it.each(HOSTS)('SEC-11 CODE-5 scripts wait for the confirmation of a $era host over $over', async ({ era, over }) => {
    const { gateway, sent } = await place({ scripts: true });
    const asked: string[] = [];
    const host = await connectHost(gateway, {
      era,
      over,
      onElicit(message) {
        asked.push(message);
        return message.includes('"id":2') ? { action: 'decline' } : ALLOW;
      },
    });
    const script = `
      const first = await tools.notes.drop({ id: 1 });
      const second = await tools.notes.drop({ id: 2 }).catch((error) => error.code);
      return [first, second];
    `;
    const answer = await host.client.callTool({ name: 'run_script', arguments: { script } });
    expect(JSON.parse(textOf(answer as JsonObject))).toEqual(['did drop', 'CONFIRMATION_REJECTED']);
    expect([asked.length, sent.length]).toEqual([2, 1]);
  });

  it.each(HOSTS)(
    'SEC-11 a server that asks in the middle of a confirmed call is answered without another yes, $era over $over',
    async ({ era, over }) => {
      const gateway = await openToolscout({
        servers: { asks: fixture('asking'), modern: fixture('asking', '--modern') },
        toolRules: [{ pattern: '*', confirm: true }],
      });
      const host = await connectHost(gateway, {
        era,
        over,
        onElicit: (message) =>
          message.startsWith('toolscout asks: Allow this')
            ? ALLOW
            : { action: 'accept', content: { name: `Ann for ${message}` } },
      });
      const call = (server: string, tool: string): Promise<JsonObject> =>
        host.client.callTool({
          name: 'execute_tool',
          arguments: { server, tool, arguments: { message: 'two' } },
        }) as Promise<JsonObject>;
      expect(textOf(await call('modern', 'elicit_twice'))).toBe('Ann for two 1 and Ann for two 2');
      expect(host.asked).toHaveLength(3);
      expect(textOf(await call('asks', 'elicit'))).toContain('Ann for two');
      expect(host.asked).toHaveLength(5);
    },
  );

  it('SEC-11 a client of other people (2025 era) answers, and hears that the call waits', async () => {
    const { gateway, sent } = await place();
    const client = new LegacyClient({ name: 'other', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { decision: 'allow' } }));
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', await serveOverHttp(gateway))));
    onTestFinished(() => client.close());
    const told: Array<{ message?: string }> = [];
    const drop = { name: 'execute_tool', arguments: { server: 'notes', tool: 'drop', arguments: { id: 1 } } };
    await client.callTool(drop, undefined, { onprogress: (step) => told.push(step) });
    expect(sent).toHaveLength(1);
    expect(told[0]?.message).toBe("Waits for the user's confirmation, at most 15 minutes.");
  });
});

describe('hostile hosts', STARTS_PROCESSES, () => {
  const params = (more: JsonObject = {}, id = 1): JsonObject => ({
    name: 'execute_tool',
    arguments: { server: 'notes', tool: 'drop', arguments: { id } },
    _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } },
    ...more,
  });

  it('SEC-11 forged, replayed and moved answers of a modern host send nothing', async () => {
    const { gateway, sent } = await place();
    const url = new URL('/mcp', await serveOverHttp(gateway));
    const post = async (body: JsonObject): Promise<JsonObject> =>
      (await (await fetch(url, modernPost('tools/call', body))).json()) as JsonObject;
    const first = (await post(params()))['result'] as JsonObject;
    expect(first['resultType']).toBe('input_required');
    const { requestState } = first;
    const key = Object.keys(first['inputRequests'] as JsonObject)[0]!;
    const inputResponses = { [key]: ALLOW };
    const forged: JsonObject[] = [
      params({ inputResponses }),
      params({ inputResponses, requestState: 'confirm.00000000000000000000000000000000' }),
      params({ inputResponses, requestState: String(requestState).slice(0, -2) }),
      params({ inputResponses, requestState }, 2),
      params({ inputResponses: { [key]: { action: 'accept', content: { decision: 'yes' } } } }),
    ];
    for (const body of forged) await post(body);
    expect(sent).toEqual([]);
    const answered = await post(params({ inputResponses, requestState }));
    expect(JSON.stringify(answered)).toContain('did drop');
    await post(params({ inputResponses, requestState }));
    expect(sent).toHaveLength(1);
  });

  it('SEC-11 no MCP tool approves a pending call, and a host that declared nothing gets no question', async () => {
    for (const mode of ['meta', 'passthrough', 'hybrid', 'code'] as const) {
      const { gateway, sent } = await place({ mode, scripts: true });
      const host = await connectHost(gateway, { era: 'modern', over: 'http', capabilities: {} });
      await gateway.call('notes', 'drop', { id: 1 });
      const { tools } = await host.client.listTools();
      const [id] = await waiting(gateway);
      for (const { name } of tools) {
        for (const args of [{ id }, { ref: id }, { server: 'toolscout', tool: 'approve', arguments: { id } }]) {
          await host.client.callTool({ name, arguments: args }).catch(() => undefined);
        }
      }
      expect(tools.map(({ name }) => name).filter((name) => /approv|confirm|pending/i.test(name))).toEqual([]);
      expect(await waiting(gateway)).toContain(id);
      expect([sent.length, host.asked.length]).toEqual([0, 0]);
      await gateway.close({ drainMs: 0 });
    }
  });

  it('SEC-11 S12 a caller with a key cannot say yes to its own call, and only administrators decide', async () => {
    const { gateway, sent } = await place();
    const as = (name: string): Gateway => gateway.as(viewerOf({ name, scopes: new Set(['admin']) }));
    const [ann, bob] = [as('ann'), as('bob')];
    expect(await codeOf(ann.call('notes', 'drop', { id: 1 }))).toBe('CONFIRMATION_REQUIRED');
    const [id] = await waiting(gateway);
    await expect(ann.approvals.approveCall(id!)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(ann.approvals.approveCall(id!, { by: 'bob' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const limited = gateway.as(viewerOf({ name: 'some', scopes: new Set(['admin']), servers: new Set(['other']) }));
    expect(await limited.approvals.calls()).toEqual([]);
    expect(() => limited.approvals.approveCall(id!)).toThrow('needs access to all servers');
    await bob.approvals.approveCall(id!, { reason: 'fine' });
    // The confirmation is for ann only.
    expect(await codeOf(bob.call('notes', 'drop', { id: 1 }))).toBe('CONFIRMATION_REQUIRED');
    expect(await codeOf(ann.call('notes', 'drop', { id: 1 }))).toBe('ran');
    expect(sent).toHaveLength(1);
    const records = await gateway.audit.list({ kind: 'confirm' });
    expect(records.find(({ outcome }) => outcome === 'refused')).toMatchObject({ principal: 'ann', code: 'FORBIDDEN' });
    expect(records).toContainEqual(
      expect.objectContaining({
        principal: 'bob',
        detail: expect.objectContaining({
          decision: 'approved',
          via: 'operator',
          caller: 'ann',
          reason: 'fine',
        }) as object,
      }),
    );
  });
});

describe('pending calls', STARTS_PROCESSES, () => {
  it('SEC-11 EXEC-2 a confirmation allows one call with these arguments; invalid arguments are refused before the question', async () => {
    const { gateway, sent } = await place();
    expect(await codeOf(gateway.call('notes', 'drop', { id: 'x' }))).toBe('TOOL_VALIDATION_ERROR');
    expect(await waiting(gateway)).toEqual([]);
    const first = await gateway.call('notes', 'drop', { id: 1, token: 'sk-12345678901234567890' });
    expect(first.error).toMatchObject({ code: 'CONFIRMATION_REQUIRED', retryAfterMs: 10_000 });
    const [call] = await gateway.approvals.calls({ state: 'waiting', server: 'notes' });
    expect(first.error?.message).toContain(`The pending call ${call!.id} expires in 15 minutes.`);
    expect(first.error?.suggestion).toContain(`toolscout approve ${call!.id}`);
    // What a secret is stays one.
    expect(JSON.stringify(call)).not.toContain('sk-1234567890');
    await gateway.approvals.approveCall(call!.id);
    expect(await codeOf(gateway.call('notes', 'drop', { id: 1 }))).toBe('CONFIRMATION_REQUIRED');
    expect(await codeOf(gateway.call('notes', 'drop', { token: 'sk-12345678901234567890', id: 1 }))).toBe('ran');
    expect(await codeOf(gateway.call('notes', 'drop', { id: 1, token: 'sk-12345678901234567890' }))).toBe(
      'CONFIRMATION_REQUIRED',
    );
    expect(sent).toHaveLength(1);
  });

  it('SEC-11 the stream, the HTTP API and its events, scripts without a host and skills wait as well', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'watch'));
    await writeFile(join(directory, 'watch', 'skill.md'), '# Watch\n\n## Capabilities\n\n- `note:drop`\n');
    const { url, sent } = await notesServer();
    const gateway = await openToolscout({
      servers: { notes: { url, capabilities: ['note:drop'] } },
      skills: { directories: [directory] },
      scripts: true,
      ...ASKS,
    });
    await gateway.servers.discover();
    const args = { id: 3 };
    const streamed: unknown[] = [];
    for await (const event of gateway.stream('notes', 'drop', args)) streamed.push(event);
    expect(streamed).toEqual([
      {
        type: 'result',
        result: expect.objectContaining({
          error: expect.objectContaining({ code: 'CONFIRMATION_REQUIRED' }) as object,
        }) as object,
      },
    ]);
    const http = await openHttpApp(gateway);
    const body = { server: 'notes', tool: 'drop', arguments: args };
    const refused = await http.post('/v1/call', body);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('retry-after')).toBe('10');
    expect(await refused.json()).toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
    const events = await http.post('/v1/call', body, { accept: 'text/event-stream' });
    expect(await events.text()).toContain('CONFIRMATION_REQUIRED');
    const run = await gateway.run('return tools.notes.drop({ id: 3 })');
    expect(run.error?.message).toContain("needs a person's confirmation");
    const view = await gateway.skills.bind('watch');
    expect(view).toMatchObject({ state: 'READY' });
    const skill = await gateway.skills.get('watch');
    expect(await codeOf(skill.call('note:drop', 'drop', args))).toBe('CONFIRMATION_REQUIRED');
    const calls = await gateway.approvals.calls({ state: 'waiting' });
    expect(calls.map((call) => call.skill)).toEqual([undefined, 'watch']);
    // A confirmation for the user does not cover a skill of the same user.
    await gateway.approvals.approveCall(calls[0]!.id);
    expect(await codeOf(skill.call('note:drop', 'drop', args))).toBe('CONFIRMATION_REQUIRED');
    expect((await http.post('/v1/call', body)).status).toBe(200);
    expect(sent).toHaveLength(1);
  });

  it('SEC-11 REG-8 GET and POST /v1/pending-calls list and decide', async () => {
    const { gateway, sent } = await place();
    const http = await openHttpApp(gateway);
    const body = { server: 'notes', tool: 'drop', arguments: { id: 1 } };
    await http.post('/v1/call', body);
    const list = (await (await http.send('/v1/pending-calls?state=waiting')).json()) as { calls: JsonObject[] };
    expect(list.calls).toMatchObject([{ server: 'notes', tool: 'drop', arguments: { id: 1 }, route: 'http' }]);
    const id = String(list.calls[0]!['id']);
    expect((await http.post(`/v1/pending-calls/${id}/reject`, { reason: 'not today' })).status).toBe(200);
    const refused = (await (await http.post('/v1/call', body)).json()) as JsonObject;
    expect(refused).toMatchObject({
      code: 'CONFIRMATION_REJECTED',
      detail: expect.stringContaining('not today') as string,
    });
    expect((await http.post(`/v1/pending-calls/${id}/approve`, {})).status).toBe(404);
    await http.post('/v1/call', { ...body, arguments: { id: 2 } });
    const [other] = await waiting(gateway);
    expect(await (await http.post(`/v1/pending-calls/${other!}/approve`, {})).json()).toMatchObject({
      state: 'approved',
      ruling: { by: 'local', via: 'operator' },
    });
    expect((await http.post('/v1/call', { ...body, arguments: { id: 2 } })).status).toBe(200);
    expect(sent).toHaveLength(1);
  });

  it('SEC-11 CLI-1 CLI-2 toolscout call ends with 4; pending shows it, approve and reject decide', async () => {
    const { url, sent } = await notesServer();
    const stateDir = await temporaryDirectory();
    const open = (): Promise<Gateway> => openToolscout({ servers: { notes: { url } }, ...ASKS }, { stateDir });
    const run = (...args: string[]) => commandLine(args, { gateway: open });
    const first = await run('call', 'notes:drop', '--args', '{"id":1}');
    expect(first.code).toBe(4);
    const id = /toolscout approve (call_[0-9a-f]{12})/.exec(first.stderr)![1]!;
    const { stdout } = await run('pending');
    expect(stdout).toContain(`${id}  a call of notes:drop`);
    expect(stdout).toContain('arguments {"id":1}');
    expect(JSON.parse((await run('pending', '--json')).stdout)).toMatchObject({ calls: [{ id, state: 'waiting' }] });
    expect((await run('approve', id)).stdout).toContain('may be called once');
    expect((await run('pending', '--state', 'approved')).stdout).toContain('approved by local');
    expect((await run('call', 'notes:drop', '--args', '{"id":1}')).code).toBe(0);
    expect((await run('approve', id)).code).toBe(2);
    await run('call', 'notes:drop', '--args', '{"id":1}');
    const next = (JSON.parse((await run('pending', '--json')).stdout) as { calls: JsonObject[] }).calls[0]!;
    const rejected = await run('reject', String(next['id']), '--reason', 'no', '--json');
    expect(JSON.parse(rejected.stdout)).toMatchObject({ call: { state: 'rejected', ruling: { reason: 'no' } } });
    expect((await run('call', 'notes:drop', '--args', '{"id":1}')).stderr).toContain('local rejected it: no');
    await run('call', 'notes:drop', '--args', '{"id":2}');
    const last = (JSON.parse((await run('pending', '--json')).stdout) as { calls: JsonObject[] }).calls[0]!;
    expect((await run('reject', String(last['id']))).stdout).toContain('is not called');
    expect(sent).toHaveLength(1);
  });
});

describe('rules that ask', STARTS_PROCESSES, () => {
  it('SEC-11 CLI-1 REG-8 a person who approves a call of a rule with once reads that it covers the tool for 30 days', async () => {
    const { url, sent } = await notesServer();
    const stateDir = await temporaryDirectory();
    const config = {
      servers: { notes: { url } },
      toolRules: [{ pattern: '*', confirm: 'once' }],
    } satisfies ConfigInput;
    const run = (...args: string[]) =>
      commandLine(args, { gateway: (): Promise<Gateway> => openToolscout(config, { stateDir }) });
    const first = await run('call', 'notes:drop', '--args', '{"id":1}');
    const id = /toolscout approve (call_[0-9a-f]{12})/.exec(first.stderr)![1]!;
    expect((await run('pending')).stdout).toContain('a yes covers every call of this tool by this caller, for 30 days');
    expect(JSON.parse((await run('pending', '--json')).stdout)).toMatchObject({ calls: [{ id, scope: 'tool' }] });
    expect((await run('approve', id)).stdout).toContain(
      'local may make this call, and then call notes:drop for 30 days with any arguments.',
    );
    expect((await run('call', 'notes:drop', '--args', '{"id":1}')).code).toBe(0);
    expect((await run('call', 'notes:drop', '--args', '{"id":2}')).code).toBe(0);
    expect(sent).toHaveLength(2);
  });

  it('PAT-4 SEC-11 the first matching rule that has confirm decides; enabled and tags are read as ever', async () => {
    const { gateway } = await place({
      toolRules: [
        { pattern: 'look', confirm: false },
        { pattern: 'drop', tags: ['risky'] },
        { pattern: '*', confirm: { when: 'id > `5`' } },
        { pattern: 'drop', confirm: true, enabled: true },
        { pattern: 'look', enabled: true, confirm: true },
      ],
    });
    expect(await codeOf(gateway.call('notes', 'look', {}))).toBe('ran');
    expect(await codeOf(gateway.call('notes', 'drop', { id: 5 }))).toBe('ran');
    expect(await codeOf(gateway.call('notes', 'drop', { id: 6 }))).toBe('CONFIRMATION_REQUIRED');
    const { tool } = await gateway.details('notes', 'drop');
    expect(tool).toMatchObject({ tags: ['risky'], confirm: { ask: { when: 'id > `5`' } } });
    expect(tool.confirm!.reason).toContain('rule 3 (pattern');
  });

  it('SEC-11 an expression that fails on the arguments asks; what JMESPath calls false does not', async () => {
    const when = async (expression: string): Promise<string> => {
      const { gateway } = await place({ toolRules: [{ pattern: '*', confirm: { when: expression } }] });
      return codeOf(gateway.call('notes', 'drop', { id: 1 }));
    };
    expect(await when('length(id)')).toBe('CONFIRMATION_REQUIRED');
    for (const expression of ['missing', "''", '`[]`', '`{}`', '`false`', 'id > `1`']) {
      expect([expression, await when(expression)]).toEqual([expression, 'ran']);
    }
    for (const expression of ['id', '`0`', "'x'", '@']) {
      expect([expression, await when(expression)]).toEqual([expression, 'CONFIRMATION_REQUIRED']);
    }
  });

  it('CFG-3 SEC-11 an expression that cannot be read is an error with its place; a webhook needs its secret', async () => {
    const refused = async (config: ConfigInput, env: Record<string, string> = {}): Promise<string> =>
      openGateway({ config, env, learnAtStart: false, stateDir: await temporaryDirectory() }).then(
        async (gateway) => {
          const { warnings } = await gateway.config.show();
          await gateway.close({ drainMs: 0 });
          return warnings.map(({ path, message }) => `${path} ${message}`).join();
        },
        (thrown: Error) => thrown.message,
      );
    expect(await refused({ toolRules: [{ pattern: '*', confirm: { when: 'a[' } }] })).toMatch(
      /toolRules\[0\]\.confirm\.when: is not a JMESPath expression: position/,
    );
    expect(await refused({ confirm: { webhook: 'https://x.example' } })).toContain(
      'expected webhook and secret together',
    );
    const written = { confirm: { webhook: 'https://x.example', secret: '${S}' } };
    expect(await refused(written)).toContain('the webhook is not asked');
    expect(await refused(written, { S: 'short' })).toContain('fewer than 16 characters');
    expect(await refused(written, { S: 'long-enough-for-a-secret' })).toBe('');
  });

  it('CFG-6 SEC-11 a reload brings and takes rules for the next call', async () => {
    const { url, sent } = await notesServer();
    const file = join(await temporaryDirectory(), 'toolscout.config.json');
    const write = (toolRules: unknown[]): Promise<void> =>
      writeFile(file, JSON.stringify({ servers: { notes: { url } }, toolRules }));
    await write([]);
    const gateway = await openGateway({
      config: file,
      env: { PATH: process.env['PATH'] },
      learnAtStart: false,
      stateDir: await temporaryDirectory(),
    });
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    expect(await codeOf(gateway.call('notes', 'drop', {}))).toBe('ran');
    await write([{ pattern: '*', confirm: true }]);
    await gateway.reload();
    expect(await codeOf(gateway.call('notes', 'drop', {}))).toBe('CONFIRMATION_REQUIRED');
    await write([]);
    await gateway.reload();
    expect(await codeOf(gateway.call('notes', 'drop', {}))).toBe('ran');
    expect(sent).toHaveLength(2);
  });

  it('SEC-11 the tools that read on in kept results are not asked about', async () => {
    const { gateway } = await place({ toolRules: [{ pattern: '*', confirm: true }] });
    expect(await codeOf(gateway.call('toolscout', 'read_result', { handle: 'res_00000000' }))).not.toContain('CONFIRM');
  });
});

describe('several processes', STARTS_PROCESSES, () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, patient(60_000));
  afterAll(() => postgres.cleanup());

  const STORES = [
    [
      'SQLite',
      async (): Promise<() => Promise<[ConfigInput, { stateDir: string }]>> => {
        const stateDir = await temporaryDirectory();
        return async () => [{}, { stateDir }];
      },
    ],
    [
      'PostgreSQL',
      async (): Promise<() => Promise<[ConfigInput, { stateDir: string }]>> => {
        const store = await postgres.newDatabase();
        return async () => [{ store }, { stateDir: await temporaryDirectory() }];
      },
    ],
  ] as const;

  it.each(STORES)('SEC-11 A40 over %s: asked in one, approved in another, used once in all', async (_name, prepare) => {
    const { url, sent } = await notesServer();
    const next = await prepare();
    const open = async (): Promise<Gateway> => {
      const [config, options] = await next();
      return openToolscout({ servers: { notes: { url } }, ...ASKS, ...config }, options);
    };
    const gateways = [await open(), await open(), await open()];
    for (let round = 0; round < 5; round++) {
      const args = { id: round };
      expect(await codeOf(gateways[0]!.call('notes', 'drop', args))).toBe('CONFIRMATION_REQUIRED');
      const [id] = await waiting(gateways[1]!);
      await gateways[1]!.approvals.approveCall(id!);
      const tried = await Promise.all(
        [...gateways, ...gateways, ...gateways].map((gateway) => codeOf(gateway.call('notes', 'drop', args))),
      );
      expect(tried.filter((code) => code === 'ran')).toHaveLength(1);
      expect(new Set(tried)).toEqual(new Set(['ran', 'CONFIRMATION_REQUIRED']));
      expect(sent).toHaveLength(round + 1);
      const [again] = await waiting(gateways[2]!);
      await gateways[2]!.approvals.rejectCall(again!);
    }
  });

  it.each(STORES)(
    'CODE-5 SEC-11 over %s: a script that waits for a confirmation goes on in another process',
    async (_name, prepare) => {
      const { url, sent } = await notesServer();
      const next = await prepare();
      const open = async (): Promise<Gateway> => {
        const [config, options] = await next();
        return openToolscout({ servers: { notes: { url } }, scripts: true, ...ASKS, ...config }, options);
      };
      const host: Host = {
        id: 'h',
        era: 'modern',
        capabilities: { elicitation: { form: {} } },
        request: () => Promise.reject(new Error('never asked directly')),
        notify: () => undefined,
      };
      const script = 'const a = await tools.notes.drop({ id: 1 }); return [a, await tools.notes.drop({ id: 2 })]';
      const first = await open();
      const { suspended } = await first.run(script, { host });
      await first.close({ drainMs: 0 });
      const second = await open();
      const [key] = Object.keys(suspended!.inputRequests);
      const resumed = { requestState: suspended!.state, inputResponses: { [key!]: ALLOW } };
      const [one, two] = await Promise.allSettled([
        second.run(script, { host, resumed }),
        second.run(script, { host, resumed }),
      ]);
      const goneOn = [one, two].find((each) => each.status === 'fulfilled' && each.value.suspended);
      expect(goneOn).toBeDefined();
      expect(sent).toHaveLength(1);
      const asks = (goneOn as PromiseFulfilledResult<Awaited<ReturnType<Gateway['run']>>>).value.suspended!;
      const [other] = Object.keys(asks.inputRequests);
      const third = await open();
      const end = await third.run(script, {
        host,
        resumed: { requestState: asks.state, inputResponses: { [other!]: ALLOW } },
      });
      expect(end.value).toEqual(['did drop', 'did drop']);
      expect(sent.map((params) => params['arguments'])).toEqual([{ id: 1 }, { id: 2 }]);
    },
  );
});

describe('the webhook', STARTS_PROCESSES, () => {
  it('SEC-11 decides for hosts that could be asked as well; its secret is shown nowhere', async () => {
    const secret = 'c4n4ry-of-the-webhook';
    const asked: JsonObject[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const { call } = JSON.parse(body) as { call: JsonObject };
        asked.push(call);
        const id = String(call['id']);
        const said = JSON.stringify({
          decision: (call['arguments'] as JsonObject)['id'] === 1 ? 'approve' : 'reject',
          by: 'carol',
        });
        const timestamp = String(Date.now());
        response.writeHead(200, {
          'x-toolscout-timestamp': timestamp,
          'x-toolscout-signature': signWebhook(secret, timestamp, id, said),
        });
        response.end(said);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const webhook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { url, sent } = await notesServer();
    const gateway = await openToolscout(
      { servers: { notes: { url } }, ...ASKS, confirm: { webhook, secret: '${SECRET}' } },
      { env: { PATH: process.env['PATH'], SECRET: secret } },
    );
    const host = await connectHost(gateway, { era: 'modern', over: 'stdio', onElicit: () => ALLOW });
    const drop = (id: number): Promise<unknown> =>
      host.client.callTool({ name: 'execute_tool', arguments: { server: 'notes', tool: 'drop', arguments: { id } } });
    expect(JSON.stringify(await drop(1))).toContain('did drop');
    expect(JSON.stringify(await drop(2))).toContain('carol rejected it');
    expect([asked.length, host.asked.length, sent.length]).toEqual([2, 0, 1]);
    await waitUntil(async () => (await gateway.audit.list({ kind: 'confirm' })).length === 4);
    expect((await gateway.audit.list({ kind: 'confirm' })).map(({ principal }) => principal)).toContain('carol');
    const shown = await gateway.config.show();
    expect(shown.confirm).toMatchObject({ webhook, secretSet: true });
    expect(JSON.stringify([shown, await gateway.audit.list({}), asked])).not.toContain(secret);
  });
});
