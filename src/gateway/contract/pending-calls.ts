/** Who decides about a call that waits, and why. */
export interface CallRulingOptions {
  /** Who decides, where the user of this machine says so for somebody; otherwise it is the viewer. */
  readonly by?: string;
  readonly reason?: string;
  /** The id of the request with which it was decided. */
  readonly traceId?: string;
}
