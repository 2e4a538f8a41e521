import type { ToolscoutError } from '../../kernel/errors.js';
import type { ConnectionState, Server, ServerHealth } from '../../model/server.js';
import type { Upstream } from '../../model/upstream.js';
import { SHARED, type ConnectionKey } from '../connection-key.js';
import type { ServerBreaker } from './breaker.js';
import type { StderrRing } from '../transport/stderr-ring.js';

/** Connections to one server at once, whatever the number of hosts. */
export const MAX_LANES = 32;

/** One connection and who is using it. */
export interface Link {
  readonly slot: Slot;
  readonly upstream: Upstream;
  /** What it is found under: the id of its key, or the shared one where the server needs no keys. */
  readonly key: string;
  /** How to treat it; a reload may change that without touching the connection. */
  server: Server;
  /** Calls that run on it now. */
  busy: number;
  /** Monotonic time of the end of the last call. */
  lastUsed: number;
  /** Only looked at so far, for a list or a sign of life: it is not kept for long. */
  brief: boolean;
  /** No new calls: it closes as soon as the running ones have ended. */
  retired: boolean;
  /** It was closed, or lost. */
  ended: boolean;
  /** Its loss was already counted against the server, however many calls it took down. */
  lossCounted: boolean;
}

/** A caller that waits for a connection that is being made. */
export interface Waiter {
  readonly key: ConnectionKey;
  readonly brief: boolean;
  resolve(link: Link): void;
  reject(error: ToolscoutError): void;
}

/** A connection that is being made, shared by all its waiters. */
export interface Opening {
  readonly slot: Slot;
  readonly server: Server;
  readonly key: ConnectionKey;
  readonly controller: AbortController;
  readonly waiters: Set<Waiter>;
  /** Resolves when it has led to a connection, or failed. */
  readonly settled: Promise<void>;
  /** The server was changed or removed meanwhile: the link serves only the present waiters. */
  obsolete: boolean;
}

/** Why the last attempt to connect failed, and until when no other is made. */
interface FailedOpening {
  readonly error: ToolscoutError;
  /** How many failed in a row. */
  readonly count: number;
  /** Monotonic. */
  readonly until: number;
}

/** The state of one server in the pool. */
export interface Slot {
  readonly id: string;
  readonly stderr: StderrRing;
  /** The configuration all of this belongs to. */
  digest: string;
  breaker: ServerBreaker;
  /** The era of the last connection; keys matter to legacy servers only. */
  era: 'legacy' | 'modern' | undefined;
  /** It has asked its host something before: no two hosts share a connection to it (STORE-6). */
  isAsking: boolean;
  /** It was asked to speak the older way and would not. */
  isModernOnly: boolean;
  /** The era in which it cannot ask its host. */
  unable: 'legacy' | 'modern' | undefined;
  /** By {@link Link.key}. */
  readonly links: Map<string, Link>;
  /** By the same key. */
  readonly openings: Map<string, Opening>;
  failed: FailedOpening | undefined;
  state: ConnectionState;
  /** Wall-clock. */
  since: number;
  latencyMs: number | undefined;
  lastError: string | undefined;
  noise: number;
  /** The last signs of life, oldest first. */
  readonly pings: Ping[];
}

/** One check whether a server is there. */
export interface Ping {
  /** Wall-clock. */
  readonly at: number;
  readonly ms: number;
  readonly ok: boolean;
}

/** Whether a connection stays open although no call uses it: the shared one of an eager server (NEG-7). */
export function isKept({ server, key }: Pick<Link, 'server' | 'key'>): boolean {
  return server.eager === true && key === SHARED.id;
}

/** Whether the request that decides about an open breaker runs on a connection that is there. */
export function isTried({ breaker, links }: Slot): boolean {
  return breaker.isTrying && [...links.values()].some(({ upstream }) => !upstream.closed);
}

/** Whether one more connection may be made. */
export function hasRoom(slot: Slot): boolean {
  return slot.links.size + slot.openings.size < MAX_LANES;
}

/** The connection that may make way for another, if there is one. */
export function quietest(slot: Slot): Link | undefined {
  let quiet: Link | undefined;
  for (const link of slot.links.values()) {
    if (link.busy === 0 && !isKept(link) && (!quiet || link.lastUsed < quiet.lastUsed)) quiet = link;
  }
  return quiet;
}

/** A slot as it is shown to people. */
export function healthOf(slot: Slot): ServerHealth {
  const link = slot.links.get(SHARED.id) ?? slot.links.values().next().value;
  const upstream = link?.upstream;
  return {
    state: slot.state,
    breaker: slot.breaker.state,
    since: slot.since,
    ...(upstream && { era: upstream.era, protocolVersion: upstream.protocolVersion }),
    ...(upstream?.pid !== undefined && { pid: upstream.pid }),
    ...(slot.latencyMs !== undefined && { latencyMs: slot.latencyMs }),
    ...(slot.lastError !== undefined && { lastError: slot.lastError }),
    ...(slot.noise > 0 && { noise: slot.noise }),
  };
}
