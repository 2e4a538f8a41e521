import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** Runs the built toolscout over a config, with Studio for an administrator; resolves when it serves, with its origin. */
export async function serveAdmin(
  config: string,
  folder: string,
): Promise<{ readonly origin: string; readonly child: ChildProcess }> {
  const flags = ['--admin', '--port', '0', '--config', config, '--state-dir', join(folder, 'state')];
  const child = spawn(process.execPath, [cli, 'serve', ...flags]);
  const origin = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
      if (found) resolve(found[0]);
    });
    child.once('close', () => reject(new Error(`toolscout ended: ${text}`)));
  });
  return { origin, child };
}
