import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../../src/app/open-gateway.js';
import { createMetrics } from '../../src/front/http/metrics/metrics.js';
import type { Gateway } from '../../src/gateway/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { ConfigInput } from '../../src/model/config.js';
import { viewerOf } from '../../src/gateway/index.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openHttpApp } from '../support/http-app.js';
import { connectHost } from '../support/mcp-host.js';
import { callMark, openToolscout, textOf } from '../support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';

/** So little memory that every call is too much. */
const SHORT: ConfigInput['overload'] = { maxHeapShare: 0.01 };

const ECHO = { server: 'old', tool: 'echo', arguments: { message: 'hi' } };

/** A gateway over a config file that can be written anew. */
async function overFile(first: ConfigInput): Promise<{ gateway: Gateway; write(config: ConfigInput): Promise<void> }> {
  const folder = await temporaryDirectory();
  const file = join(folder, 'toolscout.config.json');
  const write = (config: ConfigInput): Promise<void> => writeFile(file, JSON.stringify(config));
  await write(first);
  const options = { config: file, stateDir: join(folder, 'state'), env: { PATH: process.env['PATH'] } };
  const gateway = await openGateway({ ...options, learnAtStart: false });
  onTestFinished(() => gateway.close({ drainMs: 0 }));
  return { gateway, write };
}

describe('a toolscout with too much to do', STARTS_PROCESSES, () => {
  it('R12 with too little memory POST /v1/call answers 503 with Retry-After; searches, lists, health and metrics go on', async () => {
    const servers = { old: fixture('legacy') };
    const { gateway, write } = await overFile({ servers });
    await gateway.servers.discover();
    const metrics = createMetrics(gateway, systemClock);
    const http = await openHttpApp(metrics.gateway, { metrics });
    expect((await http.post('/v1/call', ECHO)).status).toBe(200);
    await write({ servers, overload: SHORT });
    await gateway.reload();

    const refused = await http.post('/v1/call', ECHO);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED', status: 503, retry_after_ms: 5000 });
    expect(await (await http.send('/health')).json()).toMatchObject({ status: 'overloaded' });
    expect((await http.send('/ready')).status).toBe(200);
    expect(JSON.stringify(await (await http.send('/v1/search?q=echo%20a%20message')).json())).toContain('echo');
    const text = await (await http.send('/metrics')).text();
    expect(text).toContain('toolscout_shed_total{reason="memory"} 1');
    expect(text).toContain('toolscout_overloaded 1');

    await write({ servers });
    await gateway.reload();
    expect((await http.post('/v1/call', ECHO)).status).toBe(200);
    expect(await (await http.send('/health')).json()).toMatchObject({ status: 'ok' });
  });

  it.each([
    ['legacy', 'stdio'],
    ['modern', 'stdio'],
    ['legacy', 'http'],
    ['modern', 'http'],
  ] as const)(
    'R12 a host of the %s era over %s gets a typed error and still its menu and searches',
    async (era, over) => {
      const gateway = await openToolscout({ servers: { old: fixture('legacy') }, overload: SHORT });
      await gateway.servers.discover();
      const host = await connectHost(gateway, { era, over });
      const refused = await host.request('tools/call', { name: 'execute_tool', arguments: ECHO });
      expect(refused).toMatchObject({ isError: true });
      expect(JSON.parse(textOf(refused))).toMatchObject({ code: 'RATE_LIMITED', server: 'old', retryAfterMs: 5000 });
      expect(JSON.stringify(await host.request('tools/list', {}))).toContain('execute_tool');
      const search = { name: 'search_tools', arguments: { query: 'echo a message' } };
      expect(textOf(await host.request('tools/call', search))).toContain('echo');
    },
  );

  it('R12 resources, streams and scripts are refused like calls, and overload: false refuses nothing', async () => {
    const { gateway, write } = await overFile({ servers: { old: fixture('legacy') }, overload: SHORT });
    await gateway.servers.discover();
    await expect(gateway.hosts.relay('old', 'resources/read', { uri: 'x://y' })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    });
    await expect(gateway.run('return 1')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    const events = [];
    for await (const event of gateway.stream('old', 'echo', { message: 'x' })) events.push(event);
    expect(events).toMatchObject([{ type: 'result', result: { error: { code: 'RATE_LIMITED' } } }]);
    expect(gateway.internal.overload()).toMatchObject({ calls: 0, waiting: 0, shed: { memory: 3 } });

    await write({ servers: { old: fixture('legacy') }, overload: false });
    await gateway.reload();
    expect(await gateway.run('return 1')).toMatchObject({ success: true, value: 1 });
    expect((await gateway.call('old', 'echo', { message: 'x' })).success).toBe(true);
    expect(gateway.internal.overload()).toMatchObject({ level: 'calm', calls: 0 });
  });

  it('R12 A43 one principal with many slow calls does not keep out another; what it cannot have is refused, and recorded', async () => {
    const mark = await callMark();
    const gateway = await openToolscout({
      servers: { slow: fixture('slow', mark.flag), old: fixture('legacy') },
      overload: { maxCalls: 4, maxWaitMs: 200 },
    });
    await gateway.servers.discover();
    const as = (name: string): Gateway => gateway.as(viewerOf({ name, scopes: new Set(['read', 'call']) }));
    const stops = Array.from({ length: 12 }, () => new AbortController());
    const crowd = stops.map(({ signal }) => as('crowd').call('slow', 'wait', { ms: 60_000 }, { signal }));
    await mark.called();
    const quiet = await as('quiet').call('old', 'echo', { message: 'hi' });
    expect(quiet).toMatchObject({ success: true });
    await waitUntil(() => gateway.internal.overload().shed.calls === 8, { what: 'eight to be refused' });
    expect(gateway.internal.overload()).toMatchObject({ calls: 4, waiting: 0 });
    for (const stop of stops) stop.abort();
    const outcomes = await Promise.all(crowd);
    const codes = outcomes.map(({ error }) => error?.code);
    expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(8);
    expect(codes.filter((code) => code === 'CANCELLED')).toHaveLength(4);
    const records = await gateway.audit.list({ kind: 'execution' });
    const shed = records.filter(({ code, outcome }) => code === 'RATE_LIMITED' && outcome === 'refused');
    expect(shed).toHaveLength(8);
    expect(gateway.internal.overload().calls).toBe(0);
  });

  it('R12 calls of a script that runs are not refused for their number', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy') },
      // Nothing but the number of calls is to count, on a busy machine too.
      overload: { maxCalls: 1, maxWaitMs: 0, maxDelayMs: 60_000 },
      scripts: { computeMs: patient(5000) },
    });
    await gateway.servers.discover();
    const script = `
      const all = await Promise.all([1, 2, 3, 4].map((at) => tools.old.echo({ message: String(at) })));
      return all.length;`;
    expect(await gateway.run(script)).toMatchObject({ success: true, value: 4 });
  });

  it('R7 while it stops, calls that wait are told so', async () => {
    const mark = await callMark();
    const gateway = await openToolscout({
      servers: { slow: fixture('slow', mark.flag) },
      overload: { maxCalls: 1, maxWaitMs: 60_000 },
    });
    const running = gateway.call('slow', 'wait', { ms: 300 });
    await mark.called();
    const waits = gateway.call('slow', 'wait', { ms: 1 });
    await waitUntil(() => gateway.internal.overload().waiting === 1, { what: 'a call that waits' });
    const closed = gateway.close({ drainMs: 5000 });
    expect(await waits).toMatchObject({ error: { code: 'SHUTTING_DOWN' } });
    expect(await running).toMatchObject({ success: true });
    await closed;
  });
});
