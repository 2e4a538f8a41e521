import { isLegacyRequest } from '@modelcontextprotocol/server';
import { excessIn } from '../../../kernel/json-bounds.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { LIMITS } from '../../../kernel/limits.js';
import { readTraceParent } from '../../../kernel/trace-context.js';
import { INSTANCE_HEADER, VIA_HEADER } from '../../../protocol/lineage.js';
import { TRACE_HEADER } from '../exchange.js';
import { createFront } from '../front.js';
import type { HostSurface } from '../menu/host-surface.js';
import type { FrontDeps } from '../server.js';
import { jsonRpcError, sessionGone, type Arrival, type HttpEraDeps } from './http-era.js';
import { createLegacySessions } from './http-legacy.js';
import { createModernRequests } from './http-modern.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';
import { readBounded } from '../../../net/bounded-body.js';

/** The MCP endpoint as a web-standard handler. */
export interface McpEndpoint {
  fetch(request: Request, arrival?: Arrival): Promise<Response>;
  /** How many sessionful hosts are connected. */
  readonly sessions: number;
  /** Whether somebody waits for an answer, or listens. */
  readonly isBusy: boolean;
  /** Ends every session and every stream, and serves nobody any more. */
  close(): Promise<void>;
}

/** The status with which the protocol server answers whoever has gone. */
const CLIENT_GONE = 499;

/**
 * The id of the trace that a message belongs to: its own `_meta.traceparent` comes before the header of the same name, which
 * becomes the `_meta` of a message without one.
 */
function traceOfMessage(body: unknown, { headers }: Request): string | undefined {
  if (!isObject(body) || typeof body['method'] !== 'string') return undefined;
  const params = isObject(body['params']) ? body['params'] : {};
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const own = readTraceParent(meta['traceparent']);
  if (own) return own.traceId;
  const traceparent = headers.get('traceparent');
  const outer = readTraceParent(traceparent);
  if (!outer || body['id'] === undefined) return undefined;
  body['params'] = { ...params, _meta: { ...meta, traceparent } };
  return outer.traceId;
}

/** The body as JSON; `undefined` when there is none, a response when it cannot be read. */
async function readBody(request: Request): Promise<{ body?: unknown } | Response> {
  if (request.method !== 'POST') return {};
  let bytes: Uint8Array | undefined;
  try {
    bytes = await readBounded(request, LIMITS.bodyBytes);
  } catch {
    // Whoever sent it has gone; nobody hears this.
    return jsonRpcError(400, RPC_CODE.parseError, 'Parse error: the body is incomplete.');
  }
  if (!bytes) return jsonRpcError(413, RPC_CODE.invalidRequest, 'The request body is too large.');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const excess = excessIn(text);
    if (excess !== undefined) return jsonRpcError(400, RPC_CODE.parseError, `Parse error: the body ${excess}.`);
    return { body: JSON.parse(text) as unknown };
  } catch {
    return jsonRpcError(400, RPC_CODE.parseError, 'Parse error: the body is not JSON in UTF-8.');
  }
}

/**
 * One endpoint for both eras: 2026-07-28 hosts are served stateless, a request at a time (`http-modern.ts`); 2025-era
 * hosts get a session (`http-legacy.ts`). What is the same for both is done here.
 */
export function createMcpEndpoint(deps: FrontDeps): McpEndpoint {
  const { gateway, log, clock } = deps;
  const front = createFront(deps);
  const surfaceAt = async (server: string | undefined, introduction: JsonObject): Promise<HostSurface> =>
    server === undefined ? front.surfaceFor(introduction) : (await front.serverSurface(server))(introduction);
  const report = (error: Error): void => log.warn('mcp.http', { error: error.message });
  const era: HttpEraDeps = { front, surfaceAt, log, clock, report };
  const legacy = createLegacySessions(era);
  const modern = createModernRequests(era);
  let isClosed = false;

  /** A call of a server that is not there, or not to be seen, is refused where every call is, so that it is in the audit log. */
  const refuseCall = async (request: Request, server: string, { traceId }: Arrival): Promise<void> => {
    const read = await readBody(request);
    if (read instanceof Response || !isObject(read.body) || read.body['method'] !== 'tools/call') return;
    const { name, arguments: args } = isObject(read.body['params']) ? read.body['params'] : {};
    if (typeof name !== 'string') return;
    await gateway.call(server, name, isObject(args) ? args : {}, { route: 'mcp', traceId });
  };

  const answer = async (original: Request, arrival: Arrival): Promise<Response> => {
    if (arrival.server !== undefined && !gateway.internal.loaded().servers.some(({ id }) => id === arrival.server)) {
      await refuseCall(original, arrival.server, arrival);
      return jsonRpcError(404, RPC_CODE.notFound, `There is no server "${arrival.server}".`);
    }
    const read = await readBody(original);
    if (read instanceof Response) return read;
    // A body may take its time, and whoever sends it may have been shut out meanwhile.
    if (isClosed) return sessionGone();
    const { body } = read;
    // The body has been consumed: what follows gets it parsed, and a request without it.
    const request =
      original.method === 'POST'
        ? new Request(original.url, { method: 'POST', headers: original.headers, signal: original.signal })
        : original;
    const traceId = traceOfMessage(body, original) ?? arrival.traceId;
    if (traceId !== undefined && request !== original) request.headers.set(TRACE_HEADER, traceId);
    const isLegacy = request.method !== 'POST' || (await isLegacyRequest(request, body));
    const given = await (isLegacy ? legacy : modern).fetch(request, body, arrival);
    const response = isClosed && given.status === CLIENT_GONE ? sessionGone() : given;
    if (traceId !== undefined) response.headers.set(TRACE_HEADER, traceId);
    return response;
  };

  return {
    get sessions() {
      return legacy.size;
    },
    get isBusy() {
      return modern.isBusy || legacy.isBusy;
    },
    async fetch(original, arrival = {}) {
      const via = original.headers.get(VIA_HEADER);
      // Another toolscout asks: it is told who we are, and a loop is cut (CFG-5).
      const loop = via === null ? undefined : gateway.internal.lineage().admit(via);
      const response =
        loop === undefined ? await answer(original, arrival) : jsonRpcError(508, RPC_CODE.loopDetected, loop);
      const { headers } = response;
      if (via !== null) headers.set(INSTANCE_HEADER, gateway.internal.lineage().instance());
      if (arrival.traceId !== undefined && !headers.has(TRACE_HEADER)) headers.set(TRACE_HEADER, arrival.traceId);
      return response;
    },
    async close() {
      isClosed = true;
      // All of it at once: nobody is told anything more while others are being shut out.
      front.close();
      await Promise.all([legacy.close(), modern.close()]);
    },
  };
}
