import type { SnapshotItem } from '../model/snapshot.js';
import type { SelfDescription } from './documents.js';
import type { InventoryItem } from './inventory.js';
import type { ProbeResult } from './probe.js';
import { sortedUnique } from './snapshot.js';

/** When servers are checked, and how long what they said is believed (REG-6). */
export interface SchedulePolicy {
  readonly refreshMs: number;
  readonly staleMaxMs: number;
}

/** What is remembered of one server between two checks. Times are monotonic, except `checkedAt`. */
export interface CheckState {
  readonly alive: boolean;
  readonly reason: string | null;
  readonly failures: number;
  readonly latencyMs: number | null;
  /** Wall-clock time, for people. */
  readonly checkedAt: number | null;
  /** What it last said of itself, and when. */
  readonly good?: { readonly description: SelfDescription; readonly at: number };
  /** Where it says so. */
  readonly locations: readonly string[];
  /** When it is to be checked again. */
  readonly dueAt: number;
}

/** How far a delay strays to either side. */
const JITTER = 0.1;
const MAX_FACTOR = 10;

/** A server that was never checked: it is due at once. */
export function newState(now: number): CheckState {
  return { alive: false, reason: 'pending', failures: 0, latencyMs: null, checkedAt: null, locations: [], dueAt: now };
}

/** How long until the next check: the interval ± 10 %, times min(2ⁿ, 10) after n failures. `random` is in [0, 1). */
export function delayAfter(failures: number, policy: SchedulePolicy, random: number): number {
  const factor = failures === 0 ? 1 : Math.min(2 ** failures, MAX_FACTOR);
  return policy.refreshMs * factor * (1 - JITTER + 2 * JITTER * random);
}

/** The state after a check. What a server said earlier stays until it says something else. */
export function afterProbe(
  before: CheckState,
  result: ProbeResult,
  times: { readonly monotonic: number; readonly wall: number },
  policy: SchedulePolicy,
  random: number,
): CheckState {
  const failures = result.reason === null ? 0 : before.failures + 1;
  return {
    alive: result.alive,
    reason: result.reason,
    failures,
    latencyMs: result.latencyMs,
    checkedAt: times.wall,
    good: result.description ? { description: result.description, at: times.monotonic } : before.good,
    locations: result.description ? result.locations : before.locations,
    dueAt: times.monotonic + delayAfter(failures, policy, random),
  };
}

/** The states of exactly those servers that are in the inventory: new ones are due at once, removed ones are forgotten. */
export function syncStates(
  states: ReadonlyMap<string, CheckState>,
  ids: Iterable<string>,
  now: number,
): Map<string, CheckState> {
  return new Map([...ids].map((id) => [id, states.get(id) ?? newState(now)]));
}

/** Who is to be checked now, longest overdue first, and when the next one is. */
export function dueNow(
  states: ReadonlyMap<string, CheckState>,
  now: number,
): { readonly due: string[]; readonly nextAt: number | undefined } {
  const due: Array<readonly [string, number]> = [];
  let nextAt: number | undefined;
  for (const [id, { dueAt }] of states) {
    if (dueAt <= now) due.push([id, dueAt]);
    else nextAt = Math.min(nextAt ?? Infinity, dueAt);
  }
  return { due: due.toSorted((a, b) => a[1] - b[1]).map(([id]) => id), nextAt };
}

/** The item of a server as the snapshot shows it at a time: what it said is believed for `staleMaxMs` while it fails. */
export function itemOf(item: InventoryItem, state: CheckState, now: number, policy: SchedulePolicy): SnapshotItem {
  const isFresh = state.good !== undefined && (state.failures === 0 || now - state.good.at <= policy.staleMaxMs);
  const said: SelfDescription = isFresh ? state.good!.description : {};
  return {
    id: item.id,
    name: said.name ?? item.name,
    version: said.version ?? null,
    base_url: item.shownUrl,
    transport: item.transport,
    alive: state.alive,
    latency_ms: state.latencyMs === null ? null : Math.round(state.latencyMs * 10) / 10,
    capabilities: sortedUnique(said.capabilities ?? []),
    tags: sortedUnique(item.tags),
    last_checked_ts: state.checkedAt === null ? null : new Date(state.checkedAt).toISOString(),
    failure_reason: state.reason,
    consecutive_failures: state.failures,
  };
}
