import type { Problem } from '../kernel/errors.js';
import type { ServerEntry, SourceType } from './config.js';
import type { ServerScope, ShownTransport } from './server.js';

/** A value that a client would ask its user for; here it is filled in as an environment variable. */
export interface Prompt {
  readonly variable: string;
  /** What the client calls it, for people. */
  readonly text: string;
}

/** A server as it was found in the file of a client, in our own terms (CFG-5). */
export interface ImportedServer {
  readonly id: string;
  /** As written there: variables unexpanded, credentials in clear. Never show it. */
  readonly entry: ServerEntry;
  readonly scope: ServerScope;
  readonly client: SourceType;
  /** The file it stands in. */
  readonly file: string;
  /** A file with variables for it, still to be read. */
  readonly envFile?: string;
  /** Tools that the client runs without asking. */
  readonly autoApproved: readonly string[];
  readonly disabledTools: readonly string[];
  /** When given, no other tool is offered. */
  readonly enabledTools?: readonly string[];
  /** What the file says the server can do. */
  readonly capabilities: readonly string[];
  readonly prompts: readonly Prompt[];
  /** What a person should know about it. */
  readonly notes: readonly string[];
}

/** What the files of one client hold; a bad entry is named and does not hide the others. */
export interface Imported {
  readonly servers: readonly ImportedServer[];
  readonly problems: readonly Problem[];
  /** What is worth knowing when a person looks, and wrong in no way. */
  readonly remarks?: readonly Problem[];
}

/** What an import would do with a server. */
export type ImportStatus =
  /** It is added. */
  | 'new'
  /** It is configured already. */
  | 'present'
  /** Another file named above has the very same server. */
  | 'same'
  /** A server of ours with another transport has its name. */
  | 'name-taken';

/** One server of a client, as it may be shown. */
export interface ImportRow {
  readonly server: string;
  readonly transport: ShownTransport;
  readonly scope: ServerScope;
  readonly enabled: boolean;
  readonly file: string;
  readonly status: ImportStatus;
  /** How it is added: copied to our config, or named in `sources` so that its secrets stay where they are. */
  readonly how: 'copy' | 'reference';
  readonly timeoutMs?: number;
  readonly connectTimeoutMs?: number;
  readonly autoApproved: readonly string[];
  readonly disabledTools: readonly string[];
  readonly enabledTools?: readonly string[];
  readonly capabilities: readonly string[];
  readonly notes: readonly string[];
}

/** What was found of one client. */
export interface ClientRows {
  readonly client: SourceType;
  readonly title: string;
  readonly files: readonly string[];
  readonly servers: readonly ImportRow[];
  /** Files that could not be read; `problems` says why. */
  readonly unreadable: readonly string[];
  readonly problems: readonly Problem[];
}

/** Why a server is not copied to the config. */
export type StayReason =
  /** It holds credentials that are not taken along. */
  | 'credentials'
  /** Its variables are in a file of its own, or it belongs to a project. */
  | 'env-file'
  /** The config reads it from the client's file. */
  | 'source'
  /** Another server of the config has its name. */
  | 'name-taken'
  /** The config is not edited. */
  | 'config-is-code';

/** What an import would do, and the way to do it. */
export interface ImportPlan {
  /** The config that is written to. */
  readonly config: string;
  readonly clients: readonly ClientRows[];
  /** How many servers are new. */
  readonly additions: number;
  /** Servers, by the ids they are found under, that stand in the config itself once it is applied. */
  readonly owned: readonly string[];
  /** The others, and why they stay where they are. */
  readonly staying: ReadonlyArray<{ readonly server: string; readonly reason: StayReason }>;
  /** What to paste where the config is code or TOML, which is not edited. */
  readonly paste?: string;
  /** The config as it is and as it would be, credentials in clear: never show it as it is. The same text when there is nothing to write. */
  preview(): Promise<{ readonly before?: string; readonly after: string }>;
  /** Writes the new servers to the config; answers the file that holds what was there before, if it held anything. */
  apply(): Promise<{ readonly backup?: string; readonly secretsFile?: string }>;
}

/** What became of an installation. */
export interface InstallReport {
  readonly client: SourceType;
  readonly title: string;
  readonly file: string;
  readonly action: 'added' | 'updated' | 'unchanged' | 'removed' | 'absent';
  /** False when it was only tried. */
  readonly written: boolean;
  readonly backup?: string;
  /** What stands in the client's file then. */
  readonly entry?: object;
  readonly next: string;
  /** Servers that were taken out of the client's file; they stand in the config of toolscout. */
  readonly moved?: readonly string[];
  /** Servers that were put back. */
  readonly restored?: readonly string[];
  /** What a person should know besides: which config the entry names, and why. */
  readonly notes?: readonly string[];
}

/** What approving a config of the current folder would allow, and the way to do it. */
export interface ConfigApproval {
  readonly path: string;
  /** What the approval is bound to. */
  readonly hash: string;
  readonly state: 'approved' | 'changed' | 'new';
  /** Approving it lets it run as this user. */
  readonly isCode: boolean;
  /** Its servers with their whole commands; of a config that is code none is known. */
  readonly servers: ReadonlyArray<{ readonly id: string; readonly transport: ShownTransport }>;
  /** Names of the other fields it sets. */
  readonly settings: readonly string[];
  approve(): Promise<void>;
  /** Takes the approval back; answers whether there was one. */
  withdraw(): Promise<boolean>;
}
