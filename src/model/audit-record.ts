import type { ErrorCode } from '../kernel/errors.js';
import type { JsonValue } from '../kernel/json.js';

/** What is recorded: executions, what agents read besides, and every administrative act. */
export const AUDIT_KINDS = [
  'execution',
  'resource-read',
  'prompt-get',
  'completion',
  'discovered',
  'reload',
  'server-add',
  'cache-clear',
  'usage-forgotten',
  'sign-in',
  'sign-out',
  'approve',
  'reject',
  'introspect',
  'register',
  'unregister',
  'capability-register',
  'export',
  'store-accept',
  'config-approve',
  'config-withdraw',
] as const;

/** One of {@link AUDIT_KINDS}. */
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** One execution or administrative act (EXEC-5). */
export interface AuditRecord {
  readonly id: string;
  /** Wall-clock milliseconds. */
  readonly time: number;
  /** One of {@link AUDIT_KINDS}, or what another version has recorded. */
  readonly kind: string;
  readonly principal: string;
  readonly route?: string;
  readonly skill?: string;
  readonly server?: string;
  readonly tool?: string;
  /** Redacted. */
  readonly arguments?: JsonValue;
  /** SHA-256 of the arguments before redaction. */
  readonly argumentsHash?: string;
  readonly outcome: 'success' | 'failure' | 'refused';
  readonly code?: ErrorCode;
  readonly latencyMs?: number;
  readonly resultBytes?: number;
  readonly era?: 'legacy' | 'modern';
  readonly traceId?: string;
  /** Anything else worth keeping about an administrative act. */
  readonly detail?: JsonValue;
}

/** Which records are wanted. */
export interface AuditFilter {
  readonly server?: string;
  readonly tool?: string;
  readonly kind?: string;
  readonly outcome?: AuditRecord['outcome'];
  readonly since?: number;
  readonly limit?: number;
}
