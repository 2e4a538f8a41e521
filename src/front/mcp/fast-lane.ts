import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/server';
import type { Gateway } from '../../gateway/index.js';
import { messageOf } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import { answerCall } from './meta-call.js';

type RequestId = string | number;

/**
 * A transport that answers `tools/call` itself and leaves everything else to the protocol server
 * behind it. It opens with the 2025-era handshake, after which a call is a plain request and its
 * cancellation a plain notification; hosts of the modern era never open it.
 *
 * It is here because of what it saves: the protocol server parses every message several times, which
 * costs more than rules, validation and routing of a call together.
 */
export function withFastLane(
  wire: Transport,
  { gateway, log, admin = false }: { gateway: Gateway; log: Log; admin?: boolean },
): Transport {
  const running = new Map<RequestId, AbortController>();
  let handshake: RequestId | undefined;
  let open = false;

  const post = (message: JsonObject): void => {
    wire
      .send(message as unknown as JSONRPCMessage)
      .catch((thrown: unknown) => log.debug('mcp.answer-lost', { error: messageOf(thrown) }));
  };

  const answer = async (id: RequestId, params: unknown): Promise<void> => {
    const stop = new AbortController();
    running.set(id, stop);
    const result = await answerCall(gateway, params, {
      admin,
      signal: stop.signal,
      notifyProgress: (progress) => post({ jsonrpc: '2.0', method: 'notifications/progress', params: progress }),
    });
    if (running.get(id) === stop) running.delete(id);
    // The protocol: a cancelled request is not answered.
    if (!stop.signal.aborted) post({ jsonrpc: '2.0', id, result });
  };

  /** Takes what belongs to the lane; `false` leaves a message to the protocol server. */
  const take = (message: JsonObject): boolean => {
    const { method, id } = message;
    const isRequest = typeof id === 'string' || typeof id === 'number';
    if (method === 'initialize' && isRequest) handshake = id;
    if (!open) return false;
    if (method === 'tools/call' && isRequest) {
      void answer(id, message['params']);
      return true;
    }
    if (method !== 'notifications/cancelled' || !isObject(message['params'])) return false;
    const cancelled = message['params']['requestId'] as RequestId;
    const stop = running.get(cancelled);
    stop?.abort(message['params']['reason']);
    return stop !== undefined;
  };

  const lane: Transport = {
    onclose: undefined,
    onerror: undefined,
    onmessage: undefined,
    start: () => wire.start(),
    send(message, options) {
      if (!open && handshake !== undefined && 'result' in message && message.id === handshake) open = true;
      return wire.send(message, options);
    },
    close: () => wire.close(),
  };
  wire.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
    if (!take(message as unknown as JsonObject)) lane.onmessage?.(message, extra);
  };
  wire.onerror = (error) => lane.onerror?.(error);
  wire.onclose = () => {
    for (const stop of running.values()) stop.abort();
    running.clear();
    lane.onclose?.();
  };
  return lane;
}
