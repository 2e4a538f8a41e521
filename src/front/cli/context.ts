import type { Command } from 'commander';
import type { Finding, Gateway } from '../../gateway/index.js';
import type { Clock } from '../../kernel/clock.js';
import type { Problem, ToolscoutError } from '../../kernel/errors.js';
import type { LogLevel } from '../../kernel/log.js';
import type { ModeName, ServerEntry } from '../../model/config.js';
import type { ShownTransport } from '../../model/server.js';
import type { ConfigApproval, ImportPlan, InstallReport } from '../../model/source.js';
import { filledIn } from './arguments.js';
import type { Terminal } from './terminal.js';

/** How a command opens its gateway. */
export interface OpenOptions {
  readonly config?: string;
  readonly stateDir?: string;
  readonly demo?: boolean;
  readonly logLevel?: LogLevel;
  /** Learn unknown servers at once in the background; commands that wait for them say when instead. */
  readonly learnAtStart: boolean;
  /** Watch the config file and reload when it changes. */
  readonly watch?: boolean;
  /** Use servers that only a lock file would allow, in order to write that file. */
  readonly locking?: boolean;
  /** The command itself says what there is to know about the config. */
  readonly reportsConfig?: boolean;
}

/** Options of a running `serve`. */
export interface ServeOptions extends OpenOptions {
  readonly stdio: boolean;
  /** Serve every host of this user over a socket in the state directory; with `stdio` only this one. */
  readonly shared?: boolean;
  /** Names the shared service among those of the user. */
  readonly sharedKey?: string;
  /** A shared service ends after so many milliseconds without a host. */
  readonly idleMs?: number;
  /** Over stdio: this one server passed through. */
  readonly server?: string;
  /** Hosts get only what this skill declared. */
  readonly skill?: string;
  /** Hosts of this machine are administrators: they may propose servers (SEC-9). */
  readonly admin?: boolean;
  /** Replaces `mode` of the config; `hostModes` still applies (META-5). */
  readonly mode?: ModeName;
  readonly host?: string;
  readonly port?: number;
  /** Called with the address of the page, signed in, once it is served. */
  readonly onStudio?: (url: string) => Promise<void>;
}

