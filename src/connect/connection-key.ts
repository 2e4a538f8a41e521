import type { JsonObject } from '../kernel/json.js';
import { EVERY_CAPABILITY, type Host } from '../model/host.js';

/**
 * For whom a connection to a legacy server is made. The handshake declares the client's capabilities once, and the
 * server sends its requests to that client; so hosts share a connection only where they declared the same and no
 * request could reach the wrong host. Modern servers get the capabilities with every request and need no keys.
 */
export interface ConnectionKey {
  readonly id: string;
  /** Declared to the server in the handshake. */
  readonly capabilities: JsonObject;
  /** The session it belongs to, when it is one host's alone. */
  readonly owner?: Host;
  /** The era to use with a server that supports both, if a connection must be made. */
  readonly prefers?: 'legacy';
}

/** The key of discovery and of calls without a host: all is declared, so that lists are complete, and all is declined. */
export const SHARED: ConnectionKey = { id: 'shared', capabilities: EVERY_CAPABILITY };
