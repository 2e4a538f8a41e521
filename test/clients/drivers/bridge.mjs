// A bridge between the two transports as the client of toolscout, with the TypeScript SDK behind it.
// BRIDGE=mcp-remote makes a stdio server of an HTTP one, BRIDGE=mcp-proxy and supergateway the other way round.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { cell, exercise, info } from './exercise.mjs';

const { BRIDGE: bridge, BRIDGE_BIN: bin } = process.env;

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

const client = new Client(info);
let child;
if (bridge === 'mcp-remote') {
  const args = [bin, cell.url, '--allow-http', '--transport', 'http-only'];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: process.env, stderr: 'ignore' }),
  );
} else {
  const port = await freePort();
  const command = [cell.command, ...cell.args];
  const args =
    bridge === 'mcp-proxy'
      ? ['--host', '127.0.0.1', '--port', port, '--server', 'stream', '--', ...command]
      : ['--stdio', command.join(' '), '--outputTransport', 'streamableHttp', '--stateful', '--port', port];
  child = spawn(process.execPath, [bin, ...args.map(String)], { stdio: 'ignore' });
  for (let tries = 0; ; tries++) {
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
      break;
    } catch (thrown) {
      // It takes the bridge a moment to listen.
      if (tries >= 100) throw thrown;
      await delay(100);
    }
  }
}
await exercise({
  tools: async () => (await client.listTools()).tools,
  resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
  prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
  instructions: () => client.getInstructions(),
  call: (name, args) => client.callTool({ name, arguments: args }),
  close: async () => {
    await client.transport?.terminateSession?.();
    await client.close();
    if (!child) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  },
});
