import type { Clock } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { JsonValue } from '../kernel/json.js';
import type { AuditFilter, AuditRecord } from '../model/audit-record.js';
import type { StatsGroup } from '../model/stats.js';
import type { Entry, Store } from '../model/store.js';
import { PAGE, pageSize } from './page-size.js';
import { createAuditSums, DAY_MS, dayName, HOUR_MS, hourName, type SumPart } from './audit-sums.js';
import { createMemoryLog } from './memory-log.js';
import { toText } from './stored-text.js';

interface Stored {
  /** The value as text, so that a stored value cannot be changed from outside. */
  readonly json: string;
  readonly storedAt: number;
  readonly expiresAt: number | undefined;
  readonly revision: number;
}

interface Space {
  readonly entries: Map<string, Stored>;
  /** Counts writes and outlives deletions, so that a revision never comes twice. */
  version: number;
}

/** A store that forgets everything with the process: for tests, and for a disk that cannot be used. */
export function createMemoryStore({ clock }: { readonly clock: Clock }): Store {
  const spaces = new Map<string, Space>();
  const log = createMemoryLog();
  let closed = false;

  const openOnly = (): void => {
    if (closed)
      throw new ToolscoutError('STORE_ERROR', 'The store is closed.', {
        suggestion: 'Start toolscout again; in the library, create a new gateway.',
      });
  };
  const spaceOf = (name: string): Space => {
    let space = spaces.get(name);
    if (!space) spaces.set(name, (space = { entries: new Map(), version: 0 }));
    return space;
  };

  return {
    location: 'memory',
    async get(space, key) {
      openOnly();
      const stored = spaces.get(space)?.entries.get(key);
      return stored && toEntry(key, stored);
    },
    async spaces() {
      openOnly();
      return [...spaces]
        .filter(([, { entries }]) => entries.size > 0)
        .map(([name]) => name)
        .toSorted();
    },
    async list(space) {
      openOnly();
      const entries = [...(spaces.get(space)?.entries ?? [])];
      return entries.map(([key, stored]) => toEntry(key, stored)).toSorted((a, b) => (a.key < b.key ? -1 : 1));
    },
    async revisions(space) {
      openOnly();
      return new Map([...(spaces.get(space)?.entries ?? [])].map(([key, { revision }]) => [key, revision]));
    },
    async put(name, key, value, options = {}) {
      openOnly();
      const json = toText(value, { space: name, key });
      const space = spaceOf(name);
      const { expiresAt, ifRevision } = options;
      if (ifRevision !== undefined && ifRevision !== (space.entries.get(key)?.revision ?? 0)) return false;
      space.version += 1;
      space.entries.set(key, { json, storedAt: clock.now(), expiresAt, revision: space.version });
      return true;
    },
    async delete(name, key) {
      openOnly();
      const space = spaces.get(name);
      if (!space?.entries.delete(key)) return false;
      space.version += 1;
      return true;
    },
    async clear(name) {
      openOnly();
      const space = spaces.get(name);
      const count = space?.entries.size ?? 0;
      if (!space || count === 0) return 0;
      space.entries.clear();
      space.version += 1;
      return count;
    },
    async append(records) {
      openOnly();
      log.append(records);
    },
    async audit(filter) {
      openOnly();
      const found: AuditRecord[] = [];
      const limit = pageSize(filter.limit);
      for (let at = log.all.length - 1; at >= 0 && found.length < limit; at--) {
        const { record, json } = log.all[at]!;
        if (matches(filter, record)) found.push(JSON.parse(json) as AuditRecord);
      }
      return found;
    },
    async *auditPages() {
      openOnly();
      const all = log.all.map(({ json }) => json);
      for (let at = 0; at < all.length; at += PAGE) {
        yield all.slice(at, at + PAGE).map((json) => JSON.parse(json) as AuditRecord);
      }
    },
    async auditAfter(position, limit) {
      openOnly();
      const found = log.all.filter(({ seq }) => seq > position).slice(0, pageSize(limit));
      const records = found.map(({ json }) => JSON.parse(json) as AuditRecord);
      return { records, position: found.at(-1)?.seq ?? position };
    },
    async sumAudit({ by, since = 0, until = Infinity }) {
      openOnly();
      const sums = createAuditSums();
      for (const { record } of log.all) {
        if (record.time >= since && record.time < until) sums.add(partOf(record, by));
      }
      return sums.all();
    },
    async pruneAudit(before) {
      openOnly();
      return log.prune(before);
    },
    async verifyAudit(known) {
      openOnly();
      return log.verify(known);
    },
    // There is no other process that could change this memory.
    onChange: () => () => {},
    async close() {
      closed = true;
      spaces.clear();
      log.clear();
    },
  };
}

function toEntry(key: string, { json, storedAt, expiresAt, revision }: Stored): Entry {
  return { key, value: JSON.parse(json) as JsonValue, storedAt, expiresAt, revision };
}

function partOf(
  { kind, time, server, tool, principal, host, outcome, tokens }: AuditRecord,
  by: readonly StatsGroup[],
): SumPart {
  const values = {
    day: dayName(Math.floor(time / DAY_MS)),
    hour: hourName(Math.floor(time / HOUR_MS)),
    server,
    tool,
    principal,
    host,
  };
  const groups = Object.fromEntries(
    by.map((group) => [group, values[group]]).filter(([, value]) => value !== undefined),
  );
  const { arguments: args = 0, returned = 0, withheld = 0 } = tokens ?? {};
  const waiting = outcome === 'waiting' ? 1 : 0;
  const failed = outcome === 'success' ? 0 : 1 - waiting;
  return { kind, groups, records: 1, failed, waiting, tokens: { arguments: args, returned, withheld } };
}

function matches(filter: AuditFilter, record: AuditRecord): boolean {
  return (
    (filter.server === undefined || record.server === filter.server) &&
    (filter.tool === undefined || record.tool === filter.tool) &&
    (filter.kind === undefined || record.kind === filter.kind) &&
    (filter.outcome === undefined || record.outcome === filter.outcome) &&
    (filter.since === undefined || record.time >= filter.since)
  );
}
