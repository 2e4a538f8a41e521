import { AsyncLocalStorage } from 'node:async_hooks';
import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.js';
import { createEmitter, type Emitter } from '../../kernel/async/emitter.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import type { Host, Screen } from '../../model/host.js';
import type { UpstreamNotification } from '../../model/upstream.js';
import { createInFlight, type Pending, type RawRequest } from './in-flight.js';
import { createCallbacks } from './callbacks.js';
import { createUnsolicitedBudget, cutOff } from '../transport/unsolicited.js';
import { withEnvelope } from './envelope.js';
import { badAnswer, brokenStream, httpStatusOf, outOfTime, rpcError, toUpstreamError, unwritable } from './errors.js';

/** The SDK client counts its own requests from zero and makes very few; ours never meet them. */
const FIRST_ID = 1000;
/** Notifications that belong to the machinery of the protocol, not to listeners. */
const MACHINERY = new Set(['notifications/cancelled', 'notifications/subscriptions/acknowledged']);
/** Notifications that are about a call, or about the host that a connection belongs to. */
const FOR_HOSTS = new Set(['notifications/message', 'notifications/elicitation/complete']);

/**
 * Requests and answers over one transport, beside the SDK client that made the connection.
 *
 * The client's own `request` parses every answer with the schemas of the protocol: one bad tool
 * would lose the whole list, fields would be stripped, a broken response stream would be noticed at
 * the timeout only, and every call would pay for it. So answers to our requests are taken off
 * before the client sees them; everything else is the client's.
 */
export interface Requests {
  /** The transport as the SDK client is to use it. */
  readonly transport: Transport;
  readonly notifications: Emitter<UpstreamNotification>;
  /** Emits once, when the connection has ended. */
  readonly ended: Emitter<ToolscoutError | undefined>;
  readonly closed: boolean;
  /** Why it ended, if not because we closed it. */
  readonly reason: ToolscoutError | undefined;
  /** Sets what every later request carries in its `_meta`. */
  setEnvelope(envelope: JsonObject | undefined): void;
  request(method: string, params: JsonObject | undefined, options: RawRequest): Promise<JsonObject>;
  /** See `Upstream`. */
  awaitedBy(host: Host): () => void;
  tell(method: string, params: JsonObject | undefined): void;
  /** Ends everything that waits, with this reason, and closes the transport. */
  fail(reason: ToolscoutError): void;
}

/** What requests need to know of the connection they run over. */
export interface RequestsDeps {
  readonly server: string;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly mask: (text: string) => string;
  /** Whether the transport makes a request of its own for every message. */
  readonly remote: boolean;
  /** Why the transport ended, if known. */
  readonly lost: () => ToolscoutError | undefined;
  /** Whether an error that the transport reported means that the connection is lost. */
  readonly isLoss?: (error: Error) => boolean;
  /** Counts a message that was not asked for; `false` when the server was cut off for it. */
  readonly countUnsolicited?: () => boolean;
  /** The session the connection was made for, if it is one host's alone. */
  readonly owner?: Host;
  /** The server asks its host something. */
  readonly onQuestion?: () => void;
  /** What rules take out of what a server and a host say to each other besides calls, as they are now. */
  readonly screen?: () => Screen | undefined;
}

/** The params of a request that carries nothing in its `_meta` but a progress token: nearly every call of a server of the 2025 era. */
function withToken(params: JsonObject | undefined, id: number): JsonObject {
  const _meta = { progressToken: id };
  const { name, arguments: args } = params ?? {};
  // Nearly every request is a plain call. Written out, it costs a fraction of a spread with a field after it.
  const isPlainCall = params && name !== undefined && args !== undefined && Object.keys(params).length === 2;
  return isPlainCall ? { name, arguments: args, _meta } : { ...params, _meta };
}

