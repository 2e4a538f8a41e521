import { randomBytes } from 'node:crypto';
import type { AskOptions, CallOptions, Gateway } from './gateway/index.js';
import type { Clock, Timer } from './kernel/clock.js';
import { messageOf, ToolscoutError } from './kernel/errors.js';
import { isObject, type JsonObject } from './kernel/json.js';
import type { Log } from './kernel/log.js';
import { readTraceParent } from './kernel/trace-context.js';
import type { CallResult } from './model/call.js';
import { VERSION } from './version.js';

/** Something that takes time, told to whoever collects traces. */
export interface Span {
  readonly traceId: string;
  /** What goes on to a server, so that its spans hang below this one. */
  readonly traceparent: string;
  end(outcome: { readonly failed?: string; readonly attributes?: Readonly<Record<string, string | number>> }): void;
}

/** Collects spans and sends them off in batches, never in anybody's way. */
export interface TraceExporter {
  start(name: string, parent?: unknown): Span;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** What the exporter is made of. */
export interface TraceExporterDeps {
  /** Where OTLP over HTTP is taken, with its path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly service: string;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly log: Log;
}

/** Spans kept while nobody takes them; more are not kept. */
const MOST_KEPT = 2048;
const BATCH = 512;
/** Characters of one attribute. */
const LONGEST_VALUE = 256;
const SEND_EVERY_MS = 5000;
const SEND_TIMEOUT_MS = 10_000;
const attribute = ([key, value]: [string, string | number]): JsonObject => ({
  key,
  value:
    typeof value === 'number'
      ? { intValue: String(Math.round(value)) }
      : // Names come from callers, who may send as long ones as they like.
        { stringValue: value.slice(0, LONGEST_VALUE) },
});

const nanoseconds = (ms: number): string => `${Math.round(ms)}000000`;

/** An exporter of spans as OTLP over HTTP in JSON. */
export function createTraceExporter(deps: TraceExporterDeps): TraceExporter {
  const { clock, log } = deps;
  let waiting: JsonObject[] = [];
  let lost = 0;
  let timer: Timer | undefined;
  let sending: Promise<void> = Promise.resolve();

  const post = async (spans: readonly JsonObject[]): Promise<void> => {
    const resource = { attributes: [attribute(['service.name', deps.service])] };
    const scope = { name: 'toolscout', version: VERSION };
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] });
    const stop = new AbortController();
    const limit = clock.after(SEND_TIMEOUT_MS, () => stop.abort());
    try {
      const headers = { 'content-type': 'application/json', ...deps.headers };
      const answer = await deps.fetch(deps.url, {
        method: 'POST',
        headers,
        body,
        redirect: 'error',
        signal: stop.signal,
      });
      await answer.body?.cancel();
      if (!answer.ok) log.warn('traces.refused', { status: answer.status, spans: spans.length });
    } catch (thrown) {
      log.warn('traces.unsent', { error: messageOf(thrown), spans: spans.length });
    } finally {
      limit.cancel();
    }
  };

  const flush = (): Promise<void> => {
    timer?.cancel();
    timer = undefined;
    const spans = waiting;
    waiting = [];
    if (lost > 0) log.warn('traces.lost', { spans: lost });
    lost = 0;
    if (spans.length > 0) sending = sending.then(() => post(spans));
    return sending;
  };

  const keep = (span: JsonObject): void => {
    if (waiting.length >= MOST_KEPT) {
      lost += 1;
      return;
    }
    waiting.push(span);
    timer ??= clock.after(waiting.length >= BATCH ? 0 : SEND_EVERY_MS, () => void flush());
  };

  return {
    start(name, given) {
      const parent = readTraceParent(given);
      const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
      const spanId = randomBytes(8).toString('hex');
      const isSampled = parent?.isSampled ?? true;
      const startedAt = clock.now();
      const started = clock.monotonic();
      return {
        traceId,
        traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`,
        end({ failed, attributes = {} }) {
          if (!isSampled) return;
          keep({
            traceId,
            spanId,
            ...(parent ? { parentSpanId: parent.spanId } : {}),
            name,
            kind: 1,
            startTimeUnixNano: nanoseconds(startedAt),
            endTimeUnixNano: nanoseconds(startedAt + clock.monotonic() - started),
            attributes: Object.entries(attributes).map(attribute),
            status: failed === undefined ? { code: 1 } : { code: 2, message: failed },
          });
        },
      };
    },
    close: flush,
  };
}

function codeOf(thrown: unknown): string {
  return thrown instanceof ToolscoutError ? thrown.code : 'INTERNAL_ERROR';
}

type Ending = Parameters<Span['end']>[0];

const called = (server: string, tool: string, { error }: CallResult): Ending => ({
  failed: error?.code,
  attributes: { 'mcp.server': server, 'mcp.tool': tool },
});

/** The options of a call whose trace goes on with this span. */
function below(span: Span, options: CallOptions): CallOptions {
  const meta = { ...options.meta, traceparent: span.traceparent };
  return { ...options, meta, traceId: options.traceId ?? span.traceId };
}

/** The gateway with a span for everything that is asked of it from outside; neither words nor arguments are in them. */
export function traceGateway(gateway: Gateway, exporter: TraceExporter): Gateway {
  const start = (name: string, options: AskOptions | undefined): Span =>
    exporter.start(name, options?.meta?.['traceparent']);

  const during = async <T>(span: Span, task: () => Promise<T>, describe: (result: T) => Ending): Promise<T> => {
    try {
      const result = await task();
      span.end(describe(result));
      return result;
    } catch (thrown) {
      span.end({ failed: codeOf(thrown) });
      throw thrown;
    }
  };

  return {
    ...gateway,
    searchTools: (query, options) =>
      during(
        start('search', options),
        () => gateway.searchTools(query, options),
        ({ hits }) => ({ attributes: { 'toolscout.hits': hits.length } }),
      ),
    listServers(options) {
      // Whoever watches over us asks for these every few seconds; only what is part of a trace is worth a span.
      if (options?.meta?.['traceparent'] === undefined) return gateway.listServers(options);
      return during(
        start('list', options),
        () => gateway.listServers(options),
        (servers) => ({ attributes: { 'toolscout.servers': servers.length } }),
      );
    },
    listTools: (server, options) =>
      during(
        start('list', options),
        () => gateway.listTools(server, options),
        (tools) => ({ attributes: { 'mcp.server': server, 'toolscout.tools': tools.length } }),
      ),
    toolDetails: (server, tool, options) =>
      during(
        start('details', options),
        () => gateway.toolDetails(server, tool, options),
        () => ({ attributes: { 'mcp.server': server, 'mcp.tool': tool } }),
      ),
    executeTool(server, tool, args, options = {}) {
      const span = start('execute', options);
      return during(
        span,
        () => gateway.executeTool(server, tool, args, below(span, options)),
        (result) => called(server, tool, result),
      );
    },
    async *executeStream(server, tool, args, options = {}) {
      const span = start('execute', options);
      let outcome: Ending = { failed: 'CANCELLED' };
      try {
        for await (const event of gateway.executeStream(server, tool, args, below(span, options))) {
          if (event.type === 'result') outcome = called(server, tool, event.result);
          yield event;
        }
      } finally {
        span.end(outcome);
      }
    },
    async skill(id) {
      const handle = await gateway.skill(id);
      return {
        ...handle,
        call(capability, tool, args, options = {}) {
          const span = start('execute', options);
          const server = handle.serverFor(capability, tool) ?? '';
          return during(
            span,
            () => handle.call(capability, tool, args, below(span, options)),
            (result) => called(server, tool, result),
          );
        },
      };
    },
    relay(server, method, params, options) {
      const { _meta: given } = params;
      const meta = { ...(isObject(given) ? given : {}), ...options?.meta };
      const span = start('relay', { meta });
      const sent = { ...params, _meta: { ...meta, traceparent: span.traceparent } };
      return during(
        span,
        () => gateway.relay(server, method, sent, options),
        () => ({ attributes: { 'mcp.server': server, 'mcp.method': method } }),
      );
    },
    discover: (servers, options) =>
      during(
        start('discover', options),
        () => gateway.discover(servers, options),
        (outcomes) => ({ attributes: { 'toolscout.servers': outcomes.length } }),
      ),
    discoverTools: (server, options) =>
      during(
        start('discover', options),
        () => gateway.discoverTools(server, options),
        (tools) => ({ attributes: { 'mcp.server': server, 'toolscout.tools': tools.length } }),
      ),
    async close(options) {
      await gateway.close(options);
      await exporter.close();
    },
  };
}
