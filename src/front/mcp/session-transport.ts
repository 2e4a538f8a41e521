import {
  WebStandardStreamableHTTPServerTransport,
  type JSONRPCMessage,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { newId } from '../../kernel/ids.js';
import { isObject } from '../../kernel/json.js';
import { MOST_WAITING } from './bounded-stream.js';
import { createEventMemory } from './event-memory.js';
import { jsonRpcError } from './http-arrival.js';
import type { RequestId } from './legacy-session.js';

/** How soon a host whose stream broke may come back. */
const RETRY_MS = 1000;

/** The requests of one POST, which share the stream of their answers. */
interface Posted {
  readonly running: Set<RequestId>;
  readonly cancelled: RequestId[];
}

/** A stream as the transport below keeps it, in a field of its own that it shows to nobody. */
interface Stream {
  readonly controller?: ReadableStreamDefaultController;
  cleanup(): void;
}

/** About how large the messages are that wait in a stream, and all of them together. */
interface Backlog {
  readonly sizes: number[];
  bytes: number;
}

/** The id of a message that wants an answer. */
function requestIdIn(message: unknown): RequestId | undefined {
  if (!isObject(message) || typeof message['method'] !== 'string') return undefined;
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/**
 * The HTTP transport of one session, which knows what is being answered. The transport below sends an answer to whoever
 * used its id last, and keeps a stream open until everything that was asked in it has been answered: so an id has one
 * request at a time here, and a stream ends when nothing more will come of it, be it that requests were cancelled.
 */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  private readonly running = new Map<RequestId, Posted>();
  private readonly unsaid: WeakSet<object>;
  private readonly backlogs = new WeakMap<Stream, Backlog>();

  constructor(options: { readonly onOpen: (id: string) => void }) {
    const memory = createEventMemory((stream, message, bytes) => this.weigh(stream, message, bytes));
    const unsaid = new WeakSet<object>();
    super({
      sessionIdGenerator: newId,
      eventStore: {
        ...memory,
        storeEvent: async (stream, message) => (unsaid.has(message) ? '' : memory.storeEvent(stream, message)),
      },
      retryInterval: RETRY_MS,
      onsessioninitialized: options.onOpen,
    });
    this.unsaid = unsaid;
  }

  /** Whether something is being answered. */
  get isBusy(): boolean {
    return this.running.size > 0;
  }

  /** Takes what the host sent; `body` is what was posted. */
  async take(request: Request, body: unknown): Promise<Response> {
    const posted: Posted = { running: new Set(), cancelled: [] };
    for (const message of Array.isArray(body) ? body : [body]) {
      const id = requestIdIn(message);
      if (id === undefined) continue;
      if (this.running.has(id) || posted.running.has(id)) {
        const subject = JSON.stringify(id).slice(0, 100);
        return jsonRpcError(400, -32_600, `A request with the id ${subject} is being answered; use another.`, id);
      }
      posted.running.add(id);
    }
    for (const id of posted.running) this.running.set(id, posted);
    let isTaken = false;
    try {
      const response = await this.handleRequest(request, { parsedBody: body });
      isTaken = response.ok;
      return response;
    } finally {
      // What was refused as a whole is not being answered.
      if (!isTaken) for (const id of posted.running) this.running.delete(id);
    }
  }

  /** A request was cancelled: by the protocol it is not answered. */
  cancel(id: RequestId): void {
    const posted = this.running.get(id);
    posted?.cancelled.push(id);
    this.end(id);
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    try {
      await super.send(message, options);
    } finally {
      // Also where it could not be sent: nothing more will come.
      if (!('method' in message) && message.id !== undefined) this.end(message.id);
    }
  }

  /**
   * Ends a stream whose host does not read what servers tell it: the transport below keeps all of it. The memory of
   * events goes on, for a host that comes back. Answers always go out: there is one for each request.
   */
  private weigh(name: string, message: JSONRPCMessage, bytes: number): void {
    if (!('method' in message)) return;
    const stream = (Reflect.get(this, '_streamMapping') as ReadonlyMap<string, Stream>).get(name);
    if (!stream?.controller) return;
    const backlog = this.backlogs.get(stream) ?? { sizes: [], bytes: 0 };
    this.backlogs.set(stream, backlog);
    const read = backlog.sizes.length - (1 - (stream.controller.desiredSize ?? 1));
    for (const size of read > 0 ? backlog.sizes.splice(0, read) : []) backlog.bytes -= size;
    backlog.sizes.push(bytes);
    backlog.bytes += bytes;
    if (backlog.bytes > MOST_WAITING) stream.cleanup();
  }

  private end(id: RequestId): void {
    const posted = this.running.get(id);
    this.running.delete(id);
    posted?.running.delete(id);
    const [first] = posted?.cancelled ?? [];
    if (posted?.running.size !== 0 || first === undefined) return;
    this.closeSSEStream(first);
    // With its stream closed an answer reaches nobody; but by an answer alone does the transport forget a request.
    for (const gone of posted.cancelled) {
      const message: JSONRPCMessage = { jsonrpc: '2.0', id: gone, error: { code: -32_800, message: 'Cancelled.' } };
      this.unsaid.add(message);
      super.send(message).catch((thrown: unknown) => this.onerror?.(thrown as Error));
    }
  }
}
