import type { JsonValue } from '../../kernel/json.js';
import type { Scope } from '../../model/principal.js';

/** A session ends after this at the latest; a browser keeps its cookie as long. */
export const SESSION_LIFETIME_MS = 12 * 3_600_000;

/** How a browser signed in: with a key, at the identity provider, or with a code that was made on this machine. */
export type SignInMethod = 'key' | 'oauth' | 'code';

/** A sign-in of a browser, and the credential that allowed it. */
export interface NewSession {
  readonly by: SignInMethod;
  /** The name, as it stands in the audit log. */
  readonly principal: string;
  readonly scopes: readonly Scope[];
  /** The only servers they see; all of them when absent. */
  readonly servers?: readonly string[];
  /** What let them in, by a name that gives nothing of it away. */
  readonly credential?: string;
  /** When that expires, in milliseconds since 1970. */
  readonly until?: number;
}

/** A session of a browser (STUDIO-6). Its token is known to the browser alone; the store has a hash of it. */
export interface Session extends NewSession {
  readonly id: string;
  readonly until: number;
}

/** Sessions of browsers, shared by all processes over one store. */
export interface SessionVerbs {
  /** Opens a session; the answer is its token. */
  open(session: NewSession): Promise<string>;
  /** The session of a token, unless it has ended or expired; it is seen by that. */
  find(token: string): Promise<Session | undefined>;
  /** Ends a session at once, in all processes. */
  end(token: string): Promise<void>;
  /** Whether a session that was found here has not ended since. */
  isLive(id: string): boolean;
  /** Calls the listener for sessions that end early, here or in another process. */
  onEnd(listener: (id: string) => void): () => void;
  /** Stores a value under a new ticket, which is valid once and for `lifetimeMs`; the answer is the ticket. */
  issueTicket(kind: string, value: JsonValue, lifetimeMs: number): Promise<string>;
  /** Takes what a ticket stands for; `undefined` when it is unknown, was used or has expired. */
  takeTicket(kind: string, ticket: string): Promise<JsonValue | undefined>;
}
