// OpenAI Agents SDK: its MCP servers, and the function tools it makes of them.
import { getAllMcpTools, MCPServerStdio, MCPServerStreamableHttp } from '@openai/agents';
import { cell, exercise } from './exercise.mjs';

const server =
  cell.transport === 'stdio'
    ? new MCPServerStdio({ name: 'toolscout', command: cell.command, args: cell.args, env: process.env })
    : new MCPServerStreamableHttp({ name: 'toolscout', url: cell.url });
await server.connect();
await exercise({
  tools: async () => {
    const tools = await getAllMcpTools([server]);
    return tools.map(({ name, parameters }) => ({ name, inputSchema: parameters }));
  },
  call: (name, args) => server.callTool(name, args),
  close: () => server.close(),
});
