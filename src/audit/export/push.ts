import type { Clock, Timer } from '../../kernel/clock.js';
import { messageOf } from '../../kernel/errors.js';
import { isOver } from '../../kernel/expiry.js';
import { isObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Store } from '../../model/store.js';

/** Where records go. `send` resolves once they are delivered; what it rejects is sent again. */
export interface AuditSink {
  /** `delivery` is the same when the same records are sent again. */
  send(records: readonly AuditRecord[], delivery: string): Promise<void>;
}

/** What a push needs. */
export interface AuditPushOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Identifies this process among those that push to the same sinks. */
  readonly holder: string;
  /** The sinks as they are now, by name; asked each time, since a reload may change them. */
  readonly sinks: () => ReadonlyMap<string, AuditSink>;
  /** Takes secrets out of what is logged. */
  readonly hide: (text: string) => string;
}

/** Sends every record of the log to every sink, at least once and in order (SEC-12). */
export interface AuditPush {
  /** Stops. The process that takes over sends the records that are not sent yet. */
  close(): Promise<void>;
}

/** The space of the store in which the cursors are kept. */
export const EXPORT_SPACE = 'audit-export';

const BATCH = 200;
const POLL_MS = 1000;
const LAST_RETRY_MS = 60_000;
/** For how long one process has a sink for itself; longer than a delivery may take, which another process would repeat. */
const LEASE_MS = 20_000;

interface ExportCursor {
  readonly position: number;
  readonly holder: string;
  readonly until: number;
}

/** Pushes until it is closed. The cursor is written after a delivery, so that a death in between repeats it. */
export function startAuditPush(options: AuditPushOptions): AuditPush {
  const { store, clock, log, holder, sinks, hide } = options;
  const failures = new Map<string, { readonly count: number; readonly until: number }>();
  let timer: Timer | undefined;
  const state = { closed: false };
  let running: Promise<void> = Promise.resolve();

  /** Sends one portion; answers whether there may be more. */
  const sendSome = async (name: string, sink: AuditSink): Promise<boolean> => {
    const entry = await store.get(EXPORT_SPACE, name);
    const cursor = readCursor(entry?.value);
    const { records, position } = await store.auditAfter(cursor.position, BATCH);
    if (position === cursor.position) return false;
    const now = clock.now();
    if (cursor.holder !== holder && !isOver(cursor.until, LEASE_MS, now)) return false;
    const lease: ExportCursor = { position: cursor.position, holder, until: now + LEASE_MS };
    const isOurs = await store.put(EXPORT_SPACE, name, { ...lease }, { ifRevision: entry?.revision ?? 0 });
    if (!isOurs) return false;
    const mine = await store.get(EXPORT_SPACE, name);
    if (records.length > 0) await sink.send(records, `${name}-${cursor.position}-${position}`);
    const isLast = records.length < BATCH;
    const next: ExportCursor = { position, holder, until: isLast ? 0 : clock.now() + LEASE_MS };
    return store.put(EXPORT_SPACE, name, { ...next }, { ifRevision: mine?.revision ?? 0 });
  };
  const serve = async (name: string, sink: AuditSink): Promise<void> => {
    const failed = failures.get(name);
    if (failed && failed.until > clock.monotonic()) return;
    try {
      for (let isMore = true; isMore && !state.closed;) isMore = await sendSome(name, sink);
      failures.delete(name);
    } catch (thrown) {
      const count = (failed?.count ?? 0) + 1;
      failures.set(name, { count, until: clock.monotonic() + Math.min(POLL_MS * 2 ** count, LAST_RETRY_MS) });
      // Said for the first only: it is tried again until it works.
      if (count === 1) log.error('audit.export-failed', { sink: name, error: hide(messageOf(thrown)) });
    }
  };
  const round = async (): Promise<void> => {
    await Promise.all([...sinks()].map(([name, sink]) => serve(name, sink)));
    if (!state.closed) timer = clock.after(POLL_MS, () => void (running = round()));
  };

  timer = clock.after(0, () => void (running = round()));
  return {
    async close() {
      state.closed = true;
      timer?.cancel();
      await running;
    },
  };
}

function readCursor(value: unknown): ExportCursor {
  if (!isObject(value)) return { position: 0, holder: '', until: 0 };
  const { position, holder, until } = value;
  return {
    position: typeof position === 'number' ? position : 0,
    holder: typeof holder === 'string' ? holder : '',
    until: typeof until === 'number' ? until : 0,
  };
}
