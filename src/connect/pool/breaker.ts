import { restHint } from '../../kernel/retry-hint.js';
import type { Clock } from '../../kernel/clock.js';
import { messageOf, ToolscoutError, type ErrorCode } from '../../kernel/errors.js';
import type { BreakerState } from '../../model/server.js';
import { isUnanswered } from '../upstream/errors.js';
import { statusBehind } from './retry-policy.js';

/**
 * Stops asking a server that keeps failing (CONN-3): closed → open after a number of failures in a
 * row → half-open after a while, when one trial is let through and decides.
 */
export interface Breaker {
  readonly state: BreakerState;
  /** The trial of the half-open state is running. */
  readonly isTrying: boolean;
  /**
   * Lets a request through, or refuses it. In the half-open state the one that is let through is
   * the trial, and must end in `succeed`, `fail` or `release`.
   *
   * @throws ToolscoutError `CIRCUIT_OPEN` with `retryAfterMs`.
   */
  check(): void;
  /** The server answered. */
  succeed(): void;
  /** The server could not be reached or did not answer, for this reason. */
  fail(cause?: unknown): void;
  /** The request ended without saying anything about the server. */
  release(): void;
}

/** When a breaker opens and closes. */
export interface BreakerLimits {
  /** How many failures in a row open it. */
  readonly failures: number;
  /** How long it stays open. */
  readonly resetMs: number;
}

/** What a breaker needs. */
export interface BreakerOptions {
  readonly clock: Clock;
  /** Asked for every time: a reload may change them. */
  readonly limits: () => BreakerLimits;
  /** Whose breaker it is, for the message. */
  readonly server: string;
}

/** The retry delay for requests that arrive while another request is the breaker's trial. */
const TRIAL_WAIT_MS = 1000;

/** A breaker, closed. */
export function createBreaker(options: BreakerOptions): Breaker {
  const { clock, limits, server } = options;
  let failed = 0;
  /** When it opened; `undefined` while it is closed. */
  let openedAt: number | undefined;
  let trial = false;
  let lastCause: unknown;

  const remainingMs = (since: number): number => Math.max(0, since + limits().resetMs - clock.monotonic());

  return {
    get state() {
      if (openedAt === undefined) return 'closed';
      return remainingMs(openedAt) > 0 ? 'open' : 'half-open';
    },
    get isTrying() {
      return trial;
    },
    check() {
      if (openedAt === undefined) return;
      const remaining = remainingMs(openedAt);
      if (remaining <= 0 && !trial) {
        trial = true;
        return;
      }
      const retryAfterMs = Math.ceil(remaining) || TRIAL_WAIT_MS;
      throw new ToolscoutError(
        'CIRCUIT_OPEN',
        `Server "${server}" failed ${failed} times in a row${restHint(retryAfterMs)}.` +
          (lastCause === undefined ? '' : ` Last error: ${messageOf(lastCause)}`),
        { retryAfterMs, delivered: false, cause: lastCause },
      );
    },
    succeed() {
      failed = 0;
      openedAt = undefined;
      trial = false;
      lastCause = undefined;
    },
    fail(cause) {
      failed++;
      lastCause = cause ?? lastCause;
      trial = false;
      if (openedAt !== undefined || failed >= limits().failures) openedAt = clock.monotonic();
    },
    release() {
      trial = false;
    },
  };
}

/**
 * The circuit breaker of one server, fair to its principals (A43): the failed calls of one principal open it for that
 * principal alone. It opens for all when the server cannot be connected, or when the calls of several principals fail.
 */
export interface ServerBreaker {
  /** The state for all principals, else the worst state for a single one. */
  readonly state: BreakerState;
  /** The state for all principals, whatever the calls of a single one did. */
  readonly sharedState: BreakerState;
  /** A trial that decides for all principals is running. */
  readonly isTrying: boolean;
  /** @throws ToolscoutError `CIRCUIT_OPEN` with `retryAfterMs`. */
  check(principal?: string): void;
  succeed(principal?: string): void;
  /** Without a principal the failure counts for every caller. */
  fail(cause: unknown, principal?: string): void;
  release(principal?: string): void;
}

/** Principals whose failures make it the failure of the server. */
const SEVERAL = 2;

/** A closed breaker. */
export function createServerBreaker(options: BreakerOptions): ServerBreaker {
  const shared = createBreaker(options);
  /** Of those whose last call failed. */
  const own = new Map<string, Breaker>();

  const ownOf = (principal: string): Breaker => {
    let breaker = own.get(principal);
    if (!breaker) {
      breaker = createBreaker(options);
      own.set(principal, breaker);
    }
    return breaker;
  };

  return {
    get state() {
      if (shared.state !== 'closed') return shared.state;
      const states = new Set([...own.values()].map(({ state }) => state));
      return states.has('open') ? 'open' : states.has('half-open') ? 'half-open' : 'closed';
    },
    get sharedState() {
      return shared.state;
    },
    get isTrying() {
      return shared.isTrying;
    },
    check(principal) {
      shared.check();
      if (principal === undefined) return;
      try {
        own.get(principal)?.check();
      } catch (thrown) {
        shared.release();
        throw thrown;
      }
    },
    succeed(principal) {
      shared.succeed();
      if (principal !== undefined) own.delete(principal);
    },
    fail(cause, principal) {
      const isTrial = shared.state !== 'closed';
      if (principal !== undefined) ownOf(principal).fail(cause);
      if (principal === undefined || isTrial || own.size >= SEVERAL) shared.fail(cause);
    },
    release(principal) {
      shared.release();
      if (principal !== undefined) own.get(principal)?.release();
    },
  };
}

const TROUBLE: ReadonlySet<ErrorCode> = new Set([
  'SERVER_CONNECTION_ERROR',
  'SESSION_INIT_FAILED',
  'TOOL_EXECUTION_TIMEOUT',
]);

/**
 * What a failed request says about its server: `trouble` when it could not be reached or did not
 * answer, `answered` when it did (an error of a tool is an answer), `nothing` when the failure lies
 * elsewhere, as with a cancelled call, an unanswered question or a wrong URL (HTTP 4xx).
 */
export function judgeFailure(thrown: unknown): 'trouble' | 'answered' | 'nothing' {
  if (!(thrown instanceof ToolscoutError)) return 'nothing';
  if (isUnanswered(thrown)) return 'nothing';
  if (TROUBLE.has(thrown.code)) return (statusBehind(thrown) ?? 500) < 500 ? 'nothing' : 'trouble';
  return thrown.code === 'TOOL_EXECUTION_ERROR' ? 'answered' : 'nothing';
}
