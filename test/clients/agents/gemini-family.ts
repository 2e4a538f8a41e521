import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CellInput, Client } from '../client.js';
import { installedBin } from '../installed-bin.js';

async function writeSettings(
  { transport, home, command, args, url }: CellInput,
  folder: string,
  auth: string,
): Promise<void> {
  const server = transport === 'stdio' ? { command, args, trust: true } : { httpUrl: url, trust: true };
  await mkdir(join(home, folder), { recursive: true });
  const settings = {
    mcpServers: { toolscout: server },
    security: { auth: { selectedType: auth } },
    telemetry: { enabled: false },
    privacy: { usageStatisticsEnabled: false },
    general: { disableAutoUpdate: true },
  };
  await writeFile(join(home, folder, 'settings.json'), JSON.stringify(settings));
}

/** Gemini CLI, over generateContent. */
export const geminiCli: Client = {
  name: 'gemini-cli',
  packages: { '@google/gemini-cli': '0.61.0' },
  kind: 'agent',
  async launch(cell) {
    await writeSettings(cell, '.gemini', 'gemini-api-key');
    return {
      command: cell.node,
      args: [
        await installedBin(cell.installed, '@google/gemini-cli'),
        '-p',
        'Call the tools.',
        '--yolo',
        '-m',
        'gemini-2.5-flash',
      ],
      env: { GEMINI_API_KEY: 'stub', GOOGLE_GEMINI_BASE_URL: cell.modelUrl, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    };
  },
};

/** Qwen Code, a relative of Gemini CLI, over Chat Completions. */
export const qwenCode: Client = {
  name: 'qwen-code',
  packages: { '@qwen-code/qwen-code': '0.24.4' },
  node: '22',
  kind: 'agent',
  async launch(cell) {
    await writeSettings(cell, '.qwen', 'openai');
    return {
      command: cell.node,
      args: [await installedBin(cell.installed, '@qwen-code/qwen-code'), '-p', 'Call the tools.', '--yolo'],
      env: { OPENAI_API_KEY: 'stub', OPENAI_BASE_URL: `${cell.modelUrl}/v1`, OPENAI_MODEL: 'stub-model' },
    };
  },
};
