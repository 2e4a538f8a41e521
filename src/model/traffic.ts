import * as z from 'zod';
import type { ErrorCode } from '../kernel/errors.js';
import type { AuditRecord } from './audit-record.js';

/** What is kept of the traffic while it is not watched (STUDIO-3). */
export const TrafficConfig = z.strictObject({
  /** Rows that are kept in memory; 0 keeps none, and records nothing while the traffic is not watched. */
  keep: z.int().min(0).max(10_000).default(0),
});

/** A message as it may be shown: redacted, and cut where it is long. */
export interface Payload {
  /** JSON, or the beginning of it. */
  readonly json: string;
  /** Bytes of the whole message before it was redacted. */
  readonly bytes: number;
  readonly cut?: true;
}

/** Something that was said on behalf of a request: to a server, by it, or to the host. */
export interface TrafficChild {
  /** `connect` is the wait until a server was started or reached; without one its connection was there. */
  readonly kind: 'upstream' | 'connect' | 'callback' | 'progress' | 'notice' | 'wait' | 'retry' | 'unasked';
  readonly from: 'toolscout' | 'server' | 'host';
  readonly server?: string;
  readonly method: string;
  /** Milliseconds after the beginning of the row. */
  readonly startMs: number;
  readonly endMs?: number;
  readonly outcome?: 'success' | 'failure';
  readonly code?: ErrorCode;
  readonly request?: Payload;
  readonly response?: Payload;
}

/** One request of a host, and everything that it led to (STUDIO-3). */
export interface TrafficRow {
  readonly id: string;
  /** Wall-clock. */
  readonly at: number;
  readonly principal: string;
  readonly route: string;
  /** What the host calls itself, and its era where it speaks MCP. */
  readonly host?: { readonly name?: string; readonly era?: 'legacy' | 'modern' };
  readonly method: string;
  /** The name that the host used: of a tool or a prompt, or a URI. */
  readonly name?: string;
  /** The servers that were asked, in order. */
  readonly servers: readonly string[];
  /** The tool that was run, as `server:tool`. */
  readonly tool?: string;
  readonly traceId?: string;
  /** How it ended; `refused` as in the audit log: toolscout did not let it through. */
  readonly state: 'open' | AuditRecord['outcome'];
  readonly code?: ErrorCode;
  readonly ms?: number;
  /** The part of `ms` in which a person or a host was asked something; absent when none was. */
  readonly askedMs?: number;
  readonly tokens: { readonly arguments: number; readonly returned: number };
  readonly request: Payload;
  readonly response?: Payload;
  readonly children: readonly TrafficChild[];
  /** Children beyond the bound. */
  readonly dropped: number;
}

/** Which rows are wanted. */
export interface TrafficFilter {
  readonly server?: string;
  readonly tool?: string;
  readonly method?: string;
  readonly principal?: string;
  readonly state?: TrafficRow['state'];
  /** A text that stands in a payload or a name, whatever its case. */
  readonly q?: string;
}
