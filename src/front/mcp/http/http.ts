import { isUtf8 } from 'node:buffer';
import { classifyInboundRequest } from '@modelcontextprotocol/server';
import { excessIn } from '../../../kernel/json-bounds.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { LIMITS } from '../../../kernel/limits.js';
import { readTraceParent } from '../../../kernel/trace-context.js';
import {
  PlainAnswer,
  ReceivedRequest,
  responseOf,
  type Answer,
  type Received,
  type RequestHead,
} from '../../../net/http-message.js';
import { introductionFault } from '../../../protocol/lines.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';
import { INSTANCE_HEADER, VIA_HEADER } from '../../../protocol/lineage.js';
import { TRACE_HEADER } from '../exchange.js';
import { createFront } from '../front.js';
import type { HostSurface } from '../menu/host-surface.js';
import type { FrontDeps } from '../server.js';
import { jsonRpcError, sessionGone, type Arrival, type HttpEraDeps } from './http-era.js';
import { createLegacySessions } from './http-legacy.js';
import { createModernRequests } from './http-modern.js';
import { CLIENT_GONE } from './modern-calls.js';
import { isPlainCall } from './plain-call.js';

/** The MCP endpoint. */
export interface McpEndpoint {
  serve(received: Received, arrival?: Arrival): Promise<Answer>;
  /** The same as a web-standard handler. */
  fetch(request: Request, arrival?: Arrival): Promise<Response>;
  /** How many sessionful hosts are connected. */
  readonly sessions: number;
  /** Whether a request is being answered or a stream is open. */
  readonly isBusy: boolean;
  /** Ends every session and every stream; later requests are refused. */
  close(): Promise<void>;
}

/**
 * The id of the trace that a message belongs to: its own `_meta.traceparent` comes before the header of the same name, which
 * becomes the `_meta` of a message without one.
 */
