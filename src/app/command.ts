import { readdir, readFile, stat } from 'node:fs/promises';
import { openBrowser } from './browser.js';
import { createClients } from './client-commands.js';
import { describePending, pendingNotice, type LoadedConfig } from '../config/index.js';
import { runCli } from '../front/cli/cli.js';
import type { CliDeps } from '../front/cli/context.js';
import { createTerminal } from '../front/cli/terminal.js';
import { settleHeap } from './settle-heap.js';
import { systemClock } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import { printable } from '../kernel/text.js';
import { checkStore, configReader, openGateway } from './open-gateway.js';
import { createOwnConfig } from './own-config.js';
import { readSecret, SecretCancelled } from './read-secret.js';
import { askStore, isServing, serve } from './serve.js';
import { stateDirectoryOf } from './state-place.js';
import { VERSION } from '../kernel/version.js';

settleHeap();

/** How long a finished command may take to end by itself. */
const LEAVE_MS = 200;

const terminal = createTerminal({
  stdout: process.stdout,
  stderr: process.stderr,
  plain: process.env['NO_COLOR'] !== undefined && process.env['NO_COLOR'] !== '',
});

/** Says so where no config is in force. */
function noteAbsence({ source, pending }: LoadedConfig, { demo }: { readonly demo?: boolean }): void {
  if (source === 'demo' && !demo) {
    terminal.note(terminal.paint.dim('No config found: using the demo servers. Run toolscout init for your own.'));
  } else if (source === 'defaults' && !pending) {
    terminal.note('No config found. Run toolscout init, or try --demo.');
  }
}

const warn = (notice: string): void => terminal.note(terminal.paint.yellow(printable(notice)));

const deps: CliDeps = {
  version: VERSION,
  clock: systemClock,
  terminal,
  async open(options) {
    const gateway = await openGateway({
      ...options,
      refreshFirst: true,
      onNotice: (notice, about) => {
        if (about !== 'config' || !options.reportsConfig) warn(notice);
      },
    });
    noteAbsence(gateway.internal.loaded(), options);
    return gateway;
  },
  async readConfig(options) {
    const loaded = await configReader(options)();
    if (loaded.pending) warn(pendingNotice(loaded.pending));
    noteAbsence(loaded, options);
    return loaded;
  },
  async checkConfig(options) {
    try {
      const { path, source, warnings, pending } = await configReader(options)();
      const inForce = path ?? source;
      if (!options.pending || !pending) return { source: inForce, problems: [], warnings };
      const about = pending.path;
      const { message, next } = describePending(pending);
      const unused = { path: about, message: `${message} U${next.slice(1)}` };
      if (pending.isCode) {
        const unchecked = { path: about, message: 'was not checked: code is not run before it is approved' };
        return { source: inForce, problems: [], warnings: [...warnings, unused, unchecked] };
      }
      const checked = await configReader({ ...options, config: about })();
      const found = checked.warnings.map((warning) => ({ ...warning, path: `${about}: ${warning.path}` }));
      const fine = { path: about, message: 'was checked and has no problems' };
      return { source: inForce, problems: [], warnings: [...warnings, unused, fine, ...found] };
    } catch (thrown) {
      if (!(thrown instanceof ToolscoutError) || thrown.file === undefined) throw thrown;
      return { source: thrown.file, problems: thrown.problems, warnings: [] };
    }
  },
  checkStore,
  migrateStore: async (options) =>
    (await import('./migrate-store.js')).migrateStore(options, { cwd: process.cwd(), env: process.env }),
  ...createClients({ cwd: process.cwd(), env: process.env }),
  ...createOwnConfig({ cwd: process.cwd(), env: process.env }),
  readSecret: (prompt) =>
    readSecret(process.stdin, (text) => void process.stderr.write(text), prompt).catch((thrown: unknown) => {
      if (thrown instanceof SecretCancelled) process.exit(130);
      throw thrown;
    }),
  async confirm(question) {
    if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
    const { createInterface } = await import('node:readline/promises');
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
    } finally {
      lines.close();
    }
  },
  async services(kind, stateDir) {
    const { askServices } = await import('./shared/services.js');
    return askServices(stateDirectoryOf({ cwd: process.cwd(), env: process.env, stateDir }), kind, systemClock);
  },
  serve: (options) => serve({ ...options, onNotice: warn }, { terminal, streams: process }),
  stopped: ({ awaited = false } = {}) =>
    new Promise((resolve) => {
      // Listening for a signal does not keep a process alive; a timer that never rings does.
      const alive = awaited ? systemClock.after(Infinity, () => resolve(), { awaited }) : undefined;
      const stop = (): void => {
        alive?.cancel();
        resolve();
      };
      process.once('SIGINT', stop);
      process.once('SIGTERM', stop);
    }),
  async readStdin() {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  },
  async readLine(signal) {
    const { createInterface } = await import('node:readline/promises');
    const lines = createInterface({ input: process.stdin });
    try {
      return await lines.question('', { signal });
    } finally {
      lines.close();
    }
  },
  openBrowser,
  isServing,
  askStore,
  readFile: (path) => readFile(path, 'utf8'),
  listFolder: async (path) => ((await stat(path)).isDirectory() ? (await readdir(path)).toSorted() : undefined),
};

const args = process.argv.slice(2);
// A reader that closes early (`toolscout tools x | head`) is no error; a host that does ends `serve` in order.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  const isLeft = error.code === 'EPIPE';
  if (!isLeft) terminal.note(`The output cannot be written: ${error.message}`);
  if (args[0] !== 'serve') process.exit(isLeft ? 0 : 1);
});
// A closed stderr is no error: the command goes on without diagnostics.
process.stderr.on('error', () => undefined);

process.exitCode = await runCli(args, deps);

/** What cannot be cancelled, such as a name lookup that hangs, must not keep a finished command from ending. */
function leave(): void {
  if (process.stdout.writableLength === 0) process.exit();
  systemClock.after(LEAVE_MS, leave);
}
systemClock.after(LEAVE_MS, leave);
