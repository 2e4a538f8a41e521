const DEFAULT = 100;

/** How many records one page of the whole log holds. */
export const PAGE = 1000;

/** How many audit records one answer holds: 100 unless asked otherwise, never a negative number. */
export function pageSize(limit: number | undefined): number {
  return limit === undefined || Number.isNaN(limit) ? DEFAULT : Math.min(Math.max(0, Math.floor(limit)), 1_000_000);
}
