import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../client.js';
import { runProcess } from '../processes.js';

const SETUP_TIMEOUT_MS = 60_000;

/** Cline's command line, over Chat Completions. */
export const cline: Client = {
  name: 'cline',
  packages: { cline: '3.0.65' },
  kind: 'agent',
  async launch({ transport, home, command, args, url, installed, modelUrl }) {
    const server = transport === 'stdio' ? { type: 'stdio', command, args } : { type: 'streamableHttp', url };
    const folder = join(home, '.cline', 'data', 'settings');
    await mkdir(folder, { recursive: true });
    const settings = { mcpServers: { toolscout: { transport: server } } };
    await writeFile(join(folder, 'cline_mcp_settings.json'), JSON.stringify(settings));
    const bin = join(installed, 'node_modules', '@cline', `cli-${process.platform}-${process.arch}`, 'bin', 'cline');
    const model = ['--apikey', 'stub', '--baseurl', `${modelUrl}/v1`, '--modelid', 'stub-model'];
    const { code, stderr } = await runProcess(bin, ['auth', 'openai', ...model], {
      cwd: home,
      env: { PATH: process.env['PATH'], HOME: home },
      timeoutMs: SETUP_TIMEOUT_MS,
    });
    if (code !== 0) throw new Error(`cline auth ended with ${code}: ${stderr.slice(-300)}`);
    return {
      command: bin,
      args: ['--auto-approve', 'true', '--json', 'Call the tools.', '-P', 'openai', '-m', 'stub-model'],
    };
  },
};
