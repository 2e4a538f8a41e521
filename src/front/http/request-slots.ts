import { ToolscoutError } from '../../kernel/errors.js';
import type { Principal } from '../../model/principal.js';

/** Slots for requests, shared by several principals. */
export interface RequestSlots {
  /** Takes a slot and answers how it is given back; `undefined` when there is none left for this principal. */
  enter(principal: string): (() => void) | undefined;
}

/** So many slots in all, and so many for each principal: one of them cannot take the slots of the others (A43). */
export function createRequestSlots({ total, each }: { readonly total: number; readonly each: number }): RequestSlots {
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

/** Takes a slot for a request of a principal until its answer has been sent; throws when all its slots are taken (A43). */
export type OpenRequestLimit = (outgoing: Outgoing, principal: Principal) => void;

/** So many open requests for each principal. */
export function createOpenRequestLimit(each: number): OpenRequestLimit {
  const slots = createRequestSlots({ total: Infinity, each });
  return (outgoing, { name }) => {
    const leave = slots.enter(name);
    if (!leave) {
      const message = `This caller already has ${each} open requests; that is the limit.`;
      throw new ToolscoutError('RATE_LIMITED', message, { retryAfterMs: RETRY_AFTER_MS });
    }
    outgoing.once('close', leave);
  };
}
