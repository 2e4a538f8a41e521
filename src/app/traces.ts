import { idOfTarget, wrapGateway, type AskOptions, type CallOptions, type Gateway } from '../gateway/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import { isObject } from '../kernel/json.js';
import type { CallResult } from '../model/call.js';
import type { Span, TraceExporter } from './trace-exporter.js';

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
export function traceGateway(traced: Gateway, exporter: TraceExporter): Gateway {
  const start = (name: string, options: Pick<AskOptions, 'meta' | 'traceId'> | undefined): Span =>
    exporter.start(name, options?.meta?.['traceparent'], options?.traceId);

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

  return wrapGateway(traced, (gateway) => ({
    search: (query, options) =>
      during(
        start('search', options),
        () => gateway.search(query, options),
        ({ hits }) => ({ attributes: { 'toolscout.hits': hits.length } }),
      ),
    'servers.list'(options) {
      // Health checks come every few seconds; only a request that belongs to a trace gets a span.
      if (options?.meta?.['traceparent'] === undefined) return gateway.servers.list(options);
      return during(
        start('list', options),
        () => gateway.servers.list(options),
        (servers) => ({ attributes: { 'toolscout.servers': servers.length } }),
      );
    },
    'tools.list': (server, options) =>
      during(
        start('list', options),
        () => gateway.tools.list(server, options),
        (tools) => ({ attributes: { 'mcp.server': idOfTarget(server), 'toolscout.tools': tools.length } }),
      ),
    details: (server, tool, options) =>
      during(
        start('details', options),
        () => gateway.details(server, tool, options),
        () => ({ attributes: { 'mcp.server': server, 'mcp.tool': tool } }),
      ),
    call(server, tool, args, options = {}) {
      const span = start('execute', options);
      return during(
        span,
        () => gateway.call(server, tool, args, below(span, options)),
        (result) => called(server, tool, result),
      );
    },
    run(script, options = {}) {
      const span = start('script', options);
      const aroundCall: NonNullable<Parameters<Gateway['run']>[1]>['aroundCall'] = ({ server, tool }, trace, run) => {
        const inner = start('execute', trace);
        return during(
          inner,
          () => run(below(inner, trace)),
          (result) => called(server, tool, result),
        );
      };
      return during(
        span,
        () => gateway.run(script, { ...below(span, options), aroundCall }),
        ({ error, calls }) => ({ failed: error?.code, attributes: { 'toolscout.calls': calls } }),
      );
    },
    async *stream(server, tool, args, options = {}) {
      const span = start('execute', options);
      let outcome: Ending = { failed: 'CANCELLED' };
      try {
        for await (const event of gateway.stream(server, tool, args, below(span, options))) {
          if (event.type === 'result') outcome = called(server, tool, event.result);
          yield event;
        }
      } finally {
        span.end(outcome);
      }
    },
    async 'skills.get'(id) {
      const handle = await gateway.skills.get(id);
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
    'hosts.relay'(server, method, params, options) {
      const { _meta: given } = params;
      const meta = { ...(isObject(given) ? given : {}), ...options?.meta };
      const span = start('relay', { meta, traceId: options?.traceId });
      const sent = { ...params, _meta: { ...meta, traceparent: span.traceparent } };
      return during(
        span,
        () => gateway.hosts.relay(server, method, sent, { ...options, traceId: options?.traceId ?? span.traceId }),
        () => ({ attributes: { 'mcp.server': server, 'mcp.method': method } }),
      );
    },
    'servers.discover': (servers, options) =>
      during(
        start('discover', options),
        () => gateway.servers.discover(servers, options),
        (outcomes) => ({ attributes: { 'toolscout.servers': outcomes.length } }),
      ),
    'servers.discoverTools': (server, options) =>
      during(
        start('discover', options),
        () => gateway.servers.discoverTools(server, options),
        (tools) => ({ attributes: { 'mcp.server': idOfTarget(server), 'toolscout.tools': tools.length } }),
      ),
    async close(options) {
      await gateway.close(options);
      await exporter.close();
    },
  }));
}
