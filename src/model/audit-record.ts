import type { ErrorCode } from '../kernel/errors.js';
import type { JsonValue } from '../kernel/json.js';

/** What is recorded: executions, what agents read besides, and every administrative act. */
export const AUDIT_KINDS = [
  'execution',
  'script',
  'search',
  'menu',
  'answer',
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
  'confirm',
  'introspect',
  'register',
  'unregister',
  'capability-register',
  'export',
  'store-accept',
  'store-migrate',
  'config-approve',
  'config-withdraw',
  'config-edit',
  'session-open',
  'session-end',
  'lock',
] as const;

/** One of {@link AUDIT_KINDS}. */
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** About how many tokens something cost an agent (ANS-7). */
export interface TokenCount {
  /** Of what the agent sent. */
  readonly arguments: number;
  /** Of what it was given back. */
  readonly returned: number;
  /** Of what was kept from it: what can be read on demand, and what only a script of it saw. */
  readonly withheld: number;
}

/** How something ended; a call that is `waiting` was not made yet, because a person is asked first (SEC-11). */
export const AUDIT_OUTCOMES = ['success', 'failure', 'refused', 'waiting'] as const;

/** One execution or administrative act (EXEC-5). */
export interface AuditRecord {
  readonly id: string;
  /** Wall-clock milliseconds. */
  readonly time: number;
  /** One of {@link AUDIT_KINDS}, or what another version has recorded. */
  readonly kind: string;
  readonly principal: string;
  readonly route?: string;
  /** What the host calls itself that made the call over MCP, or the program over HTTP; nothing proves it. */
  readonly host?: string;
  readonly skill?: string;
  readonly server?: string;
  readonly tool?: string;
  /** Redacted. */
  readonly arguments?: JsonValue;
  /** SHA-256 of the arguments before redaction. */
  readonly argumentsHash?: string;
  readonly outcome: (typeof AUDIT_OUTCOMES)[number];
  readonly code?: ErrorCode;
  /** What the caller was told of a failure or a refusal: redacted, and cut where it is long. Records of older versions have none. */
  readonly message?: string;
  readonly latencyMs?: number;
  /** The part of `latencyMs` in which a call waited for the rate limit of its server. */
  readonly waitedMs?: number;
  /** The part of `latencyMs` in which a call waited for a connection: its server was started, or reached for the first time. */
  readonly connectMs?: number;
  /** The part of `latencyMs` in which a person or a host was asked something: a question of the server, or a confirmation. */
  readonly askedMs?: number;
  readonly resultBytes?: number;
  /** Of calls, searches, menus and what else agents read; records of older versions have none. */
  readonly tokens?: TokenCount;
  readonly era?: 'legacy' | 'modern';
  readonly traceId?: string;
  /** The id of the script's record, of a call that a script made (CODE-4). */
  readonly parent?: string;
  /** Anything else worth keeping about an administrative act. */
  readonly detail?: JsonValue;
}

/** How long a record's request took without the time in which a person or a host was asked; older records tell no such time. */
export function ownMs({ latencyMs, askedMs = 0 }: Pick<AuditRecord, 'latencyMs' | 'askedMs'>): number | undefined {
  return latencyMs === undefined ? undefined : Math.max(0, latencyMs - askedMs);
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
