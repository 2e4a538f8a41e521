/** How a server is reached, for a snapshot. */
export type SnapshotTransport = 'stdio' | 'http' | 'sse';

/** One server in a snapshot (REG-1). The names of its fields are those of the HTTP API. */
export interface SnapshotItem {
  readonly id: string;
  readonly name: string;
  /** The version that the server reports; `null` without one. */
  readonly version: string | null;
  /** Without credentials; `null` for a server over stdio. */
  readonly base_url: string | null;
  readonly transport: SnapshotTransport;
  readonly alive: boolean;
  readonly latency_ms: number | null;
  /** Sorted and unique. */
  readonly capabilities: readonly string[];
  /** Sorted and unique. */
  readonly tags: readonly string[];
  /** ISO 8601; `null` when it was never checked. */
  readonly last_checked_ts: string | null;
  /**
   * `pending`, `host_not_allowed:<host>`, `invalid_scheme`, `well_known_status:<n>`, `well_known_error:<code>`,
   * `health_status:<n>`, `health_error:<code>`; `null` when nothing failed (REG-6).
   */
  readonly failure_reason: string | null;
  readonly consecutive_failures: number;
}

/** The deterministic view of all servers and their health (REG-1…3). */
export interface Snapshot {
  /** Of the items, without what changes from check to check. */
  readonly registry_hash: string;
  /** ISO 8601. */
  readonly generated_at: string;
  readonly items: readonly SnapshotItem[];
}

/** What a snapshot may be narrowed by; all of it must hold (REG-2). */
export interface SnapshotFilters {
  readonly alive?: boolean;
  readonly capabilities?: readonly string[];
  readonly tags?: readonly string[];
  /** Part of the name or the id, whatever the case. */
  readonly q?: string;
}
