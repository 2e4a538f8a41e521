import { discoverAll } from '../discover/index.js';
import { sleep, type Clock } from '../kernel/clock.js';
import { toToolscoutError, type ToolscoutError } from '../kernel/errors.js';
import type { Server } from '../model/server.js';
import type { Learned } from './pipeline.js';

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
  learn(server: Server): Promise<Learned>;
  /** Learns many, at most `parallel` at once; never throws. */
  learnAll(
    servers: readonly Server[],
    options: { readonly parallel: number; readonly onProgress?: (progress: DiscoveryProgress) => void },
  ): Promise<DiscoveryOutcome[]>;
  /** Servers whose tools are waited for right now. */
  learning(): string[];
  /** Whether a server may be tried now: it never failed, or that was a while ago. */
  isDue(server: string): boolean;
  /** Why the last attempt on a server failed. */
  failure(server: string): ToolscoutError | undefined;
  /** Forgets a server's failure and stops its run. */
  forget(server: string): void;
  /**
   * Waits until the named servers are learned, but for each no longer than `patienceMs` after its
   * learning was asked for: a server that hangs delays the first searches, not every search.
   */
  settle(servers: readonly string[], patienceMs: number): Promise<void>;
  close(): void;
}

/** A server that failed is left alone for this long. */
const RETRY_AFTER_MS = 60_000;

interface Run {
  readonly since: number;
  readonly promise: Promise<Learned>;
}

/** A learner over `run`, the walk through the pipeline for one server. */
export function createLearner(deps: {
  readonly clock: Clock;
  readonly run: (server: Server, signal: AbortSignal) => Promise<Learned>;
}): Learner {
  const runs = new Map<string, Run>();
  const waiting = new Map<string, number>();
  const failures = new Map<string, { readonly error: ToolscoutError; readonly at: number }>();
  const stops = new Map<string, AbortController>();
  /** Those who wait until something begins or ends. */
  const sleepers = new Set<() => void>();
  const wake = (): void => {
    for (const sleeper of sleepers) sleeper();
    sleepers.clear();
  };

  const learnOne = (server: Server): Promise<Learned> => {
    const running = runs.get(server.id);
    if (running) return running.promise;
    const stop = new AbortController();
    const promise = deps
      .run(server, stop.signal)
      .then(
        (learned) => {
          failures.delete(server.id);
          return learned;
        },
        (thrown: unknown) => {
          const error = toToolscoutError(thrown, 'TOOLS_LIST_FAILED');
          const counts = !stop.signal.aborted && error.code !== 'CANCELLED';
          if (counts) failures.set(server.id, { error, at: deps.clock.monotonic() });
          throw error;
        },
      )
      .finally(() => {
        // A run that was forgotten has a successor perhaps; that one is not touched.
        if (stops.get(server.id) === stop) {
          runs.delete(server.id);
          waiting.delete(server.id);
          stops.delete(server.id);
        }
        wake();
      });
    stops.set(server.id, stop);
    runs.set(server.id, { since: waiting.get(server.id) ?? deps.clock.monotonic(), promise });
    return promise;
  };

  return {
    learn: learnOne,
    async learnAll(servers, options) {
      for (const server of servers) if (!runs.has(server.id)) waiting.set(server.id, deps.clock.monotonic());
      const outcomes = await discoverAll(servers, (server) => learnOne(server), { clock: deps.clock, ...options });
      return outcomes.map((outcome) => (outcome.ok ? { server: outcome.server, ok: true, ...outcome.value } : outcome));
    },
    learning: () => [...new Set([...runs.keys(), ...waiting.keys()])].toSorted(),
    isDue(server) {
      const failed = failures.get(server);
      return !failed || deps.clock.monotonic() - failed.at >= RETRY_AFTER_MS;
    },
    failure: (server) => failures.get(server)?.error,
    forget(server) {
      failures.delete(server);
      waiting.delete(server);
      stops.get(server)?.abort();
      stops.delete(server);
      runs.delete(server);
      wake();
    },
    async settle(servers, patienceMs) {
      const now = deps.clock.monotonic();
      const since = servers
        .map((id) => runs.get(id)?.since ?? waiting.get(id))
        .filter((start): start is number => start !== undefined);
      const left = Math.max(0, ...since.map((start) => start + patienceMs - now));
      const stop = new AbortController();
      const deadline = sleep(deps.clock, left, stop.signal).catch((thrown: unknown) => {
        if (!stop.signal.aborted) throw thrown;
      });
      const pending = async (): Promise<void> => {
        while (!stop.signal.aborted && servers.some((id) => runs.has(id) || waiting.has(id))) {
          await new Promise<void>((resolve) => {
            sleepers.add(resolve);
          });
        }
      };
      if (since.length > 0 && left > 0) await Promise.race([pending(), deadline]);
      stop.abort();
    },
    close() {
      for (const stop of stops.values()) stop.abort();
      waiting.clear();
      wake();
    },
  };
}
