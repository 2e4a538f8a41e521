import type { Problem } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import type { ServerEntry } from './config.js';

/** A requested change of the config file (STUDIO-8). */
export type ConfigChange =
  /** Servers that are added, changed or, with `null`, removed. */
  | { readonly servers: Readonly<Record<string, JsonObject | null>>; readonly allowSecrets?: boolean }
  /** All rules, in their order. */
  | { readonly toolRules: readonly JsonObject[] }
  /** The whole file. */
  | { readonly text: string; readonly allowSecrets?: boolean };

/** A server that a change would have started or reached in a way that is not in the file now. */
export interface PlannedLaunch {
  readonly server: string;
  readonly type: 'stdio' | 'http' | 'sse';
  /** The exact command, or the URL; credentials masked. */
  readonly target: string;
  /** Names of the variables or headers it gets. */
  readonly secrets: readonly string[];
}

/** The config file as it is and as it would be. The texts hold credentials as they are written: never show them as they are. */
export interface PlannedChange {
  readonly path: string;
  /** `undefined` when there is no such file yet. */
  readonly before?: string;
  readonly after: string;
  /** What keeps the change from being written. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly launches: readonly PlannedLaunch[];
  /** Credentials that the change writes in clear: they are not shown. */
  readonly secrets: readonly string[];
}

/** A problem of a config file, with the line that it is about where it is known. */
export interface PlacedProblem extends Problem {
  /** Counted from 1. */
  readonly line?: number;
}

/** The config file, opened for changes. */
export interface ConfigChanges {
  /** The same problems, with their lines in a text of that file. */
  place(problems: readonly Problem[], text: string, path: string): Promise<PlacedProblem[]>;
  /** The file that changes go to, and what is in it. */
  read(path: string | undefined): Promise<{ readonly path: string; readonly text?: string }>;
  /** The servers that a text of that file holds, as they are written. */
  serversIn(text: string, path: string): Promise<Readonly<Record<string, JsonObject>>>;
  /** What looks like a credential in a text of that file, which need not be in force, nor valid. */
  secretsIn(text: string, path: string): Promise<string[]>;
  /** `inForce` are the servers of the config in force, which the file may not have: it can be broken, gone or not read yet. */
  plan(
    change: ConfigChange,
    path: string | undefined,
    inForce?: Readonly<Record<string, ServerEntry>>,
  ): Promise<PlannedChange>;
  /** Writes what was planned, unless the file is not what the plan saw. */
  write(planned: PlannedChange): Promise<void>;
}
