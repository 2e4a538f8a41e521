import type { Clock } from '../../kernel/clock.js';
import type { Requests } from '../upstream/requests.js';
import type { JsonObject } from '../../kernel/json.js';

/** What was agreed with a server when the connection was made, and how to listen on it. */
export interface NegotiatedSession {
  readonly era: 'legacy' | 'modern';
  readonly protocolVersion: string;
  /** What the server calls itself, if it does. */
  readonly info: JsonObject | undefined;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /** Modern servers only: subscribes to what the filter names; resolves when the server has accepted. */
  listen(filter: JsonObject, timeoutMs: number): Promise<Listening>;
}

/** A subscription. */
export interface Listening {
  close(): Promise<void>;
}

/** One way to a server, not yet spoken over. */
export interface Channel {
  readonly requests: Requests;
  readonly pid?: number;
  /** Ends it; resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** Who we are, and how long and until when a connection may take. */
export interface Terms {
  readonly clock: Clock;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** The capabilities that a legacy server gets in the handshake; a modern one gets them with every request. */
  readonly capabilities: JsonObject;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called with what a modern server says about itself when it says so too late to matter this time. */
  readonly onLate?: (discover: JsonObject) => void;
}
