import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { Config } from '../model/config.js';
import type { Store } from '../model/store.js';
import { hashTerms, recall, remember, type Credit, type Experience, type Usage } from '../search/index.js';

/** Remembers which queries led to a successful execution, one principal apart from the other. */
export interface ExperienceKeeper {
  /** What earlier queries of a principal led to, for the ranking; `undefined` while nothing is remembered. */
  of(principal: string): Promise<Experience | undefined>;
  /** Notes what a principal asked and was shown; nothing is stored yet. */
  noteSearch(principal: string, terms: readonly string[], shown: readonly string[]): void;
  /** A tool ran and succeeded: the search that showed it is remembered. */
  noteSuccess(principal: string, address: string): void;
  /** Deletes the usage of all principals; returns their number. */
  forget(): Promise<number>;
  /** Resolves when everything noted so far is stored. */
  settled(): Promise<void>;
}

const SPACE = 'usage';
const KEY_ENTRY = 'key';

/** A search is the reason of an execution only for so long, and only the latest few of a principal are. */
const REASON_MS = 600_000;
const SEARCHES_KEPT = 20;
const PRINCIPALS_KEPT = 1000;

/** Attempts to store a memory that other processes are writing too. */
const ATTEMPTS = 5;

/** Of a value that this process wrote: it is read once more when others have written too. */
const UNKNOWN_REVISION = -1;

/** What is known of a principal, and the revision in the store that it is of. */
interface Memory {
  readonly usage: Usage;
  readonly revision: number;
}

interface Search {
  readonly at: number;
  readonly terms: readonly string[];
  readonly shown: Set<string>;
}

