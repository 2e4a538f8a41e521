import { wrapGateway, type Gateway, type Registry } from '../../../gateway/index.js';
import type { Clock } from '../../../kernel/clock.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import type { TokenCount } from '../../../model/audit-record.js';
import type { CallResult } from '../../../model/call.js';
import type { SnapshotItem } from '../../../model/snapshot.js';
import { createProcessReadings } from './process-readings.js';
import { overloadReadings } from './overload-readings.js';
import { createMeasurements, type Counter, type Labels, type Sample } from './prometheus.js';

/** What is measured of a gateway, and the gateway that is measured. */
export interface Metrics {
  /** The same verbs; searches and calls are counted. */
  readonly gateway: Gateway;
  /** Counts the checks of a registry from now on. */
  watch(registry: Registry): void;
  /** Counts an answer of the HTTP API; the route is one of the table. */
  onAnswer(route: string, status: number): void;
  /** Everything as Prometheus reads it (REG-7). */
  text(): Promise<string>;
}

const PROBE_BOUNDS = [10, 50, 100, 250, 500, 1000, 2500, 5000];
const SEARCH_BOUNDS = [1, 2, 5, 10, 25, 50, 100, 500, 2000];
const CALL_BOUNDS = [5, 10, 50, 100, 500, 1000, 5000, 30_000];

/** A reason without what a stranger wrote: the name of a host stays in the log. */
function reasonLabel(reason: string): string {
  const [kind = '', detail] = reason.split(':');
  if (kind === 'host_not_allowed' || detail === undefined) return /^[a-z_]{1,40}$/.test(kind) ? kind : 'other';
  return /^[a-z_]{1,40}:[a-z0-9_]{1,20}$/.test(reason) ? reason : 'other';
}

function countBy<T>(items: readonly T[], states: readonly string[], label: string, of: (item: T) => string): Sample[] {
  return states.map((state) => ({
    labels: { [label]: state },
    value: items.filter((item) => of(item) === state).length,
  }));
}

async function itemsOf(gateway: Gateway): Promise<readonly SnapshotItem[]> {
  try {
    return (await gateway.registry.get())?.snapshot().items ?? [];
  } catch (thrown) {
    // Nothing was checked yet, or there is nothing to check: then there is nothing to count.
    if (thrown instanceof ToolscoutError) return [];
    throw thrown;
  }
}

/** What is counted for two labels, found without writing them out. */
function byTwo(
  counter: Counter,
  labelsOf: (first: string, second: string) => Labels,
): (first: string, second: string) => { value: number } {
  const made = new Map<string, Map<string, { value: number }>>();
  return (first, second) => {
    let known = made.get(first);
    if (!known) made.set(first, (known = new Map()));
    let counted = known.get(second);
    if (!counted) known.set(second, (counted = counter.of(labelsOf(first, second))));
    return counted;
  };
}

