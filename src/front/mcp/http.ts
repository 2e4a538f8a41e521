import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { newId } from '../../kernel/ids.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { createParamHeaders } from '../../kernel/param-headers.js';
import { createEventMemory } from './event-memory.js';
import { methodNotFound } from './exchange.js';
import { createFront, type ListKind } from './front.js';
import { introductionIn, jsonRpcError, readBody, refuseUnknownMethod } from './http-body.js';
import type { Offer } from './offer.js';
import { createMcpServer, type FrontDeps } from './server.js';
import { isLaneRequest } from './host-lane.js';
import type { RequestId } from './legacy-session.js';
import { createServerOffer } from './server-offer.js';
import { watchFor } from './watching.js';

/** Through which door a request comes, and who sent it. */
export interface Arrival {
  /** One server passed through; without it everything behind toolscout. */
  readonly server?: string;
  /** The authenticated subject. */
  readonly principal?: string;
}

/** The MCP endpoint as a web-standard handler. */
export interface McpEndpoint {
  fetch(request: Request, arrival?: Arrival): Promise<Response>;
  /** How many sessionful hosts are connected. */
  readonly sessions: number;
  close(): Promise<void>;
}

/** Sessions kept at once; beyond that the one that was quiet longest is ended. */
const MAX_SESSIONS = 1000;

/** How soon a host whose stream broke may come back. */
const RETRY_MS = 1000;

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** The door and the subject it was opened with; it is of no use to any other (S5). */
  readonly door: string;
  readonly principal: string;
  /** Ids of requests that share their answer stream with others. */
  readonly batched: Set<unknown>;
}

interface Door {
  readonly handler: ReturnType<typeof createMcpHandler>;
  close(): Promise<void>;
}

/** What a stateless request brings along for whoever answers it. */
interface Brought {
  readonly principal: string;
  readonly introduction: JsonObject;
}

/**
 * One endpoint for both eras: 2026-07-28 hosts are served stateless, a request at a time; 2025-era
 * hosts get a session, so that the server can speak to them on its own account.
 */
