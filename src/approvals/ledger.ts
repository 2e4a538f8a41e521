import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { JsonValue } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { Store } from '../model/store.js';
import type { Known } from './decide.js';
import { decodeRecord, encodeRecord, type Read, type TrustRecord } from './record.js';

/** The records of trust: read once, kept in memory, written by compare-and-swap. */
export interface Ledger {
  /** Reads what is stored, once; a failed attempt may be repeated. */
  load(): Promise<void>;
  /** What is known under a key; before `load` nothing is. */
  get(key: string): Known;
  /**
   * Reads, changes and writes one record as one step, however many processes do so at once; durable
   * when it resolves. `careful` says that an earlier record was there and is lost.
   */
  change(blank: TrustRecord, key: string, apply: Change): Promise<TrustRecord>;
  /** Holds a record that could not be stored. */
  holdUnsaved(key: string, record: TrustRecord): void;
  /** Called with the ids of servers whose records another process changed. The answer stops it. */
  onChange(listener: (servers: ReadonlySet<string>) => void): () => void;
  close(): void;
}

/** A change of one record; the same object means that there is nothing to write. */
export type Change = (record: TrustRecord, careful: boolean) => TrustRecord;

const SPACE = 'approvals';

/** Writers of other processes that may get in between before a write is given up. */
const ATTEMPTS = 100;

const UNREAD: Known = { unreadable: 'unread' };
const NONE: Known = {};

function writtenByNewer(server: string): ToolscoutError {
  const message = `The approvals of "${server}" were written by a newer version of toolscout.`;
  return new ToolscoutError('STORE_ERROR', message, { suggestion: 'Use that version, or another state directory.' });
}

/** A ledger over a store. */
export function createLedger({ store, log }: { readonly store: Store; readonly log: Log }): Ledger {
  const records = new Map<string, Known>();
  const listeners = new Set<(servers: ReadonlySet<string>) => void>();
  let loaded = false;
  let loading: Promise<void> | undefined;

  const read = (key: string, value: JsonValue): Read => {
    const found = decodeRecord(value);
    if ('unreadable' in found) log.error('approvals.unreadable', { key, reason: found.unreadable });
    return found;
  };

  /** Keeps the newer of two states of a record; answers whether that changed anything. */
  const remember = (key: string, found: Known): boolean => {
    const held = records.get(key);
    const isOld = held?.record && found.record && held.record.version >= found.record.version;
    if (isOld && !held.isUnsaved) return false;
    records.set(key, found);
    return true;
  };

  /** Reads every record; answers the servers about which something is new. */
  const readAll = async (): Promise<Set<string>> => {
    const changed = new Set<string>();
    const entries = await store.list(SPACE);
    for (const { key, value } of entries) {
      const before = records.get(key)?.record?.server;
      const found = read(key, value);
      const id = 'record' in found ? found.record.server : before;
      if (remember(key, found) && id !== undefined) changed.add(id);
    }
    return changed;
  };

  const reread = async (): Promise<void> => {
    try {
      const changed = await readAll();
      if (changed.size > 0) for (const listener of listeners) listener(changed);
    } catch (thrown) {
      log.warn('approvals.unread', { reason: messageOf(thrown) });
    }
  };
  const readFirst = async (): Promise<void> => {
    try {
      await readAll();
      loaded = true;
    } finally {
      loading = undefined;
    }
  };
  const stop = store.onChange((space) => {
    if (space !== SPACE || !loaded) return;
    void reread();
  });

  return {
    async load() {
      if (!loaded) await (loading ??= readFirst());
    },

    get: (key) => (loaded ? (records.get(key) ?? NONE) : UNREAD),

    async change(blank, key, apply) {
      let careful = false;
      let hidden = 0;
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const entry = await store.get(SPACE, key);
        const found = entry && read(key, entry.value);
        const lost = found && 'unreadable' in found ? found.unreadable : undefined;
        if (lost === 'newer') throw writtenByNewer(blank.server);
        careful ||= lost !== undefined;
        const stored = found && 'record' in found ? found.record : undefined;
        const before = stored ?? blank;
        const after = apply(before, careful);
        if (after === stored) {
          remember(key, { record: stored });
          return stored;
        }
        const next = { ...after, version: before.version + 1 };
        if (await store.put(SPACE, key, encodeRecord(next), { ifRevision: entry?.revision ?? 0 })) {
          if (careful) records.delete(key);
          remember(key, { record: next });
          return next;
        }
        // Absent to a reader and present to a writer, twice: a row so damaged that the store hides it.
        hidden = entry ? 0 : hidden + 1;
        if (hidden > 1) {
          log.error('approvals.unreadable', { key, reason: 'damaged' });
          careful = true;
          await store.delete(SPACE, key);
        }
      }
      throw new ToolscoutError('STORE_ERROR', `Others keep changing the approvals of "${blank.server}"; try again.`);
    },

    holdUnsaved: (key, record) => void records.set(key, { record, isUnsaved: true }),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: stop,
  };
}
