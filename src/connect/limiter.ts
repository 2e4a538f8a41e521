import type { Clock, Timer } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { Server } from '../model/server.js';

/** The token buckets of all servers (CONN-7). They outlive connections, discoveries and reloads. */
export interface Limiter {
  /**
   * Takes a token, or refuses.
   *
   * @throws ToolscoutError `RATE_LIMITED` with `retryAfterMs`.
   */
  take(server: Server): void;
  /** Takes a token as soon as there is one; whoever asked first is served first. */
  wait(server: Server, signal?: AbortSignal): Promise<void>;
}

interface Waiter {
  readonly serve: () => void;
}

interface Bucket {
  requestsPerSecond: number;
  burstSize: number;
  tokens: number;
  /** Monotonic time up to which tokens were added. */
  filledAt: number;
  /** In order of arrival. */
  readonly waiters: Set<Waiter>;
  timer: Timer | undefined;
}

/** Time is a float, so a token that is due may be missing this much of itself. */
const ROUNDING = 1e-6;

/** No wait is longer, so that a tiny rate cannot overflow a timer. */
const LONGEST_WAIT_MS = 86_400_000;

/** Buckets that fill by a clock; each is made full when its server is first seen. */
export function createLimiter(deps: { readonly clock: Clock }): Limiter {
  const { clock } = deps;
  const buckets = new Map<string, Bucket>();

  function refill(bucket: Bucket): void {
    const now = clock.monotonic();
    const added = ((now - bucket.filledAt) / 1000) * bucket.requestsPerSecond;
    bucket.tokens = Math.min(bucket.burstSize, bucket.tokens + added);
    bucket.filledAt = now;
  }

  function spend(bucket: Bucket): boolean {
    if (bucket.tokens < 1 - ROUNDING) return false;
    bucket.tokens = Math.max(0, bucket.tokens - 1);
    return true;
  }

  /** How long until the bucket holds `count` tokens. */
  function msUntil(bucket: Bucket, count: number): number {
    const ms = Math.ceil(((count - bucket.tokens) / bucket.requestsPerSecond) * 1000);
    return Math.min(LONGEST_WAIT_MS, Math.max(1, ms));
  }

  function serveWaiters(bucket: Bucket): void {
    bucket.timer?.cancel();
    bucket.timer = undefined;
    refill(bucket);
    for (const waiter of bucket.waiters) {
      if (!spend(bucket)) break;
      bucket.waiters.delete(waiter);
      waiter.serve();
    }
    wakeLater(bucket);
  }

  /** The process must not end while somebody waits for a token, and must not wait when nobody does. */
  function wakeLater(bucket: Bucket): void {
    if (bucket.waiters.size === 0) {
      bucket.timer?.cancel();
      bucket.timer = undefined;
    } else bucket.timer ??= clock.after(msUntil(bucket, 1), () => serveWaiters(bucket), { awaited: true });
  }

  /** The bucket of a server, filled up to now, with the limits of its current configuration. */
  function bucketOf(server: Server): Bucket {
    const { requestsPerSecond, burstSize } = server.rateLimit;
    let bucket = buckets.get(server.id);
    if (!bucket) {
      bucket = {
        requestsPerSecond,
        burstSize,
        tokens: burstSize,
        filledAt: clock.monotonic(),
        waiters: new Set(),
        timer: undefined,
      };
      buckets.set(server.id, bucket);
      return bucket;
    }
    refill(bucket);
    if (bucket.requestsPerSecond !== requestsPerSecond || bucket.burstSize !== burstSize) {
      Object.assign(bucket, { requestsPerSecond, burstSize, tokens: Math.min(bucket.tokens, burstSize) });
    }
    if (bucket.waiters.size > 0) serveWaiters(bucket);
    return bucket;
  }

  return {
    take(server) {
      const bucket = bucketOf(server);
      // Tokens belong to those who already wait; a newcomer does not overtake them.
      if (bucket.waiters.size === 0 && spend(bucket)) return;
      const retryAfterMs = msUntil(bucket, bucket.waiters.size + 1);
      throw new ToolscoutError(
        'RATE_LIMITED',
        `Server "${server.id}" is limited to ${bucket.requestsPerSecond} requests per second; try again in ${retryAfterMs} ms.`,
        { retryAfterMs, delivered: false },
      );
    },

    async wait(server, signal) {
      signal?.throwIfAborted();
      const bucket = bucketOf(server);
      if (bucket.waiters.size === 0 && spend(bucket)) return;
      await new Promise<void>((resolve, reject) => {
        const onAbort = (): void => {
          bucket.waiters.delete(waiter);
          wakeLater(bucket);
          reject(signal?.reason as Error);
        };
        const waiter: Waiter = {
          serve: () => {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        bucket.waiters.add(waiter);
        signal?.addEventListener('abort', onAbort, { once: true });
        wakeLater(bucket);
      });
    },
  };
}
