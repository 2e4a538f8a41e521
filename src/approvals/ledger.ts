import type { Clock, Timer } from '../kernel/clock.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import { isObject, type JsonValue } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import { DOUBT_KEY, DOUBT_PHRASES, STORE_SPACE, type Entry, type Store, type StoreDoubt } from '../model/store.js';
import type { Known } from './decide.js';
import { decodeRecord, encodeRecord, recordKey, type Read, type TrustRecord } from './record.js';

/** Servers about which something is new; `all` when it concerns every one. */
export type ChangedServers = ReadonlySet<string> | 'all';

/** The records of trust: read once, kept in memory, written by compare-and-swap. */
export interface Ledger {
  /** Reads what is stored, once; a failed attempt may be repeated. */
  load(): Promise<void>;
  /** What is known under a key; before `load` nothing is. */
  get(key: string): Known;
  /** Why nothing in the store is trusted until a person accepts it. */
  doubt(): StoreDoubt | undefined;
  /** Accepts the store as it is; answers what was in doubt. */
  accept(): Promise<StoreDoubt | undefined>;
  /**
   * Reads, changes and writes one record as one step, however many processes do so at once; durable
   * when it resolves. `careful` says that an earlier record was there and is lost.
   */
  change(blank: TrustRecord, key: string, apply: Change): Promise<TrustRecord>;
  /**
   * Keeps a change that could not be stored: it holds in this process and is tried again until it is stored. `before` runs
   * ahead of every attempt. Answers the record as it is now.
   */
  holdUnsaved(key: string, unsaved: Unsaved): TrustRecord;
  /** Called with the servers whose records another process changed. The answer stops it. */
  onChange(listener: (servers: ChangedServers) => void): () => void;
  close(): void;
}

/** A change of one record; the same object means that there is nothing to write. */
export type Change = (record: TrustRecord, careful: boolean) => TrustRecord;

/** A change that waits to be stored. */
export interface Unsaved {
  readonly blank: TrustRecord;
  readonly apply: Change;
  readonly before?: () => Promise<void>;
}

/** Told when something about trust could not be stored, and when everything is. */
export interface UnsavedFlag {
  raise(): void;
  lower(): void;
}

const SPACE = 'approvals';

/** Writers of other processes that may get in between before a write is given up. */
const ATTEMPTS = 100;

/** How often a change that could not be stored is tried again. */
const RETRY_MS = 2000;

const UNREAD: Known = { unreadable: 'unread' };
const NONE: Known = {};

function writtenByNewer(server: string): ToolscoutError {
  const message = `The approvals of "${server}" were written by a newer version of toolscout.`;
  return new ToolscoutError('STORE_ERROR', message, { suggestion: 'Update toolscout, or use another store.' });
}

/** Why a store is not to be trusted as it is. A doubt that cannot be read is one all the same. */
export async function readDoubt(store: Pick<Store, 'get'>): Promise<StoreDoubt | undefined> {
  const entry = await store.get(STORE_SPACE, DOUBT_KEY);
  if (!entry) return undefined;
  const reason = isObject(entry.value) ? entry.value['reason'] : undefined;
  const isKnown = typeof reason === 'string' && Object.hasOwn(DOUBT_PHRASES, reason);
  return { reason: isKnown ? (reason as StoreDoubt['reason']) : 'damaged', at: entry.storedAt };
}

