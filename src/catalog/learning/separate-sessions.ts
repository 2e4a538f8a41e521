import type { Pool } from '../../connect/index.js';
import type { Server } from '../../model/server.js';
import type { Upstream } from '../../model/upstream.js';

/** Opens a connection that is not the pool's. */
export type OpenSession = (server: Server, signal: AbortSignal) => Promise<Upstream>;

/** The part of a pool that reading lists needs. */
export type Sessions = Pick<Pool, 'use' | 'isOpen'>;

/** Connections beside the pool: each is opened for one task and closed after it, and nobody else uses it. */
export function createSeparateSessions(open: OpenSession): Sessions {
  return {
    isOpen: () => false,
    async use(server, task, signal) {
      const stop = new AbortController();
      const onAbort = (): void => stop.abort(signal?.reason);
      if (signal?.aborted) onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      try {
        const upstream = await open(server, stop.signal);
        try {
          return await task(upstream);
        } finally {
          await upstream.close();
        }
      } finally {
        signal?.removeEventListener('abort', onAbort);
      }
    },
  };
}
