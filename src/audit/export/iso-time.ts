/** A time as ISO 8601, or the beginning of 1970 for a number that is no time. */
export function isoTime(time: number): string {
  const date = new Date(time);
  return new Date(Number.isNaN(date.getTime()) ? 0 : time).toISOString();
}
