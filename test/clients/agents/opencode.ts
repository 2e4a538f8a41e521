import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../client.js';

/** opencode, over Chat Completions. */
export const opencode: Client = {
  name: 'opencode',
  packages: { 'opencode-ai': '1.18.33' },
  kind: 'agent',
  async launch({ transport, home, command, args, url, installed, modelUrl }) {
    const server =
      transport === 'stdio'
        ? { type: 'local', command: [command, ...args], enabled: true }
        : { type: 'remote', url, enabled: true };
    const model = { name: 'stub', tool_call: true, limit: { context: 200_000, output: 8000 } };
    const config = {
      mcp: { toolscout: server },
      provider: {
        stub: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'stub' },
          models: { 'stub-model': model },
        },
      },
      model: 'stub/stub-model',
      permission: 'allow',
      autoupdate: false,
      share: 'disabled',
    };
    await writeFile(join(home, 'opencode.json'), JSON.stringify(config));
    return {
      command: join(installed, 'node_modules', `opencode-${process.platform}-${process.arch}`, 'bin', 'opencode'),
      args: ['run', 'Call the tools.'],
      env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    };
  },
};
