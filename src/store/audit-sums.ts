import type { TokenCount } from '../model/audit-record.js';
import type { AuditSum, StatsGroup } from '../model/stats.js';

/** Milliseconds of a day of UTC. */
export const DAY_MS = 86_400_000;

/** What a `Date` can hold. */
export const MAX_TIME = 8.64e15;

/** The first characters of a time of UTC; `undefined` for a number that a damaged record may hold. */
function startOf(time: number, length: number): string | undefined {
  return Math.abs(time) <= MAX_TIME ? new Date(time).toISOString().slice(0, length) : undefined;
}

/** The day of UTC with this number since 1970, as it is written: `2026-01-31`. */
export function dayName(day: number): string | undefined {
  return startOf(day * DAY_MS, 10);
}

/** Milliseconds of an hour. */
export const HOUR_MS = 3_600_000;

/** The hour of UTC with this number since 1970, as it is written: `2026-01-31T14`. */
export function hourName(hour: number): string | undefined {
  return startOf(hour * HOUR_MS, 13);
}

/** What is added up in one step. */
export interface SumPart {
  readonly kind: string;
  readonly groups: Partial<Record<StatsGroup, string>>;
  readonly records: number;
  readonly failed: number;
  readonly waiting: number;
  readonly tokens: TokenCount;
}

interface Sum extends Omit<SumPart, 'tokens'> {
  records: number;
  failed: number;
  waiting: number;
  readonly tokens: { -readonly [Part in keyof TokenCount]: number };
}

/** Sums that grow part by part; an invalid number, as a damaged record may hold, counts as 0. */
export function createAuditSums(): { add(part: SumPart): void; all(): AuditSum[] } {
  const sums = new Map<string, Sum>();
  const plain = (value: number): number => (Number.isFinite(value) && value > 0 ? value : 0);
  return {
    add({ kind, groups, records, failed, waiting, tokens }) {
      const { day, hour, server, tool, principal, host } = groups;
      const key = JSON.stringify([kind, day, hour, server, tool, principal, host]);
      let sum = sums.get(key);
      if (!sum) {
        sum = { kind, groups, records: 0, failed: 0, waiting: 0, tokens: { arguments: 0, returned: 0, withheld: 0 } };
        sums.set(key, sum);
      }
      sum.records += records;
      sum.failed += failed;
      sum.waiting += waiting;
      sum.tokens.arguments += plain(tokens.arguments);
      sum.tokens.returned += plain(tokens.returned);
      sum.tokens.withheld += plain(tokens.withheld);
    },
    all: () => [...sums.values()].map(({ groups, ...sum }) => ({ ...sum, ...groups })),
  };
}
