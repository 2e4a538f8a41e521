import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../kernel/errors.js';
import { hashJson } from '../kernel/hash.js';
import type { JsonValue } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { Store } from '../model/store.js';

/**
 * What stands behind the hashes that are trusted or asked for, so that a change can be shown. Only
 * that depends on it, so nothing here fails: what could not be kept is missing from a diff.
 */
export interface Definitions {
  /** By hash; a value that does not fit its hash is left out (A23). */
  read(key: string): Promise<(hash: string) => JsonValue | undefined>;
  add(key: string, values: ReadonlyMap<string, JsonValue>): Promise<void>;
  /** Forgets every value whose hash is not among these. */
  forget(key: string, retain: ReadonlySet<string>): Promise<void>;
}

const SPACE = 'definitions';
const ATTEMPTS = 20;

/** With more tools than this others have their turn between two steps. */
export const LARGE = 100;

function unpack(value: JsonValue | undefined): Map<string, JsonValue> {
  const pairs = Array.isArray(value) ? value : [];
  return new Map(
    pairs.filter((pair): pair is [string, JsonValue] => Array.isArray(pair) && typeof pair[0] === 'string'),
  );
}

/** Kept definitions over a store: one value for each record of trust. */
export function createDefinitions({ store, log }: { readonly store: Store; readonly log: Log }): Definitions {
  const change = async (
    key: string,
    apply: (kept: Map<string, JsonValue>) => ReadonlyMap<string, JsonValue>,
  ): Promise<void> => {
    try {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const entry = await store.get(SPACE, key);
        const kept = unpack(entry?.value);
        // Reading and writing all of a large server takes a while each.
        if (kept.size > LARGE) await nextTurn();
        const next = apply(kept);
        if (next.size === kept.size && [...next.keys()].every((hash) => kept.has(hash))) return;
        const options = entry ? { ifRevision: entry.revision } : {};
        if (await store.put(SPACE, key, [...next], options)) return;
      }
      log.warn('approvals.definitions-busy', { key });
    } catch (thrown) {
      log.warn('approvals.definitions-unsaved', { key, reason: messageOf(thrown) });
    }
  };

  return {
    async read(key) {
      const entry = await store.get(SPACE, key).catch((thrown: unknown) => {
        log.warn('approvals.definitions-unread', { key, reason: messageOf(thrown) });
        return undefined;
      });
      const kept = unpack(entry?.value);
      return (hash) => {
        const value = kept.get(hash);
        return value !== undefined && hashJson(value) === hash ? value : undefined;
      };
    },
    add: (key, values) => change(key, (kept) => new Map([...kept, ...values])),
    forget: (key, retain) => change(key, (kept) => new Map([...kept].filter(([hash]) => retain.has(hash)))),
  };
}
