import type { ErrorCode } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Remedy } from '../../kernel/remedy.js';
import type { TrafficFilter, TrafficRow } from '../../model/traffic.js';
import type { ToolStatus } from '../../model/tool.js';
import type { Knowledge, ServerView } from '../../catalog/views.js';
import type { ConfigChangeVerbs } from './config-change.js';
import type { SavedVerbs } from './saved.js';
import type { SignInStatus } from './sign-in.js';

/** The request of the HTTP API that mends something. */
export interface Fix {
  readonly method: 'POST';
  readonly path: string;
  readonly body?: Readonly<Record<string, string | boolean>>;
}

/** What a person should look at. */
export interface Attention {
  readonly kind:
    | 'store'
    | 'store-failing'
    | 'config'
    | 'config-pending'
    | 'config-rejected'
    | 'source-kept'
    | 'server-failed'
    | 'server-unusable'
    | 'server-resting'
    | 'sign-in'
    | 'approval'
    | 'pending-call';
  readonly severity: 'info' | 'warning' | 'severe';
  readonly title: string;
  readonly detail: string;
  readonly server?: string;
  /** The approval or the pending call it is about. */
  readonly ref?: string;
  /** After this it needs no attention any more: it can no longer be decided. */
  readonly expiresAt?: number;
  readonly remedy: Remedy;
  readonly action?: Fix;
}

/** The state of everything, for the start page. */
export interface Overview {
  /** There is no server at all. */
  readonly empty: boolean;
  readonly servers: { readonly total: number; readonly enabled: number } & Readonly<Record<Knowledge, number>>;
  readonly tools: { readonly total: number } & Readonly<Record<ToolStatus, number>>;
  /** Tokens of the definitions of all tools that are offered. */
  readonly everyTool: number;
  /** The last 24 hours, oldest first; `at` is the beginning of the hour. */
  readonly hours: ReadonlyArray<{
    readonly at: number;
    readonly calls: number;
    readonly failed: number;
    /** Calls that were not made yet, because a person was asked first. */
    readonly waiting: number;
  }>;
  readonly attention: readonly Attention[];
}

/** Tools that servers have and agents do not get, and why. */
export interface HeldTools {
  readonly total: number;
  /** The first of them. */
  readonly tools: ReadonlyArray<{
    readonly server: string;
    readonly tool: string;
    readonly status: ToolStatus;
    /** What decided, and a sentence about it. */
    readonly because: string;
    readonly reason: string;
  }>;
}

/** One measured answer of a server. */
export interface Latency {
  /** Wall-clock. */
  readonly at: number;
  readonly ms: number;
  readonly ok: boolean;
  readonly by: 'check' | 'call';
}

/** Everything about one server. */
export interface ServerDetails {
  readonly view: ServerView;
  /** The folder it is started in. */
  readonly cwd?: string;
  readonly instructions?: string;
  /** What it calls itself. */
  readonly info?: JsonObject;
  /** Health checks and calls, oldest first. */
  readonly latency: readonly Latency[];
  readonly lastError?: {
    readonly at?: number;
    readonly code: ErrorCode;
    readonly message: string;
    readonly remedy: Remedy;
  };
  /** What a local server last wrote to stderr. */
  readonly stderr: string;
  readonly signIn?: SignInStatus;
  readonly tools: { readonly total: number } & Readonly<Record<ToolStatus, number>>;
}

/** Verbs that only the page uses. */
export interface StudioVerbs extends ConfigChangeVerbs, SavedVerbs {
  /** How things stand, and what needs attention. */
  overview(): Promise<Overview>;
  /** The tools that agents do not get; with `q` those that these words may mean. Starts no server. */
  heldTools(query?: { readonly q?: string; readonly server?: string }): Promise<HeldTools>;
  /** Everything about one server. Starts no server. */
  server(id: string): Promise<ServerDetails>;
  /**
   * Hears that calls were made, by any process over the same store, at most once a second: the servers that were called, as far as the
   * viewer sees them. The answer ends it.
   */
  followCalls(listener: (servers: readonly string[]) => void): () => void;
  /** The traffic in memory, oldest first, as far as the viewer sees all servers of a row (STUDIO-3). */
  traffic(filter?: TrafficFilter): TrafficRow[];
  /** Calls the listener for every new or changed row. Traffic is recorded until the returned function is called. */
  followTraffic(listener: (row: TrafficRow) => void, filter?: TrafficFilter): () => void;
}
