import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import { CLOCK_SLACK_MS } from '../kernel/expiry.js';
import { messageOf } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import { KEY_BYTES, openSealed, sealBytes } from '../kernel/sealing.js';
import type { Store } from '../model/store.js';
import { createStoreKey } from '../model/store-key.js';

/** How long a host may take for one round. */
const LIFE_MS = 600_000;
/** Longer than this it cannot be ours. */
const MAX_STATE = 512 * 1024;

/** States of this process that are remembered until they are used. */
const MAX_WAITING = 10_000;

/**
 * How long it is known what was used, not by a wall clock but by how long one replica has seen it: what a replica sealed whose clock is
 * ahead may be accepted by one whose clock is behind.
 */
const USED_MS = LIFE_MS + 3 * CLOCK_SLACK_MS;
/** So many are kept when no process lives that long. */
const MAX_USED = 20_000;
/** How often the use of a state is noted again while the store fails. */
const NOTE_AGAIN_MS = 2000;

const KEY_SPACE = 'request-state-key';
/** Where uses are noted. Anyone may begin a sign-in, so that those must take no place of the state of a call (A43). */
const USED_SPACES = { call: 'used-request-states', 'sign-in': 'used-sign-in-states' } as const;

/** What a state is for. */
export type StateUse = keyof typeof USED_SPACES;

/** Text that goes to a host and comes back as what it was, or not at all (S8); every process of one store opens it (STORE-3). */
export interface RequestStates {
  /** A text for `payload` that only a request with the same `binding` and `use` can hand in, once and not too late. */
  seal(payload: JsonObject, binding: string, use?: StateUse): Promise<string>;
  /**
   * The sealed value; `undefined` for anything forged, foreign, expired or used before.
   *
   * @throws ToolscoutError `STORE_ERROR` when the store cannot show whether another process has used it.
   */
  open(state: unknown, binding: string, use?: StateUse): Promise<JsonObject | undefined>;
}

interface StateDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * States sealed with a key of the store, so that a replica answers the host of another. They are encrypted, not only signed: a server
 * may keep in its state what a rule of redaction takes out of everything else the host sees.
 */
export function createRequestStates(deps: StateDeps): RequestStates {
  const byUse = { call: statesOf(deps, 'call'), 'sign-in': statesOf(deps, 'sign-in') };
  return {
    seal: (payload, binding, use = 'call') => byUse[use].seal(payload, binding),
    open: (state, binding, use = 'call') => byUse[use].open(state, binding),
  };
}

function statesOf(deps: StateDeps, use: StateUse): Pick<RequestStates, 'seal' | 'open'> {
  const { store, clock, log } = deps;
  const usedSpace = USED_SPACES[use];
  /** What is used once for one purpose must not be good for another. */
  const boundTo = (binding: string): string => (use === 'call' ? binding : `${use} ${binding}`);
  const shared = createStoreKey(store, KEY_SPACE);
  /** For what is sealed while the store cannot be written: good in this process only. */
  const own = randomBytes(KEY_BYTES);
  /** What this process sealed and has not seen again: its use need not be noted elsewhere to be the first. */
  const waiting = new Set<string>();
  let sweptAt = clock.monotonic();
  /** What was there at the last sweep. */
  let swept: ReadonlySet<string> = new Set();

  /** Whether it is used for the first time. */
  const claim = async (once: string, until: number): Promise<boolean> => {
    const isOurs = waiting.delete(once);
    try {
      return await store.put(usedSpace, once, true, { ifRevision: 0, expiresAt: until + CLOCK_SLACK_MS });
    } catch (thrown) {
      if (!isOurs) throw thrown;
      log.warn('request-state.not-noted', { reason: messageOf(thrown) });
      noteAgain(once, until, clock.monotonic() + USED_MS);
      return true;
    }
  };
  /** Notes a use as soon as the store works: by then another process could take it for the first. */
  const noteAgain = (once: string, until: number, giveUpAt: number): void => {
    if (clock.monotonic() > giveUpAt) return;
    clock.after(NOTE_AGAIN_MS, () => {
      store
        .put(usedSpace, once, true, { ifRevision: 0, expiresAt: until + CLOCK_SLACK_MS })
        .catch(() => noteAgain(once, until, giveUpAt));
    });
  };

  const keys = async (): Promise<Buffer[]> => {
    try {
      return [await shared(), own];
    } catch (thrown) {
      log.warn('request-state.own-key', { reason: messageOf(thrown) });
      return [own];
    }
  };

  /** Used ones are remembered until they expire everywhere; then nothing is left of them. */
  const sweep = async (): Promise<void> => {
    if (clock.monotonic() - sweptAt < USED_MS) return;
    sweptAt = clock.monotonic();
    try {
      const used = (await store.list(usedSpace)).toSorted((a, b) => b.revision - a.revision);
      const isOver = (key: string, place: number): boolean => swept.has(key) || place >= MAX_USED;
      for (const [place, { key }] of used.entries()) if (isOver(key, place)) await store.delete(usedSpace, key);
      swept = new Set(used.flatMap(({ key }, place) => (isOver(key, place) ? [] : [key])));
    } catch (thrown) {
      log.warn('request-state.not-swept', { reason: messageOf(thrown) });
    }
  };

  return {
    async seal(payload, binding) {
      const [key] = await keys();
      const once = newId();
      waiting.add(once);
      const oldest = waiting.values().next();
      if (waiting.size > MAX_WAITING && !oldest.done) waiting.delete(oldest.value);
      const text = JSON.stringify({ payload, until: clock.now() + LIFE_MS, once });
      return sealBytes(key!, Buffer.from(text, 'utf8'), boundTo(binding)).toString('base64url');
    },
    async open(state, binding) {
      if (typeof state !== 'string' || state.length > MAX_STATE) return undefined;
      const sealed = Buffer.from(state, 'base64url');
      // Decoding ignores what is not base64: only the very text that was given out counts.
      if (sealed.toString('base64url') !== state) return undefined;
      for (const key of await keys()) {
        const text = openSealed(key, sealed, boundTo(binding))?.toString('utf8');
        if (text === undefined) continue;
        const { payload, until, once } = JSON.parse(text) as JsonObject;
        if (!isObject(payload) || typeof until !== 'number' || typeof once !== 'string') return undefined;
        if (clock.now() > until + CLOCK_SLACK_MS || until > clock.now() + LIFE_MS + CLOCK_SLACK_MS) return undefined;
        const isFirst = await claim(once, until);
        await sweep();
        return isFirst ? payload : undefined;
      }
      return undefined;
    },
  };
}
