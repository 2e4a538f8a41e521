// LlamaIndex: every definition becomes a FunctionTool.
import { mcp } from '@llamaindex/tools';
import { cell, exercise, info } from './exercise.mjs';

const client = mcp(
  cell.transport === 'stdio'
    ? { clientName: info.name, command: cell.command, args: cell.args, env: process.env, stderr: 'ignore' }
    : { clientName: info.name, url: cell.url },
);
let tools = [];
await exercise({
  tools: async () => {
    tools = await client.tools();
    return tools.map(({ metadata }) => ({ name: metadata.name, inputSchema: metadata.parameters }));
  },
  call: (name, args) => tools.find(({ metadata }) => metadata.name === name).call(args),
  close: () => client.cleanup(),
});
