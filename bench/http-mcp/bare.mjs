// An ordinary server on the SDK with one tool, over HTTP: sessions for 2025-era hosts, the SDK's handler for 2026-era ones.
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

const inputSchema = z.object({ message: z.string() });
const echo = () => {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  server.registerTool('echo', { description: 'Echoes the message.', inputSchema }, ({ message }) => ({
    content: [{ type: 'text', text: message }],
  }));
  return server;
};

const sessions = new Map();
const modern = toNodeHandler(createMcpHandler(echo, { legacy: 'reject' }));

async function openSession() {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await echo().connect(transport);
  return transport;
}

const server = createServer(async (request, response) => {
  if (request.headers['mcp-protocol-version'] === '2026-07-28') return modern(request, response);
  const id = request.headers['mcp-session-id'];
  const transport = id === undefined ? await openSession() : sessions.get(id);
  return transport.handleRequest(request, response);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`listening ${server.address().port}\n`));
