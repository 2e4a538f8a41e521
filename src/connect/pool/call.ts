import { unlessCancelled, type Cancel } from '../../kernel/async/cancel.js';
import { sleep, type Clock } from '../../kernel/clock.js';
import { ToolscoutError, toToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Remedy } from '../../kernel/remedy.js';
import { canBeAsked } from '../../model/host.js';
import { overrideRateLimit, type RateLimitConfig, type RetryConfig } from '../../model/config.js';
import type { Server } from '../../model/server.js';
import type { Requester, ServerRequest, Upstream } from '../../model/upstream.js';
import { isUnableToAsk, otherEraNeeded } from '../era/unable-to-ask.js';
import type { Limiter } from './limiter.js';
import type { TellLogLevel } from './log-levels.js';
import { isTransient, retryWaitMs } from './retry-policy.js';

/** For whom a connection is used, and for how long it is needed. */
export interface PoolUse extends Omit<Requester, 'signal'> {
  /** The connection is not needed afterwards: it serves one list or one ping. */
  readonly brief?: boolean;
  /** The connection with this id rather than the host's, where it is open. */
  readonly on?: string;
  /** It was accepted before the pool began to close, and is let through while the pool drains. */
  readonly accepted?: boolean;
}

/**
 * Runs a task on the connection to a server, and opens the connection first when needed. An aborted `signal` ends the
 * wait for the connection; the task must observe the signal itself.
 */
export type UseConnection = <T>(
  server: Server,
  task: (upstream: Upstream) => Promise<T>,
  signal?: Cancel,
  options?: PoolUse,
) => Promise<T>;

/** Opens a connection that is not the pool's. */
export type OpenSession = (server: Server, signal: AbortSignal) => Promise<Upstream>;

/** How a server is asked more than one thing: at the pace of its rate limit, and again when it refuses for the moment. */
export interface Access {
  /** Runs a task on one connection. */
  use<T>(task: (upstream: Upstream) => Promise<T>, options?: PoolUse): Promise<T>;
  /** Whether the server has an open connection besides the shared one, with this id. */
  isOpen(connection: string): boolean;
  /** Waits until the server may be asked the next thing (CONN-7). */
  pace(): Promise<void>;
  /** Runs a task, and again while it fails in a way that may pass and `makesSense` says so. */
  again<T>(task: () => Promise<T>, makesSense?: (error: ToolscoutError) => boolean): Promise<T>;
}

/** How a server is asked, where that differs from its configuration. */
export interface AccessOptions {
  readonly signal?: AbortSignal;
  /** The caller: principals that wait for the rate limit are served in turn. */
  readonly principal?: string;
  readonly retry?: Partial<RetryConfig>;
  readonly rateLimit?: Partial<RateLimitConfig> | false;
  /** Each task gets a connection of its own, opened by this and closed after it, instead of one of the pool's. */
  readonly open?: OpenSession;
}

/** The two ways to ask a server: one request, or more than one. */
export interface Caller {
  /**
   * Sends one request: rate limit, circuit breaker, connection, answer; and again while it fails in a way that may
   * pass and sending it again is safe (CONN-7).
   */
  call(server: Server, request: ServerRequest, requester?: Requester): Promise<JsonObject>;
  /** For whatever takes more than one request. */
  access(server: Server, options?: AccessOptions): Access;
}

/** What asking servers needs. */
export interface CallerDeps {
  /** Circuit breaker and connection, without limit and retry. */
  readonly use: UseConnection;
  readonly isOpen: (server: string, connection: string) => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limiter: Limiter;
  /** @throws ToolscoutError `SHUTTING_DOWN` when no new calls are taken. */
  readonly requireOpen: () => void;
  /** Counts a call that waits for its turn as a running one, until the function it returns is called. */
  readonly hold: () => () => void;
  readonly tellLogLevel: TellLogLevel;
  /** The server cannot ask its host on this connection; answers whether another era is used from now on. */
  readonly changeEra: (server: Server, upstream: Upstream) => boolean;
}

