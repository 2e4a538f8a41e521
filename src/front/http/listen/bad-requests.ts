import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { RequestError } from '@hono/node-server';
import { ToolscoutError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { problemResponse, writeProblem, type WrittenProblem } from '../dispatch/problem.js';

/** What the parser of HTTP complains about, where it is more than that the request is none. */
const COMPLAINTS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers or the address of this request are too long.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The extensions of a chunk are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request was not received completely in time.'],
};

function problemFor(status: number, message: string): WrittenProblem {
  return writeProblem(new ToolscoutError('INVALID_REQUEST', message), { traceId: newId(), status });
}

/** The answer that is being given on a connection; nothing between two requests. */
export function answerOf(socket: Duplex): ServerResponse | undefined {
  return (Reflect.get(socket, '_httpMessage') as ServerResponse | null | undefined) ?? undefined;
}

/** Answers bytes that are not an HTTP request, in the one format of failures, and closes the connection. */
export function answerBadRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  const answer = answerOf(socket);
  // An earlier request of this connection is still being answered: nothing may be written into its answer, or be taken for it.
  if (!socket.writable || answer?.headersSent || answer?.req.complete) {
    socket.destroy();
    return;
  }
  const [wanted, message] = COMPLAINTS[error.code ?? ''] ?? [400, 'The request is not valid HTTP/1.1.'];
  const { status, headers, body } = problemFor(wanted, message);
  const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`, () => socket.destroy());
}

/** Answers a request whose `Expect` header names something other than `100-continue`. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const { status, headers, body } = problemFor(417, 'The Expect header is not supported, except 100-continue.');
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

/** The answer where a request could not be read, or its answer could not be made. */
export function refuseRequest(thrown: unknown): Response {
  const error =
    thrown instanceof RequestError
      ? new ToolscoutError('INVALID_REQUEST', 'The URL or the Host header of this request is not valid.')
      : thrown;
  return problemResponse(error, { traceId: newId() });
}
