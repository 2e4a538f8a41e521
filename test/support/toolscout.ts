import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ConfigInput } from '../../src/model/config.js';

/** The built command line; `npm run build` makes it. */
export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** The program that hosts start: it forwards, or loads the command line. */
export const PROGRAM = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

/** What a command line printed and how it ended. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder with a config and a state directory of its own, removed after the test. */
export interface Workplace {
  readonly folder: string;
  readonly configFile: string;
  /** Flags that make a command use this workplace. */
  readonly flags: readonly string[];
  write(config: ConfigInput): Promise<void>;
  /** Runs a command to its end. */
  run(...args: string[]): Promise<Finished>;
  /** Starts a command that goes on; it is killed after the test. */
  start(...args: string[]): ChildProcess;
}

/** How the processes of a workplace are started. */
export interface WorkplaceOptions {
  /** Arguments of Node.js. */
  readonly nodeArgs?: readonly string[];
  /** The command line, when it is not the built one of this repository. */
  readonly cli?: string;
  /** One that several share; each has its own otherwise. */
  readonly stateDir?: string | undefined;
}

/** Makes a workplace with this config. */
export async function workplace(
  config: ConfigInput,
  { nodeArgs = [], cli = CLI, stateDir }: WorkplaceOptions = {},
): Promise<Workplace> {
  const folder = await mkdtemp(join(tmpdir(), 'toolscout-e2e-'));
  const configFile = join(folder, 'toolscout.config.json');
  const flags = ['--config', configFile, '--state-dir', stateDir ?? join(folder, 'state')];
  const write = (next: ConfigInput): Promise<void> => writeFile(configFile, JSON.stringify(next));
  const children: ChildProcess[] = [];
  await write(config);
  onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const start = (...args: string[]): ChildProcess => {
    const child = spawn(process.execPath, [...nodeArgs, cli, ...args, ...flags], { cwd: folder, stdio: 'pipe' });
    children.push(child);
    return child;
  };
  return {
    folder,
    configFile,
    flags,
    write,
    start,
    run: (...args) => finish(start(...args)),
  };
}

/** Collects what a process prints until it ends. */
export function finish(child: ChildProcess): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
    child.once('error', reject);
    child.stdin?.end();
    child.once('close', (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
  });
}

/** Resolves with the first line of a stream that matches. */
export function lineMatching(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = '';
    const look = (chunk: Buffer): void => {
      text += chunk.toString();
      const match = pattern.exec(text);
      if (match) resolve(match);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('close', (code) => reject(new Error(`ended with ${code} before ${pattern} was printed: ${text}`)));
  });
}
