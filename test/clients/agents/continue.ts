import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../client.js';
import { installedBin } from '../installed-bin.js';

/** Continue's command line, over Chat Completions. Its file is YAML, and JSON is YAML too. */
export const continueCli: Client = {
  name: 'continue',
  packages: { '@continuedev/cli': '1.5.47' },
  node: '22',
  kind: 'agent',
  async launch({ transport, home, command, args, url, installed, node, modelUrl }) {
    const server = transport === 'stdio' ? { command, args } : { type: 'streamable-http', url };
    const model = {
      name: 'stub',
      provider: 'openai',
      model: 'stub-model',
      apiBase: `${modelUrl}/v1`,
      apiKey: 'stub',
      capabilities: ['tool_use'],
      roles: ['chat'],
    };
    const config = {
      name: 'stub',
      version: '1.0.0',
      schema: 'v1',
      models: [model],
      mcpServers: [{ name: 'toolscout', ...server }],
    };
    await writeFile(join(home, 'config.yaml'), JSON.stringify(config));
    return {
      command: node,
      args: [
        await installedBin(installed, '@continuedev/cli'),
        '-p',
        'Call the tools.',
        '--config',
        'config.yaml',
        '--auto',
      ],
      env: { CONTINUE_TELEMETRY_ENABLED: '0' },
    };
  },
};
