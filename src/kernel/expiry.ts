/** By how much clocks of processes may differ. */
export const CLOCK_SLACK_MS = 60_000;

/**
 * Whether a time is ahead of now by more than clocks differ: a clock was wrong when it was noted, or was set back since. What began then
 * may be of any age, so it counts as over; otherwise it would last as long as the clock is behind (R11).
 */
export function isAhead(noted: number, now: number): boolean {
  return noted > now + CLOCK_SLACK_MS;
}

/** Whether something with a lifetime is over, or ends later than it could if it began now (R11). */
export function isOver(until: number, lifeMs: number, now: number): boolean {
  return until <= now || isAhead(until - lifeMs, now);
}
