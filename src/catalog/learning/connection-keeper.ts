import { backoffMs, type Pool } from '../../connect/index.js';
import type { Clock, Timer } from '../../kernel/clock.js';
import { messageOf, toToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import type { Server } from '../../model/server.js';
import type { Catalog } from '../catalog.js';
import type { Learner } from './learner.js';
import { isUsable } from '../catalog.js';

/** Connects eager servers and those that skills wait for, and tries again with backoff until they are back (NEG-4, NEG-7). */
export interface ConnectionKeeper {
  /** Names further servers to try again, besides the eager ones. */
  also(servers: () => ReadonlySet<string>): void;
  /** Begins; nothing is connected before. */
  start(): void;
  /** Looks again at which servers are wanted and not connected. */
  check(): void;
  close(): void;
}

/** What keeping connections needs. */
export interface ConnectionKeeperDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly pool: Pool;
  readonly learner: Learner;
  readonly events: { on(listener: (event: { readonly type: string }) => void): () => void };
  readonly catalog: () => Catalog;
  readonly hide: (text: string) => string;
}

/** Events that come together lead to one check; skills settle within a shorter time. */
const SETTLE_MS = 50;

/** A server that stayed connected for this long has recovered: its next loss counts as the first. */
const STABLE_MS = 60_000;

/** No pause between two attempts is shorter, whatever the retry policy says. */
const MIN_PAUSE_MS = 20;

interface Attempts {
  /** Failed or lost in a row. */
  count: number;
  /** Monotonic time of the last successful connection. */
  connectedAt?: number;
  timer?: Timer;
  running: boolean;
}

/** A keeper that has not begun. */
export function createConnectionKeeper(deps: ConnectionKeeperDeps): ConnectionKeeper {
  const { clock, log, pool, learner } = deps;
  const attempts = new Map<string, Attempts>();
  let others: () => ReadonlySet<string> = () => new Set();
  let settling: Timer | undefined;
  let state: 'new' | 'started' | 'closed' = 'new';

  /** Of the catalog, not of the config: what waits for approval must not start (SEC-9). */
  const wanted = (): Map<string, Server> => {
    const catalog = deps.catalog();
    const struggling = others();
    const isWanted = (server: Server): boolean => {
      // A server that never shook hands has no connection to keep (DISC-6).
      if (!isUsable(server) || catalog.list(server.id)?.rung !== undefined) return false;
      // The end of the learning is an event, which leads to another check.
      if (learner.isLearning(server.id)) return false;
      if (struggling.has(server.id)) return true;
      return server.eager === true && pool.health(server.id).state !== 'connected';
    };
    return new Map([...catalog.servers].filter(([, server]) => isWanted(server)));
  };

  const connect = async (server: Server): Promise<void> => {
    if (deps.catalog().list(server.id)) await pool.ping(server);
    else await learner.learn(server);
  };

  const attempt = async (id: string, own: Attempts): Promise<void> => {
    own.timer = undefined;
    const server = wanted().get(id);
    if (!server) return;
    own.running = true;
    let askedMs = 0;
    try {
      await connect(server);
      own.connectedAt = clock.monotonic();
    } catch (thrown) {
      askedMs = toToolscoutError(thrown).retryAfterMs ?? 0;
      log.warn('connect.retry', { server: id, attempt: own.count + 1, reason: deps.hide(messageOf(thrown)) });
    } finally {
      own.running = false;
    }
    if (wanted().has(id)) schedule(server, own, askedMs);
  };

  const schedule = (server: Server, own: Attempts, askedMs = 0): void => {
    if (own.timer || own.running || state !== 'started') return;
    const isStable = own.connectedAt !== undefined && clock.monotonic() - own.connectedAt >= STABLE_MS;
    if (isStable) own.count = 0;
    own.connectedAt = undefined;
    const pauseMs = Math.max(MIN_PAUSE_MS, askedMs, backoffMs(server.retry, own.count, deps.random));
    own.count += 1;
    own.timer = clock.after(pauseMs, () => void attempt(server.id, own));
  };

  const check = (): void => {
    settling = undefined;
    if (state !== 'started') return;
    const missed = wanted();
    for (const [id, server] of missed) {
      const own = attempts.get(id);
      if (own) schedule(server, own);
      else {
        const first: Attempts = { count: 0, running: false };
        attempts.set(id, first);
        // An eager server starts at once; a server that has just failed is given a pause.
        if (server.eager && pool.health(id).state === 'disconnected') void attempt(id, first);
        else schedule(server, first);
      }
    }
    const { servers } = deps.catalog();
    for (const [id, own] of attempts) {
      if (missed.has(id) || own.running) continue;
      own.timer?.cancel();
      own.timer = undefined;
      if (!servers.has(id)) attempts.delete(id);
      else if (!learner.isLearning(id)) own.connectedAt ??= clock.monotonic();
    }
  };
  const soon = (): void => {
    if (state === 'started') settling ??= clock.after(SETTLE_MS, check);
  };
  const forget = deps.events.on(({ type }) => {
    if (type === 'state' || type === 'learned' || type === 'learn-failed' || type === 'reloaded') soon();
    if (type === 'reconsidered') soon();
  });

  return {
    also(servers) {
      others = servers;
    },
    start() {
      if (state === 'closed') return;
      state = 'started';
      check();
    },
    check: soon,
    close() {
      state = 'closed';
      forget();
      settling?.cancel();
      for (const { timer } of attempts.values()) timer?.cancel();
      attempts.clear();
    },
  };
}
