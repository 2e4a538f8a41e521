import type { Clock, Timer } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';
import type { AuditFilter, AuditRecord } from '../model/audit-record.js';
import type { Store } from '../model/store.js';

const POLL_MS = 500;
const FIRST_PAGE = 32;
/** What one poll reads at most; more than a person can follow. */
const MAX_PAGE = 8192;
/** Ids remembered as already seen; several, since the newest may be pruned. */
const REMEMBERED = 64;

/** A subscriber of the audit log. */
export interface Follower {
  stop(): void;
}

/** What a follower needs. */
export interface FollowerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly filter: AuditFilter;
  /** Ids that were recorded before but are not stored yet; they are not new. */
  readonly old: readonly string[];
  readonly onRecord: (record: AuditRecord) => void;
}

/**
 * Polls the log for what is new. A store answers in the order of appending, so everything above the
 * newest record seen is new, however late its time.
 */
export function createFollower({ store, clock, log, filter, old, onRecord }: FollowerOptions): Follower {
  const skipped = new Set(old);
  const since = clock.now();
  let seen: string[] | undefined;
  let failing = false;
  let stopped = false;
  let timer: Timer | undefined;

  const note = (page: readonly AuditRecord[]): void => {
    seen = [...page.slice(0, REMEMBERED).map(({ id }) => id), ...(seen ?? [])].slice(0, REMEMBERED);
  };
  const fetchNew = async (): Promise<AuditRecord[]> => {
    for (let limit = FIRST_PAGE; ; limit *= 4) {
      const page = await store.audit({ ...filter, limit });
      const end = page.findIndex(({ id, time }) => (seen ? seen.includes(id) : time < since));
      const fresh = end === -1 ? page : page.slice(0, end);
      if (end === -1 && page.length === limit && limit < MAX_PAGE) continue;
      if (end === -1 && page.length === limit) log.warn('audit.follow-behind', { shown: limit });
      note(page);
      return fresh.filter(({ id }) => !skipped.delete(id)).toReversed();
    }
  };
  const deliver = (record: AuditRecord): void => {
    if (stopped) return;
    try {
      onRecord(record);
    } catch (thrown) {
      log.error('audit.listener-failed', { error: messageOf(thrown) });
    }
  };
  const attempt = async (task: () => Promise<void>): Promise<void> => {
    try {
      await task();
      failing = false;
    } catch (thrown) {
      if (!failing) log.warn('audit.follow-failed', { error: messageOf(thrown) });
      failing = true;
    }
    if (!stopped) timer = clock.after(POLL_MS, () => void attempt(poll));
  };
  const poll = async (): Promise<void> => {
    for (const record of await fetchNew()) deliver(record);
  };

  void attempt(async () => note(await store.audit({ ...filter, limit: REMEMBERED })));
  return {
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
