// An ordinary server on the SDK with one tool.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  const inputSchema = z.object({ message: z.string() });
  server.registerTool('echo', { description: 'Echoes the message.', inputSchema }, ({ message }) => ({
    content: [{ type: 'text', text: message }],
  }));
  return server;
});
