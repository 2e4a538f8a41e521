import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import { isAhead } from '../kernel/expiry.js';
import { surplusOf } from '../kernel/fair-share.js';
import { sha256 } from '../kernel/hash.js';
import { isObject } from '../kernel/json.js';
import type { Entry, Store } from '../model/store.js';

/** What a pass lets its bearer do: answer the question about a call, or go on with a call that was confirmed. */
type Purpose = 'answer' | 'go-on';

/** What belongs to a pass besides the call. */
export interface PassDetails {
  /** The caller; one that makes many calls loses its own passes, and none of others (A43). */
  readonly owner: string;
  readonly inner?: string;
}

/**
 * Passes that hosts of the modern era bring back between the rounds of a call. Each is random, bound to one exact call,
 * and taken once in all processes over the store; the store has only its hash.
 */
export interface Passes {
  /** A pass of `owner` for `binding`; `inner` is the state of the server that travels with it. */
  issue(purpose: Purpose, binding: string, lifeMs: number, more: PassDetails): Promise<string>;
  /** Takes a pass; `undefined` for anything forged, foreign, expired or taken before. */
  take(state: string, binding: string): Promise<{ readonly purpose: Purpose; readonly inner?: string } | undefined>;
}

const SPACE = 'confirm-passes';
const PREFIX = 'confirm.';
/** Random characters of a pass. */
const DIGITS = 32;
/** Passes that are kept; then of the owner that has most the one that ends first goes. */
const MAX_KEPT = 2000;
/** How often it is looked at which are kept: each look reads all of them. */
const PRUNE_EACH_MS = 1000;

/** Whether a state that a host brings back is a pass. */
export function isPass(state: string): boolean {
  return state.startsWith(PREFIX);
}

function ownerIn({ value }: Entry): string {
  return isObject(value) && typeof value['owner'] === 'string' ? value['owner'] : '';
}

/** The passes of a store. */
export function createPasses({ store, clock }: { readonly store: Store; readonly clock: Clock }): Passes {
  let prunedAt = -Infinity;
  const prune = async (): Promise<void> => {
    if (clock.monotonic() - prunedAt < PRUNE_EACH_MS) return;
    prunedAt = clock.monotonic();
    const now = clock.now();
    const entries = await store.list(SPACE);
    const over = entries.filter(({ expiresAt = 0, storedAt }) => expiresAt <= now || isAhead(storedAt, now));
    const gone = new Set(over);
    const alive = entries.filter((entry) => !gone.has(entry));
    const endingFirst = alive.toSorted((a, b) => a.expiresAt! - b.expiresAt!);
    for (const { key } of [...over, ...surplusOf(endingFirst, ownerIn, MAX_KEPT - 1)]) await store.delete(SPACE, key);
  };

  return {
    async issue(purpose, binding, lifeMs, { owner, inner }) {
      await prune();
      const token = randomBytes(DIGITS / 2).toString('hex');
      const value = { purpose, binding, owner: sha256(owner), ...(inner !== undefined && { inner: sha256(inner) }) };
      await store.put(SPACE, sha256(token), value, { expiresAt: clock.now() + lifeMs, ifRevision: 0 });
      return `${PREFIX}${token}${inner === undefined ? '' : `.${inner}`}`;
    },
    async take(state, binding) {
      const token = state.slice(PREFIX.length, PREFIX.length + DIGITS);
      const rest = state.slice(PREFIX.length + DIGITS);
      const inner = rest.startsWith('.') ? rest.slice(1) : undefined;
      if (!isPass(state) || (rest !== '' && inner === undefined)) return undefined;
      const key = sha256(token);
      const entry = await store.get(SPACE, key);
      const { value, expiresAt = 0 } = entry ?? {};
      if (!entry || !isObject(value) || value['binding'] !== binding) return undefined;
      if (expiresAt <= clock.now() || isAhead(entry.storedAt, clock.now())) return undefined;
      if (value['inner'] !== (inner === undefined ? undefined : sha256(inner))) return undefined;
      // Kept until it expires: a deleted key could be written again from an old entry.
      const taken = { purpose: 'taken', binding: '', owner: ownerIn(entry) };
      if (!(await store.put(SPACE, key, taken, { ifRevision: entry.revision, expiresAt }))) return undefined;
      const purpose = value['purpose'] === 'go-on' ? 'go-on' : 'answer';
      return { purpose, ...(inner !== undefined && { inner }) };
    },
  };
}
