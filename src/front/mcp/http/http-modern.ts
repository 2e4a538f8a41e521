import { createMcpHandler } from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { createParamHeaders } from '../../../protocol/param-headers.js';
import type { Answer, Received, RequestHead } from '../../../net/http-message.js';
import { createPlainCalls } from './modern-calls.js';
import type { PlainCall } from './plain-call.js';
import { boundStream } from './bounded-stream.js';
import type { ListKind } from '../front.js';
import { jsonRpcError, type Arrival, type HeaderCheck, type HttpEraDeps } from './http-era.js';
import { introductionIn } from '../sessions/introduction.js';
import { createMcpServer } from '../server.js';
import { watchFor } from '../sessions/watch-resources.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** Hosts of the 2026-07-28 revision over HTTP: no session, every request stands for itself. */
export interface ModernRequests {
  /** Whether a request is being answered or a stream is open. */
  readonly isBusy: boolean;
  fetch(request: Request, body: unknown, arrival: Arrival): Promise<Answer>;
  /** Answers a call of which nothing is odd, without the SDK. */
  call(received: Received, call: PlainCall, arrival: Arrival): Promise<Answer>;
  /** Ends running requests and open streams. */
  close(): Promise<void>;
}

interface Endpoint {
  readonly handler: ReturnType<typeof createMcpHandler>;
  close(): Promise<void>;
}

/** What a request carries to the function that answers it. */
interface Brought {
  readonly principal: string;
  readonly introduction: JsonObject;
  readonly traceId?: string;
}

/** What a modern host may ask; the server behind would answer anything else with 200 and an error (S3). */
const MODERN_METHODS = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'subscriptions/listen',
]);

/** The answer to a modern request for a method that does not exist; `undefined` when it does. */
function refuseUnknownMethod({ headers }: RequestHead, body: unknown): Answer | undefined {
  if (!isObject(body) || body['jsonrpc'] !== '2.0' || body['id'] === undefined) return undefined;
  const { id, method } = body;
  // Headers that do not fit the body are the worse mistake; the handler names it.
  if (headers.get('mcp-method') !== method || MODERN_METHODS.has(String(method))) return undefined;
  return jsonRpcError(404, RPC_CODE.methodNotFound, `Method not found: ${String(method)}`, id);
}

/** A check of the arguments that a tool wants as headers too: they must say the same in both places (S3). */
function createHeaderCheck(): HeaderCheck {
  const paramHeaders = createParamHeaders();
  return async ({ headers }, body, surface) => {
    if (!isObject(body) || body['method'] !== 'tools/call' || !isObject(body['params'])) return undefined;
    const { name, arguments: args } = body['params'];
    const definition = typeof name === 'string' ? await (await surface()).definition?.(name) : undefined;
    if (!definition) return undefined;
    const fault = paramHeaders.faultIn(definition, isObject(args) ? args : {}, (header) => headers.get(header));
    if (fault === undefined) return undefined;
    return jsonRpcError(
      400,
      RPC_CODE.headerMismatch,
      `The headers of the request do not match its body: ${fault}.`,
      body['id'],
    );
  };
}

/** Answers requests of the modern era, at one endpoint for everything and one for each server passed through. */
export function createModernRequests(deps: HttpEraDeps): ModernRequests {
  const { front, surfaceAt, log, clock } = deps;
  const endpoints = new Map<string, Endpoint>();
  const brought = new WeakMap<Request, Brought>();
  const refuseMismatch = createHeaderCheck();
  const callPlain = createPlainCalls({ ...deps, refuseMismatch });
  let open = 0;
  const enter = (): (() => void) => {
    open += 1;
    return () => (open -= 1);
  };

  const openEndpoint = (server: string | undefined): Endpoint => {
    const handler = createMcpHandler(
      async ({ requestInfo }) => {
        const { principal, introduction, traceId } = brought.get(requestInfo!)!;
        const surface = await surfaceAt(server, introduction);
        return createMcpServer(surface, (request, context) =>
          front.modern.answer(surface, request, context, { principal, traceId }),
        );
      },
      { legacy: 'reject', onerror: deps.report },
    );
    const announce: Record<ListKind, () => void> = {
      tools: () => handler.notify.toolsChanged(),
      resources: () => handler.notify.resourcesChanged(),
      prompts: () => handler.notify.promptsChanged(),
    };
    // Who listens here is offered one of several things; whether a change matters to them is theirs to see.
    const concerns = (changed: string | undefined): boolean =>
      server === undefined || changed === undefined || changed === server;
    const unlisten = front.listen({
      surface: { concerns, skills: server === undefined },
      changed: (kind) => announce[kind](),
    });
    return {
      handler,
      async close() {
        unlisten();
        await handler.close();
      },
    };
  };

  const endpointOf = (server: string | undefined): Endpoint => {
    const name = server ?? '';
    const endpoint = endpoints.get(name) ?? openEndpoint(server);
    endpoints.set(name, endpoint);
    return endpoint;
  };

  /** Serves a host that listens, and has what it listens for watched as long as it does. */
  const serveListener = async (request: Request, body: JsonObject, arrival: Arrival): Promise<Response> => {
    const { handler } = endpointOf(arrival.server);
    const surface = await surfaceAt(arrival.server, introductionIn(body));
    const params = isObject(body['params']) ? body['params'] : {};
    const onUpdate = (uri: string): void => handler.notify.resourceUpdated(uri);
    const host = front.modern.listener(params['_meta'], { principal: arrival.principal ?? 'local' });
    return boundStream(await handler.fetch(request, { parsedBody: body }), {
      clock,
      until: arrival.until,
      // Not before: a refused stream must cause no request to a server.
      onBegin() {
        const stop = watchFor(surface, params, { host, log, onUpdate });
        const leave = enter();
        return () => {
          stop();
          leave();
        };
      },
    });
  };

  const serveCall = async (request: Request, body: unknown, arrival: Arrival): Promise<Response> => {
    const leave = enter();
    try {
      // A call that said something before its answer is a stream.
      const response = await endpointOf(arrival.server).handler.fetch(request, { parsedBody: body });
      return boundStream(response, { clock, onBegin: enter });
    } finally {
      leave();
    }
  };

  return {
    get isBusy() {
      return open > 0 || callPlain.isBusy;
    },
    async fetch(request, body, arrival) {
      const introduction = introductionIn(body);
      const refusal =
        refuseUnknownMethod(request, body) ??
        (await refuseMismatch(request, body, () => surfaceAt(arrival.server, introduction)));
      if (refusal) return refusal;
      brought.set(request, { principal: arrival.principal ?? 'local', introduction, traceId: arrival.traceId });
      if (isObject(body) && body['method'] === 'subscriptions/listen') return serveListener(request, body, arrival);
      return serveCall(request, body, arrival);
    },
    call: callPlain.call,
    async close() {
      callPlain.close();
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()));
    },
  };
}
