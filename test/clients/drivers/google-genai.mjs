// Google Gen AI SDK: mcpToTool makes function declarations of an MCP client.
import { mcpToTool } from '@google/genai';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { cell, exercise, info } from './exercise.mjs';

const client = new Client(info);
await client.connect(
  cell.transport === 'stdio'
    ? new StdioClientTransport({ command: cell.command, args: cell.args, env: process.env, stderr: 'ignore' })
    : new StreamableHTTPClientTransport(new URL(cell.url)),
);
const tool = mcpToTool(client);
await exercise({
  tools: async () => {
    const { functionDeclarations } = await tool.tool();
    return functionDeclarations.map(({ name, parametersJsonSchema }) => ({ name, inputSchema: parametersJsonSchema }));
  },
  call: async (name, args) => {
    const [part] = await tool.callTool([{ name, args }]);
    return part.functionResponse.response;
  },
  close: () => client.close(),
});
