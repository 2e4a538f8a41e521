import { describe, expect, it, onTestFinished } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { fixture, startListening, waitUntil } from '../support/fixture.js';
import { connectHost, type HostOptions, type TestHost } from '../support/mcp-host.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';

interface Behind {
  readonly era: 'legacy' | 'modern';
  readonly over: 'stdio' | 'http' | 'sse';
}

const SERVERS: readonly Behind[] = [
  { era: 'legacy', over: 'stdio' },
  { era: 'legacy', over: 'http' },
  { era: 'legacy', over: 'sse' },
  { era: 'modern', over: 'stdio' },
  { era: 'modern', over: 'http' },
];
const HOSTS: ReadonlyArray<Pick<HostOptions, 'era' | 'over'>> = [
  { era: 'legacy', over: 'stdio' },
  { era: 'legacy', over: 'http' },
  { era: 'modern', over: 'stdio' },
  { era: 'modern', over: 'http' },
];

async function gatewayOver({ era, over }: Behind): Promise<Gateway> {
  const flags = era === 'modern' ? ['--modern'] : [];
  if (over === 'stdio') return openToolscout({ servers: { asking: fixture('asking', ...flags) } });
  const running = await startListening('asking', [...flags, `--${over}`], over === 'sse' ? 'sse' : 'mcp');
  onTestFinished(() => running.stop());
  return openToolscout({ servers: { asking: { url: running.url, type: over } } });
}

function call(host: TestHost, tool: string, args: JsonObject = {}, options: Parameters<TestHost['request']>[2] = {}) {
  const params = { name: 'execute_tool', arguments: { server: 'asking', tool, arguments: args } };
  return host.request('tools/call', params, { timeout: patient(120_000), ...options });
}

const CELLS = HOSTS.flatMap((host) => SERVERS.map((server) => ({ host, server })));

describe.each(CELLS)(
  'host $host.era over $host.over × server $server.era over $server.over',
  STARTS_PROCESSES,
  ({ host, server }) => {
    it(
      'C5 META-6 progress, cancel, elicitation, sampling, roots, logging and list_changed pass',
      STARTS_PROCESSES,
      async () => {
        const gateway = await gatewayOver(server);
        await gateway.servers.discover();
        const ann = await connectHost(gateway, host);

        const progress: unknown[] = [];
        const steps = await call(ann, 'steps', { steps: 3 }, { onprogress: (each) => progress.push(each) });
        expect(textOf(steps)).toBe('3 steps');
        expect(progress).toMatchObject([
          { progress: 1, total: 3, message: 'step 1' },
          { progress: 2, total: 3 },
          { progress: 3, total: 3 },
        ]);

        expect(JSON.parse(textOf(await call(ann, 'elicit', { message: 'one' })))).toEqual({
          action: 'accept',
          content: { name: 'Ann for one' },
        });
        const between: unknown[] = [];
        const twice = await call(ann, 'elicit_twice', { message: 'q' }, { onprogress: (each) => between.push(each) });
        expect(textOf(twice)).toBe('Ann for q 1 and Ann for q 2');
        // A modern server runs again for every round, and a modern client reports its rounds as progress too.
        expect(between).toContainEqual({ progress: 1, total: 2 });
        expect(textOf(await call(ann, 'sample', { prompt: 'hi' }))).toMatch(
          /^sampled: SAMPLED .*"stopReason":"endTurn"/,
        );
        expect(JSON.parse(textOf(await call(ann, 'roots')))).toMatchObject({ roots: [{ uri: 'file:///home/ann' }] });
        expect(ann.asked.map(({ method }) => method)).toEqual([
          'elicitation/create',
          'elicitation/create',
          'elicitation/create',
          'sampling/createMessage',
          'roots/list',
        ]);

        const stop = new AbortController();
        const hanging = call(ann, 'hang', {}, { signal: stop.signal, onprogress: () => stop.abort('enough') });
        await expect(hanging).rejects.toThrow();
        await waitUntil(
          async () => (JSON.parse(textOf(await call(ann, 'seen'))) as { cancelled: number }).cancelled === 1,
          {
            what: 'the cancellation to arrive',
          },
        );

        const logged = (): unknown[] =>
          ann.told.filter(({ method }) => method === 'notifications/message').map(({ params }) => params['data']);
        if (host.era === 'legacy') await ann.request('logging/setLevel', { level: 'warning' });
        const level = host.era === 'modern' ? { _meta: { 'io.modelcontextprotocol/logLevel': 'warning' } } : {};
        const params = { name: 'execute_tool', arguments: { server: 'asking', tool: 'log', arguments: { line: 'a' } } };
        await ann.request('tools/call', { ...params, ...level });
        await waitUntil(() => logged().length > 0, { what: 'the log' });
        expect(logged()).toEqual(['loud a']);

        // The menu of the meta-tools never changes, so a change is seen by a host that sees the tools themselves.
        const bob = await connectHost(gateway, { ...host, path: '/servers/asking/mcp', server: 'asking' });
        const names = async (): Promise<string[]> =>
          ((await bob.request('tools/list'))['tools'] as JsonObject[]).map(({ name }) => String(name));
        expect(await names()).toContain('elicit');
        if (host.era === 'modern') await bob.client.listen({ toolsListChanged: true });
        await bob.request('tools/call', { name: 'change', arguments: {} });
        await waitUntil(() => bob.told.some(({ method }) => method === 'notifications/tools/list_changed'), {
          what: 'the announcement of a changed list',
          timeoutMs: 15_000,
        });
        expect((await names()).some((name) => name.startsWith('extra_'))).toBe(true);
      },
    );
  },
);
