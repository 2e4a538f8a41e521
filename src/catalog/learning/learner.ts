import { discoverAll } from '../../discover/index.js';
import { sleep, type Clock } from '../../kernel/clock.js';
import { ToolscoutError, toToolscoutError, type ErrorCode } from '../../kernel/errors.js';
import { lastingError, retryHint } from '../../kernel/retry-hint.js';
import type { Progress } from '../../model/call.js';
import type { Server } from '../../model/server.js';
import type { LearnFailure } from './failure-memory.js';
import type { Learned, LearnTerms } from './pipeline.js';

/** What happened to one server in a discovery (DISC-3). */
export type DiscoveryOutcome = { readonly server: string } & (
  | ({ readonly ok: true } & Learned)
  | { readonly ok: false; readonly error: ToolscoutError }
);

/** How far a discovery is. */
export interface DiscoveryProgress {
  readonly done: number;
  readonly total: number;
  readonly server: string;
  readonly ok: boolean;
}

/** Learns servers, each at most once at a time, and remembers who failed and why. */
export interface Learner {
  /** Learns one server; joins a run that is under way. */
  learn(server: Server, terms?: LearnTerms): Promise<Learned>;
  /** Learns many, each once, at most `parallel` at once; never rejects. */
  learnAll(
    servers: readonly Server[],
    options: {
      readonly parallel: number;
      /** A server that takes long does not count toward the limit (DISC-3); otherwise `parallel` is a bound. */
      readonly lendSlots?: boolean;
      readonly terms?: LearnTerms;
      readonly onProgress?: (progress: DiscoveryProgress) => void;
    },
  ): Promise<DiscoveryOutcome[]>;
  /** Servers whose tools are waited for right now, running or in the queue. */
  learning(): string[];
  isLearning(server: string): boolean;
  /** Resolves when a run that is under way for a server has ended. */
  ended(server: string): Promise<void>;
  /** Why the last attempt on a server failed. */
  failure(server: string): ToolscoutError | undefined;
  /** The last failed attempt with its time, made by this process or by another one. */
  lastFailure(server: string): LearnFailure | undefined;
  /** Whether it makes sense to try a server now: not under way, and not failed a moment ago. */
  isDue(server: string): boolean;
  /** Whether the last attempt of this process on a server failed. */
  hasFailedHere(server: string): boolean;
  /** Milliseconds until a server that failed in this process may be tried on demand again; 0 when it may. */
  restMs(server: string): number;
  /**
   * Counts a use of a server that rests.
   *
   * @throws ToolscoutError with the last cause and `retryAfterMs`: the code of the cause, and `CIRCUIT_OPEN` after too many.
   */
  checkRested(server: string): void;
  /** Takes over what other processes know of a server; an attempt of this process counts more. */
  recall(server: string, failure: LearnFailure | undefined): void;
  /** Forgets a server: its failure, its place in the queue and its run, which is stopped. */
  forget(server: string): void;
  /**
   * Waits until the named servers are learned, but for each no longer than `patienceMs` after its learning was asked
   * for: a server that hangs delays the first searches, not every search. `onLearning` reports the progress.
   */
  settle(servers: readonly string[], patienceMs: number, onLearning?: (progress: Progress) => void): Promise<void>;
  /** Stops everything. What has been learned for `slowMs` without an answer is noted as interrupted. */
  close(slowMs: number): void;
}

/** One server on its way: in the queue until it has a run. */
interface Job {
  readonly server: Server;
  readonly since: number;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly end: () => void;
  run?: Promise<Learned>;
}

/** A failed attempt; with its monotonic time when it was made by this process. */
interface Failure extends LearnFailure {
  readonly here?: number;
  /** Uses that were refused since. */
  refused?: number;
}

/** A server that failed is left alone this long, doubling with every failure up to the limit. */
const FIRST_REST_MS = 60_000;
const MAX_REST_MS = 900_000;

/** Servers whose last attempts took about as long keep the order in which they were given. */
const SLOW_STEP_MS = 1000;
/** A timer may ring this much early. */
const TIMER_SLACK_MS = 20;

/** Failures that mean the server itself is out of order; a refused sign-in, for example, does not. */
const OUT_OF_ORDER: ReadonlySet<ErrorCode> = new Set([
  'SERVER_CONNECTION_ERROR',
  'SESSION_INIT_FAILED',
  'TOOL_EXECUTION_TIMEOUT',
  'TOOLS_LIST_FAILED',
  'CIRCUIT_OPEN',
]);

