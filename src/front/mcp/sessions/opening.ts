import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { answerHandshake, isPlainHandshake } from './handshake.js';
import type { LegacyHostTransport } from './legacy-host-transport.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** A host that is being served. */
export interface Served {
  close(): Promise<void>;
}

/** What serving a host needs besides its transport. */
export interface OpeningDeps {
  readonly onError: (error: Error) => void;
  /** Loads the protocol server; the answer puts it behind the host transport, at once. */
  readonly loadProtocol: () => Promise<() => Served>;
}

/**
 * Answers what the transport of a host leaves that opened with a plain handshake: that, and `ping`. Notifications, and
 * answers to nothing that was asked, need no answer.
 */
export function greet(hostTransport: LegacyHostTransport, message: JsonObject, onError: (error: Error) => void): void {
  const { id, method, params } = message;
  if (id === undefined || method === undefined) return;
  const send = (answer: JsonObject): void => {
    hostTransport.send({ jsonrpc: '2.0', ...answer } as unknown as JSONRPCMessage).catch(onError);
  };
  if (method === 'ping') send({ id, result: {} });
  else if (isPlainHandshake(message) && isObject(params))
    send({ id, result: answerHandshake(params, hostTransport.surface!) });
  else send({ id, error: { code: RPC_CODE.invalidParams, message: `Invalid params for ${String(method)}.` } });
}

/**
 * Serves the host behind a host transport. One that opens with a plain handshake of the 2025 era is answered here: all
 * it needs besides its transport is that handshake and `ping`. Every other opening is left to the protocol server,
 * which supports both eras and takes as long to load as all the rest, so it is loaded only when needed.
 */
export async function openHost(
  hostTransport: LegacyHostTransport,
  { onError, loadProtocol }: OpeningDeps,
): Promise<Served> {
  const waiting: JSONRPCMessage[] = [];
  let isGreeted = false;
  let loading: Promise<Served> | undefined;
  let isClosed = false;

  const load = async (): Promise<Served> => {
    try {
      const serve = await loadProtocol();
      const served = serve();
      if (!isClosed) for (const message of waiting.splice(0)) hostTransport.onmessage?.(message);
      return served;
    } catch (thrown) {
      await hostTransport.close();
      throw thrown;
    }
  };

  hostTransport.onmessage = (message) => {
    const plain = message as unknown as JsonObject;
    if (!loading && (isGreeted || isPlainHandshake(plain))) {
      isGreeted = true;
      greet(hostTransport, plain, onError);
      return;
    }
    waiting.push(message);
    loading ??= load();
    loading.catch(onError);
  };
  hostTransport.onerror = onError;
  hostTransport.onclose = () => {
    isClosed = true;
  };
  await hostTransport.start();
  return {
    async close() {
      const served = await loading?.catch(() => undefined);
      await (served ?? hostTransport).close();
    },
  };
}
