import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '../support/fixture.js';

/** How a process ended and what it printed. */
export interface Ended {
  readonly code: number | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, or kills its process group after `timeoutMs`. */
export function runProcess(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly timeoutMs: number },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const { cwd, env, timeoutMs } = options;
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    let timedOut = false;
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    const timer = setTimeout(() => {
      timedOut = true;
      kill(-(child.pid ?? 0));
    }, timeoutMs);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      // A process that inherited the pipes may outlive the client; it is looked for afterwards.
      setTimeout(() => resolve({ code, timedOut, stdout, stderr }), 50);
    });
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

async function readProc(pid: string, file: 'cmdline' | 'environ'): Promise<string> {
  // The process may end meanwhile, or belong to another user.
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}

/** Processes whose command line or environment names `folder`. Only Linux can tell. */
async function processesOf(folder: string): Promise<Array<{ pid: number; command: string }>> {
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const all = await Promise.all(
    pids.map(async (pid) => ({
      pid: Number(pid),
      command: (await readProc(pid, 'cmdline')).replaceAll('\0', ' ').trim(),
      environment: await readProc(pid, 'environ'),
    })),
  );
  return all.filter(({ command, environment }) => command.includes(folder) || environment.includes(folder));
}

/** Waits until no process of `folder` that `concerns` is left; returns those that stay longer than `graceMs`. */
async function waitForEnd(
  folder: string,
  graceMs: number,
  concerns: (command: string) => boolean = () => true,
): Promise<Array<{ pid: number; command: string }>> {
  const deadline = performance.now() + graceMs;
  for (;;) {
    const left = (await processesOf(folder)).filter(({ pid, command }) => isAlive(pid) && concerns(command));
    if (left.length === 0 || performance.now() > deadline) return left;
    await delay(100);
  }
}

/**
 * Ends what a client left behind in `folder`, such as a daemon of its own, then waits for what `isOurs`. What is of ours and still
 * runs then is an orphan: it is killed and named.
 */
export async function endLeftovers(
  folder: string,
  isOurs: (command: string) => boolean,
  graceMs = 2000,
): Promise<string[]> {
  await waitForEnd(folder, graceMs);
  for (const { pid } of await waitForEnd(folder, 0, (command) => !isOurs(command))) kill(pid);
  const orphans = await waitForEnd(folder, 5 * graceMs);
  for (const { pid } of orphans) kill(pid);
  return orphans.map(({ pid, command }) => `${pid} ${command.slice(0, 120)}`);
}
