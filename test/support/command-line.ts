import { readdir, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createClients } from '../../src/app/client-commands.js';
import { runCli } from '../../src/front/cli/cli.js';
import type { CliDeps, OpenOptions, ServeOptions } from '../../src/front/cli/context.js';
import { migrateStore } from '../../src/app/migrate-store.js';
import { createOwnConfig } from '../../src/app/own-config.js';
import { createTerminal } from '../../src/front/cli/terminal.js';
import type { Gateway } from '../../src/gateway/index.js';
import { systemClock } from '../../src/kernel/clock.js';

/** What one command line did. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** How the gateway was opened, each time. */
  readonly opened: readonly OpenOptions[];
  readonly served: readonly ServeOptions[];
}

/** What surrounds a command line; everything a process would give it. */
export interface Surroundings {
  /** The gateway that is opened; by default opening one fails the test. */
  readonly gateway?: Gateway | ((options: OpenOptions) => Promise<Gateway>);
  readonly stdin?: string;
  readonly tty?: boolean;
  readonly columns?: number;
  readonly noColor?: boolean;
  readonly checkConfig?: CliDeps['checkConfig'];
  readonly checkStore?: CliDeps['checkStore'];
  /** By default there is no config to be read. */
  readonly readConfig?: CliDeps['readConfig'];
  /** The answer to a question; by default there is no terminal. */
  readonly confirm?: (question: string) => Promise<boolean | undefined>;
  /** What other clients there are; by default those of an empty environment. */
  readonly clients?: ReturnType<typeof createClients>;
  /** The folder and the environment of the process, for commands that write the config. */
  readonly process?: Parameters<typeof createOwnConfig>[0];
  /** When the user wants to stop, who sees what was written to stdout so far; by default never. */
  readonly stopped?: (written: () => string) => Promise<void>;
  /** Plays the browser: called with the address that is opened. */
  readonly openBrowser?: (url: string) => Promise<void>;
  readonly readLine?: () => Promise<string>;
  /** Whether a gateway serves already; by default none does. */
  readonly isServing?: (url: string) => Promise<boolean>;
  /** What that gateway says of its store; by default it is ours. */
  readonly askStore?: CliDeps['askStore'];
  readonly serve?: (options: ServeOptions) => Promise<void>;
  /** The services that hosts share; by default none. */
  readonly services?: CliDeps['services'];
}

/** Runs a command line in this process with a terminal that keeps what is written. */
export async function commandLine(args: readonly string[], around: Surroundings = {}): Promise<Ran> {
  let stdout = '';
  let stderr = '';
  const opened: OpenOptions[] = [];
  const served: ServeOptions[] = [];
  const terminal = createTerminal({
    stdout: { write: (text) => (stdout += text), isTTY: around.tty, columns: around.columns },
    stderr: { write: (text) => (stderr += text), isTTY: around.tty },
    plain: around.noColor ?? false,
  });
  const code = await runCli(args, {
    version: '9.9.9',
    clock: systemClock,
    terminal,
    async open(options) {
      opened.push(options);
      if (!around.gateway) throw new Error('This command line may not open a gateway.');
      return typeof around.gateway === 'function' ? around.gateway(options) : around.gateway;
    },
    checkConfig: around.checkConfig ?? (async () => ({ source: 'none', problems: [], warnings: [] })),
    checkStore: around.checkStore ?? (() => Promise.reject(new Error('This command line may not look at the store.'))),
    migrateStore: (options) => migrateStore(options, around.process ?? { cwd: tmpdir(), env: {} }),
    readConfig: around.readConfig ?? (() => Promise.reject(new Error('This command line may not read a config.'))),
    ...(around.clients ?? createClients({ cwd: tmpdir(), env: {} })),
    ...createOwnConfig(around.process ?? { cwd: tmpdir(), env: {} }),
    async serve(options) {
      served.push(options);
      await around.serve?.(options);
    },
    services: around.services ?? (async () => []),
    stopped: () => around.stopped?.(() => stdout) ?? new Promise(() => undefined),
    confirm: around.confirm ?? (async () => undefined),
    readStdin: async () => around.stdin ?? '',
    readSecret: async () => around.stdin ?? '',
    readLine: around.readLine ?? (() => new Promise(() => undefined)),
    openBrowser: around.openBrowser ?? (() => Promise.reject(new Error('no browser here'))),
    isServing: around.isServing ?? (async () => false),
    askStore: around.askStore ?? (async () => ({ sharesStore: true })),
    readFile: (path) => readFile(path, 'utf8'),
    listFolder: async (path) => ((await stat(path)).isDirectory() ? (await readdir(path)).toSorted() : undefined),
  });
  return { code, stdout, stderr, opened, served };
}
