import type { JSONRPCMessage } from '@modelcontextprotocol/server';
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
  /** Nothing for the event that opens a stream. */
  readonly message: JSONRPCMessage | undefined;
  readonly bytes: number;
}

/** What a stream told after an event. */
export interface Missed {
  readonly stream: string;
  readonly events: ReadonlyArray<{ readonly id: string; readonly message: JSONRPCMessage }>;
}

/** The events of one session, for hosts that come back for a stream they lost. */
export interface EventMemory {
  /** Keeps what is told on a stream, or that it was opened; the answer is the id of that event. */
  store(stream: string, message?: JSONRPCMessage): string;
  /** What came after an event on its stream; `undefined` when the event is not known any more. */
  after(id: string): Missed | undefined;
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

const sizeOf = (message: JSONRPCMessage | undefined): number =>
  message ? estimateBytes(message as unknown as JsonValue) : 0;

/**
 * The last events of one session, so that a host whose stream broke gets what it missed when it comes
 * back with the id of the last one it saw. Larger answers are not kept: such a host is told so.
 */
export function createEventMemory(): EventMemory {
  const events: Kept[] = [];
  let bytes = 0;
  let next = 1;
  return {
    store(stream, message) {
      const id = String(next++);
      const size = sizeOf(message);
      const kept = message && size > MAX_BYTES ? insteadOf(message) : message;
      if (message && !kept) return id;
      const keptBytes = kept === message ? size : sizeOf(kept);
      events.push({ id, stream, message: kept, bytes: keptBytes });
      bytes += keptBytes;
      while (events.length > MAX_EVENTS || bytes > MAX_BYTES) bytes -= events.shift()?.bytes ?? 0;
      return id;
    },
    after(last) {
      const from = events.findIndex((event) => event.id === last);
      const { stream } = events[from] ?? {};
      if (stream === undefined) return undefined;
      const missed = events
        .slice(from + 1)
        .flatMap(({ id, stream: on, message }) => (on === stream && message ? [{ id, message }] : []));
      return { stream, events: missed };
    },
  };
}
