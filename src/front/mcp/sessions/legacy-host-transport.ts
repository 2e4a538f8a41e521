import { Canceller } from '../../../kernel/async/cancel.js';
import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/server';
import { messageOf } from '../../../kernel/errors.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import type { Log } from '../../../kernel/log.js';
import { InFlightMap } from '../../../kernel/async/in-flight-map.js';
import { protocolError, toRpcError } from '../exchange.js';
import { createLegacySession, type LegacySession, type RequestId } from './legacy-session.js';
import { introductionIn } from './introduction.js';
import { isLogLevel } from './log-levels.js';
import type { HostSurface } from '../menu/host-surface.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** What the transport of a 2025-era host needs besides the wire. */
export interface LegacyHostTransportOptions {
  readonly log: Log;
  readonly principal: string;
  /** Nobody else is served by this process. */
  readonly sole?: boolean;
  /** One stream carries everything, from the beginning on. */
  readonly isPipe?: boolean;
  /** This process serves other hosts of the same user too. */
  readonly isGrouped?: boolean;
  /** The number of the first question to this host; 1 by default. */
  readonly firstQuestion?: number;
  /** Names the session; unguessable. */
  readonly sessionId: () => string;
  /** What this host is offered; asked when it introduces itself, be it with a handshake or with the first modern request. */
  readonly surface: (introduction: JsonObject) => HostSurface;
  readonly onOpen?: (session: LegacySession, surface: HostSurface) => void;
  /** A modern host begins to listen (`params`), or ends to (`undefined`). */
  readonly onListen?: (id: RequestId, params: unknown) => void;
  readonly onLogLevel?: (session: LegacySession, level: string) => void;
  /** Called with what the host says on its own account. */
  readonly onNotification?: (session: LegacySession, method: string, params: JsonObject | undefined) => void;
  /** A request that the transport took has ended: it was answered, or nobody wants the answer. */
  readonly onEnded?: (id: RequestId, isCancelled: boolean) => void;
  readonly onClose?: (session: LegacySession) => void;
}

/** A transport that speaks for its host. */
export interface LegacyHostTransport extends Transport {
  /** What the host is offered, once it has introduced itself. */
  readonly surface: HostSurface | undefined;
}

/** What a wire tells of a message besides the message. */
export interface HostMessageInfo extends MessageExtraInfo {
  /** The id of the request, where it came over HTTP. */
  readonly traceId?: string;
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || typeof id === 'number';
}

/**
 * A transport that answers the requests of a 2025-era host itself and leaves the handshake to the
 * protocol server behind it. It opens with that handshake; hosts of the modern era never open it.
 *
 * It is here because of what it saves: the protocol server parses every message several times, which
 * costs more than rules, validation and routing of a call together, and strips what it does not know.
 */
