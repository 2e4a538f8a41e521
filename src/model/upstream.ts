import type { Cancel } from '../kernel/async/cancel.js';
import type { ToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import type { Remedy } from '../kernel/remedy.js';
import type { Progress } from './call.js';
import type { Host } from './host.js';
import type { Server } from './server.js';

/** What may accompany one request to a server. */
export interface UpstreamRequest {
  readonly signal?: Cancel;
  /** Limit for the answer; every progress notification restarts it. */
  readonly timeoutMs?: number;
  /** What to do when that limit was too short, where it is not to ask for less or to raise the limit of the server. */
  readonly ifLate?: Remedy;
  /** The latest end (monotonic), whatever progress was reported and whatever host is being asked. */
  readonly deadline?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** The host that the server may ask during this request; without one its requests are declined. */
  readonly host?: Host;
  /** Called when a request of the server reached no host: there is none, or it does not support the method. */
  readonly onUnasked?: (method: string) => void;
  /**
   * Told `true` when the host is asked something, `false` when no question of this request is open any more. With `worked` the
   * server showed that it did not wait for the answer until now: it reported progress or gave its result.
   */
  readonly onAsking?: (isOpen: boolean, worked?: boolean) => void;
  /** Headers for this request alone, where the transport has such. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** For whom a server is asked, and for how long it may take. */
export interface Requester {
  /** The caller; rate limits and failures count for this principal. */
  readonly principal?: string;
  /** The host of the call; without one the connection that all share is used. */
  readonly host?: Host;
  readonly signal?: Cancel;
  /** The time limit that the caller chose: that it was too short says nothing about the server. */
  readonly timeoutMs?: number;
}

/** One request to a server, however often it has to be sent. */
export interface ServerRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** The time limit where the caller chose none; without it, the server's. */
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** Headers for the connection on which it is sent. */
  readonly headersFor?: (upstream: Upstream) => Readonly<Record<string, string>> | undefined;
  /** Whether it may be sent again although it may have arrived; without this it may not. */
  readonly mayRepeat?: (error: ToolscoutError) => boolean;
  /**
   * Asked after every wait, for the rate limit or for a retry: the server as it is configured now. It throws the
   * refusal of what may no longer be sent.
   */
  readonly recheck?: () => Server;
  /** Told when it waited for the rate limit, and for how many milliseconds. */
  readonly onWaited?: (ms: number) => void;
  /** Told each time the rate limit lets it pass; 0 is the first. */
  readonly onAttempt?: (attempt: number) => void;
  /** Asked with the connection that was chosen: what to wait for there first. `recheck` is asked after that. */
  readonly prepareOn?: (upstream: Upstream) => Promise<void> | undefined;
  /** Called with the connection on which it is about to be sent. */
  readonly onConnected?: (upstream: Upstream) => void;
  readonly onUnasked?: UpstreamRequest['onUnasked'];
  readonly onAsking?: UpstreamRequest['onAsking'];
}

/** A notification a server sent on its own account. */
export interface UpstreamNotification {
  readonly method: string;
  readonly params?: JsonObject;
}

/** How a server names itself. */
export type ServerInfo = JsonObject & { readonly name: string; readonly version: string; readonly title?: string };

/**
 * The port to one live server. Whatever the transport and the protocol era, a request is a method
 * and params, and the answer is the server's own object with nothing stripped.
 *
 * Failures are `ToolscoutError`s: `SERVER_CONNECTION_ERROR`, `AUTHENTICATION_FAILED`,
 * `TOOL_EXECUTION_TIMEOUT`, `CANCELLED`, `RATE_LIMITED`, or `TOOL_EXECUTION_ERROR` with `upstream`
 * set when the server itself answered with a JSON-RPC error. `delivered` is `false` only when
 * nothing can have reached the server.
 */
export interface Upstream {
  readonly server: string;
  readonly era: 'legacy' | 'modern';
  /** Whether the server speaks both eras, where that was tried. */
  readonly isDual?: boolean;
  readonly protocolVersion: string;
  readonly info: ServerInfo;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  readonly pid?: number;
  readonly closed: boolean;
  /**
   * On modern connections the answer may be an `input_required` result, but only when `host` is of the
   * modern era: any other host is asked, and the answer is the one after that.
   */
  request(method: string, params: JsonObject | undefined, options?: UpstreamRequest): Promise<JsonObject>;
  /** A request of this host will follow: what the server says until the answer is called is for the host. */
  awaitedBy?(host: Host): () => void;
  /** Sends a notification to the server. */
  tell(method: string, params?: JsonObject): void;
  /** Modern servers only: has changes of a resource announced until the answer is called. */
  watch?(uri: string): Promise<() => Promise<void>>;
  /** Resolves when the server answers a health check (CONN-5). */
  ping(timeoutMs: number): Promise<void>;
  onNotification(listener: (notification: UpstreamNotification) => void): () => void;
  /** Called once, when the connection has ended for whatever reason. */
  onClose(listener: (reason: Error | undefined) => void): () => void;
  close(): Promise<void>;
}
