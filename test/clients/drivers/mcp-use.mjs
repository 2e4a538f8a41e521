// mcp-use: a client with sessions over several servers.
import { MCPClient } from 'mcp-use/client';
import { cell, exercise } from './exercise.mjs';

const server =
  cell.transport === 'stdio' ? { command: cell.command, args: cell.args, env: process.env } : { url: cell.url };
const client = MCPClient.fromDict
  ? MCPClient.fromDict({ mcpServers: { toolscout: server } })
  : new MCPClient({ mcpServers: { toolscout: server } });
const session = await client.createSession('toolscout');
await exercise({
  tools: async () => (session.listTools ? await session.listTools() : session.connector.tools),
  call: (name, args) => (session.callTool ? session.callTool(name, args) : session.connector.callTool(name, args)),
  close: () => client.closeAllSessions(),
});
