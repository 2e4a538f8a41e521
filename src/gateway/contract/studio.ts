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
    | 'config'
    | 'config-pending'
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
  readonly remedy: Remedy;
  readonly action?: Fix;
}

/** How things stand, for whoever opens the page. */
export interface Overview {
  /** There is no server at all. */
  readonly empty: boolean;
  readonly servers: { readonly total: number; readonly enabled: number } & Readonly<Record<Knowledge, number>>;
  readonly tools: { readonly total: number } & Readonly<Record<ToolStatus, number>>;
  /** Tokens of the definitions of all tools that are offered. */
  readonly everyTool: number;
  /** The last 24 hours, oldest first; `at` is the beginning of the hour. */
  readonly hours: ReadonlyArray<{ readonly at: number; readonly calls: number; readonly failed: number }>;
  readonly attention: readonly Attention[];
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

/** What the page shows that nobody else asks for. */
export interface StudioVerbs extends ConfigChangeVerbs, SavedVerbs {
  /** How things stand, and what needs attention. */
  overview(): Promise<Overview>;
  /** Everything about one server. Starts no server. */
  server(id: string): Promise<ServerDetails>;
  /** The traffic in memory, oldest first, as far as the viewer sees all servers of a row (STUDIO-3). */
  traffic(filter?: TrafficFilter): TrafficRow[];
  /** Hears of every row that is new or has changed. Traffic is recorded until the answer is called. */
  followTraffic(listener: (row: TrafficRow) => void, filter?: TrafficFilter): () => void;
}
