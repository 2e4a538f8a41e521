// Vercel AI SDK: tools() makes model tools of every definition.
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { cell, exercise } from './exercise.mjs';

const client = await createMCPClient({
  transport:
    cell.transport === 'stdio'
      ? new StdioTransport({ command: cell.command, args: cell.args, env: process.env, stderr: 'ignore' })
      : { type: 'http', url: cell.url },
});
let tools = {};
await exercise({
  tools: async () => {
    tools = await client.tools();
    return Object.keys(tools).map((name) => ({ name, inputSchema: tools[name].inputSchema?.jsonSchema }));
  },
  resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
  templates: async () => (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  prompts: async () => (await client.experimental_listPrompts()).prompts.map(({ name }) => name),
  instructions: () => client.instructions,
  call: (name, args) => tools[name].execute(args, { toolCallId: 'one', messages: [] }),
  close: () => client.close(),
});
