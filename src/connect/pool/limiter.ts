import type { Clock, Timer } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Server } from '../../model/server.js';

/** The token buckets of all servers (CONN-7). They outlive connections, discoveries and reloads. */
export interface Limiter {
  /**
   * Takes a token for a principal, or refuses. While several principals use a server, each has an equal share of its
   * rate, so that one of them cannot use up what the others need (A43).
   *
   * @throws ToolscoutError `RATE_LIMITED` with `retryAfterMs`.
   */
  take(server: Server, principal?: string): void;
  /**
   * Takes a token as soon as there is one. Principals are served in turn, each in the order of its requests, so that one that
   * waits many times does not make the others wait for all of them (A43).
   */
  wait(server: Server, signal?: AbortSignal, principal?: string): Promise<void>;
}

interface Waiter {
  readonly principal: string;
  /** The round in which it is served. */
  readonly round: number;
  readonly serve: () => void;
}

/** Tokens that fill up with time. */
interface Tokens {
  tokens: number;
  /** Monotonic time up to which tokens were added. */
  filledAt: number;
}

/** The part of a server's rate that one principal has; `filledAt` is also when the principal last asked. */
type Share = Tokens;

interface Bucket extends Tokens {
  requestsPerSecond: number;
  burstSize: number;
  /** Those who asked lately. */
  readonly shares: Map<string, Share>;
  /** In order of arrival. */
  readonly waiters: Set<Waiter>;
  /** The round that was served last. */
  round: number;
  timer: Timer | undefined;
}

/** Time is a float, so a token that is due may be missing this much of itself. */
const ROUNDING = 1e-6;

/** A principal that did not ask for so long has no share any more. */
const ACTIVE_MS = 10_000;

/** No wait is longer, so that a tiny rate cannot overflow a timer. */
const MAX_WAIT_MS = 86_400_000;

/** Buckets that fill by a clock; each is made full when its server is first seen. */
export function createLimiter(deps: { readonly clock: Clock }): Limiter {
  const { clock } = deps;
  const buckets = new Map<string, Bucket>();

  function fill(tokens: Tokens, perSecond: number, most: number): void {
    const now = clock.monotonic();
    tokens.tokens = Math.min(most, tokens.tokens + ((now - tokens.filledAt) / 1000) * perSecond);
    tokens.filledAt = now;
  }

  function refill(bucket: Bucket): void {
    fill(bucket, bucket.requestsPerSecond, bucket.burstSize);
  }

  function spend(bucket: Tokens): boolean {
    if (bucket.tokens < 1 - ROUNDING) return false;
    bucket.tokens = Math.max(0, bucket.tokens - 1);
    return true;
  }

  /** How long until there are `count` tokens. */
  function msUntil({ tokens }: Tokens, count: number, perSecond: number): number {
    const ms = Math.ceil(((count - tokens) / perSecond) * 1000);
    return Math.min(MAX_WAIT_MS, Math.max(1, ms));
  }

  /** Of those who wait in the earliest round the one who came first. */
  function nextOf({ waiters }: Bucket): Waiter | undefined {
    let next: Waiter | undefined;
    for (const waiter of waiters) if (!next || waiter.round < next.round) next = waiter;
    return next;
  }

  /** The round for a further request of a principal: the one after its last, or the current one. */
  function roundFor({ waiters, round }: Bucket, principal: string): number {
    let latest = round - 1;
    for (const waiter of waiters) if (waiter.principal === principal) latest = Math.max(latest, waiter.round);
    return latest + 1;
  }

  function serveWaiters(bucket: Bucket): void {
    bucket.timer?.cancel();
    bucket.timer = undefined;
    refill(bucket);
    for (let waiter = nextOf(bucket); waiter && spend(bucket); waiter = nextOf(bucket)) {
      bucket.waiters.delete(waiter);
      bucket.round = waiter.round;
      waiter.serve();
    }
    wakeLater(bucket);
  }

  /** The process must not end while somebody waits for a token, and must not wait when nobody does. */
  function wakeLater(bucket: Bucket): void {
    if (bucket.waiters.size === 0) {
      bucket.timer?.cancel();
      bucket.timer = undefined;
    } else
      bucket.timer ??= clock.after(msUntil(bucket, 1, bucket.requestsPerSecond), () => serveWaiters(bucket), {
        awaited: true,
      });
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
        shares: new Map(),
        waiters: new Set(),
        round: 0,
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

  /** What a principal has of a bucket: all of it while no other principal asks. */
  function shareOf(bucket: Bucket, principal: string): { readonly share: Share | undefined; readonly among: number } {
    const { shares, requestsPerSecond, burstSize } = bucket;
    const now = clock.monotonic();
    let share = shares.get(principal);
    if (!share) {
      share = { tokens: burstSize, filledAt: now };
      shares.set(principal, share);
    }
    if (shares.size > 1) {
      for (const [name, { filledAt }] of shares) if (now - filledAt > ACTIVE_MS) shares.delete(name);
      shares.set(principal, share);
    }
    const among = shares.size;
    if (among === 1) {
      share.tokens = bucket.tokens;
      share.filledAt = now;
      return { share: undefined, among };
    }
    fill(share, requestsPerSecond / among, Math.max(1, burstSize / among));
    return { share, among };
  }

  function limited(server: Server, perSecond: number, among: number, retryAfterMs: number): ToolscoutError {
    const share = among > 1 ? ` and used by ${among} clients, which share it` : '';
    return new ToolscoutError(
      'RATE_LIMITED',
      `Server "${server.id}" is limited to ${perSecond} requests per second${share}; try again in ${retryAfterMs} ms.`,
      { retryAfterMs, delivered: false },
    );
  }

  return {
    take(server, principal = '') {
      const bucket = bucketOf(server);
      const { requestsPerSecond } = bucket;
      const { share, among } = shareOf(bucket, principal);
      if (share) {
        if (!spend(share))
          throw limited(server, requestsPerSecond, among, msUntil(share, 1, requestsPerSecond / among));
        // What others used before does not count against this one; the bucket remembers that it was used.
        bucket.tokens = Math.max(0, bucket.tokens - 1);
        return;
      }
      // Tokens belong to those who already wait; a newcomer does not overtake them.
      if (bucket.waiters.size === 0 && spend(bucket)) return;
      throw limited(server, requestsPerSecond, among, msUntil(bucket, bucket.waiters.size + 1, requestsPerSecond));
    },

    async wait(server, signal, principal = '') {
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
          principal,
          round: roundFor(bucket, principal),
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
