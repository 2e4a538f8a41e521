import type { BreakerState } from '../../model/server.js';
import { createBreaker, type Breaker, type BreakerOptions } from './breaker.js';

/**
 * The circuit breaker of one server, fair to those who share it (A43): the failed calls of one principal open it for
 * that principal alone. It opens for everybody when the server cannot be connected, or when the calls of several
 * principals fail.
 */
export interface ServerBreaker {
  /** As it is for everybody, else the worst that it is for one principal. */
  readonly state: BreakerState;
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
