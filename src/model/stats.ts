import type { TokenCount } from './audit-record.js';

/** By what the audit log can be added up. */
export const STATS_GROUPS = ['day', 'hour', 'server', 'tool', 'principal', 'host'] as const;

/** One of {@link STATS_GROUPS}. */
export type StatsGroup = (typeof STATS_GROUPS)[number];

/** Which records are summed, and by which fields besides the kind. */
export interface AuditSumQuery {
  readonly by: readonly StatsGroup[];
  /** Wall-clock milliseconds, the first that counts. */
  readonly since?: number;
  /** The first that does not count any more. */
  readonly until?: number;
}

/** The sum of some records of one kind; what they are grouped by is named, as far as they have it. */
export interface AuditSum {
  readonly kind: string;
  /** A day of UTC: `2026-01-31`. */
  readonly day?: string;
  /** An hour of UTC: `2026-01-31T14`. */
  readonly hour?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly principal?: string;
  /** What the host or the program over HTTP calls itself. */
  readonly host?: string;
  readonly records: number;
  /** Of them those that failed or were refused. */
  readonly failed: number;
  /** Of them those that were not made yet, because a person is asked first. */
  readonly waiting: number;
  /** Records of older versions count nothing. */
  readonly tokens: TokenCount;
}

/** How often something was done, and what that cost in tokens (ANS-7). */
export interface Usage {
  readonly calls: number;
  /** Of the calls those that failed or were refused. */
  readonly failed: number;
  /** Resources, prompts and completions. */
  readonly reads: number;
  readonly searches: number;
  /** Lists of tools that hosts were given. */
  readonly menus: number;
  readonly tokens: TokenCount;
}

/** The usage of one day, hour, server, tool, principal or host. */
export interface UsageRow extends Usage {
  /** A day or an hour of UTC, an id, an address or a name; empty for what belongs to no server, or to a host without a name. */
  readonly key: string;
}

/** What was used, and what it would have cost to load every tool instead (ANS-7). */
export interface Stats {
  readonly by: StatsGroup;
  readonly since?: number;
  readonly until?: number;
  /** By day or hour the newest first, otherwise those with most tokens first. */
  readonly rows: readonly UsageRow[];
  /** Rows that `limit` left out. */
  readonly more: number;
  readonly total: Usage;
  readonly menu: {
    /** Tools that are offered now, and the tokens of all their definitions. */
    readonly tools: number;
    readonly everyTool: number;
    /** Tokens of all menus that were given. */
    readonly given: number;
  };
  /** Tokens that agents did not receive: every tool for every menu instead of what was given, and results that were withheld. */
  readonly saved: number;
}

/** What of the audit log is wanted as sums. */
export interface StatsQuery {
  readonly by?: StatsGroup;
  readonly since?: number;
  readonly until?: number;
  /** Rows at most; 100 unless said otherwise. */
  readonly limit?: number;
}
