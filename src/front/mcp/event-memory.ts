import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';
import type { JsonValue } from '../../kernel/json.js';
import { estimateBytes } from '../../kernel/size.js';

/** Events of one session that are kept. */
const MOST_EVENTS = 200;
/** About how many bytes of them. */
const MOST_BYTES = 256 * 1024;

interface Kept {
  readonly id: string;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
}

/**
 * The last events of one session, so that a host whose stream broke gets what it missed when it comes
 * back with the id of the last one it saw. Larger answers are not kept: such a host asks again. `onEvent` is told of
 * each before it is sent.
 */
export function createEventMemory(
  onEvent?: (stream: string, message: JSONRPCMessage, bytes: number) => void,
): EventStore {
  const events: Kept[] = [];
  let bytes = 0;
  let next = 1;
  return {
    async storeEvent(stream, message) {
      const id = String(next++);
      const kept = { id, stream, message, bytes: estimateBytes(message as unknown as JsonValue) };
      onEvent?.(stream, message, kept.bytes);
      if (kept.bytes > MOST_BYTES) return id;
      events.push(kept);
      bytes += kept.bytes;
      while (events.length > MOST_EVENTS || bytes > MOST_BYTES) bytes -= events.shift()?.bytes ?? 0;
      return id;
    },
    getStreamIdForEventId: async (id) => events.find((event) => event.id === id)?.stream,
    async replayEventsAfter(last, { send }) {
      const from = events.findIndex((event) => event.id === last);
      const { stream } = events[from] ?? {};
      if (stream === undefined) return '';
      // The first event of a stream only says that it is there.
      const missed = events.slice(from + 1).filter((event) => event.stream === stream && 'jsonrpc' in event.message);
      for (const { id, message } of missed) await send(id, message);
      return stream;
    },
  };
}
