import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** One `serve` process. */
export interface Replica {
  readonly url: string;
  readonly pid: number;
  /** Replaces its config, which it reads again by itself. */
  configure(config: object): void;
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Starts `serve` with this config, in a folder and with a state directory of its own. */
export async function startReplica(config: object): Promise<Replica> {
  const folder = mkdtempSync(join(tmpdir(), 'toolscout-cluster-'));
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify(config));
  const args = [CLI, 'serve', '--port', '0', '--admin', '--config', file, '--state-dir', join(folder, 'state')];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await printedUrl(child);
  return {
    url,
    pid: child.pid!,
    configure: (next) => writeFileSync(file, JSON.stringify(next)),
    async stop(signal = 'SIGTERM') {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill(signal);
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function printedUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const look = (chunk: Buffer): void => {
      text += chunk.toString();
      const [, url] = /(http:\/\/127\.0\.0\.1:\d+)\/mcp/.exec(text) ?? [];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('close', (code) => reject(new Error(`serve ended with ${code}: ${text}`)));
  });
}

/** Processor time that a process has used, in milliseconds; Linux only. */
export function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  // User and system time, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
