import type { AuditSum } from '../../model/stats.js';
import type { Tool, ToolStatus } from '../../model/tool.js';
import type { Knowledge, ServerView } from '../../catalog/views.js';
import type { Overview } from '../contract/studio.js';

const HOUR_MS = 3_600_000;
const HOURS = 24;

const KNOWLEDGE: readonly Knowledge[] = ['ready', 'stale', 'learning', 'failed', 'unknown', 'off'];
const STATUSES: readonly ToolStatus[] = ['enabled', 'disabled', 'pending', 'quarantined'];

/** How many tools there are by status. */
export function countTools(tools: readonly Pick<Tool, 'status'>[]): Overview['tools'] {
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<ToolStatus, number>;
  for (const { status } of tools) counts[status] += 1;
  return { total: tools.length, ...counts };
}

/** How many servers there are by how much is known of them. */
export function countServers(views: readonly ServerView[]): Overview['servers'] {
  const counts = Object.fromEntries(KNOWLEDGE.map((each) => [each, 0])) as Record<Knowledge, number>;
  for (const { knowledge } of views) counts[knowledge] += 1;
  return { total: views.length, enabled: views.filter(({ enabled }) => enabled).length, ...counts };
}

/** The first hour that is shown. */
export function firstHour(now: number): number {
  return (Math.floor(now / HOUR_MS) - HOURS + 1) * HOUR_MS;
}

/** Calls and failures of each of the last hours, also of those without any. */
export function hoursOf(sums: readonly AuditSum[], now: number): Overview['hours'] {
  const first = firstHour(now);
  const hours = Array.from({ length: HOURS }, (_, at) => ({
    at: first + at * HOUR_MS,
    calls: 0,
    failed: 0,
    waiting: 0,
  }));
  for (const { kind, hour, records, failed, waiting } of sums) {
    const found = hours.find(({ at }) => new Date(at).toISOString().startsWith(`${hour}`));
    if (kind !== 'execution' || !found) continue;
    found.calls += records;
    found.failed += failed;
    found.waiting += waiting;
  }
  return hours;
}