/** A keeper over the store. What it holds are hashes under a key of this store, weights and addresses. */
export function createExperience(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => Pick<Config, 'usageMemory'>;
}): ExperienceKeeper {
  const { store, clock, log } = deps;
  const searches = new Map<string, Search[]>();
  const memories = new Map<string, Memory>();
  let key: Promise<string> | undefined;
  let writing: Promise<void> = Promise.resolve();
  let changes = 0;
  let reading: Promise<void> | undefined;

  store.onChange((space) => {
    if (space !== SPACE) return;
    // Another process may have forgotten everything, the key included.
    key = undefined;
    changes += 1;
    reading ??= readAgain();
  });

  const isKept = (principal: string): boolean => {
    const { usageMemory } = deps.config();
    return usageMemory === 'local' ? principal === 'local' : usageMemory;
  };

  const makeKey = async (): Promise<string> => {
    const entry = await store.get(SPACE, KEY_ENTRY);
    if (typeof entry?.value === 'string') return entry.value;
    const fresh = randomBytes(32).toString('base64url');
    await store.put(SPACE, KEY_ENTRY, fresh, { ifRevision: entry?.revision ?? 0 });
    const kept = (await store.get(SPACE, KEY_ENTRY))?.value;
    return typeof kept === 'string' ? kept : fresh;
  };
  const secret = (): Promise<string> => {
    const wanted = (key ??= makeKey());
    // One that could not be read is asked for again.
    wanted.catch(() => key === wanted && (key = undefined));
    return wanted;
  };

  const entryOf = (principal: string): string => `of-${sha256(principal)}`;

  const read = async (principal: string): Promise<Memory> => {
    const entry = await store.get(SPACE, entryOf(principal));
    return { usage: decodeUsage(entry?.value), revision: entry?.revision ?? 0 };
  };
  const load = async (principal: string): Promise<Usage> => {
    const known = memories.get(principal);
    if (known) return known.usage;
    const since = changes;
    const memory = await read(principal);
    if (memories.size >= PRINCIPALS_KEPT) memories.clear();
    // What was read before a change may be out of date after it.
    if (changes === since) memories.set(principal, memory);
    return memory.usage;
  };
  /** Reads what another process changed, so that no search has to (STORE-3). */
  const readChanged = async (): Promise<void> => {
    const revisions = await store.revisions(SPACE);
    for (const [principal, known] of memories) {
      if (known.revision === (revisions.get(entryOf(principal)) ?? 0)) continue;
      const memory = await read(principal);
      // It may have been written meanwhile.
      if (memories.get(principal) === known) memories.set(principal, memory);
    }
    if ([...memories.values()].some(({ usage }) => usage.size > 0)) await secret();
  };
  const readAgain = async (): Promise<void> => {
    try {
      for (let seen = 0; seen !== changes;) {
        seen = changes;
        await readChanged();
      }
    } catch (thrown) {
      // What may be out of date is read by the next search.
      memories.clear();
      log.debug('usage.unread', { error: messageOf(thrown) });
    } finally {
      reading = undefined;
    }
  };

  /** Adds a credit to the stored value, also when another process writes at the same moment. */
  const write = async (principal: string, credit: Credit): Promise<void> => {
    const terms = hashTerms(credit.terms, await secret());
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = await store.get(SPACE, entryOf(principal));
      const usage = remember(decodeUsage(entry?.value), { ...credit, terms });
      if (await store.put(SPACE, entryOf(principal), encodeUsage(usage), { ifRevision: entry?.revision ?? 0 })) {
        memories.set(principal, { usage, revision: UNKNOWN_REVISION });
        return;
      }
    }
    log.debug('usage.contended', { tool: credit.address });
  };

  return {
    async of(principal) {
      if (!isKept(principal)) return undefined;
      try {
        const usage = await load(principal);
        if (usage.size === 0) return undefined;
        const hidden = await secret();
        return (terms) => {
          const asked = terms.flatMap(({ term }) => hashTerms([term], hidden));
          return recall(usage, asked, clock.now());
        };
      } catch (thrown) {
        log.warn('usage.unread', { error: messageOf(thrown) });
        return undefined;
      }
    },

    noteSearch(principal, terms, shown) {
      if (!isKept(principal) || terms.length === 0 || shown.length === 0) return;
      const latest = searches.get(principal) ?? [];
      latest.push({ at: clock.monotonic(), terms, shown: new Set(shown) });
      if (latest.length > SEARCHES_KEPT) latest.shift();
      // The principal who was quiet longest is forgotten first.
      searches.delete(principal);
      searches.set(principal, latest);
      if (searches.size > PRINCIPALS_KEPT) searches.delete(searches.keys().next().value!);
    },

    noteSuccess(principal, address) {
      const latest = searches.get(principal);
      if (!latest) return;
      const since = clock.monotonic() - REASON_MS;
      const reason = latest.findLast(({ at, shown }) => at >= since && shown.has(address));
      if (!reason) return;
      // One search speaks for a tool once, however often the tool is then called.
      reason.shown.delete(address);
      const credit = { address, terms: reason.terms, at: clock.now() };
      writing = writing
        .then(() => write(principal, credit))
        .catch((thrown: unknown) => log.warn('usage.unwritten', { error: messageOf(thrown) }));
    },

    async forget() {
      await writing;
      searches.clear();
      memories.clear();
      key = undefined;
      const cleared = await store.clear(SPACE);
      return Math.max(0, cleared - 1);
    },

    async settled() {
      await writing;
      await reading;
    },
  };
}

function encodeUsage(usage: Usage): JsonObject {
  return Object.fromEntries(
    [...usage].map(([address, { at, terms }]) => [
      address,
      { at, terms: Object.fromEntries([...terms].map(([term, weight]) => [term, Number(weight.toFixed(3))])) },
    ]),
  );
}

/** A stored value; anything in another shape counts as empty. */
function decodeUsage(value: JsonValue | undefined): Usage {
  const usage = new Map<string, { at: number; terms: Map<string, number> }>();
  if (!isObject(value)) return usage;
  for (const [address, one] of Object.entries(value)) {
    if (!isObject(one) || typeof one['at'] !== 'number' || !isObject(one['terms'])) continue;
    const terms = Object.entries(one['terms']).filter((entry): entry is [string, number] => {
      return typeof entry[1] === 'number' && entry[1] > 0;
    });
    usage.set(address, { at: one['at'], terms: new Map(terms) });
  }
  return usage;
}
