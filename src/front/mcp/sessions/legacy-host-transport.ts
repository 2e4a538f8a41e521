import { Canceller } from '../../../kernel/async/cancel.js';
import type { JSONRPCMessage, MessageExtraInfo, Transport, TransportSendOptions } from '@modelcontextprotocol/server';
import { messageOf } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import type { Log } from '../../../kernel/log.js';
import { InFlightMap } from '../../../kernel/async/in-flight-map.js';
import { protocolError, toRpcError } from '../exchange.js';
import { LegacySession, type HostWriter, type RequestId } from './legacy-session.js';
import { revisionOf } from './handshake.js';
import { introductionIn } from './introduction.js';
import { isLogLevel } from './log-levels.js';
import type { HostSurface } from '../menu/host-surface.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** What the transport of a 2025-era host needs besides the wire. */
export interface LegacyHostTransportOptions {
  readonly principal: string;
  /** This process serves no other host. */
  readonly sole?: boolean;
  /** One stream carries everything, from the beginning on. */
  readonly isPipe?: boolean;
  /** This process serves other hosts of the same user too. */
  readonly isGrouped?: boolean;
  /** The number of the first question to this host; 1 by default. */
  readonly firstQuestion?: number;
  /**
   * The surface of this host. A function is called when the host introduces itself, with a handshake or with its first modern
   * request.
   */
  readonly surface: HostSurface | ((introduction: JsonObject) => HostSurface);
  /** A modern host begins to listen (`params`), or ends to (`undefined`). */
  readonly onListen?: (id: RequestId, params: unknown) => void;
}

/** The connection to a host. */
export interface HostWire extends Transport {
  /** A request was cancelled: by the protocol it is not answered. */
  cancel?(id: RequestId): void;
}

/** Metadata of a message from the wire. */
export interface HostMessageInfo extends MessageExtraInfo {
  /** The id of the request, where it came over HTTP. */
  readonly traceId?: string;
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || typeof id === 'number';
}

/**
 * A transport that answers the requests of a 2025-era host itself and leaves the handshake to the
 * protocol server behind it. It opens with that handshake; hosts of the modern era never open it.
 *
 * It is here because of what it saves: the protocol server parses every message several times, which
 * costs more than rules, validation and routing of a call together, and strips what it does not know.
 * There are thousands of them, most of them idle: what a host may never need is made when it does.
 */
export class LegacyHostTransport implements Transport, HostWriter {
  onclose: Transport['onclose'];
  onerror: Transport['onerror'];
  onmessage: Transport['onmessage'];
  /** What the host is offered, once it has introduced itself. */
  surface: HostSurface | undefined;
  protected session: LegacySession | undefined;
  private handshake:
    | { readonly id: RequestId; readonly capabilities: JsonObject; readonly revision: string }
    | undefined;
  private readonly running = new InFlightMap<RequestId, Canceller>();
  /** Requests under an id that an earlier one still runs under: against the protocol, but each of them must have an end. */
  private doubled: Map<Canceller, RequestId> | undefined;

