import type { Clock, Timer } from '../../kernel/clock.js';
import { messageOf } from '../../kernel/errors.js';
import { isOver } from '../../kernel/expiry.js';
import { isObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import type { Store } from '../../model/store.js';
import { type AuditSink, deliver, type DeliveryState, newDeliveryState } from './delivery.js';

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

const POLL_MS = 1000;
const LAST_RETRY_MS = 60_000;
/** For how long one process has a sink for itself; longer than a delivery may take, which another process would repeat. */
const LEASE_MS = 20_000;

interface ExportCursor {
  readonly position: number;
  readonly holder: string;
  readonly until: number;
  /** Records that the sink refused for good, so far. */
  readonly passedOver: number;
}

/** Pushes until it is closed. The cursor is written after a delivery, so that a death in between repeats it. */
export function startAuditPush(options: AuditPushOptions): AuditPush {
  const { store, clock, log, holder, sinks, hide } = options;
  const failures = new Map<string, { readonly count: number; readonly until: number }>();
  const states = new Map<string, DeliveryState>();
  let timer: Timer | undefined;
  const state = { closed: false };
  let running: Promise<void> = Promise.resolve();

  /** Takes or keeps a sink for this process; answers the revision by which it is held, or `undefined` when another process has it. */
  const hold = async (name: string, cursor: ExportCursor, revision: number): Promise<number | undefined> => {
    const lease = { ...cursor, holder, until: clock.now() + LEASE_MS };
    if (!(await store.put(EXPORT_SPACE, name, lease, { ifRevision: revision }))) return undefined;
    return (await store.get(EXPORT_SPACE, name))?.revision ?? 0;
  };
  /** Sends one portion; answers whether there may be more. */
  const sendSome = async (name: string, sink: AuditSink): Promise<boolean> => {
    const known = states.get(name) ?? newDeliveryState();
    states.set(name, known);
    const { size } = known;
    const entry = await store.get(EXPORT_SPACE, name);
    const cursor = readCursor(entry?.value);
    const { records, position } = await store.auditAfter(cursor.position, size);
    if (position === cursor.position) return false;
    if (cursor.holder !== holder && !isOver(cursor.until, LEASE_MS, clock.now())) return false;
    let mine = await hold(name, cursor, entry?.revision ?? 0);
    if (mine === undefined) return false;
    const keep = async (): Promise<boolean> => {
      if (mine !== undefined && !state.closed) mine = await hold(name, cursor, mine);
      return mine !== undefined && !state.closed;
    };
    const batch = { from: cursor.position, position, records };
    const delivered = await deliver(batch, { name, sink, store, clock, state: known, keep });
    if (!delivered || mine === undefined) return false;
    const { passedOver } = delivered;
    const isLast = delivered.position === position && records.length < size;
    const next: ExportCursor = {
      position: delivered.position,
      holder,
      until: isLast ? 0 : clock.now() + LEASE_MS,
      passedOver: cursor.passedOver + (passedOver ? 1 : 0),
    };
    const isNoted = await store.put(EXPORT_SPACE, name, { ...next }, { ifRevision: mine });
    if (delivered.position !== cursor.position) failures.delete(name);
    if (isNoted && passedOver) {
      const { id: record, isNoted: noted, reason } = passedOver;
      const said = { sink: name, record, noted, error: hide(reason), total: next.passedOver };
      log.error('audit.export-passed-over', said);
    }
    return isNoted;
  };
  const serve = async (name: string, sink: AuditSink): Promise<void> => {
    if ((failures.get(name)?.until ?? 0) > clock.monotonic()) return;
    try {
      for (let isMore = true; isMore && !state.closed;) isMore = await sendSome(name, sink);
      failures.delete(name);
    } catch (thrown) {
      const count = (failures.get(name)?.count ?? 0) + 1;
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

/** A stored cursor; what is not a place in a log begins at its start. */
export function readCursor(value: unknown): ExportCursor {
  if (!isObject(value)) return { position: 0, holder: '', until: 0, passedOver: 0 };
  const { position, holder, until, passedOver } = value;
  return {
    position: typeof position === 'number' && Number.isSafeInteger(position) ? Math.max(0, position) : 0,
    holder: typeof holder === 'string' ? holder : '',
    until: typeof until === 'number' ? until : 0,
    passedOver: typeof passedOver === 'number' ? passedOver : 0,
  };
}
