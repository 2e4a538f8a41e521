import type { Clock } from '../kernel/clock.js';
import { messageOf, ToolscoutError, toToolscoutError } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';
import type { ConnectionState, Server } from '../model/server.js';
import type { Upstream, UpstreamNotification } from '../model/upstream.js';
import { judgeFailure } from './breaker.js';
import { cancelledBeforeSent, neverSent, shuttingDown } from './pool-errors.js';
import type { Link, Opening, Slot, Waiter } from './pool-slot.js';
import { backoffMs } from './retry.js';

/** What making and ending connections needs. */
export interface LinksDeps {
  readonly open: (server: Server, signal: AbortSignal) => Promise<Upstream>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Called for every connection that new calls may use. */
  readonly onConnected: () => void;
  readonly onState: (slot: Slot, to: ConnectionState, reason?: string) => void;
  readonly onNotification: (slot: Slot, notification: UpstreamNotification) => void;
}

/** The life of connections: made once for many, used, retired, ended. */
export interface Links {
  /** Every connection that has not ended, retired ones included. */
  readonly all: ReadonlySet<Link>;
  /**
   * Waits for the connection of a slot, and starts to make one when nobody has. The answer counts
   * the caller as one who uses it.
   */
  join(slot: Slot, server: Server, signal: AbortSignal | undefined): Promise<Link>;
  /** One call less on a connection. */
  letGo(link: Link): void;
  /** Nothing new starts on what a slot has; what runs may finish. */
  retire(slot: Slot, reason: string): void;
  end(link: Link, to: ConnectionState, reason: string): void;
  /** Ends everything; resolves when all of it is closed, or after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** A server that refuses may ask for a long pause; it is believed up to this. */
const LONGEST_PAUSE_MS = 3_600_000;

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

  /** Takes a link out of use; true when that had not happened yet. */
  function drop(link: Link, to: ConnectionState, reason: string): boolean {
    if (link.ended) return false;
    link.ended = true;
    all.delete(link);
    if (link.slot.link === link) {
      link.slot.link = undefined;
      onState(link.slot, to, reason);
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
      if (slot.opening === opening) slot.opening = undefined;
    };
    let upstream: Upstream;
    try {
      upstream = await deps.open(server, controller.signal);
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
      const message = `Server "${slot.id}" ended right after it was connected.`;
      return refuse(opening, new ToolscoutError('SERVER_CONNECTION_ERROR', message));
    }
    admit(opening, upstream);
  }

  function admit(opening: Opening, upstream: Upstream): void {
    const { slot, server, waiters } = opening;
    const link: Link = {
      slot,
      upstream,
      server,
      // Whoever waits uses it at once, so it is busy before anybody could close it as idle.
      busy: waiters.size,
      lastUsed: clock.monotonic(),
      retired: opening.obsolete,
      ended: false,
      lossCounted: false,
    };
    all.add(link);
    upstream.onClose((reason) => {
      drop(link, reason ? 'error' : 'disconnected', reason?.message ?? 'the server closed the connection');
    });
    upstream.onNotification((notification) => {
      if (!link.retired) deps.onNotification(slot, notification);
    });
    if (!link.retired) {
      slot.link = link;
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
      const asked = Math.min(error.retryAfterMs ?? 0, LONGEST_PAUSE_MS);
      const pauseMs = Math.max(asked, backoffMs(server.retry, count - 1, deps.random));
      slot.failed = { error, count, until: clock.monotonic() + pauseMs };
      if (judgeFailure(error) === 'trouble') slot.breaker.fail();
      onState(slot, 'error', error.message);
      told = neverSent(error, pauseMs);
    }
    for (const waiter of waiters) waiter.reject(told);
  }

  function begin(slot: Slot, server: Server): Opening {
    const opening = { slot, server, controller: new AbortController(), waiters: new Set<Waiter>(), obsolete: false };
    slot.opening = opening;
    openings.add(opening);
    // Not before the first waiter stands in line.
    finish(Promise.resolve().then(() => establish(opening)));
    return opening;
  }

  function endWhenUnused(link: Link): void {
    if (link.retired && link.busy === 0) end(link, 'disconnected', 'retired');
  }

  return {
    all,
    end,

    async join(slot, server, signal) {
      const pauseMs = slot.failed ? slot.failed.until - clock.monotonic() : 0;
      if (slot.failed && pauseMs > 0) throw neverSent(slot.failed.error, Math.ceil(pauseMs));
      if (signal?.aborted) throw cancelledBeforeSent(server.id);
      const { waiters } = slot.opening ?? begin(slot, server);
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          waiters.delete(waiter);
          reject(cancelledBeforeSent(server.id));
        };
        const leave = (): void => signal?.removeEventListener('abort', onAbort);
        const waiter: Waiter = {
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
    },

    letGo(link) {
      link.busy--;
      link.lastUsed = clock.monotonic();
      endWhenUnused(link);
    },

    retire(slot, reason) {
      const { link, opening } = slot;
      slot.link = undefined;
      slot.opening = undefined;
      slot.failed = undefined;
      if (opening) opening.obsolete = true;
      onState(slot, 'disconnected', reason);
      if (!link) return;
      link.retired = true;
      endWhenUnused(link);
    },

    async stop(graceMs) {
      stopped = true;
      for (const opening of openings) opening.controller.abort(shuttingDown());
      for (const link of all) end(link, 'disconnected', 'toolscout is stopping');
      let timer: { cancel(): void } | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = clock.after(graceMs, resolve);
      });
      await Promise.race([Promise.all(unfinished), patience]);
      timer?.cancel();
    },
  };
}
