import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { ToolscoutError } from '../../../kernel/errors.js';
import { limitCrowd } from './connection-limit.js';
import { isLoopback } from '../dispatch/guard.js';
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
export function listen(app: Pick<Hono, 'fetch'>, options: ListenOptions): Promise<HttpFront> {
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
    const answer = getRequestListener(app.fetch, { hostname: shown, errorHandler: refuseRequest });
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
    const refuseSurplus = limitCrowd(server, Math.min(options.mostConnections ?? MAX_CONNECTIONS, MAX_CONNECTIONS));
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
