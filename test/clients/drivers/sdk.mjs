// The TypeScript SDK 1.x, from before Streamable HTTP to the last one.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { cell, exercise, info } from './exercise.mjs';

async function openTransport() {
  if (cell.transport === 'stdio') {
    return new StdioClientTransport({ command: cell.command, args: cell.args, env: process.env, stderr: 'ignore' });
  }
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  return new StreamableHTTPClientTransport(new URL(cell.url));
}

const transport = await openTransport();
const client = new Client(info, { capabilities: {} });
await client.connect(transport);
await exercise({
  tools: async () => (await client.listTools()).tools,
  resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
  templates: async () => (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
  instructions: () => client.getInstructions?.(),
  call: (name, args) => client.callTool({ name, arguments: args }),
  close: async () => {
    await transport.terminateSession?.();
    await client.close();
  },
});
