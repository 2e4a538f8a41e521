import type { JsonObject } from '../kernel/json.js';
import { EVERY_CAPABILITY, type Host } from '../model/host.js';
import type { Server } from '../model/server.js';

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

/** How the ids of connections begin that hosts of a group share. */
const GROUP = 'group:';

/** The id of the connection that is one host's. */
export function connectionIdOf({ id }: Pick<Host, 'id'>): string {
  return `host:${id}`;
}

/** Whether hosts of a group share a connection with this id. */
export function isGroupConnection(id: string): boolean {
  return id.startsWith(GROUP);
}

/**
 * The key of a call by its host. A child that supports both eras uses the era of its only host: nothing needs
 * translation, and its answers cost it and us a third less than those of the modern era.
 */
export function connectionKeyOf(
  host: Host | undefined,
  { transport }: Pick<Server, 'transport'>,
  isAsking: boolean,
): ConnectionKey {
  if (!host) return SHARED;
  const { capabilities, session } = host;
  // A process for each host is made only where the server has to know whom it asks.
  if (host.group !== undefined && host.group !== host.id && !isAsking && transport.type === 'stdio') {
    return { id: `${GROUP}${host.group}`, capabilities };
  }
  const isNative = host.sole === true && host.era === 'legacy' && transport.type === 'stdio';
  return { id: connectionIdOf(host), capabilities, owner: session, prefers: isNative ? 'legacy' : undefined };
}
