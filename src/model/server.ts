import type { AuthConfig, ServerAnswers, RateLimitConfig, RetryConfig, ScreenMode } from './config.js';

/** The variables that the problem of a server names as missing. */
export function missingVariables(problem: string): string[] {
  return [...problem.matchAll(/needs the environment variable (\w+)/g)].map((match) => match[1]!);
}

/** A local server: a child process that speaks over its stdin and stdout. */
export interface StdioTransport {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What stands before the command: a program that lets the server see less of this machine (A49). */
  readonly sandbox?: readonly string[];
}

/** A remote server: Streamable HTTP, or HTTP+SSE for old ones. */
export interface HttpTransport {
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How to sign in where the server asks for it; of no effect when `headers` carry an Authorization. */
  readonly auth?: AuthConfig;
}

/** How a server is reached. It contains expanded values, so it is never shown. */
export type Transport = StdioTransport | HttpTransport;

/** What may be shown of a transport: as it was written, without values of env and headers. */
export interface ShownTransport {
  readonly type: 'stdio' | 'http' | 'sse';
  /** Command with arguments, or URL; variables unexpanded, credentials masked. */
  readonly target: string;
  /** Names of the configured environment variables or headers. */
  readonly secrets: readonly string[];
}

/** The rest of what is approved with a server: everything but credentials. */
export interface ServerReview {
  /** Command with arguments, or URL, as written: variables with their defaults, credentials masked. */
  readonly target: string;
  /** The environment as written, credentials masked. */
  readonly env: ReadonlyArray<readonly [name: string, value: string]>;
  readonly cwd?: string;
  /** Variables of the user's environment that it is given, and where: `AWS_KEY in header X-Client`. */
  readonly uses: readonly string[];
  /** SHA-256 of headers, credentials and other texts with variables, as written; absent when it has none. */
  readonly written?: string;
}

/** Who configured a server: the user for themselves, or the author of a project for everyone who opens it. */
export type ServerScope = 'user' | 'project';

/** An upstream MCP server: where it came from, how to reach it, how to treat it. */
export interface Server {
  readonly id: string;
  readonly title?: string;
  /** What it is for, as the config says it. */
  readonly description?: string;
  /** Where it was configured: a file path, `demo`, or `library`. */
  readonly source: string;
  /** Whose file it was imported from: one in a project's folder was perhaps not written by this user (SEC-9). */
  readonly scope?: ServerScope;
  /** How an unconfigured server was found; such a server is pending until approved (SEC-9). */
  readonly origin?: 'registry' | 'introspected';
  readonly transport: Transport;
  readonly shown: ShownTransport;
  /** What the approver is shown in addition, for a server that another person configured (A42). */
  readonly review?: ServerReview;
  /** Changes whenever anything that matters for connecting changes, credentials included. */
  readonly digest: string;
  readonly enabled: boolean;
  /** Why it cannot be used at all although it is enabled, e.g. a missing variable. */
  readonly problem?: string;
  readonly tags: readonly string[];
  /** What it is declared to offer to skills (NEG-1). */
  readonly capabilities?: readonly string[];
  /** Started with toolscout and kept running (NEG-7). */
  readonly eager?: boolean;
  /**
   * Tools that the user's client runs without asking, names or patterns with `*` and `?`. They give no permission here;
   * the names are the last that is known of a server that lists nothing.
   */
  readonly autoApproved?: readonly string[];
  readonly timeoutMs: number;
  /** How long one call may last in all, however much progress it reports. */
  readonly totalTimeoutMs: number;
  readonly toolTimeoutsMs: Readonly<Record<string, number>>;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** `false`: none. */
  /** What answers of its tools may cost, where the config says it for this server (ANS-1). */
  readonly answers?: ServerAnswers;
  /** What is done about its results that show signs of an attack, where the config says it for this server. */
  readonly screenResults?: ScreenMode;
  readonly rateLimit: RateLimitConfig | false;
  readonly retry: RetryConfig;
}

/** What is known of the connection to a server (CONN-5). */
export type ConnectionState = 'connected' | 'disconnected' | 'error';

/** The circuit breaker of a server (CONN-3). */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** The state of one server's connection, for people and health checks. */
export interface ServerHealth {
  readonly state: ConnectionState;
  readonly breaker: BreakerState;
  readonly era?: 'legacy' | 'modern';
  readonly protocolVersion?: string;
  readonly pid?: number;
  /** Wall-clock time of the last change of state. */
  readonly since: number;
  readonly latencyMs?: number;
  readonly lastError?: string;
  /** Lines on stdout that were not protocol (S22). */
  readonly noise?: number;
}