/** What to do when the time limit that the caller chose was too short. */
const LATE_FOR_CALLER: Remedy = { kind: 'ask-for-less', limit: 'call' };

/** Asks servers over the connections of a pool. */
export function createCaller(deps: CallerDeps): Caller {
  const { clock, random, limiter, use } = deps;

  function call(server: Server, request: ServerRequest, requester: Requester = {}): Promise<JsonObject> {
    const { principal, host, signal, timeoutMs: chosenMs } = requester;
    const limitMs = chosenMs ?? request.timeoutMs ?? server.timeoutMs;
    const started = clock.monotonic();
    // Shared by all attempts: progress renews the timeout, nothing renews this.
    const deadline = started + server.totalTimeoutMs;
    const ifLate = chosenMs === undefined ? undefined : LATE_FOR_CALLER;
    let timeoutMs = limitMs;
    let hasTurn = false;
    let otherEra: ToolscoutError | undefined;

    const send = (upstream: Upstream): Promise<JsonObject> => {
      const prepared = request.prepareOn?.(upstream);
      return prepared ? sendPrepared(prepared, upstream) : transmit(upstream);
    };
    const sendPrepared = async (prepared: Promise<void>, upstream: Upstream): Promise<JsonObject> => {
      const leave = host && upstream.awaitedBy?.(host);
      await unlessCancelled(prepared, signal).finally(leave);
      recheck();
      return transmit(upstream);
    };
    const transmit = (upstream: Upstream): Promise<JsonObject> => {
      if (signal?.aborted) throw cancelled(signal);
      request.onConnected?.(upstream);
      const { onProgress, onUnasked, onAsking } = request;
      const headers = request.headersFor?.(upstream);
      const options = { signal, timeoutMs, ifLate, deadline, onProgress, host, onUnasked, onAsking, headers };
      const answer = upstream.request(request.method, request.params, options);
      // Only a server of both eras may be able to ask in the other one.
      const mayChange = upstream.era === 'modern' || upstream.isDual === true;
      return mayChange && host && canBeAsked(host.capabilities) ? ableToAsk(answer, upstream) : answer;
    };
    /** Fails a call whose server could not ask its host; it was not carried out to its end. */
    const ableToAsk = async (answer: Promise<JsonObject>, upstream: Upstream): Promise<JsonObject> => {
      const judge = (given: JsonObject | ToolscoutError): void => {
        if (!isUnableToAsk(given, upstream.era) || !deps.changeEra(server, upstream)) return;
        otherEra = otherEraNeeded(server.id, given);
        throw otherEra;
      };
      const result = await answer.catch((thrown: unknown) => {
        if (thrown instanceof ToolscoutError) judge(thrown);
        throw thrown;
      });
      judge(result);
      return result;
    };
    const sendAtLevel = (upstream: Upstream): Promise<JsonObject> => {
      const told = host && deps.tellLogLevel(upstream, host);
      return told ? unlessCancelled(told, signal).then(() => send(upstream)) : send(upstream);
    };
    const task = host?.logLevel === undefined ? send : sendAtLevel;
    const go = (target: Server, count: number, by: PoolUse): Promise<JsonObject> => {
      hasTurn = true;
      request.onAttempt?.(count);
      return use(target, task, signal, by);
    };
    // What was checked before a wait may no longer hold after it.
    const recheck = (): Server => request.recheck?.() ?? server;
    const attempt = (count: number): Promise<JsonObject> => {
      hasTurn = false;
      deps.requireOpen();
      if (signal?.aborted) throw cancelled(signal);
      const target = count > 0 ? recheck() : server;
      // Who chose a time limit has chosen it for the wait and the answer together.
      const until = Math.min(deadline, (chosenMs === undefined ? clock.monotonic() : started) + limitMs);
      const turn = target.rateLimit === false ? undefined : limiter.take(target, { principal, until, signal });
      return turn ? goInTurn(turn, count) : go(target, count, requester);
    };
    const goInTurn = async (turn: Promise<number>, count: number): Promise<JsonObject> => {
      const release = deps.hold();
      try {
        const waitedMs = await turn.catch((thrown: unknown) => {
          throw signal?.aborted ? cancelled(signal) : thrown;
        });
        request.onWaited?.(waitedMs);
        if (chosenMs !== undefined) timeoutMs = Math.max(1, started + chosenMs - clock.monotonic());
        return await go(recheck(), count, { ...requester, accepted: true });
      } finally {
        release();
      }
    };
    const mayRetry = (error: ToolscoutError): boolean => {
      if (!hasTurn || !isTransient(error) || clock.monotonic() >= deadline) return false;
      if (error.delivered === false) return true;
      // Who chose a time limit is not made to wait for a multiple of it.
      if (chosenMs !== undefined && error.code === 'TOOL_EXECUTION_TIMEOUT') return false;
      return request.mayRepeat?.(error) === true;
    };
    // In the other era it is sent at once, but only what may run twice.
    const isFree = (error: ToolscoutError): boolean => error === otherEra && request.mayRepeat?.(error) === true;
    return withRetry(attempt, server.retry, { clock, random, signal, mayRetry, isFree });
  }

  function access(server: Server, options: AccessOptions = {}): Access {
    const { signal, open, principal } = options;
    const paced = underTerms(server, options);
    return {
      use: (task, by) => (open ? useOnce(open, server, task, signal) : use(server, task, signal, by)),
      isOpen: (connection) => !open && deps.isOpen(server.id, connection),
      pace: () => limiter.wait(paced, signal, principal),
      again(task, makesSense) {
        const mayRetry = (error: ToolscoutError): boolean => isTransient(error) && (makesSense?.(error) ?? true);
        return withRetry(task, paced.retry, { clock, random, signal, mayRetry });
      },
    };
  }

  return { call, access };
}

