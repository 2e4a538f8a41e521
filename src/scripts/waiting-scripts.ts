import { ToolscoutError } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import type { Store } from '../model/store.js';
import type { ClaimedScript, ScriptOwner, SuspendedScript, SuspendedScripts } from './suspended-scripts.js';

/** A script that this process goes on with, and the state it is kept under. */
export interface WaitingScript extends ClaimedScript {
  readonly state: string;
}

/**
 * Suspended scripts whose host is asked on its connection. Such a host has no state to send back: when the connection is gone with its
 * process, it finds its script again by sending the same one (CODE-5).
 */
export interface WaitingScripts {
  /** Keeps a script while its host is asked; no other process takes it as long as this one lives. */
  keep(suspended: SuspendedScript, owner: ScriptOwner): Promise<WaitingScript>;
  /** The same script of the same owner, whose process is gone; `undefined` when there is none. */
  find(script: string, owner: ScriptOwner): Promise<WaitingScript | undefined>;
}

const WAITING = 'script-waiting';
/** A note outlives its script by no more than this, whatever happens. */
const LIFE_MS = 2 * 3_600_000;
/** How often a script is tried whose process is gone. A claim that is missing or cannot be written would be tried for ever, without a pause (A48). */
const MAX_TRIES = 3;

/** The scripts that wait in one store. */
export function createWaitingScripts(deps: {
  readonly store: Store;
  readonly suspended: SuspendedScripts;
  readonly now: () => number;
}): WaitingScripts {
  const { store, suspended } = deps;
  /** Those that this process goes on with. */
  const own = new Set<string>();
  const keyOf = (script: string, { principal, skill = '' }: ScriptOwner): string =>
    sha256(JSON.stringify([sha256(script), principal, skill]));

  const held = (claimed: ClaimedScript, state: string, key: string): WaitingScript => {
    own.add(state);
    const leave = async (): Promise<void> => {
      own.delete(state);
      // It may wait again by now, under another state.
      const entry = await store.get(WAITING, key);
      if (entry?.value === state) await store.delete(WAITING, key);
    };
    return {
      ...claimed,
      state,
      async forget() {
        await claimed.forget();
        await leave();
      },
      async release() {
        own.delete(state);
        await claimed.release();
      },
    };
  };

  return {
    async keep(script, owner) {
      const state = await suspended.keep(script, owner);
      const key = keyOf(script.script, owner);
      const claimed = await suspended.claim(state, script.script, owner);
      await store.put(WAITING, key, state, { expiresAt: deps.now() + LIFE_MS });
      return held(claimed, state, key);
    },
    async find(script, owner) {
      const key = keyOf(script, owner);
      const entry = await store.get(WAITING, key);
      const state = entry?.value;
      if (typeof state !== 'string' || own.has(state)) return undefined;
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        try {
          return held(await suspended.claim(state, script, owner), state, key);
        } catch (thrown) {
          if (!(thrown instanceof ToolscoutError) || thrown.code !== 'INVALID_REQUEST') throw thrown;
          // Without a retry time it is gone; with one, a process holds it that may be dead.
          if (thrown.retryAfterMs === undefined || !(await suspended.isAbandoned(state))) return undefined;
        }
      }
      return undefined;
    },
  };
}
