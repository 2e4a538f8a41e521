import type { JsonObject, JsonValue } from '../kernel/json.js';
import type { Change } from './approval.js';
import type { Server } from './server.js';

/** The name of a lock file, beside the config. */
export const LOCK_FILE = 'toolscout.lock';

/** The version of lock files that this program writes and reads. */
export const LOCK_VERSION = 1;

/** One tool, prompt, resource or resource template: its whole definition, and the hash of it. */
export interface LockItem {
  readonly name: string;
  readonly hash: string;
  readonly definition: JsonValue;
}

/** The package that a command runs, as far as it is known without a request. */
export interface LockPackage {
  readonly name: string;
  /** The version, range or tag of the command; absent when it names none. */
  readonly requested?: string;
  /** What is installed on this machine, if anything is. */
  readonly version?: string;
  readonly integrity?: string;
}

/** How a server is started or reached, as it was written, without credentials and paths of one machine. */
export interface LockLaunch {
  readonly type: 'stdio' | 'http' | 'sse';
  readonly target: string;
  /** Names of variables or headers; of variables that decide which code runs also a hash of the value. */
  readonly given: readonly string[];
  readonly cwd?: string;
}

/** The lists of a server in a lock file. */
export const LOCK_LISTS = ['tools', 'prompts', 'resources', 'resourceTemplates'] as const;

/** One of {@link LOCK_LISTS}. */
export type LockList = (typeof LOCK_LISTS)[number];

/** Everything of one server that a lock file holds. */
export interface LockServer extends Readonly<Record<LockList, readonly LockItem[]>> {
  readonly id: string;
  readonly launch: LockLaunch;
  readonly package?: LockPackage;
  readonly protocolVersion?: string;
  /** The server's own description: instructions, title and the like. */
  readonly presentation: JsonObject;
}

/** A lock file (SEC-10). */
export interface Lock {
  readonly lockVersion: number;
  readonly servers: readonly LockServer[];
}

/** What a drift is about. */
export type DriftSubject = 'server' | 'launch' | 'package' | 'protocolVersion' | 'presentation' | LockList;

/** One difference between a lock file and what is there now. */
export interface Drift {
  readonly server: string;
  readonly subject: DriftSubject;
  /** The tool, prompt, resource or template. */
  readonly name?: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly changes: readonly Change[];
  /** The line of the lock file that it belongs to. */
  readonly line: number;
}

/** What a comparison with a lock file found. */
export interface LockCheck {
  readonly ok: boolean;
  /** The path of the lock file. */
  readonly file: string;
  readonly drifts: readonly Drift[];
}

/** What was written. */
export interface LockReport {
  readonly file: string;
  /** Whether the file differs from what was there before. */
  readonly changed: boolean;
  readonly servers: number;
  readonly items: number;
  readonly hash: string;
}

/** Why a lock file cannot be used. */
export interface LockProblem {
  readonly message: string;
  readonly suggestion: string;
}

/** What the approvals ask a lock file (`approval: 'lock'`). */
export interface LockGate {
  /** Why nothing can be trusted by it. */
  problem(): LockProblem | undefined;
  /** What it holds of a server as it is launched now; `missing`: nothing, `launch`: another launch. */
  server(server: Server): LockedServer | 'missing' | 'launch';
}

/** What a lock file holds of one server. */
export interface LockedServer {
  isPresentation(presentation: JsonObject): boolean;
  /** Whether an item, named as the approvals name it, is there and has this definition. */
  judge(name: string, definition: JsonValue): 'held' | 'changed' | 'missing';
}
