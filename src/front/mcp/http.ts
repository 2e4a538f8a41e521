import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { newId } from '../../kernel/ids.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import { methodNotFound as methodNotFoundError } from './exchange.js';
import { createFront } from './front.js';
import { createMcpServer, type FrontDeps } from './server.js';

/** The MCP endpoint as a web-standard handler. */
export interface McpEndpoint {
  fetch(request: Request): Promise<Response>;
  /** How many sessionful hosts are connected. */
  readonly sessions: number;
  close(): Promise<void>;
}

/** Sessions kept at once; beyond that the one that was quiet longest is ended. */
const MAX_SESSIONS = 1000;

function jsonRpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });
}

/** All bytes of a body, or `undefined` as soon as they are too many. */
async function readBounded(request: Request): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > LIMITS.bodyBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > LIMITS.bodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** The body as JSON; `undefined` when there is none, a response when it cannot be read. */
async function readBody(request: Request): Promise<{ body?: unknown } | Response> {
  if (request.method !== 'POST') return {};
  const bytes = await readBounded(request);
  if (!bytes) return jsonRpcError(413, -32_600, 'The request body is too large.');
  try {
    return { body: JSON.parse(new TextDecoder().decode(bytes)) as unknown };
  } catch {
    return jsonRpcError(400, -32_700, 'Parse error: the body is not JSON.');
  }
}

/** What a modern host may ask; the server behind would answer anything else with 200 and an error (S3). */
const MODERN_METHODS = new Set(['server/discover', 'tools/list', 'tools/call', 'subscriptions/listen']);

function isUnknownMethod({ headers }: Request, body: unknown): body is JsonObject {
  if (!isObject(body) || body['jsonrpc'] !== '2.0' || body['id'] === undefined) return false;
  // Headers that do not fit the body are the worse mistake; the handler names it.
  return headers.get('mcp-method') === body['method'] && !MODERN_METHODS.has(String(body['method']));
}

function methodNotFound({ id, method }: JsonObject): Response {
  const error = { code: -32_601, message: `Method not found: ${String(method)}` };
  return Response.json({ jsonrpc: '2.0', id, error }, { status: 404 });
}

/**
 * One `/mcp` for both eras: 2026-07-28 hosts are served stateless, a request at a time; 2025-era
 * hosts get a session, so that the server can speak to them on its own account.
 */
export function createMcpEndpoint(deps: FrontDeps): McpEndpoint {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const report = (error: Error): void => deps.log.warn('mcp.http', { error: error.message });
  const front = createFront(deps);
  const sender = { principal: 'local' };
  const modern = createMcpHandler(
    () => {
      const offer = front.offerFor({});
      return createMcpServer(offer, (request, context) => front.modern.answer(offer, request, context, sender));
    },
    { legacy: 'reject', onerror: report },
  );

  const openSession = async (request: Request, body: unknown): Promise<Response> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: newId,
      onsessioninitialized: (id) => {
        sessions.set(id, transport);
        const oldest = sessions.keys().next().value;
        if (sessions.size > MAX_SESSIONS && oldest !== undefined) void sessions.get(oldest)?.close();
      },
    });
    const lane = front.laneFor(transport, {
      principal: sender.principal,
      sessionId: () => transport.sessionId ?? newId(),
    });
    const offer = front.offerFor(isObject(body) && isObject(body['params']) ? body['params'] : {});
    const server = createMcpServer(offer, (request) => Promise.reject(methodNotFoundError(request.method)));
    server.onerror = report;
    server.onclose = () => {
      if (transport.sessionId) sessions.delete(transport.sessionId);
    };
    await server.connect(lane);
    return transport.handleRequest(request, { parsedBody: body });
  };

  return {
    get sessions() {
      return sessions.size;
    },
    async fetch(original) {
      const read = await readBody(original);
      if (read instanceof Response) return read;
      const { body } = read;
      // The body has been consumed: what follows gets it parsed, and a request without it.
      const request =
        original.method === 'POST'
          ? new Request(original.url, { method: 'POST', headers: original.headers, signal: original.signal })
          : original;

      const id = request.headers.get('mcp-session-id');
      const legacy = request.method !== 'POST' || (await isLegacyRequest(request, body));
      if (!legacy)
        return isUnknownMethod(request, body) ? methodNotFound(body) : modern.fetch(request, { parsedBody: body });
      if (id !== null) {
        const session = sessions.get(id);
        if (!session) return jsonRpcError(404, -32_001, 'This session has ended; initialize again.');
        // Most recently used last, so that the quiet one is the first to go.
        sessions.delete(id);
        sessions.set(id, session);
        return session.handleRequest(request, { parsedBody: body });
      }
      if (request.method !== 'POST') return jsonRpcError(405, -32_000, 'Use POST, or GET with an Mcp-Session-Id.');
      if (isInitializeRequest(body)) return openSession(request, body);
      return jsonRpcError(400, -32_000, 'Initialize first, or send MCP-Protocol-Version 2026-07-28 with its headers.');
    },
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.close()));
      front.close();
      await modern.close();
    },
  };
}
