import {
  WebStandardStreamableHTTPServerTransport,
  type JSONRPCMessage,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import type { Clock, Timer } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { isObject } from '../../../kernel/json.js';
import { MAX_WAITING } from './bounded-stream.js';
import { createEventMemory, type EventMemory } from './event-memory.js';
import { jsonRpcError } from './http-era.js';
import type { RequestId } from '../sessions/legacy-session.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** How soon a host whose stream broke may come back. */
const RETRY_MS = 1000;

/**
 * How long an answer may take before its stream can be resumed. SDK clients that were given an event id come back when the
 * stream ends, some after every answer: so an answer that comes at once has none, and they do not.
 */
const RESUMABLE_AFTER_MS = 100;

/** The first revision whose clients understand an event that has an id and no message. */
const EMPTY_EVENTS_SINCE = '2025-11-25';

const encoder = new TextEncoder();

/** The requests of one POST, which share the stream of their answers. */
interface Posted {
  readonly running: Set<RequestId>;
  readonly cancelled: RequestId[];
  /** The host was given an event id of their stream, so it may come back for what it missed. */
  isResumable: boolean;
  timer?: Timer;
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
  private readonly unsaid = new WeakSet<object>();
  private readonly backlogs = new WeakMap<Stream, Backlog>();

  private readonly memory: EventMemory;

  constructor(private readonly options: { readonly clock: Clock; readonly onOpen: (id: string) => void }) {
    const memory = createEventMemory((stream, message, bytes) => this.weigh(stream, message, bytes));
    super({
      sessionIdGenerator: newId,
      // An empty id is not sent.
      eventStore: {
        ...memory,
        storeEvent: async (stream, message) => (this.isUnnamed(message) ? '' : memory.storeEvent(stream, message)),
      },
      retryInterval: RETRY_MS,
      onsessioninitialized: options.onOpen,
    });
    this.memory = memory;
  }

  /** Whether something is being answered. */
  get isBusy(): boolean {
    return this.running.size > 0;
  }

  /** Takes what the host sent; `body` is what was posted. */
  async take(request: Request, body: unknown): Promise<Response> {
    const posted: Posted = { running: new Set(), cancelled: [], isResumable: false };
    for (const message of Array.isArray(body) ? body : [body]) {
      const id = requestIdIn(message);
      if (id === undefined) continue;
      if (this.running.has(id) || posted.running.has(id)) {
        const subject = JSON.stringify(id).slice(0, 100);
        return jsonRpcError(
          400,
          RPC_CODE.invalidRequest,
          `A request with the id ${subject} is being answered; use another.`,
          id,
        );
      }
      posted.running.add(id);
    }
    for (const id of posted.running) this.running.set(id, posted);
    let isTaken = false;
    try {
      const response = await this.handleRequest(request, { parsedBody: body });
      isTaken = response.ok;
      if (isTaken && posted.running.size > 0) this.makeResumable(posted, request);
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

  /**
   * Takes a host back that lost a stream after the event `last`. Of a stream that has ended and told nothing since there is
   * none to be had: 405 makes SDK clients leave it at that; an empty stream makes them ask for the one that they have.
   */
  async resume(request: Request, last: string): Promise<Response> {
    const name = await this.memory.getStreamIdForEventId(last);
    if (name !== undefined && !this.isGoingOn(name) && !this.memory.hasMore(last)) {
      return jsonRpcError(
        405,
        RPC_CODE.serverError,
        'This stream has ended, and nothing was told on it after that event.',
      );
    }
    // The host knows that it lost the connection; here that may not have been noticed yet.
    if (name !== undefined) this.streams.get(name)?.cleanup();
    return this.handleRequest(request);
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const related = options?.relatedRequestId === undefined ? undefined : this.running.get(options.relatedRequestId);
    if (related && 'method' in message) related.isResumable = true;
    try {
      await super.send(message, options);
    } finally {
      // Also where it could not be sent: nothing more will come.
      if (!('method' in message) && message.id !== undefined) this.end(message.id);
    }
  }

  private get streams(): ReadonlyMap<string, Stream> {
    return Reflect.get(this, '_streamMapping') as ReadonlyMap<string, Stream>;
  }

  private get streamsOfRequests(): ReadonlyMap<RequestId, string> {
    return Reflect.get(this, '_requestToStreamMapping') as ReadonlyMap<RequestId, string>;
  }

  /** Whether more may come on a stream. */
  private isGoingOn(name: string): boolean {
    return name === Reflect.get(this, '_standaloneSseStreamId') || [...this.streamsOfRequests.values()].includes(name);
  }

  /** Whether an event has no id: one that reaches nobody, an answer that came at once, and what opens every stream. */
  private isUnnamed(message: JSONRPCMessage): boolean {
    if (this.unsaid.has(message) || !('jsonrpc' in message)) return true;
    return !('method' in message) && message.id !== undefined && this.running.get(message.id)?.isResumable === false;
  }

  /** Gives the host an event id, with which it can come back, unless it is answered at once. */
  private makeResumable(posted: Posted, { headers }: Request): void {
    if ((headers.get('mcp-protocol-version') ?? '') < EMPTY_EVENTS_SINCE) return;
    const [request] = posted.running;
    const name = this.streamsOfRequests.get(request!);
    if (name === undefined) return;
    const open = async (): Promise<void> => {
      if (!this.streams.has(name)) return;
      posted.isResumable = true;
      const id = await this.memory.storeEvent(name, {} as JSONRPCMessage);
      this.streams.get(name)?.controller?.enqueue(encoder.encode(`id: ${id}\nretry: ${RETRY_MS}\ndata: \n\n`));
    };
    posted.timer = this.options.clock.after(RESUMABLE_AFTER_MS, () => {
      open().catch((thrown: unknown) => this.onerror?.(thrown as Error));
    });
  }

  /**
   * Ends a stream whose host does not read what servers tell it: the transport below keeps all of it. The memory of
   * events goes on, for a host that comes back. Answers always go out: there is one for each request.
   */
  private weigh(name: string, message: JSONRPCMessage, bytes: number): void {
    if (!('method' in message)) return;
    const stream = this.streams.get(name);
    if (!stream?.controller) return;
    const backlog = this.backlogs.get(stream) ?? { sizes: [], bytes: 0 };
    this.backlogs.set(stream, backlog);
    const read = backlog.sizes.length - (1 - (stream.controller.desiredSize ?? 1));
    for (const size of read > 0 ? backlog.sizes.splice(0, read) : []) backlog.bytes -= size;
    backlog.sizes.push(bytes);
    backlog.bytes += bytes;
    if (backlog.bytes > MAX_WAITING) stream.cleanup();
  }

  private end(id: RequestId): void {
    const posted = this.running.get(id);
    this.running.delete(id);
    posted?.running.delete(id);
    if (posted?.running.size === 0) posted.timer?.cancel();
    const [first] = posted?.cancelled ?? [];
    if (posted?.running.size !== 0 || first === undefined) return;
    this.closeSSEStream(first);
    // With its stream closed an answer reaches nobody; but by an answer alone does the transport forget a request.
    for (const gone of posted.cancelled) {
      const message: JSONRPCMessage = {
        jsonrpc: '2.0',
        id: gone,
        error: { code: RPC_CODE.cancelled, message: 'Cancelled.' },
      };
      this.unsaid.add(message);
      super.send(message).catch((thrown: unknown) => this.onerror?.(thrown as Error));
    }
  }
}
