import { hashJson } from '../../src/kernel/hash.js';
import type { HttpTransport, Server, StdioTransport, Transport } from '../../src/model/server.js';

/** What a test may say differently about a server; the transport in parts. */
export type ServerOverrides<T extends Transport> = Partial<Omit<Server, 'id' | 'transport'>> & {
  readonly transport?: Partial<Omit<T, 'type'>>;
};

/** A complete stdio server for tests: no retries, no rate limit to speak of, short timeouts. */
export function stdioServer(
  id: string,
  start: { readonly command: string; readonly args?: readonly string[] },
  overrides: ServerOverrides<StdioTransport> = {},
): Server {
  const { transport, ...rest } = overrides;
  return complete(id, { type: 'stdio', args: [], env: {}, ...start, ...transport }, rest);
}

/** A complete remote server for tests, Streamable HTTP unless `type` says `sse`. */
export function httpServer(
  id: string,
  url: string,
  overrides: ServerOverrides<HttpTransport> & { readonly type?: HttpTransport['type'] } = {},
): Server {
  const { transport, type = 'http', ...rest } = overrides;
  return complete(id, { type, url, headers: {}, ...transport }, rest);
}

function complete(id: string, transport: Transport, overrides: Partial<Server>): Server {
  const stdio = transport.type === 'stdio';
  return {
    id,
    source: 'library',
    transport,
    shown: {
      type: transport.type,
      target: stdio ? [transport.command, ...transport.args].join(' ') : transport.url,
      secrets: Object.keys(stdio ? transport.env : transport.headers),
    },
    // Like the real one: what matters for connecting, credentials included.
    digest: hashJson(JSON.parse(JSON.stringify(transport))),
    enabled: true,
    tags: [],
    timeoutMs: 10_000,
    totalTimeoutMs: 3_600_000,
    toolTimeoutsMs: {},
    connectTimeoutMs: 10_000,
    idleTimeoutMs: 30_000,
    rateLimit: { requestsPerSecond: 1e6, burstSize: 1e6 },
    retry: { maxRetries: 0, initialDelayMs: 10, backoffMultiplier: 2, maxDelayMs: 100, jitterFactor: 0.1 },
    ...overrides,
  };
}
