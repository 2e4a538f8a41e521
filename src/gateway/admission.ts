import { OWN_SERVER } from '../answers/index.js';
import type { Clock, Timer } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';
import type { Call } from '../model/call.js';
import type { OverloadConfig } from '../model/overload-config.js';
import { watchPressure, type Memory, type Pressure } from './pressure.js';

/** Why a call is not admitted: too little memory, an event loop that is late, or too many calls at once. */
export type ShedReason = 'memory' | 'delay' | 'calls';

/** How much there is to do, and what was refused for that reason. */
export interface OverloadStatus {
  /** `shedding`: new calls wait or are refused; `full`: new connections are refused too. */
  readonly level: 'calm' | 'shedding' | 'full';
  readonly reason?: ShedReason;
  /** Calls that run, and those that wait to be admitted. */
  readonly calls: number;
  readonly waiting: number;
  readonly memoryShare: number;
  readonly delayMs: number;
  /** Calls that were refused since the start. */
  readonly shed: Readonly<Record<ShedReason, number>>;
}

/** A call that is to begin. */
export type Entrant = Pick<Call, 'principal' | 'signal' | 'parent' | 'resumed'> & { readonly server?: string };

/** Decides whether a new call may begin. */
export interface Admission {
  /**
   * Counts a call in: `undefined` when it may begin at once, otherwise a promise that settles when it may or is refused with
   * `RATE_LIMITED`. Whatever became of it, each call that was counted in is counted out once.
   */
  enter(entrant: Entrant): Promise<void> | undefined;
  leave(principal: string): void;
  /**
   * Sets memory aside for a request whose body has so many bytes, before it is read; answers how it is given back.
   *
   * @throws ToolscoutError `RATE_LIMITED` when there is too little.
   */
  reserve(bytes: number): () => void;
  status(): OverloadStatus;
  /** Looks at the limits of the configuration again. */
  renew(): void;
  /** Refuses every call from now on. */
  close(): void;
}

type Limits = Exclude<OverloadConfig, false>;

/** What one principal has here. */
interface Tally {
  /** Calls that were counted in, those that wait included. */
  inside: number;
  readonly waiters: Waiter[];
  /** When it last had a turn, as a number that grows. */
  turn: number;
}

interface Waiter {
  admit(): void;
  refuse(error: ToolscoutError): void;
}

/** When trying again makes sense: memory and time come back after the calls that use them have ended. */
const RETRY_AFTER_MS: Readonly<Record<ShedReason, number>> = { memory: 5000, delay: 1000, calls: 1000 };

const MESSAGES: Readonly<Record<ShedReason, string>> = {
  memory: 'toolscout is overloaded: too little memory is left for a new call.',
  delay: 'toolscout is overloaded: the event loop is delayed, and no new call is accepted.',
  calls: 'toolscout is overloaded: it runs as many calls as overload.maxCalls allows.',
};

/** How often a body is held at once while its call runs: as text, as a value, as the message to the server, and for the audit log. */
const COPIES = 4;

/** After so many readings without a call nothing is measured any more. */
const IDLE_READINGS = 50;

/** Principals without a call are forgotten once there are more of them. */
const MAX_TALLIES = 1000;

