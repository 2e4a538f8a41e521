import {
  isInitializeRequest,
  isJsonContentType,
  parseJSONRPCMessage,
  type JSONRPCMessage,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { createDeadlines, type Deadlines } from '../../../kernel/async/deadlines.js';
import { InFlightMap } from '../../../kernel/async/in-flight-map.js';
import type { Clock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { isObject } from '../../../kernel/json.js';
import { PlainAnswer, type Answer, type RequestHead } from '../../../net/http-message.js';
import { isPlainLegacyNotification, isPlainLegacyRequest, RPC_CODE } from '../../../protocol/json-rpc.js';
import { HANDSHAKE_REVISIONS } from '../../../protocol/revisions.js';
import type { HostMessageInfo, HostWire } from '../sessions/legacy-host-transport.js';
import type { RequestId } from '../sessions/legacy-session.js';
import { createEventMemory, type EventMemory } from './event-memory.js';
import { eventOf, HostStream } from './host-stream.js';
import { jsonRpcError } from './http-era.js';

/** How soon a host whose stream broke may come back. */
const RETRY_MS = 1000;

/**
 * How long an answer may take before it becomes a stream, which can be resumed. SDK clients that were given an event id come
 * back when the stream ends, some after every answer: so an answer that comes at once has none, and they do not.
 */
const STREAMED_AFTER_MS = 100;

/** The first revision whose clients understand an event that has an id and no message. */
const EMPTY_EVENTS_SINCE = '2025-11-25';

/** Messages that may come in one POST. */
const MAX_BATCH = 100;

/** The stream of what belongs to no request. */
const STANDALONE = 'standalone';

/** What the requests of one POST share: the answer, or the stream of their answers. */
interface Posted {
  /** Requests that are still to be answered. */
  left: number;
  /** When its answer becomes a stream, by the monotonic clock. */
  readonly due: number;
  /** Whether its host understands an event that has an id and no message. */
  readonly takesEmptyEvents: boolean;
  /** Gives the head of the answer; taken away when it was given. */
  begin: ((answer: Answer) => void) | undefined;
  /** Names its stream, once there is one. */
  name: string | undefined;
  stream: HostStream | undefined;
  /** The host was given an event id of the stream, so it may come back for what it missed. */
  isResumable: boolean;
}

/** The id of a message that wants an answer. */
function requestIdIn(message: unknown): RequestId | undefined {
  if (!isObject(message) || typeof message['method'] !== 'string') return undefined;
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

function isMessage(message: unknown): boolean {
  if (isPlainLegacyRequest(message) || isPlainLegacyNotification(message)) return true;
  try {
    parseJSONRPCMessage(message);
    return true;
  } catch {
    // The reason is of no use to the sender.
    return false;
  }
}

/** Makes streams of the answers that take longer, in all sessions of one endpoint: a timer for each session costs more than it. */
export class LateAnswers {
  /** Sessions in which somebody waited for an answer when it was last looked. */
  private readonly waiting = new Set<SessionTransport>();
  private readonly deadlines: Deadlines;

  constructor(readonly clock: Clock) {
    this.deadlines = createDeadlines(clock, (now) => this.sweep(now));
  }

  /** Makes sure that this session is looked at by then. */
  watch(transport: SessionTransport, due: number): void {
    this.waiting.add(transport);
    this.deadlines.watch(due);
  }

  stop(): void {
    this.deadlines.stop();
  }

  private sweep(now: number): number {
    let next = Infinity;
    for (const transport of this.waiting) {
      const due = transport.sweep(now);
      if (due === Infinity) this.waiting.delete(transport);
      else next = Math.min(next, due);
    }
    return next;
  }
}

const DONE = Promise.resolve();

/**
 * The HTTP transport of one session of the 2025 era. A request that is answered soon gets its answer alone. It gets a stream when
 * a server tells or asks something first, when it takes longer, or when it is one of a batch; what is told there is
 * remembered for a host that lost the stream and comes back. An id has one request at a time, and a stream ends when nothing
 * more will come of it, be it that requests were cancelled.
 */
export abstract class SessionTransport implements HostWire {
  sessionId: string | undefined;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport['onmessage'];
  private readonly running = new InFlightMap<RequestId, Posted>();
  private kept: EventMemory | undefined;
  private standalone: HostStream | undefined;
  private streams = 0;
  private isClosed = false;

  constructor(private readonly late: LateAnswers) {}

  /** The session has this id from now on. */
  protected abstract onOpen(id: string): void;

  /** The session of this id has ended. */
  protected abstract onClose(id: string): void;

  /** Whether something is being answered. */
  get isBusy(): boolean {
    return !this.running.isEmpty;
  }

  start(): Promise<void> {
    return DONE;
  }

  /** Takes what the host posted; the first of it opens the session. */
  take(head: RequestHead, body: unknown, traceId?: string): Answer | Promise<Answer> {
    const isBatch = Array.isArray(body);
    const messages: readonly unknown[] = isBatch ? body : [body];
    const ids = messages.flatMap((message) => requestIdIn(message) ?? []);
    const twice = ids.find((id, at) => this.running.get(id) !== undefined || ids.indexOf(id) !== at);
    if (twice !== undefined) {
      const subject = JSON.stringify(twice).slice(0, 100);
      const message = `A request with the id ${subject} is being answered; use another.`;
      return jsonRpcError(400, RPC_CODE.invalidRequest, message, twice);
    }
    const refusal = this.refusePost(head, messages);
    if (refusal) return refusal;
    if (this.sessionId === undefined) {
      this.sessionId = newId();
      this.onOpen(this.sessionId);
    }
    const extra: HostMessageInfo = traceId === undefined ? {} : { traceId };
    if (ids.length === 0) {
      for (const message of messages) this.onmessage?.(message as JSONRPCMessage, extra);
      return new PlainAnswer(202, {}, null);
    }
    return new Promise((begin) => {
      const posted = this.post(ids, begin, head);
      if (isBatch) this.openStream(posted);
      for (const message of messages) this.onmessage?.(message as JSONRPCMessage, extra);
    });
  }

  /** A host begins to follow what is told in its session outside of any request. */
  follow(head: RequestHead): Answer {
    const refusal = this.refuseFollower(head);
    if (refusal) return refusal;
    if (this.standalone?.isOpen) return this.refuse(409, 'Conflict: Only one SSE stream is allowed per session');
    this.standalone = this.createStream();
    return this.standalone.response;
  }

  /**
   * Takes a host back that lost a stream after the event `last`. Of a stream that has ended and told nothing since there is
   * none to be had: 405 makes SDK clients leave it at that; an empty stream makes them ask for the one that they have.
   */
  resume(head: RequestHead, last: string): Answer {
    const missed = this.memory.after(last);
    const posted = missed && this.postedOn(missed.stream);
    const isGoingOn = posted !== undefined || missed?.stream === STANDALONE;
    if (missed && !isGoingOn && missed.events.length === 0) {
      const message = 'This stream has ended, and nothing was told on it after that event.';
      return jsonRpcError(405, RPC_CODE.serverError, message);
    }
    const refusal = this.refuseFollower(head);
    if (refusal) return refusal;
    if (!missed) return this.refuse(400, 'Invalid event ID format');
    const stream = this.createStream();
    for (const { id, message } of missed.events) stream.write(eventOf(JSON.stringify(message), id), true);
    // The host knows that it lost the connection; here that may not have been noticed yet.
    if (posted) {
      posted.stream?.close();
      posted.stream = stream;
    } else if (isGoingOn) {
      this.standalone?.close();
      this.standalone = stream;
    } else stream.close();
    return stream.response;
  }

  /** Ends the session as its host wishes. */
  async remove(head: RequestHead): Promise<Answer> {
    const refusal = this.isClosed ? this.gone() : this.refuseRevision(head);
    if (refusal) return refusal;
    await this.close();
    return new PlainAnswer(200, {}, null);
  }

  /** A request was cancelled: by the protocol it is not answered. */
  cancel(id: RequestId): void {
    const posted = this.running.take(id);
    if (posted) this.leave(posted);
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    try {
      if ('method' in message) this.tell(message, options?.relatedRequestId);
      else this.answer(message);
      return DONE;
    } catch (thrown) {
      return Promise.reject(thrown as Error);
    }
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const [id, posted] of this.running) {
      this.running.take(id);
      this.endStream(posted);
    }
    this.standalone?.close();
    if (this.sessionId !== undefined) this.onClose(this.sessionId);
    this.onclose?.();
  }

  /** Makes streams of the answers that take longer; says when the next one does. */
  sweep(now: number): number {
    let next = Infinity;
    for (const [, posted] of this.running) {
      if (!posted.begin) continue;
      if (posted.due <= now) this.openLate(posted);
      else next = Math.min(next, posted.due);
    }
    return next;
  }

  private post(ids: readonly RequestId[], begin: (answer: Answer) => void, { headers }: RequestHead): Posted {
    const due = this.late.clock.monotonic() + STREAMED_AFTER_MS;
    const posted: Posted = {
      left: ids.length,
      due,
      takesEmptyEvents: (headers.get('mcp-protocol-version') ?? '') >= EMPTY_EVENTS_SINCE,
      begin,
      name: undefined,
      stream: undefined,
      isResumable: false,
    };
    for (const id of ids) this.running.set(id, posted);
    this.late.watch(this, due);
    return posted;
  }

  private answer(message: JSONRPCMessage & { readonly id?: RequestId }): void {
    const { id } = message;
    const posted = id === undefined ? undefined : this.running.get(id);
    if (!posted) throw new Error(`No request with the id ${String(id)} is being answered.`);
    // Written first: what cannot be written does not end its request.
    const text = JSON.stringify(message);
    this.running.take(id!);
    if (posted.begin) {
      const { begin } = posted;
      posted.begin = undefined;
      begin(new PlainAnswer(200, { 'content-type': 'application/json', ...this.headers() }, text));
      return;
    }
    const event = posted.isResumable ? this.memory.store(posted.name!, message) : undefined;
    posted.stream?.write(eventOf(text, event), false);
    this.leave(posted);
  }

  private tell(message: JSONRPCMessage, related: RequestId | undefined): void {
    const posted = related === undefined ? undefined : this.running.get(related);
    if (related !== undefined && !posted) throw new Error(`No request with the id ${related} is being answered.`);
    const text = JSON.stringify(message);
    if (posted?.begin) this.openStream(posted);
    if (posted) posted.isResumable = true;
    const event = this.memory.store(posted?.name ?? STANDALONE, message);
    const stream = posted ? posted.stream : this.standalone;
    stream?.write(eventOf(text, event), true);
  }

  /** One request fewer to be answered. */
  private leave(posted: Posted): void {
    posted.left -= 1;
    if (posted.left === 0) this.endStream(posted);
  }

  private endStream(posted: Posted): void {
    // What will not be answered is an empty stream.
    if (posted.begin) this.openStream(posted);
    posted.stream?.close();
  }

  private openStream(posted: Posted): void {
    posted.name ??= String(++this.streams);
    posted.stream = this.createStream();
    const { begin } = posted;
    posted.begin = undefined;
    begin?.(posted.stream.response);
  }

  /** Gives the host an event id, with which it can come back, where it understands one that comes alone. */
  private openLate(posted: Posted): void {
    this.openStream(posted);
    if (!posted.takesEmptyEvents) return;
    posted.isResumable = true;
    const id = this.memory.store(posted.name!);
    posted.stream?.write(`id: ${id}\nretry: ${RETRY_MS}\ndata: \n\n`, true);
  }

  private createStream(): HostStream {
    return new HostStream({ clock: this.late.clock, headers: this.headers() });
  }

  private headers(): Record<string, string> {
    return this.sessionId === undefined ? {} : { 'mcp-session-id': this.sessionId };
  }

  /** Most sessions tell nothing that their hosts could miss. */
  private get memory(): EventMemory {
    return (this.kept ??= createEventMemory());
  }

  private postedOn(name: string): Posted | undefined {
    for (const [, posted] of this.running) if (posted.name === name) return posted;
    return undefined;
  }

  private refuse(status: number, message: string, code: number = RPC_CODE.serverError): Answer {
    this.onerror?.(new Error(message));
    return jsonRpcError(status, code, message);
  }

  private gone(): Answer {
    return jsonRpcError(404, RPC_CODE.notFound, 'Session not found');
  }

  private refusePost(head: RequestHead, messages: readonly unknown[]): Answer | undefined {
    if (this.isClosed) return this.gone();
    const { headers } = head;
    const accepted = headers.get('accept') ?? '';
    if (!accepted.includes('application/json') || !accepted.includes('text/event-stream')) {
      return this.refuse(406, 'Not Acceptable: Client must accept both application/json and text/event-stream');
    }
    if (!isJsonContentType(headers.get('content-type'))) {
      return this.refuse(415, 'Unsupported Media Type: Content-Type must be application/json');
    }
    if (messages.length > MAX_BATCH) {
      const message = `Invalid Request: Batch must not exceed ${MAX_BATCH} messages`;
      return this.refuse(400, message, RPC_CODE.invalidRequest);
    }
    if (!messages.every(isMessage)) {
      return this.refuse(400, 'Parse error: Invalid JSON-RPC message', RPC_CODE.parseError);
    }
    if (this.sessionId === undefined) return undefined;
    if (messages.some((each) => isObject(each) && each['method'] === 'initialize' && isInitializeRequest(each))) {
      return this.refuse(400, 'Invalid Request: Server already initialized', RPC_CODE.invalidRequest);
    }
    return this.refuseRevision(head);
  }

  private refuseFollower(head: RequestHead): Answer | undefined {
    if (this.isClosed) return this.gone();
    if (!head.headers.get('accept')?.includes('text/event-stream')) {
      return this.refuse(406, 'Not Acceptable: Client must accept text/event-stream');
    }
    return this.refuseRevision(head);
  }

  private refuseRevision({ headers }: RequestHead): Answer | undefined {
    const revision = headers.get('mcp-protocol-version');
    if (revision === null || HANDSHAKE_REVISIONS.includes(revision)) return undefined;
    const known = HANDSHAKE_REVISIONS.join(', ');
    return this.refuse(400, `Bad Request: Unsupported protocol version: ${revision} (supported versions: ${known})`);
  }
}
