import type { Approval } from '../../model/approval.js';

/** Who decides, why, and about exactly what. */
export interface RulingOptions {
  /** Who decides; `local` unless said otherwise. */
  readonly by?: string;
  /** The id of the request with which it was decided. */
  readonly traceId?: string;
  readonly reason?: string;
  /** Everything of the server that waits, its tools included; nothing that was rejected or has expired. */
  readonly all?: boolean;
  /** With `all`: also approve requests of critical risk. */
  readonly includeCritical?: boolean;
  /**
   * The hash that was looked at, or at least its first 12 characters; something else is refused. Without it a request is
   * refused that is no longer what `by` was last shown.
   */
  readonly hash?: string;
  /** Also refuse a request that was never shown to `by`, unless `hash` names it. */
  readonly requireShown?: boolean;
}

/** A request that `all` did not approve. */
export interface SkippedApproval {
  readonly ref: string;
  readonly hash: string;
  readonly reason: 'critical' | 'changed' | 'not-shown';
}

/** What became of a decision. */
export interface RulingReport {
  readonly approvals: readonly Approval[];
  /** What waits as well, was covered by `all` and was left alone. */
  readonly skipped: readonly SkippedApproval[];
  /** Folders whose exported files were promoted. */
  readonly promoted: readonly string[];
  /** Manifests that are in the marketplace now because of it. */
  readonly registered: number;
}
