/** Who decides about a call that waits, and why. */
export interface CallRulingOptions {
  /** Who decides; the viewer unless said otherwise. */
  readonly by?: string;
  readonly reason?: string;
  /** The id of the request with which it was decided. */
  readonly traceId?: string;
}
