import type { JsonObject } from '../kernel/json.js';
import type { AuditKind, AuditRecord } from '../model/audit-record.js';

/**
 * What is to be recorded, as it happened. `arguments` are the raw ones; they are hashed and redacted
 * before they are stored, and must not be changed by the caller any more.
 */
export interface NewRecord extends Omit<AuditRecord, 'id' | 'time' | 'arguments' | 'argumentsHash'> {
  readonly kind: AuditKind;
  readonly arguments?: JsonObject;
}

/** A record that waits. Hashing and redacting happen when it is stored, not while a call is running. */
export interface Waiting {
  readonly id: string;
  readonly time: number;
  readonly entry: NewRecord;
}
