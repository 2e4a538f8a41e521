import { retryHint } from '../../kernel/retry-hint.js';
import type { Cancel } from '../../kernel/async/cancel.js';
import type { Clock, Timer } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { RateLimitConfig } from '../../model/config.js';
import type { Server } from '../../model/server.js';

/** Who needs a token, and until when. */
export interface Turn {
  readonly principal?: string;
  /** The monotonic time after which the token is of no use. */
  readonly until: number;
  /** Aborting it gives the place in the queue back. */
  readonly signal?: Cancel;
}

/** The token buckets of all servers that have a rate limit (CONN-7). They outlive connections, discoveries and reloads. */
export interface Limiter {
  /**
   * Takes a token for a call: `undefined` when there is one now, otherwise a promise of the milliseconds it waited. While
   * several principals use a server, each has an equal share of its rate and they are served in turn, each in the order of its
   * calls, so that one of them cannot use up what the others need (A43).
   *
   * @throws ToolscoutError `RATE_LIMITED` with `retryAfterMs`, at once or as soon as it is known that the turn comes too late.
   */
  take(server: Server, turn: Turn): Promise<number> | undefined;
  /** Takes a token as soon as one is free, in turn with other principals; for requests without a deadline. */
  wait(server: Server, signal?: Cancel, principal?: string): Promise<void>;
  /** The servers of the configuration in force: calls that wait go by the new limits, and those of servers that are gone go on to be refused. */
  retain(servers: readonly Server[]): void;
  /** Rejects all waiting calls, now and later. */
  close(reason: ToolscoutError): void;
}

/** Tokens that fill up with time. */
interface Tokens {
  tokens: number;
  /** Monotonic time up to which tokens were added. */
  filledAt: number;
}

/** The part of a server's rate that one principal has. */
interface Share extends Tokens {
  /** When the principal last asked. */
  askedAt: number;
  /** Calls of the principal that wait. */
  waiting: number;
}

interface Waiter {
  readonly principal: string;
  /** The round in which it is served. */
  readonly round: number;
  readonly until: number;
  /** Calls have one; lists and health checks do not. */
  readonly share: Share | undefined;
  readonly serve: () => void;
  readonly refuse: (error: ToolscoutError) => void;
}

interface Bucket extends Tokens {
  readonly server: string;
  /** The limit that the configuration gives; this process may have a part of it. */
  limit: RateLimitConfig;
  requestsPerSecond: number;
  burstSize: number;
  /** Principals with recent requests. */
  readonly shares: Map<string, Share>;
  /** In the order in which they are served: by round, then by arrival. */
  waiters: Waiter[];
  /** The round that was served last, and who was served in it. */
  round: number;
  readonly served: Set<string>;
  timer: Timer | undefined;
}

/** Time is a float, so a token that is due may be missing this much of itself. */
const ROUNDING = 1e-6;

/** A principal that did not ask for so long has no share any more. */
const ACTIVE_MS = 10_000;

/** No wait is longer, so that a tiny rate cannot overflow a timer. */
const MAX_WAIT_MS = 86_400_000;

/** Requests that wait for one server. */
export const MAX_WAITING = 1000;

/** What part of each limit this process has, where several share them. */
export interface RatePortions {
  /** Notes a request. */
  note(server: string): void;
  portionOf(server: string, perSecond: number): number;
  onPortions(listener: () => void): void;
}

