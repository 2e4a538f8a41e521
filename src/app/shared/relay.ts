import { ToolscoutError } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { RPC_CODE } from '../../protocol/json-rpc.js';
import { readHeads, type MessageHead } from '../../protocol/message-head.js';

/** A connection to a service. */
export interface ServiceLink {
  write(line: Buffer): void;
  close(): void;
}

/** What a connection to a service reports. */
export interface LinkEvents {
  onLine(line: Buffer): void;
  onClose(): void;
}

/** What the relay of one host needs. */
export interface RelayDeps {
  /** Writes whole lines to the host. */
  readonly toHost: (lines: Buffer) => void;
  /** Finds or makes a service; `generation` counts the services of this host. Rejects when no service is available. */
  readonly connect: (generation: number, events: LinkEvents) => Promise<ServiceLink>;
  /** Whether the host is to wait with further messages. */
  readonly hold: (isHeld: boolean) => void;
}

/** Carries the messages of one host to a service and back, across the end of services. */
export interface Relay {
  /** Takes one line of the host. */
  fromHost(line: Buffer): void;
  /** Uses a connection that is there already. */
  begin(connect: (events: LinkEvents) => ServiceLink): void;
  /** The host is gone. */
  close(): void;
  /** Rejects when no service is available any more. */
  readonly ended: Promise<void>;
}

/** The notification with which a service says that it ends on purpose; it is not for hosts. */
export const STOPPING = 'notifications/toolscout/stopping';

type Id = string | number;

interface Request {
  readonly method: string;
  readonly line: Buffer;
  /** It was sent to a second service already. */
  isRepeated: boolean;
}

/** Requests that last as long as the connection, so that every new service gets them. */
const LASTING = 'subscriptions/listen';