function traceOfMessage(body: unknown, { headers }: RequestHead): string | undefined {
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

const MARK = 0xfeff;

/** The text of a body; `undefined` when it is not UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return text.charCodeAt(0) === MARK ? text.slice(1) : text;
}

/** The body as JSON; `undefined` when there is none, an answer when it cannot be read. */
async function readBody(received: Received): Promise<{ body?: unknown } | PlainAnswer> {
  if (received.method !== 'POST') return {};
  const encoding = received.headers.get('content-encoding');
  // What is packed is not unpacked here, and others on the way would do so: they would read another message.
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity')
    return jsonRpcError(415, RPC_CODE.invalidRequest, 'The body must not have a Content-Encoding.');
  let bytes: Uint8Array | undefined;
  try {
    bytes = await received.bytes(LIMITS.bodyBytes);
  } catch {
    // The sender has closed the connection, so this answer is not read.
    return jsonRpcError(400, RPC_CODE.parseError, 'Parse error: the body is incomplete.');
  }
  if (!bytes) return jsonRpcError(413, RPC_CODE.invalidRequest, 'The request body is too large.');
  const text = textOf(bytes);
  const excess = text === undefined ? undefined : excessIn(text);
  if (excess !== undefined) return jsonRpcError(400, RPC_CODE.parseError, `Parse error: the body ${excess}.`);
  try {
    if (text !== undefined) {
      const body = JSON.parse(text) as unknown;
      const fault = introductionFault(body);
      return fault === undefined ? { body } : jsonRpcError(400, RPC_CODE.invalidRequest, `Invalid request: ${fault}.`);
    }
  } catch {
    // The place that the parser names is of no use to the sender.
  }
  return jsonRpcError(400, RPC_CODE.parseError, 'Parse error: the body is not JSON in UTF-8.');
}

function hasHeader(answer: Answer, name: string): boolean {
  return answer instanceof PlainAnswer ? answer.headers[name] !== undefined : answer.headers.has(name);
}

/** Sets a header of an answer. */
function setHeader(answer: Answer, name: string, value: string): void {
  if (answer instanceof PlainAnswer) answer.headers[name] = value;
  else answer.headers.set(name, value);
}

/** Whether a message that was posted is of the 2025 era. */
function isLegacy({ headers }: RequestHead, body: unknown): boolean {
  const classified = classifyInboundRequest({
    httpMethod: 'POST',
    protocolVersionHeader: headers.get('mcp-protocol-version') ?? undefined,
    mcpMethodHeader: headers.get('mcp-method') ?? undefined,
    mcpNameHeader: headers.get('mcp-name') ?? undefined,
    body,
  });
  return classified.kind === 'legacy';
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
  const callSurfaceAt: HttpEraDeps['callSurfaceAt'] = (server, introduction) =>
    server === undefined ? front.callSurfaceFor(introduction) : surfaceAt(server, introduction);
  const era: HttpEraDeps = { front, surfaceAt, callSurfaceAt, log, clock, report };
  const legacy = createLegacySessions(era);
  const modern = createModernRequests(era);
  let isClosed = false;

  /** A call of a server that is not there, or not to be seen, is refused where every call is, so that it is in the audit log. */
  const refuseCall = async (received: Received, server: string, { traceId }: Arrival): Promise<void> => {
    const read = await readBody(received);
    if (read instanceof PlainAnswer || !isObject(read.body) || read.body['method'] !== 'tools/call') return;
    const { name, arguments: args } = isObject(read.body['params']) ? read.body['params'] : {};
    if (typeof name !== 'string') return;
    await gateway.call(server, name, isObject(args) ? args : {}, { route: 'mcp', traceId });
  };

  /** The way of everything that is not plain: the SDK says which era it is, and what is wrong with it. */
  const classify = async (received: Received, body: unknown, arrival: Arrival): Promise<Answer> => {
    if (received.method !== 'POST') return legacy.serve(received, body, arrival);
    if (isLegacy(received, body)) return legacy.serve(received, body, arrival);
    const { url, headers, signal } = received.web;
    // The body has been consumed: what follows gets it parsed, and a request without it.
    const request = new Request(url, { method: 'POST', headers, signal });
    return modern.fetch(request, body, arrival);
  };

  const answer = async (received: Received, arrival: Arrival): Promise<Answer> => {
    if (arrival.server !== undefined && !gateway.internal.loaded().servers.some(({ id }) => id === arrival.server)) {
      await refuseCall(received, arrival.server, arrival);
      return jsonRpcError(404, RPC_CODE.notFound, `There is no server "${arrival.server}".`);
    }
    const read = await readBody(received);
    if (read instanceof PlainAnswer) return read;
    // The endpoint may have been closed while the body was read.
    if (isClosed) return sessionGone();
    const { body } = read;
    const traceId = traceOfMessage(body, received) ?? arrival.traceId;
    const traced = traceId === arrival.traceId ? arrival : { ...arrival, traceId };
    const given = await (legacy.owns(received, body)
      ? legacy.serve(received, body, traced)
      : isPlainCall(received, body)
        ? modern.call(received, body, traced)
        : classify(received, body, traced));
    const answered = isClosed && given.status === CLIENT_GONE ? sessionGone() : given;
    if (traceId !== arrival.traceId) setHeader(answered, TRACE_HEADER, traceId!);
    return answered;
  };

  const serve = async (received: Received, arrival: Arrival = {}): Promise<Answer> => {
    const via = received.headers.get(VIA_HEADER);
    // Another toolscout asks: it is told who we are, and a loop is cut (CFG-5).
    const loop = via === null ? undefined : gateway.internal.lineage().admit(via);
    const answered =
      loop === undefined ? await answer(received, arrival) : jsonRpcError(508, RPC_CODE.loopDetected, loop);
    if (arrival.traceId !== undefined && !hasHeader(answered, TRACE_HEADER)) {
      setHeader(answered, TRACE_HEADER, arrival.traceId);
    }
    if (via !== null) setHeader(answered, INSTANCE_HEADER, gateway.internal.lineage().instance());
    return answered;
  };

  return {
    get sessions() {
      return legacy.size;
    },
    get isBusy() {
      return modern.isBusy || legacy.isBusy;
    },
    serve,
    fetch: async (request, arrival) => responseOf(await serve(new ReceivedRequest(request), arrival)),
    async close() {
      isClosed = true;
      // All at once, so that no host gets an event while the others are being closed.
      front.close();
      await Promise.all([legacy.close(), modern.close()]);
    },
  };
}
