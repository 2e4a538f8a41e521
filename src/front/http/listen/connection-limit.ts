import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ToolscoutError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { writeProblem } from '../dispatch/problem.js';

/** Of as many as are let in, so many more are told to come back later; beyond that nobody is even answered. */
const TOLD_SHARE = 0.5;
const RETRY_AFTER_MS = 5000;

/** Answers a request of whoever came when it was too full; `false` leaves it to others. */
export type RefuseSurplus = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Keeps the connections to a server below what the process can have open, so that there is always something left for
 * servers and files (R10). Whoever is in stays in; whoever comes when it is full is told when to come back.
 */
export function limitCrowd(server: Server, most: number): RefuseSurplus {
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
