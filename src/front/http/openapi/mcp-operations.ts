import * as z from 'zod';
import { EVENT_STREAM } from '../event-stream.js';
import type { DocumentedOperation, DocumentedResponse } from '../route.js';
import { Events, RpcFailure, RpcMessage } from './schemas.js';

const failure = (description: string): DocumentedResponse => ({
  description,
  content: { 'application/json': RpcFailure },
});

const SENSELESS = failure('The message or a header of it makes no sense.');
const GONE = failure('This session has ended, or there is no such server.');
const NO_SESSION = failure('This needs an Mcp-Session-Id.');
const NO_EVENTS = failure('Whoever asks must accept what may come: JSON and events.');

const POST: DocumentedOperation['responses'] = {
  200: {
    description: 'The answer, alone or at the end of a stream of what comes before it.',
    content: { 'application/json': RpcMessage, [EVENT_STREAM]: Events },
  },
  202: { description: 'Taken; there is nothing to answer.' },
  400: SENSELESS,
  404: failure('This session has ended, or there is no such server or method.'),
  406: NO_EVENTS,
  413: failure('The body is too large.'),
  415: failure('The body is not JSON.'),
};

const GET: DocumentedOperation['responses'] = {
  200: { description: 'What the server says on its own account.', content: { [EVENT_STREAM]: Events } },
  400: SENSELESS,
  404: GONE,
  405: NO_SESSION,
  406: NO_EVENTS,
  409: failure('Somebody follows this session already.'),
};

const DELETE: DocumentedOperation['responses'] = {
  200: { description: 'The session is ended.' },
  400: SENSELESS,
  404: GONE,
  405: NO_SESSION,
};

function operationsAt(path: string, id: string, of: string, params?: z.ZodObject): DocumentedOperation[] {
  const common = { group: 'mcp', path, scope: 'call', ...(params ? { params } : {}) } as const;
  return [
    { ...common, method: 'POST', id, summary: `A message to ${of} over MCP`, body: RpcMessage, responses: POST },
    { ...common, method: 'GET', id: `${id}Events`, summary: `What ${of} says to a session over MCP`, responses: GET },
    { ...common, method: 'DELETE', id: `${id}End`, summary: `Ends a session with ${of} over MCP`, responses: DELETE },
  ];
}

/**
 * The MCP endpoints as the document of the HTTP API describes them. What the protocol refuses is JSON-RPC, as its hosts
 * expect; who is not let in at all is told so in the one format of failures.
 */
export function mcpOperations(): DocumentedOperation[] {
  const server = z.object({ server: z.string().meta({ description: 'The id of a server.' }) });
  return [
    ...operationsAt('/mcp', 'mcp', 'everything behind toolscout'),
    ...operationsAt('/servers/{server}/mcp', 'mcpServer', 'one server', server),
  ];
}
