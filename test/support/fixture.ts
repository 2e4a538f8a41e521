import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { patient } from './patience.js';

/** How to start a fixture server. */
export interface FixtureCommand {
  command: string;
  args: string[];
}

/** A fixture server that listens on a local port. */
export interface HttpFixture {
  /** The address of its MCP endpoint. */
  readonly url: string;
  readonly pid: number;
  /** Ends it; resolves when the process is gone. */
  stop(): Promise<void>;
}

/** The command that starts `test/fixtures/servers/<name>.mjs` with these arguments. */
export function fixture(name: string, ...args: string[]): FixtureCommand {
  const path = fileURLToPath(new URL(`../fixtures/servers/${name}.mjs`, import.meta.url));
  return { command: process.execPath, args: [path, ...args] };
}

/** A fresh directory that is removed when the test is over; call it inside a test. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'toolscout-test-'));
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}

/** Whether a process still runs; one that has ended but was not yet waited for (a zombie) does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
  const stat = `/proc/${pid}/stat`;
  try {
    // "pid (name) state …", and the name may hold anything, parentheses too.
    return existsSync(stat) ? !/^\) [ZX]/.test(readStat(stat)) : !existsSync('/proc/self/stat');
  } catch (thrown) {
    // It ended between the look and the reading.
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return false;
    throw thrown;
  }
}

function readStat(path: string): string {
  const text = readFileSync(path, 'utf8');
  return text.slice(text.lastIndexOf(')'));
}

/** Command lines of running processes that hold a text; Linux only, elsewhere none. */
export function commandLinesWith(text: string): string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch (thrown) {
        // It ended between the look and the reading.
        return ['ENOENT', 'ESRCH'].includes((thrown as NodeJS.ErrnoException).code ?? '') ? [] : [String(thrown)];
      }
    })
    .filter((line) => line.includes(text));
}

/** Resolves once `condition` holds; fails naming `what` when it does not within `timeoutMs` (60 s), or longer on a busy machine. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  options: { readonly timeoutMs?: number; readonly what?: string } = {},
): Promise<void> {
  const { timeoutMs = 60_000, what = 'the condition' } = options;
  const waitMs = patient(timeoutMs);
  const deadline = performance.now() + waitMs;
  // Asked often at first, and then less: a condition may ask a process, which has other work to do.
  for (let pauseMs = 5; !(await condition()); pauseMs = Math.min(pauseMs * 1.5, 60)) {
    if (performance.now() > deadline) throw new Error(`Waited ${waitMs} ms in vain for ${what}`);
    await delay(pauseMs);
  }
}

/**
 * Starts `http` or `sse` on a free port. It also ends with this process, so that a test that fails
 * before `stop` leaves nothing behind.
 */
export function startHttpFixture(name: 'http' | 'sse', ...args: string[]): Promise<HttpFixture> {
  return startListening(name, args, name === 'sse' ? 'sse' : 'mcp');
}

/** Starts a fixture that says on which port it listens; its endpoint is at `endpoint`. */
export async function startListening(name: string, args: string[], endpoint: 'mcp' | 'sse'): Promise<HttpFixture> {
  const { command, args: all } = fixture(name, ...args);
  const child = spawn(command, all, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const gone = once(child, 'exit');
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (errors = (errors + chunk).slice(-4096)));
  const port = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-4096);
      const found = /^listening (\d+)$/m.exec(output)?.[1];
      if (found) resolve(found);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The fixture ${name} ended with ${code}: ${errors}`)));
  });
  return {
    url: `http://127.0.0.1:${port}/${endpoint}`,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
