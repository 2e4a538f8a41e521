// The least a gateway can be: one upstream, no rules, no validation, no audit. A baseline to measure against.
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import * as z from 'zod';

const Anything = z.looseObject({});
const [command, ...args] = process.argv.slice(2);
const upstream = new Client({ name: 'bare', version: '0' });
await upstream.connect(new StdioClientTransport({ command, args }));

serveStdio(() => {
  const server = new Server({ name: 'bare', version: '0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => upstream.request({ method: 'tools/list', params: {} }, Anything));
  server.fallbackRequestHandler = (request) =>
    upstream.request({ method: request.method, params: request.params }, Anything);
  return server;
});