/** What trying again needs besides its policy. */
export interface RetryOptions {
  readonly clock: Clock;
  /** A number in [0, 1), for the jitter. */
  readonly random: () => number;
  readonly signal?: Cancel;
  /** Whether this failure may be tried again at all. */
  readonly mayRetry: (error: ToolscoutError) => boolean;
  /** Whether the task is run again at once, whatever the policy says. */
  readonly isFree?: (error: ToolscoutError) => boolean;
}

/**
 * Runs a task, and again while it fails in a way that may be retried. A server's `Retry-After` is respected; if it
 * exceeds the policy, the task fails and the error has the retry time.
 */
export async function withRetry<T>(
  task: (attempt: number) => Promise<T>,
  policy: RetryConfig,
  { clock, random, signal, mayRetry, isFree }: RetryOptions,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await task(attempt);
    } catch (thrown) {
      const error = toToolscoutError(thrown);
      if (isFree?.(error) && !signal?.aborted) continue;
      const waitMs = signal?.aborted ? undefined : retryWaitMs(policy, attempt, error, random);
      if (waitMs === undefined || !mayRetry(error)) throw thrown;
      await sleep(clock, waitMs, signal);
    }
  }
}

/** A server with other limits than it is configured with. */
function underTerms(server: Server, { retry, rateLimit }: AccessOptions): Server {
  if (!retry && rateLimit === undefined) return server;
  return {
    ...server,
    retry: { ...server.retry, ...retry },
    rateLimit: overrideRateLimit(server.rateLimit, rateLimit),
  };
}

/** Runs a task on a connection of its own, which is closed afterwards. */
async function useOnce<T>(
  open: OpenSession,
  server: Server,
  task: (upstream: Upstream) => Promise<T>,
  signal: Cancel | undefined,
): Promise<T> {
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
}

function cancelled(signal: Cancel): ToolscoutError {
  return new ToolscoutError('CANCELLED', 'The call was cancelled.', { delivered: false, cause: signal.reason });
}
