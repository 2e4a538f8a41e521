import type { Clock } from '../../kernel/clock.js';
import { createDeadlines } from '../../kernel/async/deadlines.js';
import type { ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import { InFlightMap } from '../../kernel/async/in-flight-map.js';
import type { Host } from '../../model/host.js';
import type { UpstreamRequest } from '../../model/upstream.js';

/** Options of a request before a connection is established. */
export interface RawRequest extends UpstreamRequest {
  readonly timeoutMs: number;
  /** Called when the answer comes after the timeout; then no cancellation is sent either. */
  readonly onLate?: (result: JsonObject) => void;
}

/** A request that waits for its answer. */
export interface Pending {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: ToolscoutError) => void;
  readonly options: RawRequest;
  readonly stream: AbortController | undefined;
  /** When its time is up (monotonic). */
  due: number;
  onAbort: (() => void) | undefined;
  /** Questions of the server that wait for the host. */
  waiting: number;
}

/** The requests of one connection that wait for an answer, and their time limits. */
export interface InFlight extends Iterable<readonly [number, Pending]> {
  add(id: number, entry: Pending): void;
  get(id: number): Pending | undefined;
  /** Takes a request out: it was answered, given up or lost; `worked` when the server did not wait for its open question. */
  take(id: number, worked?: boolean): Pending | undefined;
  /** The oldest call that has a host, before all others one that is free. */
  oldest(isFree?: (id: number) => boolean): { readonly id: number; readonly host: Host } | undefined;
  /** The server reported progress: restarts the time limit of a request, up to its deadline. */
  extend(entry: Pending): void;
  /** The server waits for the host: until `resume` only the deadline of the call counts. */
  pause(id: number): void;
  resume(id: number): void;
}

/** No requests yet; `onExpired` is called for each whose time is up, before it is taken out. */
export function createInFlight(clock: Clock, onExpired: (id: number, entry: Pending) => void): InFlight {
  const pending = new InFlightMap<number, Pending>();

  const deadlines = createDeadlines(clock, (now) => {
    let next = Infinity;
    for (const [id, entry] of pending) {
      if (entry.due <= now) onExpired(id, entry);
      else next = Math.min(next, entry.due);
    }
    return next;
  });

  const extend = (entry: Pending): void => {
    const { timeoutMs, deadline = Infinity } = entry.options;
    entry.due = entry.waiting > 0 ? deadline : Math.min(clock.monotonic() + timeoutMs, deadline);
    if (entry.due < Infinity) deadlines.watch(entry.due);
  };

  const shift = (id: number, by: 1 | -1): void => {
    const entry = pending.get(id);
    if (!entry) return;
    entry.waiting += by;
    if (entry.waiting === (by > 0 ? 1 : 0)) entry.options.onAsking?.(by > 0);
    extend(entry);
  };

  return {
    [Symbol.iterator]: () => pending[Symbol.iterator](),
    get: (id) => pending.get(id),
    add(id, entry) {
      pending.set(id, entry);
      extend(entry);
    },
    take(id, worked = false) {
      const entry = pending.take(id);
      // Nothing is asked on behalf of a request that has ended.
      if (entry && entry.waiting > 0) entry.options.onAsking?.(false, worked);
      if (entry && pending.isEmpty) deadlines.stop();
      return entry;
    },
    oldest(isFree) {
      let first: { id: number; host: Host } | undefined;
      for (const [id, { options }] of pending) {
        if (!options.host) continue;
        first ??= { id, host: options.host };
        if (!isFree || isFree(id)) return { id, host: options.host };
      }
      return first;
    },
    extend(entry) {
      // A server that goes on working does not wait for the answer to its question.
      if (entry.waiting > 0) entry.options.onAsking?.(true, true);
      extend(entry);
    },
    pause: (id) => shift(id, 1),
    resume: (id) => shift(id, -1),
  };
}