/** The progress of learning some servers. */
export function learningProgress(done: number, total: number, failed = 0): Progress {
  const missed = failed === 0 ? '' : `, ${failed} failed`;
  const message = `learned ${done - failed} of ${total} ${total === 1 ? 'server' : 'servers'}${missed}`;
  return { progress: done, total, message };
}

function stopped(server: string): ToolscoutError {
  return new ToolscoutError(
    'CANCELLED',
    `Listing the tools of "${server}" was cancelled: its config changed, or toolscout is stopping.`,
  );
}

/** An attempt that the end of the process stopped. */
function interruptedAfter(server: string, ms: number): ToolscoutError {
  return new ToolscoutError(
    'TOOL_EXECUTION_TIMEOUT',
    `toolscout stopped before "${server}" had listed its tools; it had waited ${Math.round(ms / 100) / 10} s.`,
    { remedy: { kind: 'discover', server }, delivered: false },
  );
}

/** The refusal of a server that could not be learned a moment ago. */
function resting(server: string, error: ToolscoutError, restMs: number, isOpen: boolean): ToolscoutError {
  return new ToolscoutError(
    isOpen ? 'CIRCUIT_OPEN' : error.code,
    `Cannot list the tools of "${server}"${retryHint(Math.ceil(restMs / 1000) * 1000)}. Last error: ${error.message}`,
    {
      retryAfterMs: Math.ceil(restMs),
      delivered: false,
      cause: error,
      ...(!isOpen && { remedy: error.remedy }),
    },
  );
}

