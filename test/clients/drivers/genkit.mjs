// Genkit: every definition becomes a Genkit action.
import { createMcpHost } from '@genkit-ai/mcp';
import { genkit } from 'genkit';
import { cell, exercise } from './exercise.mjs';

const server =
  cell.transport === 'stdio'
    ? { command: cell.command, args: cell.args, env: process.env, stderr: 'ignore' }
    : { url: cell.url };
const ai = genkit({});
const host = createMcpHost({ name: 'matrix', mcpServers: { toolscout: server } });
await host.ready?.();
let tools = [];
await exercise({
  tools: async () => {
    tools = await host.getActiveTools(ai);
    return tools.map((tool) => ({ name: tool.__action.name, inputSchema: tool.__action.inputJsonSchema }));
  },
  call: (name, args) => tools.find((tool) => tool.__action.name === name)(args),
  close: () => host.close(),
});
