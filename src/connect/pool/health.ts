import type { Clock, Timer } from '../../kernel/clock.js';
import { isKept, type Link } from './slot.js';

/** Timers for unused connections. None runs while there is no connection. */
export interface Keeper {
  /** A connection was made, or is treated differently now. */
  watch(): void;
  stop(): void;
}

/** What looking after connections needs. */
export interface KeeperOptions {
  readonly clock: Clock;
  readonly links: ReadonlySet<Link>;
}

/**
 * Pings every connection at a fixed interval (CONN-5). One in use is left out: its calls are the
 * better check, and a server that is merely busy must not lose them. The interval may change at any time.
 */
export function createHealthTimer(
  options: KeeperOptions & { readonly intervalMs: () => number; readonly check: (link: Link) => Promise<void> },
): Keeper {
  const { clock, links, intervalMs, check } = options;
  let timer: Timer | undefined;
  /** The interval the timer was set for. */
  let setFor = 0;

  function tick(): void {
    timer = undefined;
    for (const link of links) if (link.busy === 0 && !link.retired) void check(link);
    watch();
  }

  function watch(): void {
    const wanted = intervalMs();
    if (timer && setFor === wanted) return;
    stop();
    setFor = wanted;
    if (wanted > 0 && links.size > 0) timer = clock.after(wanted, tick);
  }

  function stop(): void {
    timer?.cancel();
    timer = undefined;
  }

  return { watch, stop };
}

/**
 * Closes connections that were not used for their server's `idleTimeoutMs` (0: never); that of an eager server stays. One timer
 * for all of them, set to the earliest moment one can fall due, so that a call sets none.
 */
export function createIdleTimer(options: KeeperOptions & { readonly close: (link: Link) => void }): Keeper {
  const { clock, links, close } = options;
  let timer: Timer | undefined;
  let dueAt = Infinity;

  function sweep(): void {
    stop();
    const now = clock.monotonic();
    for (const link of links) if (link.busy === 0 && expiry(link, now) <= now) close(link);
    watch();
  }

  function watch(): void {
    const now = clock.monotonic();
    let earliest = Infinity;
    for (const link of links) earliest = Math.min(earliest, expiry(link, now));
    if (earliest >= dueAt) return;
    stop();
    dueAt = earliest;
    timer = clock.after(Math.max(1, Math.ceil(earliest - now)), sweep);
  }

  function stop(): void {
    timer?.cancel();
    timer = undefined;
    dueAt = Infinity;
  }

  return { watch, stop };
}

/** A connection that was only looked at is kept for what may follow at once: an announcement, a call. */
const BRIEF_IDLE_MS = 1000;

/** When a connection will have been idle for long enough; for a busy one, the earliest moment that can be. */
function expiry(link: Link, now: number): number {
  const { idleTimeoutMs } = link.server;
  if (link.ended || isKept(link)) return Infinity;
  const longest = idleTimeoutMs === 0 ? Infinity : idleTimeoutMs;
  return (link.busy > 0 ? now : link.lastUsed) + (link.brief ? Math.min(longest, BRIEF_IDLE_MS) : longest);
}
