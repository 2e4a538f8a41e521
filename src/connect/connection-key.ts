import type { JsonObject } from '../kernel/json.js';
import { EVERY_CAPABILITY, type Host } from '../model/host.js';

/**
 * For whom a connection to a legacy server is made. Such a server is told once what its client can do,
 * and asks that client back; so hosts share a connection only where what they declared is the same and
 * nobody can be asked in another's place. Modern servers are told with every request and need no keys.
 */
export interface ConnectionKey {
  readonly id: string;
  /** Declared to the server in the handshake. */
  readonly capabilities: JsonObject;
  /** The session it belongs to, when it is one host's alone. */
  readonly owner?: Host;
  /** A server that knows both eras is spoken to in this one, if a connection must be made. */
  readonly prefers?: 'legacy';
}

/** The key of discovery and of calls without a host: all is declared, so that lists are complete, and all is declined. */
export const SHARED: ConnectionKey = { id: 'shared', capabilities: EVERY_CAPABILITY };
