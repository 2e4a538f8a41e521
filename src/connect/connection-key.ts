import type { JsonObject } from '../kernel/json.js';
import { EVERY_CAPABILITY, type Host } from '../model/host.js';
import type { Server } from '../model/server.js';

/**
 * For whom a connection to a legacy server is made. Such a server is told once what its client can do,
 * and asks that client back; so hosts share a connection only where what they declared is the same and
 * nobody can be asked in another's place. Modern servers are told with every request and need no lanes.
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

/** The lane of discovery and of calls without a host: all is declared, so that lists are complete, and all is declined. */
export const SHARED: ConnectionKey = { id: 'shared', capabilities: EVERY_CAPABILITY };

/** The id of the lane that is one host's. */
export function connectionIdOf({ id }: Pick<Host, 'id'>): string {
  return `host:${id}`;
}

/**
 * The lane of a call by its host. A child that knows both eras is spoken to as its only host speaks:
 * nothing needs translation, and its answers cost it and us a third less than those of the modern era.
 */
export function laneOf(host: Host | undefined, { transport }: Pick<Server, 'transport'>): ConnectionKey {
  if (!host) return SHARED;
  const { capabilities, session } = host;
  const isNative = host.sole === true && host.era === 'legacy' && transport.type === 'stdio';
  return { id: connectionIdOf(host), capabilities, owner: session, prefers: isNative ? 'legacy' : undefined };
}
