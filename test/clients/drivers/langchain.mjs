// LangChain's adapter: every definition becomes a StructuredTool.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { cell, exercise } from './exercise.mjs';

const server =
  cell.transport === 'stdio'
    ? { transport: 'stdio', command: cell.command, args: cell.args, env: process.env, stderr: 'ignore' }
    : { transport: 'http', url: cell.url };
const client = new MultiServerMCPClient({ mcpServers: { toolscout: server }, throwOnLoadError: true });
let tools = [];
await exercise({
  tools: async () => {
    tools = await client.getTools();
    return tools.map(({ name, schema }) => ({ name, inputSchema: schema }));
  },
  call: (name, args) => tools.find((tool) => tool.name === name).invoke(args),
  close: () => client.close(),
});
