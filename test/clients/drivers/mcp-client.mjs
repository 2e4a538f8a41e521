// mcp-client, the client of the FastMCP framework for TypeScript.
import { MCPClient } from 'mcp-client';
import { cell, exercise, info } from './exercise.mjs';

const client = new MCPClient(info);
await client.connect(
  cell.transport === 'stdio'
    ? { type: 'stdio', command: cell.command, args: cell.args, env: process.env, stderr: 'ignore' }
    : { type: 'httpStream', url: cell.url },
);
await exercise({
  tools: () => client.getAllTools(),
  resources: async () => (await client.getAllResources()).map(({ uri }) => uri),
  prompts: async () => (await client.getAllPrompts()).map(({ name }) => name),
  call: (name, args) => client.callTool({ name, arguments: args }),
  close: () => client.close(),
});
