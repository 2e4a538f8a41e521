import type { JsonValue } from '../kernel/json.js';
import type { AuditVerification, ChainHead } from './audit-chain.js';
import type { AuditFilter, AuditRecord } from './audit-record.js';
import type { AuditSum, AuditSumQuery } from './stats.js';

/** A stored value with its dates. */
export interface Entry {
  readonly key: string;
  /** `null` when it is `damaged`. */
  readonly value: JsonValue;
  /**
   * There is a value that cannot be read back. That differs from absence: it must not be trusted on first use (A48).
   */
  readonly damaged?: true;
  readonly storedAt: number;
  /** After this it is stale; it stays readable until it is replaced or cleared. */
  readonly expiresAt?: number;
  /** Grows with every write of this key; for compare-and-swap. */
  readonly revision: number;
}

/** The space in which a store keeps its own metadata. */
export const STORE_SPACE = 'about-store';

/** The key of a {@link StoreDoubt} in that space; deleting it accepts the store as it is. */
export const DOUBT_KEY = 'doubt';

/** Why a store is not the one that was used before; nothing in it is trusted until a person accepts it (A48). */
export interface StoreDoubt {
  readonly reason: 'vanished' | 'replaced' | 'rolled-back' | 'damaged' | 'unfinished';
  /** Wall-clock time at which it was noticed. */
  readonly at: number;
}

/** What happened to a store, as one phrase for people. */
export const DOUBT_PHRASES: Readonly<Record<StoreDoubt['reason'], string>> = {
  vanished: 'the database with your approvals is missing; a new, empty one was created',
  replaced: 'the database with your approvals was replaced by another one',
  'rolled-back': 'the database with your approvals was replaced by an older copy',
  damaged: 'the database with your approvals was damaged; a new, empty one was created',
  unfinished: 'copying another store into this one (toolscout store migrate) is not finished',
};

/**
 * The port to durable state: named spaces of JSON values, and one audit log. Several processes may
 * use one store at once; a write is durable when its promise resolves.
 *
 * A value that cannot be read back is `null` and `damaged`, never an error. An entry whose key cannot be read back is
 * left out.
 */
export interface Store {
  /** Where the state is, for people: a file path, a database without its password, or `memory`. */
  readonly location: string;
  get(space: string, key: string): Promise<Entry | undefined>;
  /** The names of the spaces that hold entries, sorted. */
  spaces(): Promise<string[]>;
  /** Every entry of a space, sorted by key. */
  list(space: string): Promise<Entry[]>;
  /** The revision of every key of a space: a cheap way to see what others changed. */
  revisions(space: string): Promise<Map<string, number>>;
  /**
   * Writes a value. With `ifRevision` only when the stored revision is that one (0: only when the
   * key is absent); answers whether it was written.
   */
  put(
    space: string,
    key: string,
    value: JsonValue,
    options?: { readonly expiresAt?: number; readonly ifRevision?: number },
  ): Promise<boolean>;
  delete(space: string, key: string): Promise<boolean>;
  /** Empties a space; answers how many entries went. */
  clear(space: string): Promise<number>;
  /** Appends to the audit log, all or nothing. */
  append(records: readonly AuditRecord[]): Promise<void>;
  /** The newest matching records, newest first (100 unless `limit` says otherwise). */
  audit(filter: AuditFilter): Promise<AuditRecord[]>;
  /** The whole audit log in pages, oldest first, in the order of appending. */
  auditPages(): AsyncIterable<AuditRecord[]>;
  /**
   * The records behind a place in the log, in the order of appending, and the place of the last; 0 is the beginning. Places stay valid when
   * records are forgotten.
   */
  auditAfter(position: number, limit: number): Promise<{ readonly records: AuditRecord[]; readonly position: number }>;
  /** The sums of all matching records, by kind and by what the query names, in no order (ANS-7). */
  sumAudit(query: AuditSumQuery): Promise<AuditSum[]>;
  /** Forgets audit records older than a time; answers how many. */
  pruneAudit(before: number): Promise<number>;
  /** Compares the audit log with its chain; `known` are heads that were kept elsewhere (SEC-12). */
  verifyAudit(known?: readonly ChainHead[]): Promise<AuditVerification>;
  /** By how much the clock of this process was last ahead of the clock of the store, where that has one of its own. */
  aheadMs?(): number;
  /** Called after another process changed a space. The answer stops it. */
  onChange(listener: (space: string) => void): () => void;
  close(): Promise<void>;
}
