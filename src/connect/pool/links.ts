import { unlessCancelled, type Cancel } from '../../kernel/async/cancel.js';
import type { Clock } from '../../kernel/clock.js';
import { messageOf, ToolscoutError, toToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import { canBeAsked } from '../../model/host.js';
import type { Host } from '../../model/host.js';
import type { ConnectionState, Server } from '../../model/server.js';
import type { Upstream, UpstreamNotification } from '../../model/upstream.js';
import { judgeFailure } from './breaker.js';
import { SHARED, type ConnectionKey } from '../connection-key.js';
import { cancelledBeforeSent, crowded, neverSent, shuttingDown } from './errors.js';
import { hasRoom, isKept, MAX_LANES, quietest, type Link, type Opening, type Slot, type Waiter } from './slot.js';
import { backoffMs } from './retry-policy.js';
import { eraChanged } from '../upstream/errors.js';

/** What making and ending connections needs. */
export interface LinksDeps {
  readonly open: (server: Server, signal: AbortSignal, key: ConnectionKey) => Promise<Upstream>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Called for every connection that new calls may use. */
  readonly onConnected: () => void;
  readonly onState: (slot: Slot, to: ConnectionState, reason?: string) => void;
  readonly onNotification: (link: Link, notification: UpstreamNotification) => void;
}

/** The life of connections: made once for many, used, retired, ended. */
export interface Links {
  /** Every connection that has not ended, retired ones included. */
  readonly all: ReadonlySet<Link>;
  /**
   * Waits for the connection of a slot for a key, and starts one when none is being made. The caller counts as a user
   * of the connection that it gets.
   */
  join(slot: Slot, server: Server, wish: Wish): Promise<Link>;
  /** One call less on a connection. */
  letGo(link: Link): void;
  /** Nothing new starts on what a slot has; what runs may finish. */
  retire(slot: Slot, reason: string): void;
  /** The same for one connection of a slot. */
  retireConnection(slot: Slot, connection: string): void;
  end(link: Link, to: ConnectionState, reason: string): void;
  /** Ends everything; resolves when all of it is closed, or after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** For whom a connection is wanted, and how. */
export interface Wish {
  /** Asked again after a wait: what is known of the server by then may lead to another connection. */
  readonly keyFor: () => ConnectionKey;
  readonly brief: boolean;
  readonly signal: Cancel | undefined;
}

/** A server that refuses may ask for a long pause; it is believed up to this. */
const MAX_PAUSE_MS = 3_600_000;

/** No connections yet. */
export function createLinks(deps: LinksDeps): Links {
  const { clock, log, onState } = deps;
  const all = new Set<Link>();
  const openings = new Set<Opening>();
  const unfinished = new Set<Promise<void>>();
  let stopped = false;

  function finish(work: Promise<void>): void {
    unfinished.add(work);
    void work.then(() => unfinished.delete(work));
  }

  async function closeQuietly(upstream: Upstream): Promise<void> {
    try {
      await upstream.close();
    } catch (thrown) {
      // It is out of use either way; the log keeps the reason.
      log.warn('connect.close', { server: upstream.server, error: messageOf(thrown) });
    }
  }

  /** Takes a link out of use; true when that had not happened yet. Without `to` another connection is about to take its place. */
  function drop(link: Link, to?: ConnectionState, reason?: string): boolean {
    if (link.ended) return false;
    link.ended = true;
    all.delete(link);
    const { slot, key } = link;
    if (slot.links.get(key) === link) {
      slot.links.delete(key);
      if (to === undefined) return true;
      // While another connection is open, so is the server.
      if (slot.links.size === 0) onState(slot, to, reason);
    }
    return true;
  }

  function end(link: Link, to: ConnectionState, reason: string): void {
    if (drop(link, to, reason)) finish(closeQuietly(link.upstream));
  }

  async function establish(opening: Opening): Promise<void> {
    const { slot, server, controller } = opening;
    const settled = (): void => {
      openings.delete(opening);
      for (const [key, each] of slot.openings) if (each === opening) slot.openings.delete(key);
    };
    let upstream: Upstream;
    try {
      upstream = await deps.open(server, controller.signal, opening.key);
    } catch (thrown) {
      settled();
      return refuse(opening, toToolscoutError(thrown, 'SERVER_CONNECTION_ERROR'));
    }
    settled();
    if (stopped) {
      refuse(opening, shuttingDown());
      return closeQuietly(upstream);
    }
    if (upstream.closed) {
      const message = `The server "${slot.id}" closed the connection immediately after connecting.`;
      return refuse(opening, new ToolscoutError('SERVER_CONNECTION_ERROR', message));
    }
    admit(opening, upstream);
  }

  function admit(opening: Opening, upstream: Upstream): void {
    const { slot, server } = opening;
    const isModern = upstream.era === 'modern';
    slot.era = upstream.isDual ? 'modern' : upstream.era;
    if (upstream.isDual !== undefined) slot.isModernOnly = !upstream.isDual;
    const key = isModern ? SHARED.id : opening.key.id;
    // Who came along because the server was modern, which it no longer is, must not use the connection of another host.
    const waiters = [...opening.waiters].filter((waiter) => {
      const fits = isModern || waiter.key.id === key;
      if (!fits) waiter.reject(eraChanged(slot.id));
      return fits;
    });
    const present = slot.links.get(key);
    if (present && !present.upstream.closed) {
      // The server refused the legacy era, and the shared connection exists already.
      present.busy += waiters.length;
      for (const waiter of waiters) waiter.resolve(present);
      return finish(closeQuietly(upstream));
    }
    const link: Link = {
      slot,
      key,
      upstream,
      server,
      // Waiters use it at once, so it is busy before the idle timer could close it.
      busy: waiters.length,
      brief: waiters.every(({ brief }) => brief),
      lastUsed: clock.monotonic(),
      retired: opening.obsolete,
      ended: false,
      lossCounted: false,
    };
    all.add(link);
    upstream.onClose((reason) => {
      // It was cut off, and asked for a pause before it is connected again.
      if (reason instanceof ToolscoutError && reason.retryAfterMs !== undefined && !link.retired) {
        slot.failed = { error: reason, count: 1, until: clock.monotonic() + reason.retryAfterMs };
      }
      drop(link, reason ? 'error' : 'disconnected', reason?.message ?? 'the server closed the connection');
    });
    upstream.onNotification((notification) => {
      if (!link.retired) deps.onNotification(link, notification);
    });
    if (!link.retired) {
      slot.links.set(key, link);
      slot.failed = undefined;
      onState(slot, 'connected');
      deps.onConnected();
    }
    for (const waiter of waiters) waiter.resolve(link);
    endWhenUnused(link);
  }

  function refuse(opening: Opening, error: ToolscoutError): void {
    const { slot, server, waiters } = opening;
    let told = neverSent(error);
    if (stopped) told = shuttingDown();
    else if (!opening.obsolete) {
      const count = (slot.failed?.count ?? 0) + 1;
      const asked = Math.min(error.retryAfterMs ?? 0, MAX_PAUSE_MS);
      const pauseMs = Math.max(asked, backoffMs(server.retry, count - 1, deps.random));
      slot.failed = { error, count, until: clock.monotonic() + pauseMs };
      if (judgeFailure(error) === 'trouble') slot.breaker.fail(error);
      onState(slot, 'error', error.message);
      told = neverSent(error, pauseMs);
    }
    for (const waiter of waiters) waiter.reject(told);
  }

  /** Makes room for one more connection: the one that was quiet longest goes. */
  function makeRoom(slot: Slot): void {
    if (hasRoom(slot)) return;
    const quiet = quietest(slot);
    if (!quiet) throw crowded(slot.id, MAX_LANES);
    end(quiet, 'disconnected', 'another host needs the place');
  }

  /** The key as there is room for it: a host that gets no connection of its own era uses the one that all share. */
  function withinRoom(slot: Slot, key: ConnectionKey): ConnectionKey {
    const isOther = key.prefers !== undefined && slot.era === 'modern' && !slot.openings.has(key.id);
    return isOther && !hasRoom(slot) && !quietest(slot) ? SHARED : key;
  }

  /** Ends processes that were started for a list alone: the one that a call starts now is asked for its list as well. */
  function replaceListed(slot: Slot, { transport }: Server): void {
    if (transport.type !== 'stdio') return;
    for (const link of slot.links.values()) {
      if (link.brief && link.busy === 0 && !isKept(link) && drop(link)) finish(closeQuietly(link.upstream));
    }
  }

  function begin(slot: Slot, server: Server, key: ConnectionKey, brief: boolean): Opening {
    if (!brief) replaceListed(slot, server);
    makeRoom(slot);
    let settle = (): void => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const controller = new AbortController();
    const opening = { slot, server, key, controller, waiters: new Set<Waiter>(), settled, obsolete: false };
    slot.openings.set(connectionIdFor(slot, key), opening);
    openings.add(opening);
    // Not before the first waiter stands in line.
    finish(
      Promise.resolve()
        .then(() => establish(opening))
        .finally(settle),
    );
    return opening;
  }

  function wait(
    { waiters }: Opening,
    id: string,
    { key, brief, signal }: Omit<Wish, 'keyFor'> & { readonly key: ConnectionKey },
  ): Promise<Link> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        waiters.delete(waiter);
        reject(cancelledBeforeSent(id));
      };
      const leave = (): void => signal?.removeEventListener('abort', onAbort);
      const waiter: Waiter = {
        key,
        brief,
        resolve(link) {
          leave();
          resolve(link);
        },
        reject(error) {
          leave();
          reject(error);
        },
      };
      waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  function endWhenUnused(link: Link): void {
    if (link.retired && link.busy === 0) end(link, 'disconnected', 'retired');
  }

  return {
    all,
    end,

    async join(slot, server, wish) {
      for (;;) {
        const pauseMs = slot.failed ? slot.failed.until - clock.monotonic() : 0;
        if (slot.failed && pauseMs > 0) throw neverSent(slot.failed.error, Math.ceil(pauseMs));
        if (wish.signal?.aborted) throw cancelledBeforeSent(server.id);
        const key = withinRoom(slot, wish.keyFor());
        const link = takeLink(slot, key, wish.brief);
        if (link) return link;
        const under = slot.openings.get(connectionIdFor(slot, key));
        // The first connection shows whether keys matter; no second one starts before that is known.
        const pioneer = slot.era === undefined ? slot.openings.values().next().value : undefined;
        if (under || !pioneer) return wait(under ?? begin(slot, server, key, wish.brief), server.id, { ...wish, key });
        // What aborted the wait is said in the next round.
        await unlessCancelled(pioneer.settled, wish.signal).catch(() => undefined);
      }
    },

    letGo(link) {
      link.busy--;
      link.lastUsed = clock.monotonic();
      endWhenUnused(link);
    },

    retire(slot, reason) {
      const links = [...slot.links.values()];
      for (const opening of slot.openings.values()) opening.obsolete = true;
      slot.links.clear();
      slot.openings.clear();
      slot.failed = undefined;
      slot.era = undefined;
      slot.isModernOnly = false;
      onState(slot, 'disconnected', reason);
      for (const link of links) {
        link.retired = true;
        endWhenUnused(link);
      }
    },

    retireConnection(slot, connection) {
      const opening = slot.openings.get(connection);
      const link = slot.links.get(connection);
      if (opening) opening.obsolete = true;
      slot.openings.delete(connection);
      if (!link || connection === SHARED.id) return;
      link.retired = true;
      endWhenUnused(link);
    },

    async stop(graceMs) {
      stopped = true;
      for (const opening of openings) opening.controller.abort(shuttingDown());
      for (const link of all) end(link, 'disconnected', 'toolscout is stopping');
      let timer: { cancel(): void } | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = clock.after(graceMs, resolve, { awaited: true });
      });
      await Promise.race([Promise.all(unfinished), patience]);
      timer?.cancel();
    },
  };
}

