import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../client.js';

/** Factory Droid with a model of one's own, over Chat Completions. */
export const droid: Client = {
  name: 'droid',
  packages: { droid: '0.215.0' },
  kind: 'agent',
  hidesTools: true,
  async launch({ transport, home, command, args, url, installed, modelUrl }) {
    const server = transport === 'stdio' ? { type: 'stdio', command, args } : { type: 'http', url };
    const model = {
      model: 'stub-model',
      displayName: 'stub',
      baseUrl: `${modelUrl}/v1`,
      apiKey: 'stub',
      provider: 'generic-chat-completion-api',
      maxOutputTokens: 8000,
    };
    const folder = join(home, '.factory');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { toolscout: server } }));
    await writeFile(join(folder, 'settings.json'), JSON.stringify({ customModels: [model] }));
    const platform = `cli-${process.platform}-${process.arch}`;
    return {
      command: join(installed, 'node_modules', '@factory', platform, 'bin', 'droid'),
      args: ['exec', '--skip-permissions-unsafe', '-m', 'custom:stub-0', 'Call the tools.'],
    };
  },
};