export function createMcpEndpoint(deps: FrontDeps): McpEndpoint {
  const { gateway, log } = deps;
  const sessions = new Map<string, Session>();
  const doors = new Map<string, Door>();
  const brought = new WeakMap<Request, Brought>();
  const report = (error: Error): void => log.warn('mcp.http', { error: error.message });
  const front = createFront(deps);
  const paramHeaders = createParamHeaders();

  const offerAt = async (server: string | undefined, introduction: JsonObject): Promise<Offer> =>
    server === undefined ? front.offerFor(introduction) : createServerOffer(gateway, server);

  const openDoor = (server: string | undefined): Door => {
    const handler = createMcpHandler(
      async ({ requestInfo }) => {
        const { principal, introduction } = brought.get(requestInfo!)!;
        const offer = await offerAt(server, introduction);
        return createMcpServer(offer, (request, context) =>
          front.modern.answer(offer, request, context, { principal }),
        );
      },
      { legacy: 'reject', onerror: report },
    );
    const announce: Record<ListKind, () => void> = {
      tools: () => handler.notify.toolsChanged(),
      resources: () => handler.notify.resourcesChanged(),
      prompts: () => handler.notify.promptsChanged(),
    };
    // Who listens here is offered one of several things; whether a change matters to them is theirs to see.
    const concerns = (changed: string | undefined): boolean =>
      server === undefined || changed === undefined || changed === server;
    const unlisten = front.listen({ offer: { concerns }, changed: (kind) => announce[kind]() });
    return {
      handler,
      async close() {
        unlisten();
        await handler.close();
      },
    };
  };

  const doorOf = (server: string | undefined): Door => {
    const name = server ?? '';
    const door = doors.get(name) ?? openDoor(server);
    doors.set(name, door);
    return door;
  };

  const openSession = async (request: Request, body: JsonObject, arrival: Arrival): Promise<Response> => {
    const { server: door = '', principal = 'local' } = arrival;
    const offer = await offerAt(arrival.server, isObject(body['params']) ? body['params'] : {});
    const batched = new Set<unknown>();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: newId,
      eventStore: createEventMemory(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, door, principal, batched });
        const oldest = sessions.keys().next().value;
        if (sessions.size > MAX_SESSIONS && oldest !== undefined) void sessions.get(oldest)?.transport.close();
      },
    });
    const sessionId = (): string => transport.sessionId ?? newId();
    // A cancelled request is not answered, and by an answer alone would its stream end.
    const onEnded = (id: RequestId, isCancelled: boolean): void => {
      if (!batched.delete(id) && isCancelled) transport.closeSSEStream(id);
    };
    const lane = front.laneFor(transport, { principal, sessionId, offer: () => offer, onEnded });
    const server = createMcpServer(offer, ({ method }) => Promise.reject(methodNotFound(method)));
    server.onerror = report;
    server.onclose = () => {
      if (transport.sessionId) sessions.delete(transport.sessionId);
    };
    await server.connect(lane);
    return transport.handleRequest(request, { parsedBody: body });
  };

  const continueSession = async (
    id: string,
    request: Request,
    body: unknown,
    { server: door = '', principal = 'local' }: Arrival,
  ): Promise<Response> => {
    const session = sessions.get(id);
    if (session?.door !== door || session.principal !== principal) {
      return jsonRpcError(404, -32_001, 'This session has ended; initialize again.');
    }
    // Most recently used last, so that the quiet one is the first to go.
    sessions.delete(id);
    sessions.set(id, session);
    if (Array.isArray(body)) for (const each of body) if (isLaneRequest(each)) session.batched.add(each['id']);
    return session.transport.handleRequest(request, { parsedBody: body });
  };

  /** Arguments that a tool wants as headers too must say the same in both places (S3). */
  const refuseMismatch = async (
    { headers }: Request,
    body: unknown,
    offer: () => Promise<Offer>,
  ): Promise<Response | undefined> => {
    if (!isObject(body) || body['method'] !== 'tools/call' || !isObject(body['params'])) return undefined;
    const { name, arguments: args } = body['params'];
    const definition = typeof name === 'string' ? await (await offer()).definition?.(name) : undefined;
    if (!definition) return undefined;
    const fault = paramHeaders.faultIn(definition, isObject(args) ? args : {}, (header) => headers.get(header));
    if (fault === undefined) return undefined;
    const error = { code: -32_020, message: `The headers and the body of the request disagree: ${fault}.` };
    return Response.json({ jsonrpc: '2.0', id: body['id'] ?? null, error }, { status: 400 });
  };

  const serveModern = async (request: Request, body: unknown, arrival: Arrival): Promise<Response> => {
    const refusal = refuseUnknownMethod(request, body);
    if (refusal) return refusal;
    const { handler } = doorOf(arrival.server);
    const introduction = introductionIn(body);
    const mismatch = await refuseMismatch(request, body, () => offerAt(arrival.server, introduction));
    if (mismatch) return mismatch;
    brought.set(request, { principal: arrival.principal ?? 'local', introduction });
    if (isObject(body) && body['method'] === 'subscriptions/listen') {
      const offer = await offerAt(arrival.server, introduction);
      const onUpdate = (uri: string): void => handler.notify.resourceUpdated(uri);
      const params = isObject(body['params']) ? body['params'] : {};
      const host = front.modern.listener(params['_meta'], { principal: arrival.principal ?? 'local' });
      const stop = watchFor(offer, params, { host, log, onUpdate });
      if (request.signal.aborted) stop();
      request.signal.addEventListener('abort', stop, { once: true });
    }
    return handler.fetch(request, { parsedBody: body });
  };

  /** A call of a server that is not there, or not to be seen, is refused where every call is, so that it is in the audit log. */
  const refuseCall = async (request: Request, server: string, principal = 'local'): Promise<void> => {
    const read = await readBody(request);
    if (read instanceof Response || !isObject(read.body) || read.body['method'] !== 'tools/call') return;
    const { name, arguments: args } = isObject(read.body['params']) ? read.body['params'] : {};
    if (typeof name !== 'string') return;
    await gateway.executeTool(server, name, isObject(args) ? args : {}, { route: 'mcp', principal });
  };

  return {
    get sessions() {
      return sessions.size;
    },
    async fetch(original, arrival = {}) {
      if (arrival.server !== undefined && !gateway.config().servers.some(({ id }) => id === arrival.server)) {
        await refuseCall(original, arrival.server, arrival.principal);
        return jsonRpcError(404, -32_001, `There is no server "${arrival.server}".`);
      }
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
      if (!legacy) return serveModern(request, body, arrival);
      if (id !== null) return continueSession(id, request, body, arrival);
      if (request.method !== 'POST') return jsonRpcError(405, -32_000, 'Use POST, or GET with an Mcp-Session-Id.');
      if (isInitializeRequest(body)) return openSession(request, body as unknown as JsonObject, arrival);
      return jsonRpcError(400, -32_000, 'Initialize first, or send MCP-Protocol-Version 2026-07-28 with its headers.');
    },
    async close() {
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
      front.close();
      await Promise.all([...doors.values()].map((door) => door.close()));
    },
  };
}
