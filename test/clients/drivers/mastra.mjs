// Mastra: every definition becomes a Mastra tool with a schema of its own.
import { MCPClient } from '@mastra/mcp';
import { cell, exercise } from './exercise.mjs';

const server =
  cell.transport === 'stdio'
    ? { command: cell.command, args: cell.args, env: process.env, stderr: 'ignore' }
    : { url: new URL(cell.url) };
const client = new MCPClient({ servers: { toolscout: server }, timeout: 30_000 });
let tools = {};
await exercise({
  tools: async () => {
    tools = await (client.listTools ?? client.getTools).call(client);
    return Object.keys(tools).map((name) => ({ name }));
  },
  call: (name, args) => tools[name].execute(tools[name].execute.length > 1 ? args : args, {}),
  close: () => client.disconnect(),
});
