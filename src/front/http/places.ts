import { ToolscoutError } from '../../kernel/errors.js';
import type { Principal } from '../../model/principal.js';

/** Places that several principals share. */
export interface Places {
  /** Takes a place and answers how it is given back; `undefined` when there is none left for this principal. */
  enter(principal: string): (() => void) | undefined;
}

/** So many places in all, and so many for each principal: one of them cannot take the places of the others (A43). */
export function createPlaces({ total, each }: { readonly total: number; readonly each: number }): Places {
  const taken = new Map<string, number>();
  let all = 0;
  return {
    enter(principal) {
      const own = taken.get(principal) ?? 0;
      if (all >= total || own >= each) return undefined;
      all++;
      taken.set(principal, own + 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        all--;
        const rest = taken.get(principal)! - 1;
        if (rest === 0) taken.delete(principal);
        else taken.set(principal, rest);
      };
    },
  };
}

const RETRY_AFTER_MS = 5000;

/** An answer on its way over a connection. */
export interface Outgoing {
  once(event: 'close', listener: () => void): unknown;
}

/** Takes a place for a request of a principal until its answer has been sent; throws when all its places are taken (A43). */
export type Hold = (outgoing: Outgoing, principal: Principal) => void;

/** So many open requests for each principal. */
export function createHold(each: number): Hold {
  const places = createPlaces({ total: Infinity, each });
  return (outgoing, { name }) => {
    const leave = places.enter(name);
    if (!leave) {
      const message = `${each} requests of this client are open already.`;
      throw new ToolscoutError('RATE_LIMITED', message, { retryAfterMs: RETRY_AFTER_MS });
    }
    outgoing.once('close', leave);
  };
}