export function createLegacyHostTransport(wire: Transport, options: LegacyHostTransportOptions): LegacyHostTransport {
  const { log } = options;
  const running = new InFlightMap<RequestId, Canceller>();
  /** Requests under an id that an earlier one still runs under: against the protocol, but each of them must have an end. */
  const doubled = new Map<Canceller, RequestId>();
  let handshake: { readonly id: RequestId; readonly params: JsonObject } | undefined;
  let surface: HostSurface | undefined;
  let session: LegacySession | undefined;

  const send = (message: JsonObject, related?: RequestId): Promise<void> => {
    const options = related === undefined ? undefined : { relatedRequestId: related };
    try {
      return wire.send(message as unknown as JSONRPCMessage, options);
    } catch (thrown) {
      return Promise.reject(thrown as Error);
    }
  };

  const post = (message: JsonObject, related?: RequestId): void => {
    send(message, related).catch((thrown: unknown) => log.debug('mcp.answer-lost', { error: messageOf(thrown) }));
  };

  /** An answer that cannot be written, because it nests too deep for JSON, must not leave its request unanswered. */
  const reply = (id: RequestId, message: JsonObject): void => {
    send(message).catch((thrown: unknown) => {
      log.warn('mcp.unwritable', { error: messageOf(thrown) });
      post({
        jsonrpc: '2.0',
        id,
        error: { code: RPC_CODE.internalError, message: 'The answer cannot be written as JSON.' },
      });
    });
  };

  const introduce = (id: RequestId, params: unknown): void => {
    handshake = { id, params: isObject(params) ? params : {} };
    surface = options.surface(handshake.params);
  };

  /** A modern host has no handshake: every request says who asks. */
  const meet = (message: JsonObject): void => {
    const introduction = introductionIn(message);
    if (isObject(introduction['clientInfo'])) surface = options.surface(introduction);
  };

  const open = (): void => {
    const { capabilities } = handshake!.params;
    session = createLegacySession({
      id: options.sessionId(),
      principal: options.principal,
      capabilities: isObject(capabilities) ? capabilities : {},
      sole: options.sole === true,
      isGrouped: options.isGrouped,
      firstQuestion: options.firstQuestion,
      post,
    });
    options.onOpen?.(session, surface!);
  };

  const setLogLevel = (params: JsonObject): JsonObject => {
    const { level } = params;
    if (!isLogLevel(level)) throw protocolError(RPC_CODE.invalidParams, 'There is no such log level.');
    session?.setLogLevel(level);
    if (session) options.onLogLevel?.(session, level);
    return {};
  };

  const answer = async (
    id: RequestId,
    { method, params, traceId }: { readonly method: string; readonly params: JsonObject; readonly traceId?: string },
    host: LegacySession,
  ): Promise<void> => {
    const stop = new Canceller();
    if (running.get(id)) doubled.set(stop, id);
    else running.set(id, stop);
    let given: JsonObject;
    try {
      const exchange = { host: host.hostOf(id), principal: options.principal, traceId, signal: stop };
      const result =
        method === 'logging/setLevel' ? setLogLevel(params) : await surface!.answer(method, params, exchange);
      given = { jsonrpc: '2.0', id, result };
    } catch (thrown) {
      given = { jsonrpc: '2.0', id, error: { ...toRpcError(thrown) } };
    }
    if (!doubled.delete(stop) && running.get(id) === stop) running.take(id);
    // The protocol: a cancelled request is not answered.
    if (!stop.aborted) reply(id, given);
    options.onEnded?.(id, stop.aborted);
  };

  const cancel = (params: JsonObject): boolean => {
    const { requestId, reason } = params;
    // Its id is free again, even if whoever answers it is slow to notice.
    const stop = running.take(requestId as RequestId);
    stop?.abort(reason);
    for (const [double, id] of doubled) if (id === requestId) double.abort(reason);
    return stop !== undefined;
  };

  /** Takes what belongs to the transport; `false` leaves a message to the protocol server. */
  const take = (message: JsonObject, extra?: HostMessageInfo): boolean => {
    const { method, id } = message;
    const isNamed = isRequestId(id);
    if (!session && isNamed) {
      try {
        if (method === 'initialize') introduce(id, message['params']);
        else if (!surface) meet(message);
      } catch (thrown) {
        // A host that is offered nothing is told why.
        post({ jsonrpc: '2.0', id, error: { ...toRpcError(thrown) } });
        return true;
      }
    }
    if (!session) {
      if (method === 'subscriptions/listen' && isNamed) options.onListen?.(id, message['params'] ?? {});
      const { requestId } = isObject(message['params']) ? message['params'] : {};
      if (method === 'notifications/cancelled') options.onListen?.(requestId as RequestId, undefined);
      return false;
    }
    if (method === undefined) return session.answered(message);
    // The handshake is left to the protocol server behind the host transport: it knows revisions.
    if (typeof method !== 'string' || method === 'initialize') return false;
    const params = isObject(message['params']) ? message['params'] : undefined;
    if (method === 'ping' && isNamed) {
      reply(id, { jsonrpc: '2.0', id, result: {} });
      return true;
    }
    if (isNamed) {
      void answer(id, { method, params: params ?? {}, traceId: extra?.traceId }, session);
      return true;
    }
    if (method === 'notifications/cancelled') return params !== undefined && cancel(params);
    options.onNotification?.(session, method, params);
    return false;
  };

  const hostTransport: LegacyHostTransport = {
    onclose: undefined,
    onerror: undefined,
    onmessage: undefined,
    get surface() {
      return surface;
    },
    get sessionId() {
      return wire.sessionId;
    },
    start: () => wire.start(),
    send(message, given) {
      if (!session && handshake && 'result' in message && message.id === handshake.id) open();
      return wire.send(message, given);
    },
    close: () => wire.close(),
    setProtocolVersion: (version) => wire.setProtocolVersion?.(version),
    setSupportedProtocolVersions: (versions) => wire.setSupportedProtocolVersions?.(versions),
  };
  wire.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
    if (!take(message as unknown as JsonObject, extra)) hostTransport.onmessage?.(message, extra);
  };
  wire.onerror = (error) => hostTransport.onerror?.(error);
  wire.onclose = () => {
    for (const [id] of running) running.take(id)?.abort();
    for (const double of doubled.keys()) double.abort();
    session?.close();
    surface?.close?.();
    if (session) options.onClose?.(session);
    hostTransport.onclose?.();
  };
  return hostTransport;
}
