import type { Clock } from '../../kernel/clock.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Store } from '../../model/store.js';
import { noteFor } from './stand-in.js';

/** Where records go. `send` resolves once they are delivered; what it rejects is sent again. */
export interface AuditSink {
  /**
   * `delivery` is the same when the same records are sent again. An error with a `refusal` of 4xx says that the sink works and does not take
   * these records.
   */
  send(records: readonly AuditRecord[], delivery: string): Promise<void>;
}

/** Records of one batch, at most. */
const MAX_BATCH = 200;
/** How often a record is sent before a note takes its place. */
const MAX_TRIES = 3;
/** Later records that are tried when a record and its note are refused. */
const LOOK_AHEAD = 8;
/** 4xx that tell of the sink, or of the moment, and not of the records. */
const NOT_FOR_GOOD: ReadonlySet<number> = new Set([401, 403, 404, 408, 409, 425, 429]);

/** What a process knows of one sink. */
export interface DeliveryState {
  /** Records of the next batch. */
  size: number;
  /** The single record that was refused last. */
  refused?: { readonly position: number; readonly tries: number };
}

/** What is known of a sink at the beginning. */
export function newDeliveryState(): DeliveryState {
  return { size: MAX_BATCH };
}

/** A record that was not delivered, and why. */
export interface PassedOver {
  readonly id: string;
  readonly reason: string;
  /** Whether the sink has taken a note in its place. */
  readonly isNoted: boolean;
}

/** Where the next batch begins; behind the record that was passed over, where there is one. */
export interface Delivered {
  readonly position: number;
  readonly passedOver?: PassedOver;
}

/** A batch that begins behind `from` and ends at `position`. */
export interface DeliveryBatch {
  readonly from: number;
  readonly position: number;
  readonly records: readonly AuditRecord[];
}

/** What a delivery needs. */
export interface DeliveryDeps {
  readonly name: string;
  readonly sink: AuditSink;
  readonly store: Pick<Store, 'auditAfter'>;
  readonly clock: Clock;
  readonly state: DeliveryState;
  /** Whether this process still has the sink for itself; asked before every further request. */
  readonly keep: () => Promise<boolean>;
}

function statusOf(thrown: unknown): number {
  const status = thrown instanceof ToolscoutError ? thrown.refusal?.status : undefined;
  return status !== undefined && status >= 400 && status < 500 && !NOT_FOR_GOOD.has(status) ? status : 0;
}

/**
 * Delivers a batch. A batch that is refused is halved down to the record that is to blame. That record is passed over only when the sink takes
 * something else, a note in its place or a later record, and then still not the record. A sink that takes nothing is one that fails, and loses nothing.
 *
 * @throws whatever the sink rejects with, when the batch is to be sent again later
 */
export async function deliver(batch: DeliveryBatch, deps: DeliveryDeps): Promise<Delivered | undefined> {
  const { from, position, records } = batch;
  const { name, sink, clock, state, keep } = deps;
  const delivery = `${name}-${from}-${position}`;
  const refusal = records.length === 0 ? undefined : await trySend(sink, records, delivery);
  if (!refusal) {
    // Slower than it shrinks: what a sink takes at most is not known.
    state.size = Math.min(MAX_BATCH, state.size + Math.ceil(state.size / 4));
    return { position };
  }
  state.size = Math.ceil(records.length / 2);
  if (records.length > 1) return { position: from };
  const [record] = records;
  const tries = state.refused?.position === from ? state.refused.tries + 1 : 1;
  state.refused = { position: from, tries };
  if (tries < MAX_TRIES) throw refusal;
  if (!(await keep())) return undefined;
  const note = noteFor(record!, statusOf(refusal), clock.now());
  const isNoted = !(await trySend(sink, [note], `${delivery}-note`));
  const taken = isNoted ? { position } : await takenBehind(position, deps);
  if (taken === 'nothing') throw refusal;
  if (!taken || !(await keep())) return undefined;
  // The sink may have begun to work in between.
  if (!(await trySend(sink, records, delivery))) return taken;
  return { ...taken, passedOver: { id: record!.id, reason: messageOf(refusal), isNoted } };
}

/**
 * Looks for a later record that the sink takes. Answers where the next batch begins: behind that record when it is the first, else at the
 * first, which has to be tried as often as the one before. `undefined` when another process has the sink meanwhile.
 */
async function takenBehind(
  from: number,
  { name, sink, store, keep }: DeliveryDeps,
): Promise<{ readonly position: number } | 'nothing' | undefined> {
  let isFirst = true;
  for (let at = from, seen = 0; seen < LOOK_AHEAD; seen++) {
    const { records, position } = await store.auditAfter(at, 1);
    if (position === at) break;
    if (records.length > 0) {
      if (!(await keep())) return undefined;
      if (!(await trySend(sink, records, `${name}-${at}-${position}`))) return { position: isFirst ? position : from };
      isFirst = false;
    }
    at = position;
  }
  return 'nothing';
}

/** The refusal of records for good; other failures are thrown. */
async function trySend(sink: AuditSink, records: readonly AuditRecord[], delivery: string): Promise<unknown> {
  try {
    await sink.send(records, delivery);
    return undefined;
  } catch (thrown) {
    if (statusOf(thrown) === 0) throw thrown;
    return thrown;
  }
}
