import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { sleep, systemClock, type Timer } from '../../../kernel/clock.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { HttpApp } from '../app.js';
import { isLoopback } from '../dispatch/guard.js';
import { writeProblem } from '../dispatch/problem.js';
import { NodeRequest, PlainAnswer, type Answer, type NodePair } from '../../../net/http-message.js';
import { answerBadRequest, answerOf, refuseExpectation, refuseRequest } from './bad-requests.js';

/** A listening HTTP front. */
export interface HttpFront {
  readonly url: string;
  /** The real one, also where any free one was asked for. */
  readonly port: number;
  /**
   * Takes no new connection and ends each one with its next answer, so that a load balancer sends its requests elsewhere (R7); what is
   * in flight goes on until `close`. Resolves when the balancer has had time to notice.
   */
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** How long a client may take for its headers unless said otherwise, and for its whole request (A29). */
const SLOWEST_HEADERS_MS = 10_000;
const SLOWEST_REQUEST_MS = 60_000;
const CHECK_EVERY_MS = 2000;
/** A client that takes nothing for so long of what waits for it is gone, or means harm. */
const STALLED_MS = 120_000;

/** Far more than toolscout was ever asked to hold, and less than a process may have open. */
export const MAX_CONNECTIONS = 10_000;

/** Of as many connections as are served, so many more are told to come back later; beyond that none is answered. */
const TOLD_SHARE = 0.5;
const RETRY_AFTER_MS = 5000;

/** How long requests on open connections are still served when the front leaves: they may be on their way. */
const LEAVE_MS = 250;

/**
 * Keeps the connections to a server below what the process can have open, so that there is always something left for
 * servers and files (R10). Open connections stay; the answer refuses the requests of those beyond the limit, and is
 * `false` for all others.
 */
function limitConnections(
  server: Server,
  most: number,
  accepts: () => boolean,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const surplus = new WeakSet<Socket>();
  let inside = 0;
  server.maxConnections = Math.ceil(most * (1 + TOLD_SHARE));
  server.on('connection', (socket: Socket) => {
    if (!accepts()) {
      socket.destroy();
      return;
    }
    inside += 1;
    if (inside > most) surplus.add(socket);
    socket.once('close', () => (inside -= 1));
  });
  return (request, response) => {
    if (!surplus.has(request.socket)) return false;
    const error = new ToolscoutError('OVERLOADED', `The limit of ${most} open connections is reached.`, {
      suggestion: `Close a connection or retry later. The limit is half of ulimit -n, at most ${MAX_CONNECTIONS}.`,
      retryAfterMs: RETRY_AFTER_MS,
    });
    const { status, headers, body } = writeProblem(error, { traceId: newId() });
    response
      .writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' })
      .end(body);
    return true;
  };
}

/**
 * Destroys connections whose client takes nothing for `stalledMs` of what waits for it. A timer is started for those alone that
 * have something waiting when they are looked at: one for every request costs a fifth of all that a short answer costs. Answers the
 * open connections.
 */
function endStalled(server: Server, stalledMs: number): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  let timer: Timer;
  const look = (): void => {
    for (const socket of open) {
      if (socket.writableLength > 0 && socket.timeout !== stalledMs) socket.setTimeout(stalledMs);
    }
    timer = systemClock.after(stalledMs / 4, look);
  };
  look();
  server.once('close', () => timer.cancel());
  // A client that waits for an answer may wait: a call may last for hours without a byte.
  server.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0 || !answerOf(socket)) socket.destroy();
  });
  return open;
}

/** Thrown to the adapter, so that it writes no answer: the answer was written already. */
const ALREADY_ANSWERED = new Error('already answered');

/** Writes an answer that is complete; a `Response` is left to the adapter, which can stream it. */
function answerOver(answered: Answer | Promise<Answer>, { outgoing }: NodePair): Response | Promise<Response> {
  if (answered instanceof Promise) return answered.then((answer) => answerOver(answer, { outgoing } as NodePair));
  if (!(answered instanceof PlainAnswer)) return answered;
  answered.writeTo(outgoing);
  throw ALREADY_ANSWERED;
}

/** A request that was begun without a `Request`. */
interface Begun {
  /** Takes the `Request` that is made of it. */
  take(request: Request): void;
  readonly answer: Response | Promise<Response>;
}

function refused(): Promise<never> {
  const rejected = Promise.reject<never>(ALREADY_ANSWERED);
  // Where no `Request` can be made this rejection is not handled elsewhere, and it must not end the process.
  rejected.catch(() => undefined);
  return rejected;
}

/**
 * Answers requests of Node.js. A message of MCP is read and answered as it is: a `Request` and a `Response` are made only for
 * a handler that asks for one, since both together cost as much as all that is done for a call.
 */
