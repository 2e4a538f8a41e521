import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../client.js';
import { installedBin } from '../installed-bin.js';

/** OpenAI Codex, over the Responses API. JSON strings and arrays are TOML too. */
export const codex: Client = {
  name: 'codex',
  packages: { '@openai/codex': '0.166.0' },
  kind: 'agent',
  async launch({ transport, home, command, args, url, installed, node, modelUrl }) {
    const server =
      transport === 'stdio'
        ? [`command = ${JSON.stringify(command)}`, `args = ${JSON.stringify(args)}`]
        : [`url = ${JSON.stringify(url)}`];
    const config = [
      'model = "stub-model"',
      'model_provider = "stub"',
      '[model_providers.stub]',
      'name = "stub"',
      `base_url = "${modelUrl}/v1"`,
      'wire_api = "responses"',
      'env_key = "STUB_KEY"',
      '[mcp_servers.toolscout]',
      ...server,
    ];
    await mkdir(join(home, '.codex'), { recursive: true });
    await writeFile(join(home, '.codex', 'config.toml'), `${config.join('\n')}\n`);
    return {
      command: node,
      args: [
        await installedBin(installed, '@openai/codex'),
        'exec',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        'Call the tools.',
      ],
      env: { STUB_KEY: 'stub' },
    };
  },
};