/** Under which id the connection for a key is found. */
function connectionIdFor(slot: Slot, key: ConnectionKey): string {
  if (slot.era !== 'modern') return key.id;
  if (!key.prefers || slot.isModernOnly) return SHARED.id;
  // Many servers of both eras can ask their host in the older one only, so a host that can be asked gets a connection of it.
  if (canBeAsked(key.capabilities)) return key.id;
  // An open connection serves every other key; the preference counts only when a connection must be made.
  return slot.links.has(key.id) || !slot.links.has(SHARED.id) ? key.id : SHARED.id;
}

/** The connection for a key, counted as used by one more; `undefined` when one must be made. */
export function takeLink(slot: Slot, key: ConnectionKey, brief: boolean): Link | undefined {
  const link = slot.links.get(connectionIdFor(slot, key));
  if (!link || link.upstream.closed) return undefined;
  link.busy++;
  if (!brief) link.brief = false;
  return link;
}

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
 * The key of a call by its host. A child that supports both eras uses the era of a host of the older one: its only host needs no
 * translation then, and its answers cost it and us a third less; and many servers can ask a host in the older era alone.
 */
export function connectionKeyOf(
  host: Host | undefined,
  { transport }: Pick<Server, 'transport'>,
  slot: Slot,
): ConnectionKey {
  if (!host) return SHARED;
  const { capabilities, session } = host;
  const id = connectionIdOf(host);
  const isChild = transport.type === 'stdio';
  const prefers = preferredEra(host, isChild, slot);
  // A process for each host is made only where the server has to know whom it asks.
  if (isChild && !slot.isAsking && !slot.links.has(id)) {
    const isNative = prefers !== undefined && slot.era === 'modern';
    const group = host.group ?? (isNative ? host.alike : undefined);
    if (group !== undefined && group !== host.id) return { id: `${GROUP}${group}`, capabilities, prefers };
  }
  return { id, capabilities, owner: session, prefers };
}

function preferredEra(host: Host, isChild: boolean, { era, unable }: Slot): 'legacy' | undefined {
  const isNative = isChild && host.era === 'legacy';
  // Nearly every call ends here: nothing is known against the era, and the server has one or its only host decides.
  if (unable === undefined && (host.sole === true || era === 'legacy' || !isNative))
    return isNative ? 'legacy' : undefined;
  const isAskable = canBeAsked(host.capabilities);
  if (isAskable && unable !== undefined) return unable === 'modern' ? 'legacy' : undefined;
  return isNative && (host.sole === true || isAskable) ? 'legacy' : undefined;
}
