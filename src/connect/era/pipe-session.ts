import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { seconds } from '../../kernel/text.js';
import { HANDSHAKE_REVISIONS } from '../../protocol/revisions.js';
import { strictInfo } from '../../protocol/strict-items.js';
import type { Channel, Terms } from './session.js';
import type { NegotiatedSession } from './session.js';
import { modernEnvelope } from '../upstream/envelope.js';
import { RPC_CODE } from '../../protocol/json-rpc.js';
import { META_KEY } from '../../protocol/request-meta.js';

function metaOf(params: unknown): JsonObject {
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) ? meta : {};
}

/** A server that names itself does so with a name and a version; what else it says counts when it has the right type. */
function readInfo(given: unknown): JsonObject | undefined {
  return isObject(given) && typeof given['name'] === 'string' && typeof given['version'] === 'string'
    ? strictInfo(given)
    : undefined;
}

function readInstructions(given: unknown): string | undefined {
  return typeof given === 'string' ? given : undefined;
}

function post(transport: Transport, message: JsonObject): Promise<void> {
  return transport.send({ jsonrpc: '2.0', ...message } as unknown as JSONRPCMessage);
}

/**
 * Shakes hands with a legacy server over a pipe. The client of the SDK can do the same; it takes longer to load than
 * most servers take to start, and as much memory as a thousand tools.
 */
export async function shakeHands({ requests }: Channel, terms: Terms): Promise<NegotiatedSession> {
  await listenTo(requests.transport);
  const [newest] = HANDSHAKE_REVISIONS;
  const { clientInfo, capabilities, timeoutMs, signal } = terms;
  const params = { protocolVersion: newest!, capabilities, clientInfo: { ...clientInfo } };
  // The protocol does not allow cancelling a handshake. A late answer is dropped.
  const result = await requests.request('initialize', params, { timeoutMs, signal, onLate: () => undefined });
  const { protocolVersion } = result;
  if (typeof protocolVersion !== 'string' || !HANDSHAKE_REVISIONS.includes(protocolVersion)) {
    throw new Error(`Server's protocol version is not supported: ${String(protocolVersion)}`);
  }
  requests.tell('notifications/initialized', undefined);
  return {
    era: 'legacy',
    protocolVersion,
    info: readInfo(result['serverInfo']),
    capabilities: isObject(result['capabilities']) ? result['capabilities'] : {},
    instructions: readInstructions(result['instructions']),
    listen: () => Promise.reject(new Error('A legacy server tells without being asked.')),
  };
}

/** A session with a server without a handshake: it supports `tools/list` and `tools/call`, and nothing else. */
export async function speakPlainly({ requests }: Channel): Promise<NegotiatedSession> {
  await listenTo(requests.transport);
  return {
    era: 'legacy',
    protocolVersion: HANDSHAKE_REVISIONS[0]!,
    info: undefined,
    capabilities: { tools: {} },
    instructions: undefined,
    listen: () => Promise.reject(new Error('A server without a handshake tells nothing.')),
  };
}

/** Starts a transport and answers what a legacy server asks besides what a host is asked. */
async function listenTo(transport: Transport): Promise<void> {
  transport.onmessage = (message) => {
    const { id, method } = message as unknown as JsonObject;
    if (id === undefined || method === undefined) return;
    const unknown = { code: RPC_CODE.methodNotFound, message: 'Method not found' };
    // A failed answer shows in the requests that wait for the connection.
    post(transport, method === 'ping' ? { id, result: {} } : { id, error: unknown }).catch(() => undefined);
  };
  await transport.start();
}

/** Speaks to a modern server over a pipe; its capabilities are already known. */
export async function speakModern(
  { requests }: Channel,
  terms: Terms,
  version: string,
  discover: JsonObject,
): Promise<NegotiatedSession> {
  const { transport, ended } = requests;
  const { clock, clientInfo, capabilities } = terms;
  const envelope = modernEnvelope(version, clientInfo, capabilities);
  const waiting = new Map<string, (refusal?: Error) => void>();
  let last = 0;

  // Requests of the server do not exist in this era, so there is no answer to one.
  transport.onmessage = (message) => {
    const { id, method, params, error } = message as unknown as JsonObject;
    const settle = (about: unknown, refusal?: Error): void => {
      if (typeof about === 'string') waiting.get(about)?.(refusal);
    };
    if (method === 'notifications/subscriptions/acknowledged') settle(metaOf(params)[META_KEY.subscriptionId]);
    else if (method === 'notifications/cancelled') {
      settle(isObject(params) ? params['requestId'] : undefined, new Error('The server does not let us listen.'));
    } else if (method === undefined) {
      const refusal = isObject(error)
        ? `The server returned an error: ${String(error['message'])}`
        : 'The server answered the request to listen and sends nothing more.';
      settle(id, new Error(refusal));
    }
  };
  await transport.start();
  ended.on(() => {
    for (const settle of waiting.values()) settle(new Error('The connection has ended.'));
  });

  const cancel = (id: string): Promise<void> =>
    post(transport, { method: 'notifications/cancelled', params: { requestId: id, _meta: envelope } }).catch(
      // A closed connection cannot be told that the subscription ended.
      () => undefined,
    );

  return {
    era: 'modern',
    protocolVersion: version,
    info: readInfo(metaOf(discover)[META_KEY.serverInfo]),
    capabilities: isObject(discover['capabilities']) ? discover['capabilities'] : {},
    instructions: readInstructions(discover['instructions']),
    async listen(filter, timeoutMs) {
      const id = `listen:${last++}`;
      await acknowledged(id, timeoutMs, { clock, waiting, cancel }, () =>
        post(transport, { id, method: 'subscriptions/listen', params: { _meta: envelope, notifications: filter } }),
      );
      return { close: () => cancel(id) };
    },
  };
}

/** Sends a subscription and waits until the server has accepted it. */
function acknowledged(
  id: string,
  timeoutMs: number,
  deps: {
    readonly clock: Clock;
    readonly waiting: Map<string, (refusal?: Error) => void>;
    readonly cancel: (id: string) => Promise<void>;
  },
  send: () => Promise<void>,
): Promise<void> {
  const { clock, waiting, cancel } = deps;
  return new Promise((resolve, reject) => {
    const settle = (refusal?: Error): void => {
      waiting.delete(id);
      timer.cancel();
      if (refusal) reject(refusal);
      else resolve();
    };
    const giveUp = (): void => {
      const message = `The server did not acknowledge the subscription within ${seconds(timeoutMs)}.`;
      settle(new ToolscoutError('TOOL_EXECUTION_TIMEOUT', message, { remedy: { kind: 'diagnose' } }));
      void cancel(id);
    };
    const timer = clock.after(timeoutMs, giveUp, { awaited: true });
    waiting.set(id, settle);
    send().catch(settle);
  });
}
