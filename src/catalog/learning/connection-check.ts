import { sleep, type Clock } from '../../kernel/clock.js';
import type { Server } from '../../model/server.js';
import type { Upstream } from '../../model/upstream.js';

/** Has the list of a server read on a new connection before the first request is sent there (A12). */
export interface ConnectionCheck {
  /** Resolves when the connection may be used; `undefined` when it may be at once. */
  before(server: Server, upstream: Upstream, connection: () => string): Promise<void> | undefined;
  /** A list was read on this connection. */
  noteListed(server: Server, upstream: Upstream): void;
}

/** What the check of a connection needs. */
export interface ConnectionCheckDeps {
  /** Connections that may be used at once: this adds them, and calls on them need not come here. */
  readonly ready: WeakSet<Upstream>;
  readonly clock: Clock;
  /** How long the first request waits; a list that takes longer, or is not given, does not stop it. */
  readonly patienceMs: () => number;
  /** Whether there is a list of the server to compare with, and the server may be asked for it now. */
  readonly isDue: (server: Server) => boolean;
  /** Reads the list, on this connection where possible. */
  readonly read: (server: Server, connection: string) => Promise<unknown>;
}

/**
 * A check that asks each new local process once, because it may be another version of its server; and a remote server once, because
 * all connections to it lead to the same program.
 */
export function createConnectionCheck({ ready, clock, patienceMs, isDue, read }: ConnectionCheckDeps): ConnectionCheck {
  const checks = new WeakMap<Upstream, Promise<void>>();
  const remotes = new Map<string, string>();
  const isRemote = ({ transport }: Server): boolean => transport.type !== 'stdio';

  const noteListed = (server: Server, upstream: Upstream): void => {
    ready.add(upstream);
    if (isRemote(server)) remotes.set(server.id, server.digest);
  };
  const check = async (server: Server, upstream: Upstream, connection: string): Promise<void> => {
    const patience = new AbortController();
    try {
      await Promise.race([read(server, connection), sleep(clock, patienceMs(), patience.signal)]);
    } finally {
      patience.abort();
      noteListed(server, upstream);
    }
  };
  return {
    noteListed,
    before(server, upstream, connection) {
      if (ready.has(upstream)) return undefined;
      const known = checks.get(upstream);
      if (known) return known;
      if (isRemote(server) && remotes.get(server.id) === server.digest) {
        ready.add(upstream);
        return undefined;
      }
      // Not noted: the next request on this connection is checked when it is due.
      if (!isDue(server)) return undefined;
      const running = check(server, upstream, connection());
      checks.set(upstream, running);
      return running;
    },
  };
}
