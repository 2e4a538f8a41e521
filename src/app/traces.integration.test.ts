import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { fixture, temporaryDirectory, waitUntil } from '../../test/support/fixture.js';
import { openHttpApp } from '../../test/support/http-app.js';
import { openToolscout } from '../../test/support/open-toolscout.js';
import type { JsonObject } from '../kernel/json.js';
import { silentLog } from '../kernel/log.js';
import { modernPost } from '../../test/support/modern-request.js';
import { STARTS_PROCESSES } from '../../test/support/patience.js';
import { createTraceExporter } from './trace-exporter.js';

interface Exported {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status: { readonly code: number; readonly message?: string };
}

async function startCollector(): Promise<{ url: string; spans: Exported[]; bodies: string[]; headers: string[] }> {
  const spans: Exported[] = [];
  const bodies: string[] = [];
  const headers: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      bodies.push(body);
      headers.push(`${request.url} ${request.headers['x-team']}`);
      const { resourceSpans } = JSON.parse(body) as {
        resourceSpans: Array<{ scopeSpans: Array<{ spans: Exported[] }> }>;
      };
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, bodies, headers };
}

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const ECHO = { server: 'old', tool: 'echo', arguments: { message: 'hi' } };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'h', version: '1' } },
};
const MCP = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** A folder with a skill that may talk. */
async function talkingSkill(): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'talker'));
  await writeFile(join(directory, 'talker', 'skill.md'), '# Talker\n\n## Capabilities\n\n- `talk:echo`\n');
  return directory;
}