/** A service that hosts of this user share. */
export interface RunningService {
  readonly pid: number;
  readonly version: string;
  readonly config: string;
  /** Hosts that are connected now. */
  readonly hosts: number;
  /** Servers in its config. */
  readonly servers: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** What is to be imported. */
export interface ImportWish {
  readonly clients: readonly string[];
  /** Take credentials along, into the file with secrets. */
  readonly credentials?: boolean;
  readonly config?: string;
  readonly home?: string;
  readonly project?: string;
}

/** Where toolscout is to be installed, and how it is reached there. */
export interface InstallWish {
  readonly client: string;
  readonly config?: string;
  readonly home?: string;
  /** The folder of the project whose file is written, instead of the user's. */
  readonly project?: string;
  readonly transport: 'stdio' | 'http';
  /** Over stdio: through the service that hosts of this user share. */
  readonly shared?: boolean;
  readonly uninstall: boolean;
  readonly dryRun: boolean;
  /** Move the servers of the client to the config of toolscout. */
  readonly replace?: boolean;
  /** With `replace`: take credentials along. */
  readonly credentials?: boolean;
  /** Take back what `replace` did. */
  readonly undo?: boolean;
}

/** What a toolscout says of its store. */
export interface StoreAnswer {
  /** Whether it reads the store of the ticket; unknown where it does not say. */
  readonly sharesStore?: boolean;
  /** The folder of its state where it is not the usual one; `memory` where there is none. */
  readonly stateDir?: string;
  /** Its config file where it is not the usual one. */
  readonly config?: string;
}

/** What `app/command.ts` hands to the commands: everything that touches the process. */
export interface CliDeps {
  readonly version: string;
  readonly clock: Clock;
  readonly terminal: Terminal;
  open(options: OpenOptions): Promise<Gateway>;
  /** Checks a config without opening anything. */
  checkConfig(
    options: Pick<OpenOptions, 'config' | 'demo' | 'stateDir'> & {
      /** Check the config of the current folder also where it is not approved. */
      readonly pending?: boolean;
    },
  ): Promise<{
    /** The whole path of the file, or what stands in for one. */
    readonly source: string;
    readonly problems: readonly Problem[];
    readonly warnings: readonly Problem[];
  }>;
  /** Opens the store, uses it once and closes it; rejects with `STORE_ERROR` when it cannot be opened. */
  checkStore(options: Pick<OpenOptions, 'stateDir'>): Promise<Finding[]>;
  /** Copies a store to another, empty one and verifies the copy (STORE-5). */
  migrateStore(options: {
    readonly from: string;
    readonly to: string;
    readonly stateDir?: string;
    readonly acceptAudit?: boolean;
  }): Promise<{
    readonly from: string;
    readonly to: string;
    readonly spaces: Readonly<Record<string, number>>;
    readonly entries: number;
    readonly records: number;
    readonly hash: string;
    readonly auditProblem?: string;
  }>;
  /** Reads the config that these flags mean, without opening anything. */
  readConfig(
    options: Pick<OpenOptions, 'config' | 'demo' | 'stateDir'>,
  ): Promise<ReturnType<Gateway['internal']['loaded']>>;
  /** Writes a config to begin with; never over a file that is there. */
  initConfig(options: {
    readonly config?: string;
    /** The folder of a project, instead of the user's own place. */
    readonly project?: string;
  }): Promise<{ readonly path: string; readonly schema: string }>;
  /** Writes a server to the config that is in force, or to the one that is named. */
  addServer(options: {
    readonly id: string;
    readonly entry: ServerEntry;
    readonly config?: string;
    /** Also what looks like a credential in plain text. */
    readonly allowSecrets?: boolean;
  }): Promise<{
    readonly path: string;
    readonly isNew: boolean;
    readonly shown: ShownTransport;
    /** Why it cannot be used yet, such as a variable that is not set. */
    readonly problem?: string;
  }>;
  /** Takes a server out of that config. */
  removeServer(options: { readonly id: string; readonly config?: string }): Promise<{ readonly path: string }>;
  /** Looks at the config of the current folder, or at a named file, and says what approving it would allow. Runs nothing. */
  planApproval(options: {
    readonly file?: string;
    readonly stateDir?: string;
    readonly hash?: string;
  }): Promise<ConfigApproval>;
  /** Says what an import of other clients' servers would add; nothing is written before its `apply`. */
  planImport(options: ImportWish): Promise<ImportPlan>;
  /** Writes toolscout into the config of a client, or takes it out. */
  install(options: InstallWish): Promise<InstallReport>;
  /** The clients that servers can be imported from, and those toolscout can be installed in. */
  clients(): Promise<{ readonly importable: readonly string[]; readonly installable: readonly string[] }>;
  /** The file with secrets of the config in force, or of the one named. */
  secrets(config?: string): {
    set(name: string, value: string): Promise<{ readonly path: string }>;
    list(): Promise<{ readonly path: string; readonly names: readonly string[] }>;
    remove(name: string): Promise<{ readonly path: string; readonly removed: boolean }>;
  };
  /** A secret that the user types without echo, or what comes in on stdin. */
  readSecret(prompt: string): Promise<string>;
  /** Asks a person a question; `undefined` without a terminal. */
  confirm(question: string): Promise<boolean | undefined>;
  /** The services that hosts of this user share; `stop` ends them. */
  services(kind: 'status' | 'stop', stateDir?: string): Promise<readonly RunningService[]>;
  /** Serves until the process is asked to stop. */
  serve(options: ServeOptions): Promise<void>;
  /** Resolves when the user stops the command (Ctrl-C); this keeps the process alive only if `awaited`. */
  stopped(options?: { readonly awaited?: boolean }): Promise<void>;
  readStdin(): Promise<string>;
  /** One line that the user types. */
  readLine(signal: AbortSignal): Promise<string>;
  /** Shows an address in the browser; rejects when none can be opened. */
  openBrowser(url: string): Promise<void>;
  /** Whether a toolscout answers at an address. */
  isServing(url: string): Promise<boolean>;
  /** Whether the toolscout at an address reads the store that this ticket was written to. */
  askStore(url: string, probe: string): Promise<StoreAnswer>;
  readFile(path: string): Promise<string>;
  /** The names in a folder, sorted; `undefined` when the path is a file. */
  listFolder(path: string): Promise<string[] | undefined>;
}

/** Flags every command takes. */
export interface CommonFlags {
  readonly config?: string;
  readonly stateDir?: string;
  readonly demo?: boolean;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** Thrown by a command that has already said everything: only the exit code is left. */
export class Exit extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`);
  }
}

/** Adds the flags that every command takes. */
export function withCommonFlags(command: Command): Command {
  return command
    .option('--json', 'print JSON on stdout')
    .option('-c, --config <file>', 'use this config file', filledIn)
    .option('--state-dir <dir>', 'keep state in this directory', filledIn)
    .option('--demo', 'use the demo servers instead of a config')
    .option('-v, --verbose', 'log to stderr');
}

/** A command that has printed its answer waits this long for servers to end; the watchdog ends the others. */
const CLOSE_GRACE_MS = 300;

/** Runs `task` with an open gateway and closes it, whatever happens. */
export async function withGateway<T>(
  deps: CliDeps,
  flags: CommonFlags,
  task: (gateway: Gateway) => Promise<T>,
  options: Partial<OpenOptions> = {},
): Promise<T> {
  const gateway = await deps.open({
    config: flags.config,
    stateDir: flags.stateDir,
    demo: flags.demo,
    logLevel: flags.verbose ? 'debug' : 'silent',
    learnAtStart: false,
    ...options,
  });
  try {
    return await task(gateway);
  } finally {
    deps.terminal.status('');
    await gateway.close({ drainMs: 0, graceMs: CLOSE_GRACE_MS });
  }
}

/** A failure as the JSON that `--json` prints. */
export function failureJson(error: ToolscoutError): object {
  const { code, message, severity, problems } = error;
  return {
    error: { code, message, suggestion: error.suggestion, severity, ...(problems.length > 0 ? { problems } : {}) },
  };
}
