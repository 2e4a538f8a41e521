// The command line of the MCP Inspector: one process for each request.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { cell, exercise } from './exercise.mjs';

const run = promisify(execFile);
const server =
  cell.transport === 'stdio' ? { command: cell.command, args: cell.args } : { type: 'streamable-http', url: cell.url };
await writeFile('mcp.json', JSON.stringify({ mcpServers: { toolscout: server } }));
const target = ['--config', 'mcp.json', '--server', 'toolscout'];

async function ask(...method) {
  const { stdout } = await run(process.execPath, [process.env.INSPECTOR, '--cli', ...target, ...method], {
    maxBuffer: 1e8,
  });
  return JSON.parse(stdout);
}

await exercise({
  tools: async () => (await ask('--method', 'tools/list')).tools,
  resources: async () => (await ask('--method', 'resources/list')).resources.map(({ uri }) => uri),
  prompts: async () => (await ask('--method', 'prompts/list')).prompts.map(({ name }) => name),
  call: (name, args) => {
    const given = Object.entries(args).map(
      ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    return ask('--method', 'tools/call', '--tool-name', name, ...given.flatMap((each) => ['--tool-arg', each]));
  },
  close: () => {},
});
