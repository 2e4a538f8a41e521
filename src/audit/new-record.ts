import type { JsonObject } from '../kernel/json.js';
import type { AuditKind, AuditRecord, TokenCount } from '../model/audit-record.js';

/**
 * What is to be recorded, as it happened. `arguments` are the raw ones; they are hashed and redacted
 * before they are stored, and must not be changed by the caller any more.
 */
export interface NewRecord extends Omit<AuditRecord, 'id' | 'time' | 'arguments' | 'argumentsHash'> {
  readonly kind: AuditKind;
  /** The id it gets, where others had to name it before. */
  readonly id?: string;
  readonly arguments?: JsonObject;
  /** Counts its tokens, where that is put off until it is stored; it must not hold much. */
  readonly countTokens?: () => TokenCount;
}

/** A record that waits. Hashing and redacting happen when it is stored, not while a call is running. */
export interface Waiting {
  readonly id: string;
  readonly time: number;
  readonly entry: NewRecord;
}
