import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { ToolscoutError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { HttpApp } from '../app.js';
import { isLoopback } from '../dispatch/guard.js';
import { writeProblem } from '../dispatch/problem.js';
import { NodeRequest, PlainAnswer, type Answer, type NodePair } from '../../../net/http-message.js';
import { answerNonsense, answerOf, refuseExpectation, refuseRequest } from './bad-requests.js';

/** A listening HTTP front. */
export interface HttpFront {
  readonly url: string;
  /** The real one, also where any free one was asked for. */
  readonly port: number;
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

/**
 * Keeps the connections to a server below what the process can have open, so that there is always something left for
 * servers and files (R10). Open connections stay; the answer refuses the requests of those beyond the limit, and is
 * `false` for all others.
 */
function limitConnections(
  server: Server,
  most: number,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const surplus = new WeakSet<Socket>();
  let inside = 0;
  server.maxConnections = Math.ceil(most * (1 + TOLD_SHARE));
  server.on('connection', (socket: Socket) => {
    inside += 1;
    if (inside > most) surplus.add(socket);
    socket.once('close', () => (inside -= 1));
  });
  return (request, response) => {
    if (!surplus.has(request.socket)) return false;
    const error = new ToolscoutError('OVERLOADED', 'Too many clients are connected.', {
      retryAfterMs: RETRY_AFTER_MS,
    });
    const { status, headers, body } = writeProblem(error, { traceId: newId() });
    response
      .writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' })
      .end(body);
    return true;
  };
}

/** Thrown to whoever would answer: the answer was written. */
const ALREADY_ANSWERED = new Error('already answered');

/** What is there as a whole is written at once; a `Response` is left to whoever knows how to stream one. */
function answerOver(
  answered: Answer | Promise<Answer>,
  { outgoing }: Pick<NodePair, 'outgoing'>,
): Response | Promise<Response> {
  if (answered instanceof Promise) return answered.then((answer) => answerOver(answer, { outgoing }));
  if (!(answered instanceof PlainAnswer)) return answered;
  answered.writeTo(outgoing);
  throw ALREADY_ANSWERED;
}

/** Where to listen, and whether everybody who comes is asked who they are. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly authenticated?: boolean;
  /** Connections at once; whoever comes later is told to come back. */
  readonly mostConnections?: number;
  /** How long a client may take for its headers. */
  readonly slowestHeadersMs?: number;
  /** How long a client may take nothing of what is sent to it. */
  readonly stalledMs?: number;
}

/** Listens on an address; one that others can reach is refused when nobody is asked who they are (S2). */
export function listen(app: Pick<HttpApp, 'serve'>, options: ListenOptions): Promise<HttpFront> {
  const { port } = options;
  const host = options.host.replace(/^\[(.*)\]$/, '$1');
  if (!isLoopback(host) && !options.authenticated) {
    throw new ToolscoutError(
      'CONFIGURATION_ERROR',
      `toolscout does not listen on "${host}": without authentication everybody on the network could call your tools.`,
      { suggestion: 'Remove http.host to listen on this machine only, or configure http.auth.' },
    );
  }
  return new Promise((resolve, reject) => {
    const shown = host.includes(':') ? `[${host}]` : host;
    const answer = getRequestListener(
      (request, pair) => answerOver(app.serve(new NodeRequest(request, pair as NodePair)), pair as NodePair),
      { hostname: shown, errorHandler: (thrown) => (thrown === ALREADY_ANSWERED ? undefined : refuseRequest(thrown)) },
    );
    const server = createServer(
      {
        headersTimeout: options.slowestHeadersMs ?? SLOWEST_HEADERS_MS,
        requestTimeout: SLOWEST_REQUEST_MS,
        connectionsCheckingInterval: CHECK_EVERY_MS,
        // The guard refuses what has none, in our own words.
        requireHostHeader: false,
      },
      (request, response) => {
        if (!refuseSurplus(request, response)) void answer(request, response);
      },
    );
    const refuseSurplus = limitConnections(
      server,
      Math.min(options.mostConnections ?? MAX_CONNECTIONS, MAX_CONNECTIONS),
    );
    // Who waits for an answer is let wait: a call may last for hours without a byte.
    server.timeout = options.stalledMs ?? STALLED_MS;
    server.on('timeout', (socket) => {
      if (socket.writableLength > 0 || !answerOf(socket)) socket.destroy();
    });
    server.on('clientError', answerNonsense);
    server.on('checkExpectation', refuseExpectation);
    server.listen(port, host, () => {
      const { port: real } = server.address() as AddressInfo;
      resolve({
        url: `http://${shown}:${real}`,
        port: real,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
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
              cause: error,
            }),
      );
    });
  });
}
