import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Timer } from '../kernel/clock.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import { newIdAt } from '../kernel/ids.js';
import type { Log } from '../kernel/log.js';
import type { AuditFilter, AuditRecord, TokenCount } from '../model/audit-record.js';
import type { AuditVerification, ChainHead } from '../model/audit-chain.js';
import type { AuditExport, AuditExportQuery } from '../model/audit-export.js';
import type { AuditSum, AuditSumQuery } from '../model/stats.js';
import type { Store } from '../model/store.js';
import { createTokenTally } from './token-tally.js';
import { exportPortion } from './export/export.js';
import { createFollower, type Follower } from './follower.js';
import { counted, finishRecord, type Redact } from './finish-record.js';
import type { NewRecord, Waiting } from './new-record.js';

/** What audit needs. */
export interface AuditOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes arguments, messages and details fit to be stored. */
  readonly redact: Redact;
  /** How far executions may be behind. */
  readonly flushMs?: number;
  /** Most records that wait while the store fails; then the oldest are lost. */
  readonly maxBuffer?: number;
}

/** How audit is doing, for health. */
export interface AuditState {
  /** Records that wait to be stored. */
  readonly waiting: number;
  /** Appends that failed, since the start. */
  readonly failed: number;
  /** Records that were given up, since the start. */
  readonly lost: number;
}

/** The log of every execution and every administrative act (EXEC-5). */
export interface Audit {
  /** Records an execution: returns at once, never throws, and is stored within a second. */
  record(entry: NewRecord): void;
  /** Records an administrative act; it is durable when the promise resolves. */
  recordNow(entry: NewRecord): Promise<void>;
  /** The newest matching records, newest first; sees everything recorded before. */
  query(filter: AuditFilter): Promise<AuditRecord[]>;
  /** Compares the log with its chain; sees everything recorded before. */
  verify(known?: readonly ChainHead[]): Promise<AuditVerification>;
  /** A portion of the log as lines; sees everything recorded before. */
  export(query: AuditExportQuery): Promise<AuditExport>;
  /** The sums of all matching records; sees everything recorded before. */
  sums(query: AuditSumQuery): Promise<AuditSum[]>;
  /** The tokens of everything recorded since the start, by server; under the empty name what belongs to none. */
  tokenCounts(): ReadonlyMap<string, TokenCount>;
  /** Calls `onRecord` for every new matching record of this and other processes, in order. The answer stops it. */
  follow(filter: AuditFilter, onRecord: (record: AuditRecord) => void): () => void;
  /** Forgets what is older than this; answers how many records went. */
  prune(retentionMs: number): Promise<number>;
  /** Stores what waits; never rejects. */
  flush(): Promise<void>;
  state(): AuditState;
  /** Stores what waits and stops. */
  close(): Promise<void>;
}

/** Records that one append takes: large enough to be cheap, small enough not to hold up the calls. */
const BATCH = 256;
/** Records that make an early flush worth it. */
const PLENTY = 1024;
const MAX_RETRY_MS = 5000;

/** The audit log over a store. */
export function createAudit(options: AuditOptions): Audit {
  const { store, clock, log, redact, flushMs = 400, maxBuffer = 5000 } = options;
  const followers = new Set<Follower>();
  const tally = createTokenTally();
  let waiting: Waiting[] = [];
  let storing: readonly Waiting[] = [];
  let timer: Timer | undefined;
  let hurried = false;
  let failures = 0;
  let failed = 0;
  let lost = 0;
  let closed = false;
  let tail: Promise<void> = Promise.resolve();

  const lose = (count: number, reason: string): void => {
    // Said for the first and then rarely: a full disk must not fill the log as well.
    if (lost === 0 || Math.floor((lost + count) / maxBuffer) > Math.floor(lost / maxBuffer)) {
      log.error('audit.lost', { lost: lost + count, reason });
    }
    lost += count;
  };
  const trim = (): void => {
    if (waiting.length > maxBuffer) lose(waiting.splice(0, waiting.length - maxBuffer).length, 'the store fails');
  };
  const schedule = (ms: number): void => {
    timer?.cancel();
    timer = clock.after(ms, () => {
      timer = undefined;
      void flush();
    });
  };

  /** Stores one batch; answers whether to go on. A batch that fails stays, in its place. */
  const storeBatch = async (): Promise<boolean> => {
    storing = waiting.slice(0, BATCH);
    if (storing.length === 0) return false;
    waiting = waiting.slice(storing.length);
    try {
      const finished = storing.map((record) => finishRecord(record, redact, log));
      await store.append(finished);
      finished.forEach(tally.add);
      failures = 0;
      return true;
    } catch (thrown) {
      failed += 1;
      failures += 1;
      if (failures === 1) log.error('audit.append-failed', { waiting: storing.length, error: messageOf(thrown) });
      waiting = [...storing, ...waiting];
      trim();
      return false;
    } finally {
      storing = [];
    }
  };
  const storeAll = async (): Promise<void> => {
    timer?.cancel();
    timer = undefined;
    hurried = false;
    // What comes in meanwhile has its own turn, so that this ends.
    for (let turns = Math.ceil(waiting.length / BATCH); turns > 0 && (await storeBatch()); turns--) {
      // Calls have their turn between two batches.
      await nextTurn();
    }
    if (waiting.length > 0 && !closed) schedule(Math.min(flushMs * 2 ** failures, MAX_RETRY_MS));
  };
  const flush = (): Promise<void> => (tail = tail.then(storeAll));

  const hold = (entry: NewRecord): Waiting => {
    const time = clock.now();
    return { id: entry.id ?? newIdAt(time), time, entry: waiting.length < PLENTY ? entry : counted(entry) };
  };

  return {
    record(entry) {
      if (closed) return lose(1, 'audit is closed');
      waiting.push(hold(entry));
      if (!timer) schedule(flushMs);
      else if (waiting.length >= PLENTY && !hurried && failures === 0) {
        hurried = true;
        schedule(0);
      }
      trim();
    },
    async recordNow(entry) {
      if (closed)
        throw new ToolscoutError(
          'SHUTTING_DOWN',
          'The action may have taken effect, but was not recorded in the audit log: toolscout is stopping.',
          { suggestion: 'Check its effect after the restart.' },
        );
      const record = hold(entry);
      await flush();
      await store.append([finishRecord(record, redact, log)]);
    },
    async query(filter) {
      await flush();
      return store.audit(filter);
    },
    async verify(known) {
      await flush();
      return store.verifyAudit(known);
    },
    async export(query) {
      await flush();
      return exportPortion(store, query);
    },
    async sums(query) {
      await flush();
      return store.sumAudit(query);
    },
    tokenCounts: () => tally.counts,
    follow(filter, onRecord) {
      const old = [...storing, ...waiting].map(({ id }) => id);
      const follower = createFollower({ store, clock, log, filter, old, onRecord });
      followers.add(follower);
      return () => {
        follower.stop();
        followers.delete(follower);
      };
    },
    async prune(retentionMs) {
      if (!(retentionMs > 0)) {
        throw new ToolscoutError(
          'INVALID_REQUEST',
          `Cannot keep audit records for ${retentionMs} ms. The number must be greater than 0.`,
        );
      }
      return store.pruneAudit(clock.now() - retentionMs);
    },
    flush,
    state: () => ({ waiting: waiting.length + storing.length, failed, lost }),
    async close() {
      if (closed) return;
      closed = true;
      for (const follower of followers) follower.stop();
      followers.clear();
      await flush();
      if (waiting.length > 0) lose(waiting.splice(0).length, 'the store failed until the end');
    },
  };
}