/** A ledger over a store. */
export function createLedger(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly flag?: UnsavedFlag;
}): Ledger {
  const { store, clock, log, flag } = deps;
  const records = new Map<string, Known>();
  const unsaved = new Map<string, Unsaved>();
  const listeners = new Set<(servers: ChangedServers) => void>();
  let loaded = false;
  let loading: Promise<void> | undefined;
  let doubt: StoreDoubt | undefined;
  /** It is another database, or the same one accepted as it is: what was known of the one before does not count. */
  let isOther = false;
  let timer: Timer | undefined;
  let closed = false;

  const read = (key: string, value: JsonValue): Read => {
    const found = decodeRecord(value);
    if ('unreadable' in found) log.error('approvals.unreadable', { key, reason: found.unreadable });
    return found;
  };

  /** Keeps the newer of two states of a record; answers whether that changed anything. */
  const remember = (key: string, found: Known): boolean => {
    const waiting = unsaved.get(key);
    if (waiting) {
      const record = waiting.apply(found.record ?? waiting.blank, found.unreadable !== undefined);
      records.set(key, { record, isUnsaved: true });
      return true;
    }
    const held = records.get(key);
    if (held?.record && found.record && held.record.version >= found.record.version) return false;
    records.set(key, found);
    return true;
  };

  /** Takes in every stored record; answers the servers about which something is new. */
  const rememberAll = (entries: readonly Entry[]): Set<string> => {
    const changed = new Set<string>();
    const misplaced: string[] = [];
    for (const { key, value } of entries) {
      const before = records.get(key)?.record?.server;
      let found = read(key, value);
      if ('record' in found && recordKey(found.record) !== key) {
        // Its key was damaged: the record says to whom it belongs, and there it must not be a first use.
        log.error('approvals.unreadable', { key, reason: 'misplaced' });
        misplaced.push(recordKey(found.record));
        changed.add(found.record.server);
        found = { unreadable: 'damaged' };
      }
      const id = 'record' in found ? found.record.server : before;
      if (remember(key, found) && id !== undefined) changed.add(id);
    }
    for (const key of misplaced) if (!records.has(key)) records.set(key, { unreadable: 'damaged' });
    return changed;
  };

  /**
   * Reads the store; answers the servers about which something is new. A new doubt holds at once. Everything else changes in one step after
   * the last read, since a record that is missing for a moment would count as a first use (A40).
   */
  const readAll = async (): Promise<ChangedServers> => {
    const next = await readDoubt(store);
    isOther ||= next?.reason !== doubt?.reason || next?.at !== doubt?.at;
    doubt = next ?? doubt;
    const entries = await store.list(SPACE);
    doubt = next;
    if (!isOther) return rememberAll(entries);
    isOther = false;
    records.clear();
    rememberAll(entries);
    for (const key of unsaved.keys()) if (!records.has(key)) remember(key, NONE);
    return 'all';
  };

  const tell = (servers: ChangedServers): void => {
    for (const listener of listeners) listener(servers);
  };
  const reread = async (): Promise<void> => {
    try {
      const changed = await readAll();
      if (changed === 'all' || changed.size > 0) tell(changed);
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
    if ((space !== SPACE && space !== STORE_SPACE) || !loaded) return;
    void reread();
  });

  const change: Ledger['change'] = async (blank, key, apply) => {
    let careful = false;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = await store.get(SPACE, key);
      const found = entry && read(key, entry.value);
      const lost = found && 'unreadable' in found ? found.unreadable : undefined;
      if (lost === 'newer') throw writtenByNewer(blank.server);
      // No record is ever deleted: one that was stored before, or stood under a damaged key, is lost.
      const known = records.get(key);
      careful ||= lost !== undefined || (!entry && known !== undefined && known.record?.version !== 0);
      const stored = found && 'record' in found ? found.record : undefined;
      const waiting = unsaved.get(key);
      const before = waiting ? waiting.apply(stored ?? blank, careful) : (stored ?? blank);
      const after = apply(before, careful);
      if (after === stored) {
        unsaved.delete(key);
        remember(key, { record: stored });
        return stored;
      }
      const next = { ...after, version: (stored ?? blank).version + 1 };
      if (await store.put(SPACE, key, encodeRecord(next), { ifRevision: entry?.revision ?? 0 })) {
        unsaved.delete(key);
        if (careful || records.get(key)?.isUnsaved) records.delete(key);
        remember(key, { record: next });
        return next;
      }
    }
    throw new ToolscoutError('STORE_ERROR', `Other processes keep changing the approvals of "${blank.server}".`, {
      suggestion: 'Try again.',
    });
  };

  const retry = async (): Promise<void> => {
    for (const [key, { blank, before }] of unsaved) {
      try {
        await before?.();
        // What waits is applied in any case.
        const { server } = await change(blank, key, (record) => record);
        log.info('approvals.saved', { server });
      } catch (thrown) {
        log.debug('approvals.still-unsaved', { server: blank.server, reason: messageOf(thrown) });
      }
    }
    if (unsaved.size === 0) flag?.lower();
    else retryLater();
  };
  const retryLater = (): void => {
    if (closed || timer) return;
    timer = clock.after(RETRY_MS, () => {
      timer = undefined;
      void retry();
    });
  };

  return {
    async load() {
      if (!loaded) await (loading ??= readFirst());
    },
    get: (key) => (loaded ? (records.get(key) ?? NONE) : UNREAD),
    doubt: () => doubt,
    async accept() {
      const accepted = await readDoubt(store);
      if (accepted) await store.delete(STORE_SPACE, DOUBT_KEY);
      doubt = undefined;
      return accepted;
    },
    change,
    holdUnsaved(key, waiting) {
      flag?.raise();
      const earlier = unsaved.get(key);
      const apply: Change = earlier
        ? (record, careful) => waiting.apply(earlier.apply(record, careful), careful)
        : waiting.apply;
      const known = records.get(key);
      const record = waiting.apply(known?.record ?? waiting.blank, known?.unreadable !== undefined);
      unsaved.set(key, { ...waiting, apply });
      records.set(key, { record, isUnsaved: true });
      retryLater();
      return record;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      timer?.cancel();
      stop();
    },
  };
}
