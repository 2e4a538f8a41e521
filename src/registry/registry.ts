import { setMaxListeners } from 'node:events';
import type { Clock, Timer } from '../kernel/clock.js';
import { createEmitter } from '../kernel/async/emitter.js';
import { messageOf, ToolscoutError, type Problem } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';
import type { Snapshot, SnapshotFilters, SnapshotItem } from '../model/snapshot.js';
import { cleanText } from './documents.js';
import type { Inventory, InventoryItem } from './inventory.js';
import type { Probe, ProbeResult } from './probe.js';
import { afterProbe, dueNow, itemOf, newState, syncStates, type CheckState, type SchedulePolicy } from './schedule.js';
import { createSnapshot, hashItems, readFilters } from './snapshot.js';

/** What is known of a server without asking it: of those over stdio, and of connections that are open. */
export interface LocalState {
  readonly alive: boolean;
  readonly version?: string;
  readonly latencyMs?: number;
  /** Wall-clock time of the last change. */
  readonly checkedAt?: number;
  readonly capabilities?: readonly string[];
  /** One of the vocabulary of REG-6. */
  readonly reason: string | null;
}

/** The inventory as it was just read, or that there is no file to read it from. */
export interface ReadInventory extends Inventory {
  /** There is no inventory file, or it cannot be read; what is configured may still be there. */
  readonly missing?: string;
  /** It is missing at the place that is looked at by default: nothing that a user asked for. */
  readonly isUnasked?: boolean;
}

/** One check that ended, for metrics. */
export interface ProbeEvent {
  readonly id: string;
  readonly result: ProbeResult;
}

/** What the registry is made of. */
export interface RegistryDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly probe: Probe;
  readonly policy: SchedulePolicy;
  /** Servers checked at once, not counting those that take longer than `lendAfterMs`. */
  readonly parallel: number;
  /** A server that has not answered by then lends its place to the next, so that those that hang do not hold up the rest. */
  readonly lendAfterMs: number;
  /** Whether `start` checks in the background (`TOOLS_REGISTRY_ENABLED`). */
  readonly enabled: boolean;
  readonly readInventory: () => Promise<ReadInventory>;
  readonly localState: (item: InventoryItem) => LocalState | undefined;
}

/** The snapshot of all servers, kept current. */
export interface Registry {
  /** Whether it may be asked at all (`TOOLS_REGISTRY_ENABLED`). */
  readonly enabled: boolean;
  /**
   * The servers as they are known now, narrowed by filters or by the query of a request (REG-2), and to those that `sees` holds for.
   *
   * @throws ToolscoutError `INVALID_REQUEST` for a filter that makes no sense, `REGISTRY_MISCONFIGURED` without any
   * inventory, `REGISTRY_UNAVAILABLE` before the first check.
   */
  snapshot(filters?: SnapshotFilters | URLSearchParams, sees?: (id: string) => boolean): Snapshot;
  /** Reads the inventory again and checks servers now: the named ones, or all; of these those that `sees` holds for. */
  refresh(ids?: readonly string[], sees?: (id: string) => boolean): Promise<void>;
  /** Reads the inventory again without waiting for any check; after a change of the config. */
  sync(): Promise<void>;
  /** Says that what is known without asking has changed: a connection opened or ended, tools were learned. */
  touch(): void;
  /** Checks in the background from now on. */
  start(): void;
  stop(): Promise<void>;
  /** Bad entries of the inventory. */
  problems(): readonly Problem[];
  /** Called with the new hash when the snapshot has changed. The answer stops it. */
  onChange(listener: (hash: string) => void): () => void;
  onProbe(listener: (event: ProbeEvent) => void): () => void;
}

/** Sockets are limited: beyond this number no place is lent. */
const MAX_AT_ONCE = 128;
/** Changes within this time are reported together. */
const GATHER_MS = 100;
/** Checks that fall due within this are begun together, so that the background task never spins. */
const MIN_WAIT_MS = 250;

