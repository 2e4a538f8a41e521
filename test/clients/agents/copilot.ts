import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../client.js';
import { installedBin } from '../installed-bin.js';

/** GitHub Copilot CLI with a model of one's own, over Chat Completions. */
export const copilot: Client = {
  name: 'copilot',
  packages: { '@github/copilot': '1.0.102' },
  node: '22',
  kind: 'agent',
  async launch({ transport, home, command, args, url, installed, node, modelUrl }) {
    const server =
      transport === 'stdio' ? { type: 'local', command, args, tools: ['*'] } : { type: 'http', url, tools: ['*'] };
    await mkdir(join(home, '.copilot'), { recursive: true });
    await writeFile(join(home, '.copilot', 'mcp-config.json'), JSON.stringify({ mcpServers: { toolscout: server } }));
    return {
      command: node,
      args: [
        await installedBin(installed, '@github/copilot'),
        '-p',
        'Call the tools.',
        '--allow-all-tools',
        '--no-color',
      ],
      env: {
        COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_API_KEY: 'stub',
        COPILOT_MODEL: 'stub-model',
        COPILOT_OFFLINE: 'true',
        COPILOT_AUTO_UPDATE: 'false',
      },
    };
  },
};