/** Buckets that fill by a clock; each is made full when its server is first seen. */
export function createLimiter(deps: { readonly clock: Clock; readonly portions?: RatePortions }): Limiter {
  const { clock, portions } = deps;
  const buckets = new Map<string, Bucket>();
  let closed: ToolscoutError | undefined;

  function fill(tokens: Tokens, perSecond: number, most: number): void {
    const now = clock.monotonic();
    tokens.tokens = Math.min(most, tokens.tokens + ((now - tokens.filledAt) / 1000) * perSecond);
    tokens.filledAt = now;
  }

  /** Brings a bucket and the shares of it up to now. */
  function refill(bucket: Bucket): void {
    const { requestsPerSecond, burstSize, shares } = bucket;
    fill(bucket, requestsPerSecond, burstSize);
    const among = shares.size;
    if (among < 2) return;
    for (const share of shares.values()) fill(share, requestsPerSecond / among, Math.max(1, burstSize / among));
  }

  /** What others used before does not count against a share; the bucket owes it, so that the rate holds in the long run. */
  function charge(bucket: Bucket, share: Share | undefined): void {
    bucket.tokens = Math.max(-bucket.burstSize, bucket.tokens - 1);
    if (share) share.tokens = Math.max(0, share.tokens - 1);
  }

  const hasToken = ({ tokens }: Tokens): boolean => tokens >= 1 - ROUNDING;
  const isShared = ({ shares }: Bucket): boolean => shares.size > 1;

  /** How long until there are `count` tokens. */
  function msUntil({ tokens }: Tokens, count: number, perSecond: number): number {
    const ms = Math.ceil(((count - tokens) / perSecond) * 1000 - ROUNDING);
    return Math.min(MAX_WAIT_MS, Math.max(1, ms));
  }

  /** How long until a waiter is served that has `ahead` others before it, `ownAhead` of them of its own principal. */
  function msUntilServed(bucket: Bucket, share: Share | undefined, ahead: number, ownAhead: number): number {
    const { requestsPerSecond, shares } = bucket;
    const ms = msUntil(bucket, ahead + 1, requestsPerSecond);
    if (!share || !isShared(bucket)) return ms;
    return Math.min(ms, msUntil(share, ownAhead + 1, requestsPerSecond / shares.size));
  }

  /** Serves those for whom there is a token, refuses those whose turn comes too late, and wakes up for the next. */
  function settle(bucket: Bucket): void {
    bucket.timer?.cancel();
    bucket.timer = undefined;
    if (bucket.waiters.length === 0) return;
    refill(bucket);
    const now = clock.monotonic();
    const left: Waiter[] = [];
    const ownAhead = new Map<Share, number>();
    let wakeMs = Infinity;
    for (const waiter of bucket.waiters) {
      const { share, until } = waiter;
      const own = share ? (ownAhead.get(share) ?? 0) : 0;
      const isFirst = left.length === 0 && hasToken(bucket);
      if (isFirst || (share && own === 0 && isShared(bucket) && hasToken(share))) {
        charge(bucket, share);
        noteServed(bucket, waiter);
        waiter.serve();
        continue;
      }
      const ms = msUntilServed(bucket, share, left.length, own);
      if (now + ms > until + ROUNDING) {
        waiter.refuse(tooLate(bucket, ms));
        continue;
      }
      left.push(waiter);
      if (share) ownAhead.set(share, own + 1);
      wakeMs = Math.min(wakeMs, ms);
    }
    bucket.waiters = left;
    // The process must not exit while a call waits for a token.
    if (left.length > 0) bucket.timer = clock.after(wakeMs, () => settle(bucket), { awaited: true });
  }

  /** The place in the queue behind those of the same round and of earlier ones. */
  function placeFor({ waiters }: Bucket, round: number): number {
    return waiters.findLastIndex((waiter) => waiter.round <= round) + 1;
  }

  /** The round for a further request of a principal: the one after its last, or the current one. */
  function roundFor({ waiters, round, served }: Bucket, principal: string): number {
    const last = waiters.findLast((waiter) => waiter.principal === principal)?.round;
    if (last !== undefined) return last + 1;
    return served.has(principal) ? round + 1 : round;
  }

  function noteServed(bucket: Bucket, { principal, round }: Waiter): void {
    if (round > bucket.round) {
      bucket.round = round;
      bucket.served.clear();
    }
    bucket.served.add(principal);
  }

  /**
   * Makes room in a full queue: of the principal that has most in it, the last one leaves. That may be the newcomer,
   * who is then refused at once.
   */
  function makeRoom(bucket: Bucket, principal: string): void {
    const counts = new Map<string, number>([[principal, 1]]);
    for (const waiter of bucket.waiters) counts.set(waiter.principal, (counts.get(waiter.principal) ?? 0) + 1);
    let [most, count] = [principal, counts.get(principal) ?? 0];
    for (const [name, waiting] of counts) if (waiting > count) [most, count] = [name, waiting];
    const ms = msUntil(bucket, MAX_WAITING, bucket.requestsPerSecond);
    if (most === principal) throw tooLate(bucket, ms);
    const at = bucket.waiters.findLastIndex((waiter) => waiter.principal === most);
    const [last] = bucket.waiters.splice(at, 1);
    last?.refuse(tooLate(bucket, ms));
  }

  /**
   * Waits in the queue of a bucket; answers how long it took.
   *
   * @throws ToolscoutError `RATE_LIMITED` when the turn would come too late.
   */
  function queue(bucket: Bucket, { principal = '', until, signal }: Turn, share?: Share): Promise<number> {
    if (closed) throw closed;
    if (signal?.aborted) throw signal.reason as Error;
    if (bucket.waiters.length >= MAX_WAITING) makeRoom(bucket, principal);
    const started = clock.monotonic();
    const round = roundFor(bucket, principal);
    const at = placeFor(bucket, round);
    const own = share?.waiting ?? 0;
    const ms = msUntilServed(bucket, share, at, own);
    if (started + ms > until + ROUNDING) throw tooLate(bucket, ms);
    return new Promise<number>((resolve, reject) => {
      const leave = (): void => {
        signal?.removeEventListener('abort', onAbort);
        if (share) share.waiting--;
      };
      const onAbort = (): void => {
        leave();
        bucket.waiters = bucket.waiters.filter((other) => other !== waiter);
        settle(bucket);
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        principal,
        round,
        until,
        share,
        serve() {
          leave();
          resolve(clock.monotonic() - started);
        },
        refuse(error) {
          leave();
          reject(error);
        },
      };
      if (share) share.waiting++;
      const isLast = at === bucket.waiters.length;
      bucket.waiters.splice(at, 0, waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
      // One more at the end changes nothing for the others, unless it is the first that waits for its share.
      if (!isLast || at === 0 || (own === 0 && isShared(bucket))) settle(bucket);
    });
  }

  /** The bucket of a server, filled up to now, with the limits of its current configuration; none when it has no limit. */
  function bucketOf({ id, rateLimit }: Pick<Server, 'id' | 'rateLimit'>): Bucket | undefined {
    let bucket = buckets.get(id);
    if (rateLimit === false) {
      if (bucket) {
        buckets.delete(id);
        releaseAll(bucket);
      }
      return undefined;
    }
    if (!bucket) {
      bucket = newBucket(id, rateLimit);
      buckets.set(id, bucket);
      return bucket;
    }
    refill(bucket);
    bucket.limit = rateLimit;
    const { requestsPerSecond, burstSize } = ownPart(id, rateLimit);
    if (bucket.requestsPerSecond !== requestsPerSecond || bucket.burstSize !== burstSize) {
      Object.assign(bucket, { requestsPerSecond, burstSize, tokens: Math.min(bucket.tokens, burstSize) });
      settle(bucket);
    }
    return bucket;
  }

  /** Less than one request at once would be none. */
  function ownPart(server: string, limit: RateLimitConfig): RateLimitConfig {
    const portion = portions?.portionOf(server, limit.requestsPerSecond) ?? 1;
    if (portion === 1) return limit;
    return {
      requestsPerSecond: limit.requestsPerSecond * portion,
      burstSize: Math.max(1, limit.burstSize * portion),
    };
  }

  function newBucket(server: string, limit: RateLimitConfig): Bucket {
    const { requestsPerSecond, burstSize } = ownPart(server, limit);
    return {
      server,
      limit,
      requestsPerSecond,
      burstSize,
      tokens: burstSize,
      filledAt: clock.monotonic(),
      shares: new Map(),
      waiters: [],
      round: 0,
      served: new Set(),
      timer: undefined,
    };
  }

  function releaseAll(bucket: Bucket, which: (waiter: Waiter) => boolean = () => true): void {
    const released = bucket.waiters.filter(which);
    bucket.waiters = bucket.waiters.filter((waiter) => !which(waiter));
    settle(bucket);
    for (const waiter of released) waiter.serve();
  }

  /** The share of a principal in a bucket; principals without recent requests have none. */
  function shareOf(bucket: Bucket, principal: string): Share {
    const { shares, burstSize } = bucket;
    const now = clock.monotonic();
    const before = shares.size;
    let share = shares.get(principal);
    if (before > 0) {
      for (const [name, { askedAt, waiting }] of shares) {
        if (waiting === 0 && now - askedAt > ACTIVE_MS && name !== principal) shares.delete(name);
      }
    }
    if (!share) {
      share = { tokens: burstSize, filledAt: now, askedAt: now, waiting: 0 };
      shares.set(principal, share);
    }
    share.askedAt = now;
    // Who is alone has all of the bucket, and that much of it when another comes.
    if (shares.size === 1) Object.assign(share, { tokens: Math.max(0, bucket.tokens), filledAt: now });
    else if (shares.size !== before) refill(bucket);
    return share;
  }

  function tooLate({ server, limit, shares }: Bucket, retryAfterMs: number): ToolscoutError {
    const share = shares.size > 1 ? ` shared by ${shares.size} callers` : '';
    return new ToolscoutError(
      'RATE_LIMITED',
      `Server "${server}" is limited to ${limit.requestsPerSecond} requests per second${share}${retryHint(retryAfterMs)}.`,
      { retryAfterMs, delivered: false },
    );
  }

  portions?.onPortions(() => {
    for (const { server, limit } of buckets.values()) bucketOf({ id: server, rateLimit: limit });
  });

  return {
    take(server, turn) {
      const bucket = bucketOf(server);
      if (!bucket) return undefined;
      portions?.note(server.id);
      const share = shareOf(bucket, turn.principal ?? '');
      // Tokens belong to waiting calls; a new call does not overtake them.
      const isFree = bucket.waiters.length === 0 && hasToken(bucket);
      if (share.waiting === 0 && (isFree || (isShared(bucket) && hasToken(share)))) {
        charge(bucket, share);
        // Every call that waits for the bucket itself waits for one token more.
        if (bucket.waiters.length > 0) settle(bucket);
        return undefined;
      }
      return queue(bucket, turn, share);
    },

    async wait(server, signal, principal) {
      if (signal?.aborted) throw signal.reason as Error;
      const bucket = bucketOf(server);
      if (!bucket) return;
      portions?.note(server.id);
      if (bucket.waiters.length === 0 && hasToken(bucket)) return charge(bucket, undefined);
      await queue(bucket, { principal, until: Infinity, signal });
    },

    retain(servers) {
      const known = new Map(servers.filter(({ enabled }) => enabled).map((server) => [server.id, server]));
      for (const bucket of buckets.values()) {
        const server = known.get(bucket.server);
        if (server) bucketOf(server);
        else releaseAll(bucket, ({ share }) => share !== undefined);
      }
    },

    close(reason) {
      closed = reason;
      for (const bucket of buckets.values()) {
        bucket.timer?.cancel();
        for (const waiter of bucket.waiters.splice(0)) waiter.refuse(reason);
      }
    },
  };
}