/** Measures a gateway. Labels hold ids of configured servers and words of ours, never what a caller sent. */
export function createMetrics(gateway: Gateway, clock: Clock): Metrics {
  const measured = createMeasurements();
  const processReadings = createProcessReadings(measured, clock);
  const latency = measured.histogram('tools_discovery_latency_ms', 'Time of one check of a server.', PROBE_BOUNDS);
  const failures = measured.counter('tools_discovery_failures_total', 'Checks of a server that failed, by reason.');
  const searches = measured.counter('toolscout_searches_total', 'Searches, by whether anything was found.');
  const searchTime = measured.histogram('toolscout_search_duration_ms', 'Time of a search.', SEARCH_BOUNDS).of({});
  const calls = measured.counter('toolscout_executions_total', 'Calls of tools, by server and outcome.');
  const callTime = measured
    .histogram(
      'toolscout_execution_duration_ms',
      'Time of a call, without the wait for a person or the host.',
      CALL_BOUNDS,
    )
    .of({});
  const answers = measured.counter('toolscout_http_requests_total', 'Answers of the HTTP API, by route and status.');
  const answered = byTwo(answers, (route, status) => ({ route, status }));
  const ended = byTwo(calls, (server, outcome) => ({ server, outcome }));
  let known: { readonly of: unknown; readonly ids: ReadonlySet<string> } | undefined;

  /** The id of a configured server; everything else is one word. */
  const serverLabel = (id: string): string => {
    const { servers } = gateway.internal.loaded();
    if (known?.of !== servers) known = { of: servers, ids: new Set(servers.map((server) => server.id)) };
    return known!.ids.has(id) ? id : 'unknown';
  };
  /** By configured server; everything else is one word. */
  const tokenSamples = (recorded: ReadonlyMap<string, TokenCount>): Sample[] => {
    const sums = new Map<string, number>();
    for (const [id, counts] of recorded) {
      const server = id === '' ? 'none' : serverLabel(id);
      for (const [part, value] of Object.entries(counts)) {
        const key = `${part} ${server}`;
        sums.set(key, (sums.get(key) ?? 0) + value);
      }
    }
    return [...sums].map(([key, value]) => {
      const [part = '', ...server] = key.split(' ');
      return { labels: { server: server.join(' '), part }, value };
    });
  };
  const note = (server: string, { success, error, askedMs = 0 }: CallResult, started: number): void => {
    ended(serverLabel(server), success ? 'success' : (error?.code ?? 'INTERNAL_ERROR')).value += 1;
    // How long a person thinks about a question says nothing about the servers.
    callTime.observe(Math.max(0, clock.monotonic() - started - askedMs));
  };

  return {
    gateway: wrapGateway(gateway, (inner) => ({
      async search(query, options) {
        const started = clock.monotonic();
        const answer = await inner.search(query, options);
        if (options?.isPreview) return answer;
        searches.of({ result: answer.hits.length > 0 ? 'found' : 'nothing' }).value += 1;
        searchTime.observe(clock.monotonic() - started);
        return answer;
      },
      async call(server, tool, args, options) {
        const started = clock.monotonic();
        const result = await inner.call(server, tool, args, options);
        note(server, result, started);
        return result;
      },
      async *stream(server, tool, args, options) {
        const started = clock.monotonic();
        for await (const event of inner.stream(server, tool, args, options)) {
          if (event.type === 'result') note(server, event.result, started);
          yield event;
        }
      },
      async 'skills.get'(id) {
        const handle = await inner.skills.get(id);
        return {
          ...handle,
          async call(capability, tool, args, options) {
            const started = clock.monotonic();
            const server = handle.serverFor(capability, tool) ?? '';
            const result = await handle.call(capability, tool, args, options);
            note(server, result, started);
            return result;
          },
        };
      },
    })),

    watch(registry) {
      registry.onProbe(({ id, result }) => {
        latency.of({ tool_id: id, result: result.alive ? 'ok' : 'failed' }).observe(result.latencyMs);
        if (result.reason !== null) failures.of({ tool_id: id, reason: reasonLabel(result.reason) }).value += 1;
      });
    },

    onAnswer(route, status) {
      answered(route, String(status)).value += 1;
    },

    async text() {
      const [views, items, approvals, { writable }, tokens] = await Promise.all([
        gateway.servers.list(),
        itemsOf(gateway),
        gateway.approvals.list({ shownTo: false }),
        gateway.config.storeStatus(),
        gateway.internal.tokens(),
      ]);
      const cache = gateway.tools.cacheStats();
      const one = (value: number): Sample[] => [{ value }];
      const capabilities = items.reduce((sum, item) => sum + item.capabilities.length, 0);
      return measured.text([
        ['tools_registry_size', 'Servers in the registry.', one(items.length)],
        ['tools_alive_total', 'Servers that are alive.', one(items.filter(({ alive }) => alive).length)],
        ['tools_capabilities_total', 'Capabilities of all servers.', one(capabilities)],
        ['toolscout_store_writable', 'Whether the store keeps what is given to it: 1, or 0.', one(writable ? 1 : 0)],
        [
          'toolscout_pool_connections',
          'Servers by the state of their connection.',
          countBy(views, ['connected', 'disconnected', 'error'], 'state', ({ health }) => health.state),
        ],
        [
          'toolscout_breakers',
          'Servers by the state of their circuit breaker.',
          countBy(views, ['closed', 'open', 'half-open'], 'state', ({ health }) => health.breaker),
        ],
        [
          'toolscout_servers',
          'Servers by what is known of their tools.',
          countBy(
            views,
            ['ready', 'stale', 'learning', 'failed', 'unknown', 'off'],
            'knowledge',
            ({ knowledge }) => knowledge,
          ),
        ],
        ...overloadReadings(gateway.internal.overload()),
        ['toolscout_tools', 'Tools that are offered.', one(views.reduce((sum, { tools }) => sum + tools, 0))],
        [
          'toolscout_approvals',
          'Approvals by state.',
          countBy(
            approvals,
            ['pending', 'approved', 'rejected', 'expired', 'superseded'],
            'state',
            ({ state }) => state,
          ),
        ],
        [
          'toolscout_tokens_total',
          'Tokens that agents sent, were given and were spared, by server; estimated.',
          tokenSamples(tokens.recorded),
          'counter',
        ],
        [
          'toolscout_every_tool_tokens',
          'Tokens of the definitions of all tools that are offered.',
          one(tokens.everyTool),
        ],
        ['toolscout_cache_hits', 'Lists found in the cache since the start.', one(cache.hits)],
        ['toolscout_cache_misses', 'Lists not found in the cache since the start.', one(cache.misses)],
        ['toolscout_cache_entries', 'Lists held in memory.', one(cache.entries)],
        ...(await processReadings()),
      ]);
    },
  };
}