function createListener(serve: HttpApp['serve'], hostname: string): (pair: NodePair) => void {
  const begun = new WeakMap<IncomingMessage, Begun>();
  const listener = getRequestListener(
    (request, env) => {
      const pair = env as NodePair;
      const message = begun.get(pair.incoming);
      if (!message) return answerOver(serve(new NodeRequest(pair, () => request)), pair);
      message.take(request);
      return message.answer;
    },
    { hostname, errorHandler: (thrown) => (thrown === ALREADY_ANSWERED ? undefined : refuseRequest(thrown)) },
  );

  const answerMessage = (pair: NodePair): void => {
    const { incoming, outgoing } = pair;
    let give: ((answer: Response | Promise<never>) => void) | undefined;
    const open = (answer: Begun['answer']): Request => {
      let made: Request | undefined;
      begun.set(incoming, { answer, take: (request) => (made = request) });
      void listener(incoming, outgoing);
      // It was refused there: its address is none.
      if (!made) throw ALREADY_ANSWERED;
      return made;
    };
    const finish = (answer: Answer): void => {
      if (!(answer instanceof PlainAnswer)) return void (give ? give(answer) : open(answer));
      answer.writeTo(outgoing);
      if (give) give(refused());
      // The rest of a body that is not read is drained there, within bounds.
      else if (!incoming.complete) open(refused());
    };
    const fail = (thrown: unknown): void => {
      if (thrown !== ALREADY_ANSWERED) finish(refuseRequest(thrown));
    };
    try {
      const received = new NodeRequest(pair, () => open(new Promise((resolve) => (give = resolve))));
      const answered = serve(received);
      if (answered instanceof Promise) answered.then(finish).catch(fail);
      else finish(answered);
    } catch (thrown) {
      fail(thrown);
    }
  };

  return (pair) => {
    const { method, url = '' } = pair.incoming;
    if (method === 'POST' && url.endsWith('/mcp')) answerMessage(pair);
    else void listener(pair.incoming, pair.outgoing);
  };
}

/** Where to listen, and whether every caller is authenticated. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly authenticated?: boolean;
  /** Connections at once; a further one is answered with 503 and closed. */
  readonly mostConnections?: number;
  /** Whether one more connection is accepted; without it only their number counts (R12). */
  readonly accepts?: () => boolean;
  /** Told of connections that could not be accepted. */
  readonly onError?: (error: Error) => void;
  /** How long a client may take for its headers. */
  readonly slowestHeadersMs?: number;
  /** How long a client may take nothing of what is sent to it. */
  readonly stalledMs?: number;
}

/** Listens on an address; one that other machines can reach is refused without authentication (S2). */
export function listen(app: Pick<HttpApp, 'serve'>, options: ListenOptions): Promise<HttpFront> {
  const { port } = options;
  const host = options.host.replace(/^\[(.*)\]$/, '$1');
  if (!isLoopback(host) && !options.authenticated) {
    throw new ToolscoutError(
      'CONFIGURATION_ERROR',
      `toolscout does not listen on "${host}": without authentication anyone on the network could call your tools.`,
      { suggestion: 'Remove --host or http.host to listen on this machine only, or configure http.auth.' },
    );
  }
  return new Promise((resolve, reject) => {
    const shown = host.includes(':') ? `[${host}]` : host;
    const answer = createListener(app.serve, shown);
    let isLeaving = false;
    let closed: Promise<void> | undefined;
    // Not the method of the HTTP server: it ends idle connections at once, into which somebody may just be writing a request.
    const stopListening = (): Promise<void> =>
      (closed ??= new Promise((done) => NetServer.prototype.close.call(server, () => done())));
    const server = createServer(
      {
        headersTimeout: options.slowestHeadersMs ?? SLOWEST_HEADERS_MS,
        requestTimeout: SLOWEST_REQUEST_MS,
        connectionsCheckingInterval: CHECK_EVERY_MS,
        // The guard refuses what has none, in our own words.
        requireHostHeader: false,
      },
      (request, response) => {
        if (isLeaving) response.shouldKeepAlive = false;
        if (!refuseSurplus(request, response)) answer({ incoming: request, outgoing: response });
      },
    );
    // What stands behind the first two thousand headers would be left out without a word; their bytes are bounded anyway.
    server.maxHeadersCount = 0;
    const refuseSurplus = limitConnections(
      server,
      Math.min(options.mostConnections ?? MAX_CONNECTIONS, MAX_CONNECTIONS),
      options.accepts ?? (() => true),
    );
    const open = endStalled(server, options.stalledMs ?? STALLED_MS);
    server.on('clientError', answerBadRequest);
    server.on('checkExpectation', refuseExpectation);
    server.listen(port, host, () => {
      const { port: real } = server.address() as AddressInfo;
      // What fails from now on is a connection, and no reason to end (R10).
      server.removeAllListeners('error');
      server.on('error', (error) => options.onError?.(error));
      resolve({
        url: `http://${shown}:${real}`,
        port: real,
        async leave() {
          isLeaving = true;
          stopListening();
          for (const socket of open) {
            const response = answerOf(socket);
            if (response && !response.headersSent) response.shouldKeepAlive = false;
          }
          if (open.size > 0) await sleep(systemClock, LEAVE_MS);
          server.closeIdleConnections();
        },
        close() {
          const done = stopListening();
          server.closeAllConnections();
          // Ends the timers of the HTTP server; it does not listen any more.
          server.close(() => undefined);
          return done;
        },
      });
    });
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new ToolscoutError('CONFIGURATION_ERROR', `Port ${port} on ${host} is taken by another program.`, {
              suggestion: 'Stop it, or choose another port with --port.',
              cause: error,
            })
          : new ToolscoutError('CONFIGURATION_ERROR', `Cannot listen on ${host}:${port}: ${error.message}`, {
              suggestion: 'Choose another address with --host, or another port with --port.',
              cause: error,
            }),
      );
    });
  });
}
