import type { Clock } from '../kernel/clock.js';
import { createEmitter } from '../kernel/async/emitter.js';
import { ToolscoutError, toToolscoutError } from '../kernel/errors.js';
import type { Server } from '../model/server.js';

/** What became of one server among many. */
export type Discovered<T> = { readonly server: string } & (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ToolscoutError }
);

/** One server is done. */
export interface DiscoverProgress {
  readonly done: number;
  readonly total: number;
  readonly server: string;
  readonly ok: boolean;
}

/** How many at once, and whether one that takes long lends its place. */
export interface DiscoverAllOptions {
  readonly clock: Clock;
  readonly parallel: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: DiscoverProgress) => void;
  /** Whether a task that takes long lends its place, so that more than `parallel` run; by default `parallel` is a bound. */
  readonly lendSlots?: boolean;
  /** With `lendSlots`: after this a task that still runs lends its place to the next one; the more hang, the sooner. */
  readonly patienceMs?: number;
  /** How many tasks may have lent their place at once. */
  readonly sleepers?: number;
}

/** The share of the patience that is left however many servers hang. */
const MIN_PATIENCE = 0.05;

/** Where a task is: waiting its turn, holding a place, overdue while no place can be lent, or having lent its place. */
type Phase = 'waiting' | 'running' | 'overdue' | 'sleeping' | 'done';

/**
 * Runs a task for every server, at most `parallel` at once, and says per server what happened, in the order of the servers.
 * One that fails does not fail the others (DISC-3). With `lendSlots` one that hangs does not delay them either: after
 * `patienceMs` it no longer counts. Never rejects; an abort settles what is open at once.
 */
export function discoverAll<T, S extends { readonly id: string } = Server>(
  servers: readonly S[],
  task: (server: S, signal: AbortSignal) => Promise<T>,
  options: DiscoverAllOptions,
): Promise<Discovered<T>[]> {
  const { clock, patienceMs = 1000, sleepers = 256 } = options;
  const parallel = Math.max(1, Math.floor(options.parallel) || 1);
  const signal = options.signal ?? new AbortController().signal;
  const progress = createEmitter<DiscoverProgress>();
  if (options.onProgress) progress.on(options.onProgress);

  return new Promise((resolve) => {
    const results: Discovered<T>[] = [];
    const phases: Phase[] = servers.map(() => 'waiting');
    const overdue: number[] = [];
    let next = 0;
    let done = 0;
    let holding = 0;
    let sleeping = 0;

    const settle = (index: number, result: Discovered<T>): void => {
      const phase = phases[index]!;
      if (phase === 'done') return;
      if (phase === 'sleeping') sleeping--;
      else if (phase !== 'waiting') holding--;
      phases[index] = 'done';
      results[index] = result;
      done++;
      progress.emit({ done, total: servers.length, server: result.server, ok: result.ok });
      if (done === servers.length) {
        signal.removeEventListener('abort', onAbort);
        resolve(results);
      } else pump();
    };

    const lend = (): void => {
      while (sleeping < sleepers && overdue.length > 0) {
        const index = overdue.shift()!;
        if (phases[index] !== 'overdue') continue;
        phases[index] = 'sleeping';
        holding--;
        sleeping++;
      }
    };

    // A hundred servers that hang would cost a hundred times the patience if it did not wear thin.
    const patience = (): number => patienceMs * Math.max(MIN_PATIENCE, 1 / (1 + sleeping / parallel));

    const run = async (index: number): Promise<void> => {
      const server = servers[index]!;
      const onSlow = (): void => {
        if (phases[index] !== 'running') return;
        phases[index] = 'overdue';
        overdue.push(index);
        pump();
      };
      const timer = options.lendSlots ? clock.after(patience(), onSlow) : undefined;
      let result: Discovered<T>;
      try {
        result = { server: server.id, ok: true, value: await task(server, signal) };
      } catch (thrown) {
        result = { server: server.id, ok: false, error: toToolscoutError(thrown, 'TOOLS_LIST_FAILED') };
      }
      timer?.cancel();
      settle(index, result);
    };

    const pump = (): void => {
      lend();
      while (!signal.aborted && holding < parallel && next < servers.length) {
        const index = next++;
        phases[index] = 'running';
        holding++;
        void run(index);
      }
    };

    const onAbort = (): void => {
      for (const [index, server] of servers.entries()) {
        const error = new ToolscoutError('CANCELLED', `Listing the tools of "${server.id}" was cancelled.`);
        settle(index, { server: server.id, ok: false, error });
      }
    };

    if (servers.length === 0) return resolve(results);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else pump();
  });
}
