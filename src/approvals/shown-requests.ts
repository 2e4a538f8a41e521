import { messageOf } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import { isObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { Approval } from '../model/approval.js';
import type { Store } from '../model/store.js';

/** Which content was last shown to which principal, so that a person approves only what they saw (A41). */
export interface ShownRequests {
  /** Remembers the hash of every open request among these as shown to `principal`. Never rejects. */
  note(principal: string, approvals: readonly Approval[]): Promise<void>;
  /** The hash that `principal` last saw of a request; `undefined` when it was never shown to them. */
  recall(principal: string): Promise<(approval: Pick<Approval, 'ref' | 'about' | 'hash'>) => string | undefined>;
}

const SPACE = 'shown';
const ATTEMPTS = 20;

/** Requests remembered for one principal; the oldest go first. */
const MAX_SHOWN = 20_000;
/** Principals of whom is known in this process alone what they were shown. */
const MAX_UNSAVED = 100;

const nameOf = ({ ref, about }: Pick<Approval, 'ref' | 'about'>): string => `${about} ${ref}`;

function unpack(value: unknown): Map<string, string> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** The memory of what was shown, over a store that all processes share. */
export function createShownRequests({ store, log }: { readonly store: Store; readonly log: Log }): ShownRequests {
  /** What was shown here and could not be stored: it holds in this process. */
  const unsaved = new Map<string, ReadonlyMap<string, string>>();
  const keep = (key: string, open: readonly Approval[]): void => {
    const all = [...(unsaved.get(key) ?? []), ...open.map((approval) => [nameOf(approval), approval.hash] as const)];
    unsaved.delete(key);
    unsaved.set(key, new Map(all.slice(-MAX_SHOWN)));
    if (unsaved.size > MAX_UNSAVED) unsaved.delete(unsaved.keys().next().value!);
  };
  return {
    async note(principal, approvals) {
      const open = approvals.filter(({ state }) => state !== 'approved' && state !== 'superseded');
      if (open.length === 0) return;
      const key = sha256(principal);
      try {
        for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
          const entry = await store.get(SPACE, key);
          const seen = unpack(entry?.value);
          if (open.every((approval) => seen.get(nameOf(approval)) === approval.hash)) return;
          for (const approval of open) {
            // Deleted first, so that what was shown last stands last.
            seen.delete(nameOf(approval));
            seen.set(nameOf(approval), approval.hash);
          }
          const kept = Object.fromEntries([...seen].slice(-MAX_SHOWN));
          if (await store.put(SPACE, key, kept, { ifRevision: entry?.revision ?? 0 })) return;
        }
        log.warn('approvals.shown-busy', { principal });
      } catch (thrown) {
        // Approving elsewhere then needs the hash; nothing is approved that was not seen.
        log.warn('approvals.shown-unsaved', { principal, reason: messageOf(thrown) });
      }
      keep(key, open);
    },
    async recall(principal) {
      const key = sha256(principal);
      const seen = unpack((await store.get(SPACE, key))?.value);
      return (approval) => {
        const here = unsaved.get(key)?.get(nameOf(approval));
        return here === approval.hash ? here : seen.get(nameOf(approval));
      };
    },
  };
}