/** Correlates requests and answers over a transport; see {@link Requests}. */
export function createRequests(deps: RequestsDeps): Requests {
  const { server, clock, log, transport: wire } = deps;
  const late = new Map<number, (result: JsonObject) => void>();
  const notifications = createEmitter<UpstreamNotification>((thrown) =>
    log.error('connect.listener', { server, thrown: String(thrown) }),
  );
  const ended = createEmitter<ToolscoutError | undefined>((thrown) =>
    log.error('connect.listener', { server, thrown: String(thrown) }),
  );
  const budget = createUnsolicitedBudget(clock);
  const streams = wire.hasPerRequestStream === true;
  // Only this scope knows which response stream a message came on: the transport hands over the message alone.
  const streamOf = streams ? new AsyncLocalStorage<number>() : undefined;
  let nextId = FIRST_ID;
  let envelope: JsonObject | undefined;
  let closed = false;
  let reason: ToolscoutError | undefined;
  /** Hosts whose requests will follow. */
  const awaiting = new Set<{ readonly host: Host }>();
  /** Requests that were given up and may still be answered. */
  let abandoned = 0;

  const pending = createInFlight(clock, (id) => expire(id));

  const take = (id: number, isAnswered = false): Pending | undefined => {
    // A server that answers without the answer to its question has waited for it until then.
    const entry = pending.take(id, isAnswered && !(callbacks.open.size > 0 && callbacks.waitsFor(id)));
    if (!entry) return undefined;
    if (entry.onAbort) entry.options.signal?.removeEventListener('abort', entry.onAbort);
    if (callbacks.open.size > 0) callbacks.ended(id);
    return entry;
  };

  const callbacks = createCallbacks({
    server,
    clock,
    log,
    owner: deps.owner,
    onQuestion: deps.onQuestion,
    screen: deps.screen,
    send(message) {
      wire
        .send(message as unknown as JSONRPCMessage)
        .catch((thrown: unknown) => log.debug('connect.reply', { server, thrown: String(thrown) }));
    },
    callOf(stream, isFree) {
      const call = stream === undefined ? undefined : pending.get(stream);
      if (stream !== undefined && call) return { id: stream, host: call.options.host };
      const oldest = pending.oldest(isFree);
      // Of calls of several hosts it cannot be known which one asks, so none of them is asked (STORE-6).
      return oldest && isOfSeveral() ? { id: oldest.id } : oldest;
    },
    unasked(id, method) {
      const [first, second] = id === undefined ? pending : [];
      (second ? undefined : (first?.[1] ?? pending.get(id ?? 0)))?.options.onUnasked?.(method);
    },
    pause: (id) => pending.pause(id),
    resume: (id) => pending.resume(id),
  });

  function isOfSeveral(): boolean {
    let first: string | undefined;
    for (const [, { options }] of pending) {
      const { host } = options;
      if (host && host.id !== (first ??= host.id)) return true;
    }
    return false;
  }

  const countUnsolicited = (): boolean => {
    if (deps.countUnsolicited) return deps.countUnsolicited();
    if (budget.spend(0)) return true;
    fail(cutOff(server));
    return false;
  };

  /** The host that something a server says on its own account is for; `undefined` when that is not certain. */
  const audience = (stream: number | undefined): Host | undefined => {
    const call = stream === undefined ? undefined : pending.get(stream);
    if (call) return call.options.host;
    const hosts = [...[...pending].map(([, { options }]) => options), ...awaiting].flatMap(({ host }) => host ?? []);
    return hosts.every(({ id }) => id === hosts[0]!.id) ? (hosts[0] ?? deps.owner) : undefined;
  };

  const shownNotice = (params: JsonObject): JsonObject => deps.screen?.()?.notice(params) ?? params;

  const connectionLost = (delivered?: boolean): ToolscoutError => {
    const why = reason ?? deps.lost();
    const message = why?.message ?? `The connection to "${server}" is closed.`;
    const { retryAfterMs, remedy } = why ?? {};
    return new ToolscoutError('SERVER_CONNECTION_ERROR', message, { delivered, retryAfterMs, remedy, cause: why });
  };

  const finish = (): void => {
    if (closed) return;
    closed = true;
    late.clear();
    callbacks.close();
    for (const [id] of pending) take(id)?.reject(connectionLost());
    ended.emit(reason ?? deps.lost());
  };

  const fail = (why: ToolscoutError): void => {
    if (closed) return;
    reason = why;
    finish();
    wire.close().catch((thrown: unknown) => log.debug('connect.close', { server, thrown: String(thrown) }));
  };

  /** The caller does not wait any longer: say so to the server, and stop reading what it might still send. */
  const giveUp = (id: number, entry: Pending, why: string, error: ToolscoutError): void => {
    const { onLate } = entry.options;
    abandoned++;
    if (onLate) late.set(id, onLate);
    else if (!(streams && envelope)) {
      const note: JSONRPCMessage = {
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: id, reason: why, ...(envelope && { _meta: envelope }) },
      };
      wire.send(note).catch((thrown: unknown) => log.debug('connect.cancel', { server, thrown: String(thrown) }));
    }
    entry.stream?.abort();
    entry.reject(error);
  };

  const expire = (id: number): void => {
    const isAsking = callbacks.waitsFor(id);
    const entry = take(id);
    if (!entry) return;
    giveUp(id, entry, 'timeout', outOfTime(server, entry.options, { isAsking, now: clock.monotonic() }));
  };

  const answered = (id: number, message: JsonObject): void => {
    const entry = take(id, true);
    if (!entry) {
      if (abandoned > 0) abandoned--;
      else countUnsolicited();
      return;
    }
    const { result } = message;
    // Both at once is against the protocol; a failure must not pass for a success. Some servers write an empty field as null.
    if (message['error'] !== undefined && message['error'] !== null)
      entry.reject(rpcError(server, message['error'], deps.mask));
    else if (isObject(result)) entry.resolve(result);
    else entry.reject(badAnswer(server, 'an object, which violates MCP'));
  };

  const progressed = (params: JsonObject | undefined): void => {
    const id = Number(params?.['progressToken']);
    const entry = pending.get(id);
    const { progress, total, message } = params ?? {};
    if (!entry?.options.onProgress || typeof progress !== 'number') return;
    pending.extend(entry);
    entry.options.onProgress({
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message }),
    });
  };

  /** Takes what is ours; `false` leaves a message to the SDK client. */
  const route = (message: JsonObject): boolean => {
    const { id, method } = message;
    if (typeof method === 'string') {
      if (!countUnsolicited()) return true;
      const stream = streamOf?.getStore();
      if (id !== undefined) return callbacks.take(message, stream);
      const params = isObject(message['params']) ? message['params'] : undefined;
      if (method === 'notifications/cancelled' && callbacks.withdraw(params?.['requestId'])) return true;
      if (MACHINERY.has(method)) return false;
      if (method === 'notifications/progress') progressed(params);
      else if (FOR_HOSTS.has(method)) audience(stream)?.notify(method, params && shownNotice(params));
      else notifications.emit(params ? { method, params } : { method });
      return true;
    }
    const own = Number(id);
    if (!(own >= FIRST_ID)) return !countUnsolicited();
    const waits = late.get(own);
    if (waits) {
      late.delete(own);
      if (isObject(message['result'])) waits(message['result']);
    } else answered(own, message);
    return true;
  };

  const sendFailed = (id: number, thrown: unknown): void => {
    const entry = take(id);
    if (!entry) return;
    if (wire.sessionId !== undefined && httpStatusOf(thrown) === 404) {
      // By the protocol the session is over and the request was not looked at: it may be sent again in a new one.
      const message = `The session at the server "${server}" has ended.`;
      const gone = new ToolscoutError('SERVER_CONNECTION_ERROR', message, { delivered: false, cause: thrown });
      entry.reject(gone);
      fail(gone);
      return;
    }
    const error = toUpstreamError(server, thrown, deps.mask);
    entry.reject(error);
    // The transport of a child detects it by itself, with more detail; a remote one would never report it.
    if (deps.remote && error.code === 'SERVER_CONNECTION_ERROR' && error.delivered === false) fail(error);
  };

  /** Where every request has an answer stream of its own. */
  const sendOnStream = (
    id: number,
    message: JSONRPCMessage,
    { host, headers }: RawRequest,
    { signal }: AbortController,
  ): Promise<void> => {
    const post = (): Promise<void> =>
      wire.send(message, {
        requestSignal: signal,
        onRequestStreamEnd: () => take(id)?.reject(brokenStream(server)),
        ...(headers && { headers: { ...headers } }),
      });
    return streamOf && host ? streamOf.run(id, post) : post();
  };

  const tap: Transport = {
    start: () => wire.start(),
    send: (message, options) => wire.send(message, options),
    close: () => wire.close(),
    ...(streams && { hasPerRequestStream: true }),
    get sessionId() {
      return wire.sessionId;
    },
    setProtocolVersion: (version) => wire.setProtocolVersion?.(version),
    onclose: undefined,
    onerror: undefined,
    onmessage: undefined,
  };
  // The SDK's transports have these three fields and no listeners.
  /* oxlint-disable unicorn/prefer-add-event-listener */
  wire.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
    if (!route(message as unknown as JsonObject)) tap.onmessage?.(message, extra);
  };
  wire.onerror = (error) => {
    if (deps.isLoss?.(error)) fail(toUpstreamError(server, error, deps.mask));
    tap.onerror?.(error);
  };
  wire.onclose = () => {
    finish();
    tap.onclose?.();
  };
  /* oxlint-enable unicorn/prefer-add-event-listener */

  return {
    transport: tap,
    notifications,
    ended,
    fail,
    get closed() {
      return closed;
    },
    get reason() {
      return reason ?? deps.lost();
    },
    setEnvelope(next) {
      envelope = next;
    },
    awaitedBy(host) {
      const entry = { host };
      awaiting.add(entry);
      return () => void awaiting.delete(entry);
    },
    tell(method, params) {
      const sealed = envelope
        ? withEnvelope({ method, params, id: 0 }, { envelope, progress: false, host: undefined })
        : params;
      wire
        .send({ jsonrpc: '2.0', method, ...(sealed && { params: sealed }) })
        .catch((thrown: unknown) => log.debug('connect.tell', { server, thrown: String(thrown) }));
    },
    request(method, params, options) {
      return new Promise((resolve, reject) => {
        if (closed) return reject(connectionLost(false));
        const { signal, onProgress } = options;
        if (signal?.aborted) {
          return reject(
            new ToolscoutError('CANCELLED', 'The call was cancelled.', { delivered: false, cause: signal.reason }),
          );
        }
        const id = nextId++;
        const stream = streams ? new AbortController() : undefined;
        const entry: Pending = { resolve, reject, options, stream, due: Infinity, onAbort: undefined, waiting: 0 };
        pending.add(id, entry);
        if (signal) {
          entry.onAbort = () => {
            const error = new ToolscoutError('CANCELLED', 'The call was cancelled.', { cause: signal.reason });
            if (take(id)) giveUp(id, entry, 'cancelled', error);
          };
          signal.addEventListener('abort', entry.onAbort, { once: true });
        }
        const progress = onProgress !== undefined;
        const sealed =
          envelope || params?.['_meta'] !== undefined
            ? withEnvelope({ method, params, id }, { envelope, progress, host: options.host })
            : progress
              ? withToken(params, id)
              : params;
        const message = { jsonrpc: '2.0' as const, id, method, params: sealed };
        try {
          const sent = stream ? sendOnStream(id, message, options, stream) : wire.send(message);
          sent.catch((thrown: unknown) => sendFailed(id, thrown));
        } catch (thrown) {
          take(id)?.reject(unwritable(server, thrown));
        }
      });
    },
  };
}