/** An admission without calls. While it is calm, a call costs one comparison. */
export function createAdmission(deps: {
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => OverloadConfig;
  readonly memory: Memory;
}): Admission {
  const { clock, log, memory } = deps;
  const tallies = new Map<string, Tally>();
  const shed: Record<ShedReason, number> = { memory: 0, delay: 0, calls: 0 };
  /** Of the configuration; read anew by `renew`. */
  let limits: OverloadConfig = deps.config();
  /** Calls that may be inside without a second look; 0 while nothing is measured, or while there is too much to do. */
  let limit = limits === false ? Infinity : 0;
  let inside = 0;
  let waiting = 0;
  let turns = 0;
  let delayMs = 0;
  /** Bytes that were set aside for requests. */
  let reserved = 0;
  let shortOf: 'memory' | 'delay' | undefined;
  let watch: Timer | undefined;
  let idle = 0;
  let isClosed = false;

  const running = (tally: Tally): number => tally.inside - tally.waiters.length;

  function refusal(reason: ShedReason): ToolscoutError {
    shed[reason]++;
    return new ToolscoutError('RATE_LIMITED', MESSAGES[reason], {
      remedy: { kind: 'overloaded' },
      retryAfterMs: RETRY_AFTER_MS[reason],
      delivered: false,
    });
  }

  function judge({ maxHeapShare, maxDelayMs, maxCalls }: Limits, pressure: Pressure): void {
    const before = shortOf;
    const { memoryShare } = pressure;
    ({ delayMs } = pressure);
    shortOf = memoryShare >= maxHeapShare ? 'memory' : delayMs > maxDelayMs ? 'delay' : undefined;
    limit = shortOf ? 0 : maxCalls;
    if (shortOf === before) return;
    if (shortOf) log.warn('overload.begun', { reason: shortOf, memoryShare, delayMs, calls: inside - waiting });
    else log.info('overload.over', { shed: { ...shed } });
  }

  function measure(): void {
    watch = watchPressure({ clock, memory }, (pressure) => {
      if (limits === false) return;
      judge(limits, pressure);
      if (shortOf === 'memory') refuseWaiters(() => refusal('memory'));
      else admitWaiters(limits);
      if (tallies.size > MAX_TALLIES) forgetIdle();
      idle = inside === 0 ? idle + 1 : 0;
      if (idle > IDLE_READINGS) rest(0);
    });
  }

  function forgetIdle(): void {
    for (const [principal, { inside: count }] of tallies) if (count === 0) tallies.delete(principal);
  }

  /** Stops measuring until a later call starts it again. */
  function rest(until: number): void {
    watch?.cancel();
    watch = undefined;
    shortOf = undefined;
    delayMs = 0;
    idle = 0;
    limit = until;
    forgetIdle();
    if (until === Infinity) admitWaiters({ maxCalls: Infinity });
  }

  /** Whether one more call of a principal may begin; the first one always may while there is memory (A43). */
  function hasRoom(tally: Tally, { maxCalls }: Pick<Limits, 'maxCalls'>): boolean {
    const all = inside - waiting;
    if (shortOf === 'memory') return false;
    if (running(tally) === 0) return all < 2 * maxCalls;
    return shortOf === undefined && all < maxCalls;
  }

  /** Of the principals with waiting calls the one with the fewest running calls; among equals, the one whose last turn is longest ago. */
  function nextTally(): Tally | undefined {
    let next: Tally | undefined;
    for (const tally of tallies.values()) {
      if (tally.waiters.length === 0) continue;
      const less = next ? running(tally) - running(next) || tally.turn - next.turn : -1;
      if (less < 0) next = tally;
    }
    return next;
  }

  function admitWaiters(most: Pick<Limits, 'maxCalls'>): void {
    for (let tally = nextTally(); tally && hasRoom(tally, most); tally = nextTally()) tally.waiters[0]!.admit();
  }

  function refuseWaiters(makeError: () => ToolscoutError): void {
    for (const { waiters } of tallies.values()) {
      for (let waiter = waiters[0]; waiter; waiter = waiters[0]) waiter.refuse(makeError());
    }
  }

  /** Makes room in a full queue: the principal with most calls loses its last waiting call. Answers whether that is the newcomer. */
  function mustGo(newcomer: Tally): boolean {
    let most = newcomer;
    for (const tally of tallies.values()) if (tally.waiters.length > 0 && tally.inside > most.inside) most = tally;
    if (most === newcomer) return true;
    most.waiters.at(-1)!.refuse(refusal('calls'));
    return false;
  }

  function wait(tally: Tally, { maxCalls, maxWaitMs }: Limits, signal: Entrant['signal']): Promise<void> {
    const reason = shortOf ?? 'calls';
    const isFull = waiting >= maxCalls;
    if (maxWaitMs === 0 || (isFull && mustGo(tally))) return Promise.reject(refusal(reason));
    return new Promise((resolve, reject) => {
      const leaveQueue = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', onAbort);
        tally.waiters.splice(tally.waiters.indexOf(waiter), 1);
        waiting--;
      };
      const waiter: Waiter = {
        admit() {
          leaveQueue();
          tally.turn = ++turns;
          resolve();
        },
        refuse(error) {
          leaveQueue();
          reject(error);
        },
      };
      const onAbort = (): void => {
        leaveQueue();
        reject(signal?.reason as Error);
      };
      const timer = clock.after(maxWaitMs, () => waiter.refuse(refusal(shortOf ?? 'calls')), { awaited: true });
      signal?.addEventListener('abort', onAbort, { once: true });
      tally.waiters.push(waiter);
      waiting++;
    });
  }

  /** A second look: nothing was measured lately, or there is much to do. */
  function consider(entrant: Entrant, tally: Tally): Promise<void> | undefined {
    if (isClosed) return Promise.reject(stopping());
    if (limits === false) return undefined;
    if (!watch) {
      judge(limits, { memoryShare: memory.share(), delayMs: 0 });
      measure();
    }
    if (inside <= limit) return undefined;
    // A call that was cancelled before is refused further on.
    if (isContinued(entrant) || entrant.signal?.aborted) return undefined;
    if (shortOf === 'memory') return Promise.reject(refusal('memory'));
    // It is counted already.
    tally.inside--;
    inside--;
    const mayBegin = tally.waiters.length === 0 && hasRoom(tally, limits);
    tally.inside++;
    inside++;
    return mayBegin ? undefined : wait(tally, limits, entrant.signal);
  }

  function tallyOf(principal: string): Tally {
    const tally: Tally = { inside: 0, waiters: [], turn: 0 };
    tallies.set(principal, tally);
    return tally;
  }

  return {
    enter(entrant) {
      const tally = tallies.get(entrant.principal) ?? tallyOf(entrant.principal);
      tally.inside++;
      return ++inside <= limit ? undefined : consider(entrant, tally);
    },

    leave(principal) {
      tallies.get(principal)!.inside--;
      inside--;
      if (waiting > 0 && limits !== false) admitWaiters(limits);
    },

    reserve(bytes) {
      if (limits === false) return () => undefined;
      const share = memory.share() + (COPIES * (reserved + bytes)) / memory.bytes;
      if (share >= limits.maxHeapShare) throw refusal('memory');
      reserved += bytes;
      let isGiven = false;
      return () => {
        if (!isGiven) reserved -= bytes;
        isGiven = true;
      };
    },

    status() {
      const memoryShare = memory.share();
      const counts = { calls: inside - waiting, waiting, memoryShare, delayMs, shed: { ...shed } };
      if (limits === false) return { level: 'calm', ...counts };
      // At 95 % no new calls, at 99 % no new connections; the same proportion for other limits.
      if (memoryShare >= 1 - (1 - limits.maxHeapShare) / 5) return { level: 'full', reason: 'memory', ...counts };
      const reason = memoryShare >= limits.maxHeapShare ? 'memory' : (shortOf ?? (waiting > 0 ? 'calls' : undefined));
      return reason ? { level: 'shedding', reason, ...counts } : { level: 'calm', ...counts };
    },

    renew() {
      if (isClosed) return;
      limits = deps.config();
      // The next call looks at the new limits; those that wait go by them at once.
      if (limits === false) rest(Infinity);
      else if (watch) {
        judge(limits, { memoryShare: memory.share(), delayMs });
        admitWaiters(limits);
      } else limit = 0;
    },

    close() {
      isClosed = true;
      limit = -1;
      watch?.cancel();
      refuseWaiters(stopping);
    },
  };
}

/**
 * Work that was admitted before is not refused halfway: calls of a script, and rounds that carry a state which was sealed here. What is
 * kept of results is read without any server.
 */
function isContinued({ parent, resumed, server }: Entrant): boolean {
  return parent !== undefined || resumed?.requestState !== undefined || server === OWN_SERVER;
}

function stopping(): ToolscoutError {
  return new ToolscoutError('SHUTTING_DOWN', 'toolscout is stopping; no call is started.', { delivered: false });
}
