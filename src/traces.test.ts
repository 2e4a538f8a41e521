import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../test/support/fake-clock.js';
import { fixture, temporaryDirectory, waitUntil } from '../test/support/fixture.js';
import { openToolscout } from '../test/support/open-toolscout.js';
import { silentLog } from './kernel/log.js';
import { createTraceExporter } from './traces.js';

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

describe('traces', () => {
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
    await gateway.discover();
    await gateway.searchTools('secret words of a user');
    await gateway.executeTool('old', 'echo', { message: 'secret argument' }, { meta: { traceparent: PARENT } });
    await gateway.executeTool('old', 'nothing', {});
    for await (const _event of gateway.executeStream('old', 'echo', { message: 'x' })) continue;
    await waitUntil(async () => (await gateway.audit({ kind: 'execution' })).length === 3);
    const records = await gateway.audit({ kind: 'execution' });
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

  it('REG-7 the server gets the span as its parent', async () => {
    const collector = await startCollector();
    const env = { PATH: process.env['PATH'], OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const file = join(await temporaryDirectory(), 'messages');
    const gateway = await openToolscout({ servers: { old: fixture('recorder', `--file=${file}`) } }, { env });
    const meta = { traceparent: PARENT };
    expect(await gateway.executeTool('old', 'echo', { message: 'x' }, { meta })).toMatchObject({ success: true });
    await gateway.close();
    const call = (await readFile(file, 'utf8')).split('\n').find((line) => line.includes('"tools/call"'));
    const [span] = collector.spans;
    expect(span!.parentSpanId).toBe('b7ad6b7169203331');
    expect(call).toContain(`"traceparent":"00-${span!.traceId}-${span!.spanId}-01"`);
  });

  it('A28 a collector that never answers costs neither time nor memory, and what is not sampled is not told', async () => {
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
