// The TypeScript SDK 2.x; ERA=legacy has it open as a 2025-era client, ERA=auto as one of 2026-07-28.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { cell, exercise, info } from './exercise.mjs';

const transport =
  cell.transport === 'stdio'
    ? new StdioClientTransport({ command: cell.command, args: cell.args, env: process.env, stderr: 'ignore' })
    : new StreamableHTTPClientTransport(new URL(cell.url));
const client = new Client(info, { versionNegotiation: { mode: process.env.ERA } });
await client.connect(transport);
await exercise({
  tools: async () => (await client.listTools()).tools,
  resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
  templates: async () => (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
  instructions: () => client.getInstructions(),
  call: (name, args) => client.callTool({ name, arguments: args }),
  close: () => client.close(),
});
