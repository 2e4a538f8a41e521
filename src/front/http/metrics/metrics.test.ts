import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixture, temporaryDirectory } from '../../../../test/support/fixture.js';
import { openHttpApp } from '../../../../test/support/http-app.js';
import { createFakeClock } from '../../../../test/support/fake-clock.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { readPrometheus } from '../../../../test/support/read-prometheus.js';
import { patient, STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { Gateway } from '../../../gateway/index.js';
import { systemClock } from '../../../kernel/clock.js';
import parsePrometheusTextFormat from 'parse-prometheus-text-format';
import { createMetrics } from './metrics.js';
import { createMeasurements } from './prometheus.js';
import { codePoint } from '../../../../test/support/any-text.js';

async function waitFor<T>(look: () => Promise<T | undefined>): Promise<T> {
  let seen: T | undefined;
  await expect.poll(async () => (seen = await look()) !== undefined, { timeout: patient(60_000) }).toBe(true);
  return seen!;
}

describe('GET /metrics', STARTS_PROCESSES, () => {
  it('REG-7 NEG-5 counts what skills call, by the server that it went to', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'talker'));
    await writeFile(join(directory, 'talker', 'skill.md'), '# Talker\n\n## Capabilities\n\n- `talk:echo`\n');
    const gateway = await openToolscout({
      servers: { old: { ...fixture('legacy'), capabilities: ['talk:echo'] } },
      toolRules: [{ pattern: 'echo', tags: ['talk:echo'] }],
      skills: { directories: [directory] },
    });
    await gateway.servers.discover();
    const metrics = createMetrics(gateway, systemClock);
    const http = await openHttpApp(metrics.gateway, { metrics });
    const call = { capability: 'talk:echo', tool: 'echo', arguments: { message: 'x' } };
    expect((await http.post('/v1/skills/talker/call', call)).status).toBe(200);
    expect((await http.post('/v1/skills/talker/call', { ...call, capability: 'talk:sing' })).status).toBe(403);
    const text = await (await http.send('/metrics')).text();
    expect(text).toContain('toolscout_executions_total{server="old",outcome="success"} 1');
    expect(text).toContain('toolscout_executions_total{server="unknown",outcome="FORBIDDEN"} 1');
  });

  it('REG-7 EXEC-5 the time of a call is without the wait for a person', async () => {
    const { gateway } = await openOfflineGateway([]);
    const clock = createFakeClock();
    const call: Gateway['call'] = async () => {
      await clock.advance(30_000);
      return { success: true, result: {}, askedMs: 29_990 };
    };
    const metrics = createMetrics({ ...gateway, call }, clock);
    await metrics.gateway.call('old', 'echo', {});
    expect(await metrics.text()).toContain('toolscout_execution_duration_ms_sum 10\n');
  });

  it('REG-7 has every name, is valid, and counts what happened', async () => {
    const cwd = await temporaryDirectory();
    const file = join(cwd, 'tools.yaml');
    await writeFile(
      file,
      JSON.stringify([
        { id: 'far', base_url: 'http://10.0.0.1' },
        { id: 'odd', base_url: 'ftp://x' },
      ]),
    );
    const gateway = await openToolscout(
      { servers: { old: fixture('legacy') } },
      { cwd, env: { PATH: process.env['PATH'], TOOLS_YAML_PATH: file } },
    );
    const metrics = createMetrics(gateway, systemClock);
    const registry = (await gateway.registry.get())!;
    metrics.watch(registry);
    await registry.refresh();
    await gateway.servers.discover(['old']);
    const http = await openHttpApp(metrics.gateway, { metrics });
    await http.send('/v1/search?q=echo');
    await http.send('/v1/search?q=zzzzzzqqq');
    // A person who looks at what an agent would find is no agent.
    for (const path of ['/v1/search?q=echo&preview=true', '/v1/search/preview?q=echo']) await http.send(path);
    await http.post('/v1/call', { server: 'old', tool: 'echo', arguments: { message: 'user-canary' } });
    await http.post('/v1/call', { server: 'user-canary', tool: 'user-canary' });
    await http.send('/v1/tools/user-canary/user-canary');
    await http.send('/user-canary');
    const response = await http.send('/metrics');
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4');
    const text = await response.text();
    expect(text).not.toContain('user-canary');
    const families = readPrometheus(text);
    // A reader that others wrote finds the same families of the same kinds.
    const theirs = parsePrometheusTextFormat(text).map(({ name, type }) => [name, type.toLowerCase()] as const);
    expect(new Map(theirs)).toEqual(families.types);
    const value = (name: string, labels: Record<string, string> = {}): number | undefined =>
      families.samples.find(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, wanted]) => sample.labels[key] === wanted),
      )?.value;
    expect(value('tools_registry_size')).toBe(3);
    expect(value('tools_alive_total')).toBe(1);
    expect(value('tools_capabilities_total')).toBeGreaterThan(0);
    expect(value('tools_discovery_latency_ms_count', { tool_id: 'far', result: 'failed' })).toBe(1);
    expect(value('tools_discovery_failures_total', { tool_id: 'far', reason: 'host_not_allowed' })).toBe(1);
    expect(value('tools_discovery_failures_total', { tool_id: 'odd', reason: 'invalid_scheme' })).toBe(1);
    expect(value('toolscout_searches_total', { result: 'found' })).toBe(1);
    expect(value('toolscout_searches_total', { result: 'nothing' })).toBe(1);
    expect(value('toolscout_executions_total', { server: 'old', outcome: 'success' })).toBe(1);
    expect(value('toolscout_executions_total', { server: 'unknown', outcome: 'SERVER_NOT_FOUND' })).toBe(1);
    expect(value('toolscout_pool_connections', { state: 'connected' })).toBe(1);
    expect(value('toolscout_breakers', { state: 'closed' })).toBe(1);
    expect(value('toolscout_http_requests_total', { route: 'showTool', status: '404' })).toBe(1);
    expect(families.types.get('tools_discovery_latency_ms')).toBe('histogram');
    for (const name of ['toolscout_cache_hits', 'toolscout_cache_entries', 'toolscout_search_duration_ms']) {
      expect(families.types.has(name)).toBe(true);
    }
  });

  it('REG-7 tells what the process itself uses, under the names that Prometheus clients use', async () => {
    const gateway = await openToolscout({});
    const http = await openHttpApp(gateway);
    await http.send('/metrics');
    // Collections and the event loop are watched from the first scrape on.
    const garbage = Array.from({ length: 50 }, (_, n) => Array.from({ length: 100_000 }, () => n));
    expect(garbage).toHaveLength(50);
    const found = await waitFor(async () => {
      const { samples, types } = readPrometheus(await (await http.send('/metrics')).text());
      const of = (name: string): number => samples.find((sample) => sample.name === name)?.value ?? -1;
      return of('nodejs_gc_duration_seconds_count') > 0 ? { of, types } : undefined;
    });
    const { of, types } = found;
    const seconds = Date.now() / 1000;
    expect(of('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(of('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(of('process_open_fds')).toBeGreaterThan(2);
    expect(of('process_max_fds')).toBeGreaterThan(of('process_open_fds'));
    expect(of('process_start_time_seconds')).toBeGreaterThan(seconds - 86_400);
    expect(of('process_start_time_seconds')).toBeLessThan(seconds);
    expect(of('nodejs_heap_size_used_bytes')).toBeGreaterThan(1_000_000);
    for (const name of ['mean', 'max', 'p50', 'p90', 'p99']) {
      expect(of(`nodejs_eventloop_lag_${name}_seconds`), name).toBeGreaterThanOrEqual(0);
    }
    expect(types.get('process_cpu_seconds_total')).toBe('counter');
    expect(types.get('process_resident_memory_bytes')).toBe('gauge');
    expect(types.get('nodejs_gc_duration_seconds')).toBe('histogram');
  });

  it('REG-7 no label breaks the format, and their number is bounded whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: codePoint }), { maxLength: 20 }), (values) => {
        const measured = createMeasurements();
        const counter = measured.counter('a_total', 'With \\ and \n in it.');
        const times = measured.histogram('b_ms', 'Times.', [1, 10]);
        for (const value of values) {
          counter.of({ label: value }).value += 1;
          times.of({ label: value }).observe(5);
        }
        const { samples } = readPrometheus(measured.text([['c', 'Now.', [{ value: 3 }]]]));
        const distinct = new Set(values).size;
        expect(samples.filter(({ name }) => name === 'a_total')).toHaveLength(distinct);
        expect(samples.filter(({ name }) => name === 'b_ms_bucket')).toHaveLength(distinct * 3);
      }),
    );
    const measured = createMeasurements();
    const counter = measured.counter('a_total', 'Many.');
    for (let index = 0; index < 10_000; index++) counter.of({ id: `id-${index}` }).value += 1;
    const { samples } = readPrometheus(measured.text([]));
    expect(samples.length).toBeLessThan(2100);
    expect(samples.find(({ labels }) => labels['id'] === 'other')?.value).toBe(8000);
  });
});