  constructor(
    private readonly wire: HostWire,
    protected readonly options: LegacyHostTransportOptions,
    protected readonly log: Log,
  ) {
    wire.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
      if (!this.take(message as unknown as JsonObject, extra)) this.onmessage?.(message, extra);
    };
    wire.onerror = (error) => this.onerror?.(error);
    wire.onclose = () => this.closed();
  }

  get sessionId(): string | undefined {
    return this.wire.sessionId;
  }

  start(): Promise<void> {
    return this.wire.start();
  }

  send(message: JSONRPCMessage, given?: TransportSendOptions): Promise<void> {
    if (!this.session && this.handshake && 'result' in message && message.id === this.handshake.id) this.open();
    return this.wire.send(message, given);
  }

  close(): Promise<void> {
    return this.wire.close();
  }

  setProtocolVersion(version: string): void {
    this.wire.setProtocolVersion?.(version);
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.wire.setSupportedProtocolVersions?.(versions);
  }

  post(message: JsonObject, related?: RequestId): void {
    this.write(message, related).catch((thrown: unknown) =>
      this.log.debug('mcp.answer-lost', { error: messageOf(thrown) }),
    );
  }

  /** Called when the session has opened. */
  protected onOpen(_session: LegacySession, _surface: HostSurface): void {}

  /** Called when the host has set the lowest level of log messages it wants. */
  protected onLogLevel(_session: LegacySession): void {}

  /** Called with what the host says on its own account. */
  protected onNotification(_session: LegacySession, _method: string, _params: JsonObject | undefined): void {}

  /** Called when the host of an open session has gone. */
  protected onGone(_session: LegacySession): void {}

  private write(message: JsonObject, related?: RequestId): Promise<void> {
    const options = related === undefined ? undefined : { relatedRequestId: related };
    try {
      return this.wire.send(message as unknown as JSONRPCMessage, options);
    } catch (thrown) {
      return Promise.reject(thrown as Error);
    }
  }

  /** An answer that cannot be written, because it nests too deep for JSON, must not leave its request unanswered. */
  private reply(id: RequestId, message: JsonObject): void {
    this.write(message).catch((thrown: unknown) => {
      this.log.warn('mcp.unwritable', { error: messageOf(thrown) });
      this.post({
        jsonrpc: '2.0',
        id,
        error: { code: RPC_CODE.internalError, message: 'The answer cannot be written as JSON.' },
      });
    });
  }

  private surfaceFor(introduction: JsonObject): HostSurface {
    const { surface } = this.options;
    return typeof surface === 'function' ? surface(introduction) : surface;
  }

  private introduce(id: RequestId, params: unknown): void {
    const introduction = isObject(params) ? params : {};
    const { capabilities } = introduction;
    const revision = revisionOf(introduction);
    this.handshake = { id, capabilities: isObject(capabilities) ? capabilities : {}, revision };
    this.surface = this.surfaceFor(introduction);
  }

  /** A modern host has no handshake: every request names its sender. */
  private meet(message: JsonObject): void {
    const introduction = introductionIn(message);
    if (isObject(introduction['clientInfo'])) this.surface = this.surfaceFor(introduction);
  }

  private open(): void {
    const { principal, sole, isGrouped, firstQuestion } = this.options;
    const { capabilities, revision } = this.handshake!;
    const id = this.wire.sessionId ?? newId();
    this.handshake = undefined;
    this.session = new LegacySession({ id, principal, capabilities, revision, sole, isGrouped, firstQuestion }, this);
    this.onOpen(this.session, this.surface!);
  }

  private closed(): void {
    const { session, doubled } = this;
    for (const [id] of this.running) this.running.take(id)?.abort();
    for (const double of doubled?.keys() ?? []) double.abort();
    session?.close();
    this.surface?.close?.();
    if (session) this.onGone(session);
    this.onclose?.();
  }

  private setLogLevel(session: LegacySession, { level }: JsonObject): JsonObject {
    if (!isLogLevel(level)) throw protocolError(RPC_CODE.invalidParams, 'There is no such log level.');
    session.logLevel = level;
    this.onLogLevel(session);
    return {};
  }

  private async answer(
    id: RequestId,
    { method, params, traceId }: { readonly method: string; readonly params: JsonObject; readonly traceId?: string },
    session: LegacySession,
  ): Promise<void> {
    const stop = new Canceller();
    if (this.running.get(id)) (this.doubled ??= new Map()).set(stop, id);
    else this.running.set(id, stop);
    let given: JsonObject;
    try {
      const exchange = { host: session.hostOf(id), principal: this.options.principal, traceId, signal: stop };
      const result =
        method === 'logging/setLevel'
          ? this.setLogLevel(session, params)
          : await this.surface!.answer(method, params, exchange);
      given = { jsonrpc: '2.0', id, result };
    } catch (thrown) {
      given = { jsonrpc: '2.0', id, error: { ...toRpcError(thrown) } };
    }
    if (!this.doubled?.delete(stop) && this.running.get(id) === stop) this.running.take(id);
    // The protocol: a cancelled request is not answered.
    if (stop.aborted) this.wire.cancel?.(id);
    else this.reply(id, given);
  }

  private cancel({ requestId, reason }: JsonObject): boolean {
    // Its id is free again, even if its handler notices late.
    const stop = this.running.take(requestId as RequestId);
    stop?.abort(reason);
    for (const [double, id] of this.doubled ?? []) if (id === requestId) double.abort(reason);
    return stop !== undefined;
  }

  /** Takes what belongs to the transport; `false` leaves a message to the protocol server. */
  private take(message: JsonObject, extra?: HostMessageInfo): boolean {
    const { session } = this;
    const { method, id } = message;
    if (!session) return this.takeUnopened(message);
    if (method === undefined) return session.answered(message);
    // The handshake is left to the protocol server behind the host transport, which negotiates revisions.
    if (typeof method !== 'string' || method === 'initialize') return false;
    const params = isObject(message['params']) ? message['params'] : undefined;
    if (isRequestId(id)) {
      if (method === 'ping') this.reply(id, { jsonrpc: '2.0', id, result: {} });
      else void this.answer(id, { method, params: params ?? {}, traceId: extra?.traceId }, session);
      return true;
    }
    if (method === 'notifications/cancelled') return params !== undefined && this.cancel(params);
    this.onNotification(session, method, params);
    return false;
  }

  /** The same before the handshake, and of modern hosts, which have none. */
  private takeUnopened(message: JsonObject): boolean {
    const { method, id } = message;
    const { onListen } = this.options;
    const isNamed = isRequestId(id);
    if (isNamed) {
      try {
        if (method === 'initialize') this.introduce(id, message['params']);
        else if (!this.surface) this.meet(message);
      } catch (thrown) {
        // A host without a surface gets the reason.
        this.post({ jsonrpc: '2.0', id, error: { ...toRpcError(thrown) } });
        return true;
      }
    }
    if (method === 'subscriptions/listen' && isNamed) onListen?.(id, message['params'] ?? {});
    const { requestId } = isObject(message['params']) ? message['params'] : {};
    if (method === 'notifications/cancelled') onListen?.(requestId as RequestId, undefined);
    return false;
  }
}