describe('traces', STARTS_PROCESSES, () => {
  it('REG-7 searches, calls and discoveries are spans; a call carries its own on to the server', async () => {
    const collector = await startCollector();
    const gateway = await openToolscout(
      { servers: { old: fixture('legacy') } },
      {
        env: {
          PATH: process.env['PATH'],
          OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
          OTEL_EXPORTER_OTLP_HEADERS: 'x-team=blue%20team',
        },
      },
    );
    await gateway.servers.discover();
    await gateway.search('secret words of a user');
    await gateway.call('old', 'echo', { message: 'secret argument' }, { meta: { traceparent: PARENT } });
    await gateway.call('old', 'nothing', {});
    for await (const _event of gateway.stream('old', 'echo', { message: 'x' })) continue;
    await waitUntil(async () => (await gateway.audit.list({ kind: 'execution' })).length === 3);
    const records = await gateway.audit.list({ kind: 'execution' });
    await gateway.close();
    expect(collector.spans.map(({ name }) => name)).toEqual(['discover', 'search', 'execute', 'execute', 'execute']);
    expect(collector.spans[2]).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      status: { code: 1 },
    });
    expect(collector.spans[3]!.status).toEqual({ code: 2, message: 'TOOL_NOT_FOUND' });
    expect(records.map(({ traceId }) => traceId)).toContain('0af7651916cd43dd8448eb211c80319c');
    expect(collector.headers).toEqual(['/v1/traces blue team']);
    expect(collector.bodies.join('')).not.toContain('secret');
  });

  it('REG-7 CODE-4 the calls of a script are spans below that of the script', async () => {
    const collector = await startCollector();
    const env = { PATH: process.env['PATH'], OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } }, { env });
    await gateway.servers.discover();
    const script = "await tools.old.echo({ message: 'secret' }); try { await tools.old.nothing() } catch { return 1 }";
    expect(await gateway.run(script, { meta: { traceparent: PARENT } })).toMatchObject({ value: 1, calls: 2 });
    await gateway.close();
    const spans = collector.spans.filter(({ name }) => name !== 'discover');
    const [first, second, run] = spans;
    expect(spans.map(({ name }) => name)).toEqual(['execute', 'execute', 'script']);
    expect(run).toMatchObject({ parentSpanId: 'b7ad6b7169203331', status: { code: 1 } });
    expect([first!.parentSpanId, second!.parentSpanId]).toEqual([run!.spanId, run!.spanId]);
    expect(second!.status).toEqual({ code: 2, message: 'TOOL_NOT_FOUND' });
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(collector.bodies.join('')).not.toContain('secret');
  });

  it('REG-7 the server gets the span as its parent', async () => {
    const collector = await startCollector();
    const env = { PATH: process.env['PATH'], OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const file = join(await temporaryDirectory(), 'messages');
    const gateway = await openToolscout({ servers: { old: fixture('recorder', `--file=${file}`) } }, { env });
    const meta = { traceparent: PARENT };
    expect(await gateway.call('old', 'echo', { message: 'x' }, { meta })).toMatchObject({ success: true });
    await gateway.close();
    const call = (await readFile(file, 'utf8')).split('\n').find((line) => line.includes('"tools/call"'));
    const [span] = collector.spans;
    expect(span!.parentSpanId).toBe('b7ad6b7169203331');
    expect(call).toContain(`"traceparent":"00-${span!.traceId}-${span!.spanId}-01"`);
  });

  it('REG-7 whatever is asked over HTTP belongs to the trace of its caller', async () => {
    const collector = await startCollector();
    const env = {
      PATH: process.env['PATH'],
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      KEY: 'a-key-0123456789abcdef',
    };
    const keys = [{ name: 'some', key: '${KEY}', servers: ['old'] }];
    for (const auth of [undefined, { keys }]) {
      const gateway = await openToolscout({ servers: { old: fixture('legacy') }, http: { auth } }, { env });
      const { send, post } = await openHttpApp(gateway);
      const headers = { traceparent: PARENT, authorization: `Bearer ${env.KEY}` };
      expect((await send('/v1/servers', { headers })).status).toBe(200);
      expect((await send('/v1/servers/old/tools', { headers })).status).toBe(200);
      expect((await send('/v1/search?q=echo', { headers })).status).toBe(200);
      expect((await send('/v1/tools/old/echo', { headers })).status).toBe(200);
      expect((await send('/v1/servers/nowhere/tools', { headers })).status).toBe(404);
      expect((await post('/v1/call', ECHO, headers)).status).toBe(200);
      await (await post('/v1/call', ECHO, { ...headers, accept: 'text/event-stream' })).text();
      // Probes that ask every second belong to no trace, and make none.
      expect((await send('/ready')).status).toBe(200);
      await gateway.close();
      const seen = collector.spans.splice(0);
      const names = ['list', 'list', 'search', 'details', 'list', 'execute', 'execute'];
      expect(seen.map(({ name }) => name)).toEqual(names);
      for (const span of seen) {
        expect(span).toMatchObject({ traceId: PARENT.slice(3, 35), parentSpanId: PARENT.slice(36, 52) });
      }
    }
  });

  const UUID = '0AF76519-16CD-43DD-8448-EB211C80319C';
  const OTHER = '00-11111111111111111111111111111111-b7ad6b7169203331-01';
  it.each([
    ['nothing', {}, undefined, undefined],
    ['an X-Trace-Id that is a UUID', { 'x-trace-id': UUID }, undefined, UUID],
    ['an X-Trace-Id of another form', { 'x-trace-id': 'job:7' }, undefined, 'job:7'],
    ['a traceparent', { traceparent: PARENT }, undefined, PARENT.slice(3, 35)],
    ['both', { traceparent: PARENT, 'x-trace-id': 'job:7' }, undefined, PARENT.slice(3, 35)],
    ['a traceparent in _meta', { traceparent: OTHER, 'x-trace-id': 'job:7' }, PARENT, PARENT.slice(3, 35)],
  ] as const)(
    'REG-3 EXEC-5 REG-7 a request has one id in header, body, audit log and span on every front: given %s',
    async (_what, given, meta, wanted) => {
      const headers: Record<string, string> = { ...given };
      const collector = await startCollector();
      const env = { PATH: process.env['PATH'], OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
      const gateway = await openToolscout({ servers: { old: fixture('legacy') } }, { env });
      const { post } = await openHttpApp(gateway);
      const opened = await post('/mcp', INITIALIZE, MCP);
      await opened.text();
      const session = { ...MCP, 'mcp-session-id': opened.headers.get('mcp-session-id')! };
      const failing = { ...ECHO, tool: 'nothing' };
      const called = { name: 'execute_tool', arguments: failing, ...(meta && { _meta: { traceparent: meta } }) };
      const modern = modernPost('tools/call', called);
      const answers = [
        // Only a message of MCP has a _meta.
        ...(meta ? [] : [await post('/v1/call', ECHO, headers), await post('/v1/call', failing, headers)]),
        await post('/mcp', { jsonrpc: '2.0', id: 2, method: 'tools/call', params: called }, { ...session, ...headers }),
        await post('/mcp', modern.body, { ...(modern.headers as Record<string, string>), ...headers }),
      ];
      const bodies = await Promise.all(answers.map((answer) => answer.text()));
      const ids = answers.map(({ headers }) => headers.get('x-trace-id')!);
      if (wanted === undefined) for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
      else expect(new Set(ids)).toEqual(new Set([wanted]));
      // Every failure names it; a result is the server's own.
      for (const [n, id] of ids.entries()) expect(bodies[n]!.includes(id)).toBe(meta !== undefined || n > 0);
      expect(bodies.slice(-2).join()).toContain('toolscout/trace_id');
      const records = (await gateway.audit.list({ kind: 'execution' })).toReversed();
      expect(records.map(({ traceId }) => traceId)).toEqual(ids);
      await gateway.close();
      const spans = collector.spans.filter(({ name }) => name === 'execute');
      expect(spans).toHaveLength(ids.length);
      for (const [n, id] of ids.entries()) {
        const isId = /^[0-9a-f]{32}$/.test(id.replaceAll('-', '').toLowerCase());
        if (isId) expect(spans[n]!.traceId).toBe(id.replaceAll('-', '').toLowerCase());
        else expect(JSON.stringify(spans[n])).toContain(`{"key":"toolscout.trace_id","value":{"stringValue":"${id}"}}`);
      }
    },
  );

  it('EXEC-5 what is decided over HTTP is in the audit log under the id of its request', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const { post } = await openHttpApp(gateway);
    const response = await post('/v1/config/reload', {}, { 'x-trace-id': 'reload-7' });
    expect(response.headers.get('x-trace-id')).toBe('reload-7');
    await gateway.servers.discover(['old']);
    const rejected = await post('/v1/approvals/old/reject', {}, { 'x-trace-id': 'reject-7' });
    expect(rejected.status).toBeLessThan(500);
    const records = await gateway.audit.list();
    const of = (kind: string): unknown => records.find((record) => record.kind === kind)?.traceId;
    expect({ reload: of('reload'), reject: of('reject') }).toEqual({ reload: 'reload-7', reject: 'reject-7' });
  });

  it('REG-7 NEG-5 a call on behalf of a skill is a span like any other', async () => {
    const collector = await startCollector();
    const env = { PATH: process.env['PATH'], OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const file = join(await temporaryDirectory(), 'messages');
    const gateway = await openToolscout(
      {
        servers: { old: { ...fixture('recorder', `--file=${file}`), capabilities: ['talk:echo'] } },
        toolRules: [{ pattern: 'echo', tags: ['talk:echo'] }],
        skills: { directories: [await talkingSkill()] },
      },
      { env },
    );
    await gateway.servers.discoverTools('old', { meta: { traceparent: PARENT } });
    const { post } = await openHttpApp(gateway);
    const body = { capability: 'talk:echo', tool: 'echo', arguments: { message: 'x' } };
    expect((await post('/v1/skills/talker/call', body, { traceparent: PARENT })).status).toBe(200);
    expect((await post('/v1/skills/talker/call', { ...body, tool: 'other' }, { traceparent: PARENT })).status).toBe(
      403,
    );
    await gateway.close();
    const call = (await readFile(file, 'utf8')).split('\n').find((line) => line.includes('"tools/call"'));
    expect(collector.spans.map(({ name, status }) => [name, status.code])).toEqual([
      ['discover', 1],
      ['execute', 1],
      ['execute', 2],
    ]);
    for (const span of collector.spans) expect(span.parentSpanId).toBe(PARENT.slice(36, 52));
    const [, span] = collector.spans;
    expect(call).toContain(`"traceparent":"00-${span!.traceId}-${span!.spanId}-01"`);
  });

  it('REG-7 META-1 what a host asks over MCP belongs to the trace in its _meta, and goes on to the server', async () => {
    const collector = await startCollector();
    const env = { PATH: process.env['PATH'], OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } }, { env });
    await gateway.servers.facts('old');
    const { post } = await openHttpApp(gateway);
    const started = await post('/mcp', INITIALIZE, MCP);
    const session = { ...MCP, 'mcp-session-id': started.headers.get('mcp-session-id')! };
    await started.text();
    await post('/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, session);
    const ask = async (method: string, params: JsonObject): Promise<string> =>
      (await post('/mcp', { jsonrpc: '2.0', id: 2, method, params: { ...params, _meta: META } }, session)).text();
    const use = (name: string, args: JsonObject): Promise<string> => ask('tools/call', { name, arguments: args });
    const META = { traceparent: PARENT, tracestate: 'vendor=1' };
    expect(await use('search_tools', { query: 'echo' })).toContain('hits');
    expect(await use('list_tools', { server: 'old' })).toContain('echo');
    expect(await use('get_tool_details', { server: 'old', tool: 'echo' })).toContain('inputSchema');
    expect(await use('execute_tool', { ...ECHO })).toContain('hi');
    expect(await use('list_mcp_servers', {})).toContain('old');
    await gateway.hosts.relay('old', 'prompts/get', { name: 'nothing', _meta: META }).catch(() => undefined);
    await gateway.close();
    const spans = collector.spans.filter(({ parentSpanId }) => parentSpanId === PARENT.slice(36, 52));
    expect(spans.map(({ name }) => name)).toEqual(['search', 'list', 'details', 'execute', 'list', 'relay']);
    expect(collector.spans).toHaveLength(spans.length);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([PARENT.slice(3, 35)]));
  });

  it('REG-7 a resource that is read carries the span on to its server', async () => {
    const collector = await startCollector();
    const env = { PATH: process.env['PATH'], OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const file = join(await temporaryDirectory(), 'messages');
    const gateway = await openToolscout({ servers: { old: fixture('recorder', `--file=${file}`) } }, { env });
    const meta = { traceparent: PARENT };
    const params = { uri: 'x:y', _meta: { ...meta, vendor: 'kept' } };
    await gateway.hosts.relay('old', 'resources/read', params, { meta }).catch(() => undefined);
    await gateway.close();
    const read = (await readFile(file, 'utf8')).split('\n').find((line) => line.includes('"resources/read"'));
    const [span] = collector.spans;
    expect(span).toMatchObject({ name: 'relay', parentSpanId: PARENT.slice(36, 52) });
    expect(read).toContain(`"traceparent":"00-${span!.traceId}-${span!.spanId}-01"`);
    expect(read).toContain('"vendor":"kept"');
  });

  it('A28 a collector that never answers costs neither time nor memory, and spans that are not sampled are not sent', async () => {
    const clock = createFakeClock();
    let sent = 0;
    let asked = 0;
    const exporter = createTraceExporter({
      url: 'http://collector.example/v1/traces',
      headers: {},
      service: 's',
      clock,
      log: silentLog,
      fetch: (_url, init) => {
        asked += 1;
        const { resourceSpans } = JSON.parse(String(init?.body)) as {
          resourceSpans: [{ scopeSpans: [{ spans: unknown[] }] }];
        };
        sent += resourceSpans[0].scopeSpans[0].spans.length;
        return new Promise((_, reject) => {
          init?.signal?.addEventListener('abort', () => reject(new Error('too late')));
        });
      },
    });
    exporter.start('quiet', PARENT.replace(/01$/, '00')).end({});
    await clock.advance(20_000);
    expect(asked).toBe(0);
    for (let index = 0; index < 10_000; index++) exporter.start('n').end({});
    await clock.advance(5000);
    expect({ asked, sent }).toEqual({ asked: 1, sent: 2048 });
    for (const bad of ['', 'x', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, 7, null]) {
      expect(exporter.start('n', bad).traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    }
    await clock.advance(10_000);
    const closing = exporter.close();
    await clock.advance(20_000);
    await closing;
  });
});