/** A registry; call `start` to have it keep itself current. */
export function createRegistry(deps: RegistryDeps): Registry {
  const { clock, log, policy } = deps;
  const report = (thrown: unknown): void =>
    log.error('tools.registry.listener', { phase: 'lifecycle', error: messageOf(thrown) });
  const changes = createEmitter<string>(report);
  const probes = createEmitter<ProbeEvent>(report);
  const running = new Map<string, Promise<void>>();
  const waiting: Array<() => void> = [];
  const stopping = new AbortController();
  // Every running check listens to it, and there may be hundreds; each takes its listener off again.
  setMaxListeners(0, stopping.signal);
  let active = 0;
  let underWay = 0;
  let inventory: ReadInventory | undefined;
  let items = new Map<string, InventoryItem>();
  let states = new Map<string, CheckState>();
  let lastHash: string | undefined;
  /** The hash of the last complete snapshot that was returned; listeners may not have seen that state. */
  let shownHash: string | undefined;
  let started = false;
  let timer: { readonly at: number; readonly handle: Timer } | undefined;
  let gathering: Timer | undefined;
  let syncing: Promise<void> | undefined;

  const current = (): SnapshotItem[] =>
    [...items.values()].map((item) => {
      const state = states.get(item.id) ?? newState(clock.monotonic());
      const shown = itemOf(item, state, clock.monotonic(), policy);
      const local = deps.localState(item);
      // A connection that is open is worth more than any question about it.
      if (!local || (item.transport !== 'stdio' && !local.alive)) return shown;
      const checkedAt = local.checkedAt === undefined ? undefined : new Date(local.checkedAt).toISOString();
      return {
        ...shown,
        alive: local.alive,
        version: shown.version ?? cleanText(local.version) ?? null,
        latency_ms: local.latencyMs ?? shown.latency_ms,
        capabilities: shown.capabilities.length > 0 ? shown.capabilities : [...(local.capabilities ?? [])].toSorted(),
        last_checked_ts: shown.last_checked_ts ?? checkedAt ?? null,
        failure_reason: local.reason,
        // A process that failed is not started again to see whether it still does.
        consecutive_failures: local.reason === null || local.reason === 'pending' ? 0 : 1,
      };
    });

  const announce = (): void => {
    if (stopping.signal.aborted) return;
    gathering ??= clock.after(GATHER_MS, () => {
      gathering = undefined;
      const hash = hashItems(current());
      if (hash === lastHash && hash === (shownHash ?? hash)) return;
      lastHash = hash;
      shownHash = hash;
      log.debug('tools.registry.changed', { phase: 'normalize', hash, size: items.size });
      changes.emit(hash);
    });
  };

  const readOnce = async (): Promise<void> => {
    const next = await deps.readInventory();
    for (const { path, message } of next.problems) {
      if (inventory?.problems.some((old) => old.path === path && old.message === message)) continue;
      log.warn('tools.registry.skipped', { phase: 'load', path, reason: message });
    }
    if (next.missing !== undefined && inventory?.missing !== next.missing) {
      log[next.isUnasked ? 'debug' : 'info']('tools.registry.missing', { phase: 'load', reason: next.missing });
    }
    inventory = next;
    const before = items;
    items = new Map(next.items.map((item) => [item.id, item]));
    const probed = next.items.filter((item) => item.transport !== 'stdio').map((item) => item.id);
    // A server that moved is another server: nothing that the old one said holds for it.
    const kept = new Map([...states].filter(([id]) => before.get(id)?.baseUrl === items.get(id)?.baseUrl));
    states = syncStates(kept, probed, clock.monotonic());
    announce();
  };

  const sync = (): Promise<void> => {
    syncing ??= readOnce().finally(() => {
      syncing = undefined;
    });
    return syncing;
  };

  const turn = async (): Promise<void> => {
    if (active >= deps.parallel) await new Promise<void>((resolve) => waiting.push(resolve));
    else active += 1;
  };
  const leave = (): void => {
    const next = waiting.shift();
    // The place passes directly to the next, so that no other probe takes it in between.
    if (next) next();
    else active -= 1;
  };

  const checkOnce = async (id: string): Promise<void> => {
    await turn();
    let isHeld = true;
    const free = (): void => {
      if (isHeld) leave();
      isHeld = false;
    };
    underWay += 1;
    const lending = clock.after(deps.lendAfterMs, () => {
      if (underWay <= MAX_AT_ONCE) free();
    });
    try {
      const item = items.get(id);
      const state = states.get(id);
      if (!item || !state || stopping.signal.aborted) return;
      const result = await deps.probe(item, state.locations, stopping.signal);
      // It may have been removed or moved while it was asked.
      if (items.get(id)?.baseUrl !== item.baseUrl || stopping.signal.aborted) return;
      const times = { monotonic: clock.monotonic(), wall: clock.now() };
      states.set(id, afterProbe(states.get(id) ?? state, result, times, policy, deps.random()));
      log.debug('tools.registry.probe', { phase: 'refresh', id, reason: result.reason, alive: result.alive });
      probes.emit({ id, result });
      announce();
    } catch (thrown) {
      log.error('tools.registry.probe-failed', { phase: 'refresh', id, error: messageOf(thrown) });
    } finally {
      underWay -= 1;
      lending.cancel();
      free();
    }
  };

  const check = (id: string): Promise<void> => {
    const under = running.get(id);
    if (under) return under;
    const run = checkOnce(id).finally(() => {
      running.delete(id);
      planFor(states.get(id)?.dueAt);
    });
    running.set(id, run);
    return run;
  };

  /** One timer, for the earliest due time; the inventory is read again at least once in every interval. */
  const planFor = (dueAt: number | undefined): void => {
    if (!started || stopping.signal.aborted) return;
    const now = clock.monotonic();
    const at = Math.max(now + MIN_WAIT_MS, Math.min(dueAt ?? Infinity, now + policy.refreshMs));
    if (timer && timer.at <= at) return;
    timer?.handle.cancel();
    timer = { at, handle: clock.after(at - now, () => void wake()) };
  };

  const wake = async (): Promise<void> => {
    timer?.handle.cancel();
    timer = undefined;
    try {
      await sync();
      for (const id of dueNow(states, clock.monotonic()).due) void check(id);
    } catch (thrown) {
      log.error('tools.registry.unreadable', { phase: 'load', error: messageOf(thrown) });
    } finally {
      planFor(dueNow(states, clock.monotonic()).nextAt);
    }
  };

  return {
    enabled: deps.enabled,

    snapshot(asked = {}, sees) {
      const filters = asked instanceof URLSearchParams ? readFilters(asked) : asked;
      if (inventory && items.size === 0 && inventory.missing !== undefined) {
        throw new ToolscoutError(
          'REGISTRY_MISCONFIGURED',
          `No server is configured, and no inventory was read: ${inventory.missing}.`,
        );
      }
      const shown = current();
      const isKnown = shown.some((item) => item.transport === 'stdio' || item.failure_reason !== 'pending');
      if (!inventory || (shown.length > 0 && !isKnown)) {
        throw new ToolscoutError('REGISTRY_UNAVAILABLE', 'No server has been checked yet.', { retryAfterMs: 1000 });
      }
      const made = createSnapshot(sees ? shown.filter(({ id }) => sees(id)) : shown, clock.now(), filters);
      if (made.items.length === shown.length) shownHash = made.registry_hash;
      return made;
    },

    async refresh(ids, sees = () => true) {
      await sync();
      const wanted = (ids ?? [...states.keys()]).filter((id) => states.has(id) && sees(id));
      await Promise.all(wanted.map(check));
    },

    sync,
    touch: announce,

    start() {
      if (started || !deps.enabled) return;
      started = true;
      log.info('tools.registry.started', { phase: 'lifecycle' });
      void wake();
    },

    async stop() {
      stopping.abort();
      timer?.handle.cancel();
      gathering?.cancel();
      await Promise.all(running.values());
      log.debug('tools.registry.stopped', { phase: 'lifecycle' });
    },

    problems: () => inventory?.problems ?? [],
    onChange: (listener) => changes.on(listener),
    onProbe: (listener) => probes.on(listener),
  };
}