/** A learner over `run`, the walk through the pipeline for one server. */
export function createLearner(deps: {
  readonly clock: Clock;
  readonly run: (server: Server, signal: AbortSignal, terms: LearnTerms | undefined) => Promise<Learned>;
  /** After how many failures a server's breaker is open, and how long a server that failed is not tried on demand. */
  readonly breaker?: () => { readonly failures: number; readonly resetMs: number };
  readonly onFailure?: (server: Server, failure: LearnFailure) => void;
  readonly onLearned?: (server: Server) => void;
}): Learner {
  const { clock, breaker = () => ({ failures: 1, resetMs: 0 }) } = deps;
  const jobs = new Map<string, Job>();
  const failures = new Map<string, Failure>();
  let closed = false;

  /** How long the last attempt on each server took, in milliseconds. */
  const durations = new Map<string, number>();
  /** Servers that failed last come after all others, slow ones after quick ones. */
  const slownessOf = (id: string): number =>
    (failures.has(id) ? MAX_REST_MS : 0) + Math.floor((durations.get(id) ?? 0) / SLOW_STEP_MS);

  const enlist = (server: Server): Job => {
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const job: Job = { server, since: clock.monotonic(), stop: new AbortController(), ended, end };
    jobs.set(server.id, job);
    return job;
  };

  const finish = (job: Job): void => {
    if (jobs.get(job.server.id) === job) jobs.delete(job.server.id);
    job.end();
  };

  const noteFailure = (server: Server, given: ToolscoutError): void => {
    // That a server is left alone is over in a moment; why it failed is what stays true.
    const { cause } = given;
    const error = lastingError(given.code === 'CIRCUIT_OPEN' && cause instanceof ToolscoutError ? cause : given);
    const failure = { error, at: clock.now(), times: (failures.get(server.id)?.times ?? 0) + 1 };
    failures.set(server.id, { ...failure, here: clock.monotonic() });
    deps.onFailure?.(server, failure);
  };

  /** Runs a job; a stop ends it at once, whatever it waits for. */
  const begin = async (job: Job, terms: LearnTerms | undefined): Promise<Learned> => {
    const { id } = job.server;
    const { signal } = job.stop;
    const began = clock.monotonic();
    try {
      const aborted = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(stopped(id)), { once: true });
      });
      const learned = await Promise.race([deps.run(job.server, signal, terms), aborted]);
      if (learned.failure && !signal.aborted) noteFailure(job.server, learned.failure);
      else {
        failures.delete(id);
        deps.onLearned?.(job.server);
      }
      return learned;
    } catch (thrown) {
      const error = toToolscoutError(thrown, 'TOOLS_LIST_FAILED');
      if (!signal.aborted && error.code !== 'CANCELLED') {
        noteFailure(job.server, error);
      }
      throw error;
    } finally {
      durations.set(id, clock.monotonic() - began);
      finish(job);
    }
  };

  const learn = (server: Server, terms?: LearnTerms): Promise<Learned> => {
    if (closed)
      return Promise.reject(new ToolscoutError('SHUTTING_DOWN', 'toolscout is stopping.', { delivered: false }));
    const job = jobs.get(server.id) ?? enlist(server);
    return (job.run ??= begin(job, terms));
  };

  /** The turn of a queued server: it may have been learned, removed or changed while it waited. */
  const takeTurn = (server: Server, queued: Job | undefined, terms: LearnTerms | undefined): Promise<Learned> => {
    if (queued?.run && queued.server.digest === server.digest) return queued.run;
    const job = jobs.get(server.id);
    return job?.server.digest === server.digest ? learn(server, terms) : Promise.reject(stopped(server.id));
  };

  const forget = (server: string): void => {
    failures.delete(server);
    const job = jobs.get(server);
    if (!job) return;
    job.stop.abort();
    finish(job);
  };

  const restMs = (server: string): number => {
    const failed = failures.get(server);
    if (failed?.here === undefined || !OUT_OF_ORDER.has(failed.error.code)) return 0;
    return Math.max(0, failed.here + breaker().resetMs - clock.monotonic());
  };

  return {
    learn,
    async learnAll(servers, { terms, lendSlots = false, ...options }) {
      const wanted = new Map(servers.map((server) => [server.id, server]));
      const queue = new Map<string, Job>();
      if (!closed) for (const [id, server] of wanted) queue.set(id, jobs.get(id) ?? enlist(server));
      const turn = (server: Server): Promise<Learned> => takeTurn(server, queue.get(server.id), terms);
      // Within a bound a server that hangs holds up others, so those that are known to go last.
      const ordered = [...wanted.values()].toSorted((a, b) => slownessOf(a.id) - slownessOf(b.id));
      const found = await discoverAll(ordered, turn, { clock, lendSlots, ...options });
      const outcomes = new Map(found.map((outcome) => [outcome.server, outcome]));
      return [...wanted.keys()].map((id) => {
        const outcome = outcomes.get(id)!;
        return outcome.ok ? { server: id, ok: true, ...outcome.value } : outcome;
      });
    },
    learning: () => [...jobs.keys()].toSorted(),
    isLearning: (server) => jobs.has(server),
    ended: async (server) => jobs.get(server)?.ended,
    failure: (server) => failures.get(server)?.error,
    lastFailure: (server) => failures.get(server),
    isDue(server) {
      if (jobs.has(server)) return false;
      const failed = failures.get(server);
      if (!failed) return true;
      const rest = Math.min(FIRST_REST_MS * 2 ** (failed.times - 1), MAX_REST_MS);
      const age = failed.here === undefined ? clock.now() - failed.at : clock.monotonic() - failed.here;
      // A time ahead of ours was noted by a clock that was wrong.
      return age >= rest || age < 0;
    },
    restMs,
    checkRested(server) {
      const failed = failures.get(server);
      const left = failed && !jobs.has(server) ? restMs(server) : 0;
      if (!failed || left === 0) return;
      failed.refused = (failed.refused ?? 0) + 1;
      throw resting(server, failed.error, left, failed.times + failed.refused > breaker().failures);
    },
    hasFailedHere: (server) => failures.get(server)?.here !== undefined,
    recall(server, failure) {
      if (failures.get(server)?.here !== undefined) return;
      if (failure) failures.set(server, { ...failure, error: lastingError(failure.error) });
      else failures.delete(server);
    },
    forget,
    async settle(servers, patienceMs, onLearning) {
      const open = servers.map((id) => jobs.get(id)).filter((job) => job !== undefined);
      const now = clock.monotonic();
      const left = Math.max(0, ...open.map((job) => job.since + patienceMs - now));
      if (left === 0) return;
      const stop = new AbortController();
      const deadline = sleep(clock, left, stop.signal).catch((thrown: unknown) => {
        if (!stop.signal.aborted) throw thrown;
      });
      let done = 0;
      let failed = 0;
      onLearning?.(learningProgress(0, open.length));
      const waitFor = async ({ server, ended }: Job): Promise<void> => {
        await ended;
        if (stop.signal.aborted) return;
        done += 1;
        if (failures.has(server.id)) failed += 1;
        onLearning?.(learningProgress(done, open.length, failed));
      };
      await Promise.race([Promise.all(open.map(waitFor)), deadline]);
      stop.abort();
    },
    close(slowMs) {
      closed = true;
      for (const { server, run, since } of jobs.values()) {
        const elapsed = clock.monotonic() - since;
        if (run && elapsed >= slowMs - TIMER_SLACK_MS) {
          const times = (failures.get(server.id)?.times ?? 0) + 1;
          const error = interruptedAfter(server.id, elapsed);
          deps.onFailure?.(server, { error, at: clock.now(), times, interrupted: true });
        }
      }
      for (const id of jobs.keys()) forget(id);
    },
  };
}