function lineOf(message: JsonObject): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`);
}

function paramsOf(line: Buffer): JsonObject {
  try {
    const message: unknown = JSON.parse(line.toString('utf8'));
    return isObject(message) && isObject(message['params']) ? message['params'] : {};
  } catch {
    // The service reads the line too and says what is wrong with it.
    return {};
  }
}

/** The answer to a request that was in flight when the service ended. */
function lostAnswer(id: Id, { method }: Request, isModern: boolean): Buffer {
  const { code, message, severity, suggestion } = new ToolscoutError(
    'SERVER_CONNECTION_ERROR',
    'The shared toolscout service ended while this request was running. It may have taken effect.',
    { suggestion: 'Check whether it took effect, then try again: a new service is being started.' },
  );
  if (method !== 'tools/call') {
    return lineOf({ jsonrpc: '2.0', id, error: { code: RPC_CODE.internalError, message, data: { code, suggestion } } });
  }
  const text = JSON.stringify({ code, message, suggestion, severity });
  const result = { content: [{ type: 'text', text }], isError: true, ...(isModern && { resultType: 'complete' }) };
  return lineOf({ jsonrpc: '2.0', id, result });
}

/** A relay without a service yet. */
export function createRelay(deps: RelayDeps): Relay {
  const inFlight = new Map<Id, Request>();
  /** Questions of the service that the host has not answered. */
  const asked = new Set<Id>();
  /** Answers that belong to what was repeated, not to the host. */
  const unheard = new Map<Id, () => void>();
  const subscriptions = new Map<string, { readonly id: Id; readonly line: Buffer }>();
  let handshake: { readonly id: Id; readonly line: Buffer; isAnswered: boolean } | undefined;
  let initialized: Buffer | undefined;
  let logLevel: { readonly id: Id; readonly line: Buffer } | undefined;
  let link: ServiceLink | undefined;
  let isReady = false;
  let isConnecting = false;
  let isStopping = false;
  let isClosed = false;
  let generation = 0;
  let queue: Buffer[] = [];
  let fail: (reason: unknown) => void = () => undefined;
  const ended = new Promise<void>((_resolve, reject) => {
    fail = reject;
  });

  /** Remembers what a new service must be told again. */
  const remember = (id: Id, method: string, line: Buffer): void => {
    if (method === 'initialize') handshake = { id, line, isAnswered: false };
    else if (method === 'logging/setLevel') logLevel = { id, line };
    else if (method === 'resources/subscribe') subscriptions.set(String(paramsOf(line)['uri']), { id, line });
    else if (method === 'resources/unsubscribe') subscriptions.delete(String(paramsOf(line)['uri']));
  };

  /** Takes note of a message of the host; `false` when no service is to see it. */
  const noteSent = ({ id, method }: MessageHead, line: Buffer): boolean => {
    if (method === undefined) return id === undefined || asked.delete(id);
    if (id !== undefined) {
      inFlight.set(id, { method, line, isRepeated: false });
      remember(id, method, line);
    } else if (method === 'notifications/initialized') initialized = line;
    else if (method === 'notifications/cancelled') inFlight.delete(paramsOf(line)['requestId'] as Id);
    return true;
  };

  const send = (line: Buffer): void => {
    const heads = readHeads(line);
    let isWanted = heads.length === 0;
    for (const head of heads) if (noteSent(head, line)) isWanted = true;
    if (isWanted) link?.write(line);
  };

  /** Takes note of a message of the service; `false` when the host is not to see it. */
  const noteReceived = ({ id, method }: MessageHead): boolean => {
    if (method === STOPPING) {
      isStopping = true;
      return false;
    }
    if (id === undefined) return true;
    if (method !== undefined) {
      asked.add(id);
      return true;
    }
    const heard = unheard.get(id);
    if (heard) {
      unheard.delete(id);
      heard();
      return false;
    }
    if (handshake?.id === id) handshake.isAnswered = true;
    return inFlight.delete(id);
  };

  /** Hosts drop a progress notification that arrives in one piece with the answer, so what follows a notification waits a turn. */
  let delayed: { readonly line: Buffer; readonly isNotification: boolean }[] | undefined;
  const deliver = (line: Buffer, isNotification: boolean): void => {
    if (delayed) return void delayed.push({ line, isNotification });
    deps.toHost(line);
    if (!isNotification) return;
    delayed = [];
    setImmediate(deliverDelayed);
  };
  const deliverDelayed = (): void => {
    const lines = delayed ?? [];
    delayed = undefined;
    for (const { line, isNotification } of lines) deliver(line, isNotification);
  };

  const deliverAll = (): void => {
    for (const { line } of delayed ?? []) deps.toHost(line);
    delayed = undefined;
  };

  const onLine = (line: Buffer): void => {
    let isWanted = true;
    let isNotification = false;
    for (const head of readHeads(line)) {
      isWanted = noteReceived(head) && isWanted;
      isNotification ||= head.id === undefined;
    }
    if (isWanted) deliver(line, isNotification);
  };

  const repeat = (told: { readonly id: Id; readonly line: Buffer }): void => {
    if (inFlight.has(told.id)) return;
    unheard.set(told.id, () => undefined);
    link?.write(told.line);
  };

  const goOn = (): void => {
    if (initialized) link?.write(initialized);
    if (logLevel) repeat(logLevel);
    for (const subscription of subscriptions.values()) repeat(subscription);
    for (const request of inFlight.values()) link?.write(request.line);
    isReady = true;
    const lines = queue;
    queue = [];
    for (const line of lines) send(line);
    deps.hold(false);
  };

  const use = (made: ServiceLink): void => {
    link = made;
    if (!handshake?.isAnswered) return goOn();
    unheard.set(handshake.id, goOn);
    link.write(handshake.line);
  };

  const connect = (): void => {
    if (isConnecting || isClosed) return;
    isConnecting = true;
    isStopping = false;
    const reach = async (): Promise<void> => {
      const made = await deps.connect(generation, events());
      isConnecting = false;
      if (isClosed) made.close();
      else use(made);
    };
    reach().catch(fail);
  };

  const onLost = (): void => {
    link = undefined;
    isReady = false;
    if (isClosed) return;
    generation += 1;
    deps.hold(true);
    deliverAll();
    for (const [id, request] of inFlight) {
      const isSafe = request.method === LASTING || (request.method !== 'tools/call' && !request.isRepeated);
      request.isRepeated = true;
      if (isSafe) continue;
      inFlight.delete(id);
      deps.toHost(lostAnswer(id, request, handshake === undefined));
    }
    for (const requestId of asked) {
      const params = { requestId, reason: 'the service that asked has ended' };
      deps.toHost(lineOf({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    }
    asked.clear();
    unheard.clear();
    // A service that was stopped on purpose stays so until its host needs one.
    if (isStopping && inFlight.size === 0 && subscriptions.size === 0) deps.hold(false);
    else connect();
  };

  /** The events of one connection; what an earlier one reports late does not count. */
  function events(): LinkEvents {
    const mine = generation;
    return {
      onLine: (line) => (mine === generation ? onLine(line) : undefined),
      onClose: () => (mine === generation ? onLost() : undefined),
    };
  }

  return {
    ended,
    begin: (made) => use(made(events())),
    fromHost(line) {
      if (isReady) return send(line);
      queue.push(line);
      if (!link) connect();
    },
    close() {
      isClosed = true;
      link?.close();
    },
  };
}
