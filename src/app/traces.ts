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
        (tools) => ({ attributes: { 'mcp.server': idOfTarget(server), 'toolscout.tools': tools.length } }),
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
      const span = start('relay', { meta, traceId: options?.traceId });
      const sent = { ...params, _meta: { ...meta, traceparent: span.traceparent } };
      return during(
        span,
        () => gateway.relay(server, method, sent, { ...options, traceId: options?.traceId ?? span.traceId }),
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
        (tools) => ({ attributes: { 'mcp.server': idOfTarget(server), 'toolscout.tools': tools.length } }),
      ),
    async close(options) {
      await gateway.close(options);
      await exporter.close();
    },
  }));
}
