/** Who decides about a call that waits, and why. */
export interface CallRulingOptions {
  /** Who decides, when the user of this machine enters another person's decision; otherwise it is the viewer. */
  readonly by?: string;
  readonly reason?: string;
  /** The id of the request with which it was decided. */
  readonly traceId?: string;
}
