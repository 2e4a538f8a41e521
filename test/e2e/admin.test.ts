import { describe, expect, it } from 'vitest';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

async function toolsOf(...flags: string[]): Promise<string[]> {
  const folder = await temporaryDirectory();
  const config = join(folder, 'toolscout.config.json');
  await writeFile(config, '{}');
  const args = [cli, 'serve', '--stdio', '--config', config, '--state-dir', join(folder, 'state'), ...flags];
  const client = new Client({ name: 'host', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  try {
    return (await client.listTools()).tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}

describe('tools of an administrator', STARTS_PROCESSES, () => {
  it('SEC-9 are offered only where the user says that hosts may administer', async () => {
    const plain = await toolsOf();
    expect(plain).toHaveLength(5);
    expect(plain.some((name) => name.startsWith('ccos_'))).toBe(false);
    const admin = await toolsOf('--admin');
    expect(admin).toEqual([...plain, ...admin.slice(5)]);
    expect(admin.slice(5).toSorted()).toEqual([
      'ccos_introspect_remote_api',
      'ccos_register_server',
      'ccos_unregister_server',
    ]);
  });
});
