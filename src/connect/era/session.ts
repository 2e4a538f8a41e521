import type { Clock } from '../../kernel/clock.js';
import type { Requests } from '../upstream/requests.js';
import type { JsonObject } from '../../kernel/json.js';

/** What was agreed with a server when the connection was made, and how to listen on it. */
export interface Session {
  readonly era: 'legacy' | 'modern';
  readonly protocolVersion: string;
  /** What the server calls itself, if it does. */
  readonly info: JsonObject | undefined;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /** Modern servers only: begins to hear of what the filter names; resolves when the server has agreed. */
  listen(filter: JsonObject, timeoutMs: number): Promise<Listening>;
}

/** What a server was asked to tell. */
export interface Listening {
  close(): Promise<void>;
}

/** One way to a server, not yet spoken over. */
export interface Link {
  readonly requests: Requests;
  readonly pid?: number;
  /** Ends it; resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** Who we are, and how long and until when a connection may take. */
export interface Terms {
  readonly clock: Clock;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** What a legacy server is told we can do; a modern one is told with every request. */
  readonly capabilities: JsonObject;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called with what a modern server says about itself when it says so too late to matter this time. */
  readonly onLate?: (discover: JsonObject) => void;
}
