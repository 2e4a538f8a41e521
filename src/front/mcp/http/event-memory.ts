import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';
import type { JsonValue } from '../../../kernel/json.js';
import { estimateBytes } from '../../../kernel/size.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** Events of one session that are kept. */
const MAX_EVENTS = 200;
/** About how many bytes of them. */
const MAX_BYTES = 256 * 1024;

interface Kept {
  readonly id: string;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
}

/** The events of one session, for hosts that come back for a stream they lost. */
export interface EventMemory extends EventStore {
  getStreamIdForEventId(id: string): Promise<string | undefined>;
  /** Whether its stream told something after this event. */
  hasMore(id: string): boolean;
}

/** What is kept of an answer that is too large: a host that lost it must not wait for it. */
function insteadOf(message: JSONRPCMessage): JSONRPCMessage | undefined {
  if ('method' in message || message.id === undefined) return undefined;
  const error = {
    code: RPC_CODE.internalError,
    message: 'The answer was lost with its stream: it was too large to be kept.',
  };
  return { jsonrpc: '2.0', id: message.id, error };
}

/**
 * The last events of one session, so that a host whose stream broke gets what it missed when it comes
 * back with the id of the last one it saw. Larger answers are not kept: such a host is told so. `onEvent` is told of
 * each before it is sent.
 */
export function createEventMemory(
  onEvent?: (stream: string, message: JSONRPCMessage, bytes: number) => void,
): EventMemory {
  const events: Kept[] = [];
  let bytes = 0;
  let next = 1;
  const after = (last: string): { readonly stream?: string; readonly missed: readonly Kept[] } => {
    const from = events.findIndex((event) => event.id === last);
    const { stream } = events[from] ?? {};
    if (stream === undefined) return { missed: [] };
    // The first event of a stream only says that it is there.
    const missed = events.slice(from + 1).filter((event) => event.stream === stream && 'jsonrpc' in event.message);
    return { stream, missed };
  };
  return {
    async storeEvent(stream, message) {
      const id = String(next++);
      const size = estimateBytes(message as unknown as JsonValue);
      onEvent?.(stream, message, size);
      const kept = size > MAX_BYTES ? insteadOf(message) : message;
      if (!kept) return id;
      const keptBytes = kept === message ? size : estimateBytes(kept as unknown as JsonValue);
      events.push({ id, stream, message: kept, bytes: keptBytes });
      bytes += keptBytes;
      while (events.length > MAX_EVENTS || bytes > MAX_BYTES) bytes -= events.shift()?.bytes ?? 0;
      return id;
    },
    getStreamIdForEventId: async (id) => events.find((event) => event.id === id)?.stream,
    hasMore: (id) => after(id).missed.length > 0,
    async replayEventsAfter(last, { send }) {
      const { stream = '', missed } = after(last);
      for (const { id, message } of missed) await send(id, message);
      return stream;
    },
  };
}
