import type { JsonValue } from '../kernel/json.js';
import type { AuditFilter, AuditRecord } from './audit-record.js';

/** A stored value with its dates. */
export interface Entry {
  readonly key: string;
  readonly value: JsonValue;
  readonly storedAt: number;
  /** After this it is stale; it stays readable until it is replaced or cleared. */
  readonly expiresAt?: number;
  /** Grows with every write of this key; for compare-and-swap. */
  readonly revision: number;
}

/**
 * The port to durable state: named spaces of JSON values, and one audit log. Several processes may
 * use one store at once; a write is durable when its promise resolves.
 *
 * A value that cannot be read back (damaged, written by a newer version) is a miss, never an error.
 */
export interface Store {
  /** Where the state is, for people: a file path, a database without its password, or `memory`. */
  readonly location: string;
  get(space: string, key: string): Promise<Entry | undefined>;
  /** Every entry of a space, sorted by key. */
  list(space: string): Promise<Entry[]>;
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
  /** Forgets audit records older than a time; answers how many. */
  pruneAudit(before: number): Promise<number>;
  /** Called after another process changed a space. The answer stops it. */
  onChange(listener: (space: string) => void): () => void;
  close(): Promise<void>;
}
