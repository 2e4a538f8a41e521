import { createHash } from 'node:crypto';
import { ToolscoutError } from '../kernel/errors.js';
import { canonicalJson, type JsonObject } from '../kernel/json.js';
import { oneLine, printable } from '../kernel/text.js';
import type { Snapshot, SnapshotFilters, SnapshotItem } from '../model/snapshot.js';

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Texts sorted by code unit, each once. */
export function sortedUnique(texts: Iterable<string>): string[] {
  return [...new Set(texts)].toSorted(compare);
}

/** Items by lower-cased name, then id: the same order whatever order they came in. */
export function sortItems(items: Iterable<SnapshotItem>): SnapshotItem[] {
  return [...items].toSorted((a, b) => compare(a.name.toLowerCase(), b.name.toLowerCase()) || compare(a.id, b.id));
}

/**
 * `sha256-` and the base64 SHA-256 of the items, without what differs from one check to the next: the same servers in the
 * same health have the same hash on every machine and in every run (REG-3).
 */
export function hashItems(items: Iterable<SnapshotItem>): string {
  const lasting = sortItems(items).map((item): JsonObject => {
    const { latency_ms: _latency, last_checked_ts: _checked, consecutive_failures: _failures, ...rest } = item;
    return { ...rest, capabilities: sortedUnique(rest.capabilities), tags: sortedUnique(rest.tags) };
  });
  return `sha256-${createHash('sha256').update(canonicalJson(lasting)).digest('base64')}`;
}

/** Whether an item passes all filters. */
export function matchesFilters(item: SnapshotItem, filters: SnapshotFilters): boolean {
  const { alive, capabilities = [], tags = [], q = '' } = filters;
  if (alive !== undefined && item.alive !== alive) return false;
  if (!capabilities.every((capability) => item.capabilities.includes(capability))) return false;
  if (!tags.every((tag) => item.tags.includes(tag))) return false;
  const wanted = q.toLowerCase();
  return item.name.toLowerCase().includes(wanted) || item.id.toLowerCase().includes(wanted);
}

/** A snapshot of those items that pass; its hash is of exactly the items in it. */
export function createSnapshot(items: Iterable<SnapshotItem>, now: number, filters: SnapshotFilters = {}): Snapshot {
  const sorted = sortItems(items).filter((item) => matchesFilters(item, filters));
  return { registry_hash: hashItems(sorted), generated_at: new Date(now).toISOString(), items: sorted };
}

const MAX_VALUE = 200;
const YES = new Set(['true', '1', 'yes', 'on']);
const NO = new Set(['false', '0', 'no', 'off']);

function refuse(name: string, value: string, expected: string): ToolscoutError {
  const found = `${name}: expected ${expected}, found "${oneLine(printable(value), 60)}"`;
  return new ToolscoutError('INVALID_REQUEST', `A filter is not valid: ${found}.`, {
    problems: [{ path: name, message: `expected ${expected}` }],
  });
}

/**
 * Reads the filters of a query string (REG-2). A parameter that is not a filter is left alone.
 *
 * @throws ToolscoutError `INVALID_REQUEST` that names the value which makes no sense.
 */
export function readFilters(query: URLSearchParams): SnapshotFilters {
  const texts = (name: string): string[] =>
    query.getAll(name).map((value) => {
      const text = value.trim();
      if (text === '' || text.length > MAX_VALUE) throw refuse(name, value, `1 to ${MAX_VALUE} characters`);
      return text;
    });
  const [alive, ...more] = query.getAll('alive').map((value) => {
    const word = value.trim().toLowerCase();
    if (YES.has(word)) return true;
    if (NO.has(word)) return false;
    throw refuse('alive', value, 'true, 1, yes, on, false, 0, no or off');
  });
  if (more.some((other) => other !== alive)) throw refuse('alive', 'both', 'one value');
  const q = query.get('q') ?? '';
  if (q.length > MAX_VALUE) throw refuse('q', q, `at most ${MAX_VALUE} characters`);
  return { alive, capabilities: texts('capability'), tags: texts('tag'), q: q.trim() };
}
