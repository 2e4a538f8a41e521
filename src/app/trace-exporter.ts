import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import { readTraceId, readTraceParent } from '../kernel/trace-context.js';
import { VERSION } from '../kernel/version.js';

/** A timed operation, exported to the trace collector. */
export interface Span {
  readonly traceId: string;
  /** What goes on to a server, so that its spans hang below this one. */
  readonly traceparent: string;
  end(outcome: { readonly failed?: string; readonly attributes?: Readonly<Record<string, string | number>> }): void;
}

/** Collects spans and sends them in batches, without delaying calls. */
export interface TraceExporter {
  /** `id` is that of the request, for one without a parent; where it is no id of a trace it stands in an attribute. */
  start(name: string, parent?: unknown, id?: string): Span;
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

/** The maximum of spans kept while the collector does not take them. */
const MAX_KEPT = 2048;
const BATCH = 512;
/** Characters of one attribute. */
const MAX_VALUE = 256;
const SEND_EVERY_MS = 5000;
const SEND_TIMEOUT_MS = 10_000;

const attribute = ([key, value]: [string, string | number]): JsonObject => ({
  key,
  value:
    typeof value === 'number'
      ? { intValue: String(Math.round(value)) }
      : // Names come from callers, who may send as long ones as they like.
        { stringValue: value.slice(0, MAX_VALUE) },
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
    const limit = clock.after(SEND_TIMEOUT_MS, () => stop.abort(), { awaited: true });
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
    if (waiting.length >= MAX_KEPT) {
      lost += 1;
      return;
    }
    waiting.push(span);
    timer ??= clock.after(waiting.length >= BATCH ? 0 : SEND_EVERY_MS, () => void flush());
  };

  return {
    start(name, given, id) {
      const parent = readTraceParent(given);
      const traceId = parent?.traceId ?? readTraceId(id) ?? randomBytes(16).toString('hex');
      const request = id === undefined || readTraceId(id) === traceId ? {} : { 'toolscout.trace_id': id };
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
            attributes: Object.entries({ ...attributes, ...request }).map(attribute),
            status: failed === undefined ? { code: 1 } : { code: 2, message: failed },
          });
        },
      };
    },
    close: flush,
  };
}
