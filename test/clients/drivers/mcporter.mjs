// mcporter: the runtime behind its command line.
import { writeFile } from 'node:fs/promises';
import { createRuntime } from 'mcporter';
import { cell, exercise } from './exercise.mjs';

const server = cell.transport === 'stdio' ? { command: cell.command, args: cell.args } : { baseUrl: cell.url };
await writeFile('mcporter.json', JSON.stringify({ mcpServers: { toolscout: server }, imports: [] }));
const runtime = await createRuntime({ configPath: 'mcporter.json' });
await exercise({
  tools: () => runtime.listTools('toolscout', { includeSchema: true }),
  call: (name, args) => runtime.callTool('toolscout', name, { args }),
  close: () => runtime.close(),
});
