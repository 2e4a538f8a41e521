import type { Cancel } from '../../kernel/async/cancel.js';
import type { Clock } from '../../kernel/clock.js';
import { createEmitter } from '../../kernel/async/emitter.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import type { Log } from '../../kernel/log.js';
import { withoutRetryHint } from '../../kernel/retry-hint.js';
import type { Host } from '../../model/host.js';
import type { ConnectionState, Server, ServerHealth } from '../../model/server.js';
import type { Upstream } from '../../model/upstream.js';
import { createServerBreaker, judgeFailure, type BreakerLimits } from './breaker.js';
import { createHealthTimer, createIdleTimer } from './health.js';
import { createCaller, type Caller, type PoolUse, type UseConnection } from './call.js';
import { createLimiter, type RatePortions } from './limiter.js';
import { createLogLevels } from './log-levels.js';
import { SHARED, type ConnectionKey } from '../connection-key.js';
import { shuttingDown } from './errors.js';
import { connectionIdOf, connectionKeyOf, createLinks, isGroupConnection, takeLink } from './links.js';
import { healthOf, isTried, type Link, type Ping, type Slot } from './slot.js';
import { createStderrRing } from '../transport/stderr-ring.js';

/** A change of a connection, or something a server said on its own account. */
export type PoolEvent =
  | {
      readonly type: 'state';
      readonly server: string;
      readonly from: ConnectionState;
      readonly to: ConnectionState;
      readonly reason?: string;
    }
  | {
      readonly type: 'notification';
      readonly server: string;
      /** The id of the connection it came on: that of one host, or the shared one. */
      readonly connection: string;
      readonly method: string;
      readonly params?: JsonObject;
    };

/** What a pool is made of. */
export interface PoolDeps {
  readonly open: (server: Server, signal: AbortSignal, key: ConnectionKey) => Promise<Upstream>;
  readonly clock: Clock;
  readonly log: Log;
  /** 0: connections are not checked. Like `breaker` it is asked for when it is needed, since a reload may change it. */
  readonly healthIntervalMs: number;
  /** Which servers have asked a host something. */
  readonly asking?: {
    has(server: Server): boolean;
    note(server: Server): void;
    /** The era in which a server cannot ask. */
    unable(server: Server): Slot['unable'];
    noteUnable(server: Server, era: 'legacy' | 'modern'): void;
  };
  readonly breaker: BreakerLimits;
  /** Removes secrets from what is shown: reasons, last errors, stderr. */
  readonly hide?: (text: string) => string;
  readonly random?: () => number;
  /** What part of the rate limits this process has; all of them unless it says otherwise. */
  readonly portions?: RatePortions;
}

/** The connections to all servers: at most one for each server and key, made when needed and shared (CONN-3). */
export interface Pool extends Caller {
  /** Circuit breaker and connection alone; requests go through `call` and `access`, which limit and retry them. */
  readonly use: UseConnection;
  /** Whether a server has an open connection besides the shared one, with this id. */
  isOpen(server: string, connection: string): boolean;
  /** Every open connection that was made for a host. */
  connectionsOf(host: Pick<Host, 'id'>): Upstream[];
  /** Has the servers that a host is connected to log as it wishes. */
  setLogLevel(host: Host): Promise<void>;
  /** The id of the connection on which calls of a host reach a server. */
  connectionOf(server: Server, host: Host | undefined): string;
  /** A host has gone: its connections end after their calls. */
  release(host: Pick<Host, 'id'>): void;
  /** Closes the connections to a server after their calls; the next use connects again. */
  disconnect(server: string): void;
  /** Asks a server whether it is there; answers how long that took, in milliseconds. */
  ping(server: Server): Promise<number>;
  health(id: string): ServerHealth;
  /** Whether a server may be asked for its list now: its breaker is closed for all, or a trial runs on an open connection. */
  mayList(id: string): boolean;
  /** The last checks whether a server is there, oldest first. */
  pings(id: string): readonly Ping[];
  /** The last output of a child on stderr. */
  stderr(id: string): string;
  appendStderr(id: string, chunk: string | Uint8Array): void;
  /** Counts a line on stdout that was not protocol. */
  noteNoise(id: string): void;
  /** A server asks its host: from now on each host has a connection of its own to it. */
  noteQuestion(server: Server): void;
  /** From now on only these servers exist; connections of others end after their calls. */
  retain(servers: readonly Server[]): void;
  onEvent(listener: (event: PoolEvent) => void): () => void;
  /** Takes no new calls, waits for the running ones up to `drainMs`, closes everything within `graceMs`. */
  close(options: { readonly drainMs: number; readonly graceMs?: number }): Promise<void>;
}

const PING_TIMEOUT_MS = 10_000;
/** Checks that are remembered of one server. */
const MAX_PINGS = 120;

/** A connection that does not close within this is left to the end of the process. */
const CLOSE_GRACE_MS = 10_000;

/** An empty pool; nothing is opened before the first use. */
export function createPool(deps: PoolDeps): Pool {
  const { clock, log, random = Math.random } = deps;
  const hide = deps.hide ?? ((text) => text);
  const limiter = createLimiter({ clock, ...(deps.portions && { portions: deps.portions }) });
  const tellLogLevel = createLogLevels({ log, hide });
  const startedAt = clock.now();
  const events = createEmitter<PoolEvent>((thrown) => log.error('connect.listener', { error: messageOf(thrown) }));
  const slots = new Map<string, Slot>();
  let running = 0;
  let onDrained: (() => void) | undefined;
  let closed: Promise<void> | undefined;
  const links = createLinks({
    open: deps.open,
    clock,
    log,
    random,
    onConnected() {
      idleTimer.watch();
      healthTimer.watch();
    },
    onState: move,
    onNotification: ({ slot, key }, notification) =>
      events.emit({ type: 'notification', server: slot.id, connection: key, ...notification }),
  });
  const idleTimer = createIdleTimer({
    clock,
    links: links.all,
    close: (link) => links.end(link, 'disconnected', 'idle'),
  });
  const healthTimer = createHealthTimer({ clock, links: links.all, intervalMs: () => deps.healthIntervalMs, check });

  function move(slot: Slot, to: ConnectionState, reason?: string): void {
    const shown = reason === undefined ? undefined : withoutRetryHint(hide(reason));
    if (to !== 'disconnected') slot.lastError = to === 'error' ? shown : undefined;
    const from = slot.state;
    if (from === to) return;
    slot.state = to;
    slot.since = clock.now();
    log.info('connect.state', { server: slot.id, from, to, reason: shown });
    events.emit({ type: 'state', server: slot.id, from, to, ...(shown !== undefined && { reason: shown }) });
  }

  function newSlot(server: Server): Slot {
    const slot: Slot = {
      id: server.id,
      stderr: createStderrRing(LIMITS.stderrBytes),
      digest: server.digest,
      breaker: createServerBreaker({ clock, limits: () => deps.breaker, server: server.id }),
      era: undefined,
      isAsking: deps.asking?.has(server) ?? true,
      isModernOnly: false,
      unable: deps.asking?.unable(server),
      links: new Map(),
      openings: new Map(),
      failed: undefined,
      state: 'disconnected',
      since: clock.now(),
      latencyMs: undefined,
      lastError: undefined,
      noise: 0,
      pings: [],
    };
    slots.set(server.id, slot);
    return slot;
  }

  /** The slot of a server; what belongs to an older configuration of it is retired first. */
  function slotOf(server: Server): Slot {
    const slot = slots.get(server.id);
    if (!slot) return newSlot(server);
    if (slot.digest === server.digest) return slot;
    links.retire(slot, 'its configuration changed');
    return newSlot(server);
  }

  async function use<T>(
    server: Server,
    task: (upstream: Upstream, link: Link) => Promise<T>,
    signal?: Cancel,
    options: PoolUse = {},
  ): Promise<T> {
    const { host, brief = false, on, principal, accepted = false } = options;
    if (closed && !accepted) throw shuttingDown();
    const slot = slotOf(server);
    const keyFor = (): ConnectionKey =>
      on !== undefined && slot.links.get(on)?.upstream.closed === false
        ? { ...SHARED, id: on, prefers: 'legacy' }
        : connectionKeyOf(host, server, slot);
    // The list belongs to the request that is the trial, which alone decides.
    const isPartOfTrial = brief && isTried(slot);
    if (!isPartOfTrial) slot.breaker.check(principal);
    begin();
    let link: Link | undefined;
    try {
      link = takeLink(slot, keyFor(), brief) ?? (await links.join(slot, server, { keyFor, brief, signal }));
      const answer = await task(link.upstream, link);
      if (!isPartOfTrial) slot.breaker.succeed(principal);
      return answer;
    } catch (thrown) {
      if (!isPartOfTrial) learnFrom(slot, link, thrown, options);
      throw thrown;
    } finally {
      if (link) links.letGo(link);
      end();
    }
  }

  function begin(): void {
    running++;
  }

  function end(): void {
    running--;
    if (running === 0) onDrained?.();
  }

  /** A call that waits for its turn counts as running: closing lets it finish. */
  function hold(): () => void {
    begin();
    return end;
  }

  function requireOpen(): void {
    if (closed) throw shuttingDown();
  }

  const isOpen = (server: string, connection: string): boolean =>
    connection !== SHARED.id && slots.get(server)?.links.has(connection) === true;
  /** It could not ask its host on this connection: says whether another era is used from now on. */
  function changeEra(server: Server, upstream: Upstream): boolean {
    const slot = slotOf(server);
    if (upstream.isDual === false || slot.isModernOnly || slot.unable === upstream.era) return false;
    slot.unable = upstream.era;
    deps.asking?.noteUnable(server, upstream.era);
    return true;
  }
  const caller = createCaller({ clock, random, limiter, use, isOpen, requireOpen, hold, tellLogLevel, changeEra });

  function connectionsOf(host: Pick<Host, 'id'>): Upstream[] {
    const connection = connectionIdOf(host);
    return [...slots.values()].flatMap((slot) => slot.links.get(connection)?.upstream ?? []);
  }

  async function measure(server: Server, { upstream, slot }: Link): Promise<number> {
    const started = clock.monotonic();
    const note = (ok: boolean): number => {
      const ms = clock.monotonic() - started;
      slot.pings.push({ at: clock.now(), ms, ok });
      if (slot.pings.length > MAX_PINGS) slot.pings.shift();
      return ms;
    };
    try {
      await upstream.ping(Math.min(server.timeoutMs || PING_TIMEOUT_MS, PING_TIMEOUT_MS));
      return note(true);
    } catch (thrown) {
      note(false);
      throw thrown;
    }
  }

  /** The check of the health timer: a connection that does not answer is closed, unless a call began meanwhile. */
  async function check(link: Link): Promise<void> {
    try {
      await limiter.wait(link.server);
      if (!link.ended) link.slot.latencyMs = await measure(link.server, link);
    } catch (thrown) {
      if (link.busy === 0 && !closed) links.end(link, 'error', `health check failed: ${messageOf(thrown)}`);
    }
  }

  async function ping(server: Server): Promise<number> {
    await limiter.wait(server);
    const check = async (_upstream: Upstream, link: Link): Promise<number> => {
      try {
        return (link.slot.latencyMs = await measure(server, link));
      } catch (thrown) {
        if (link.busy === 1) links.end(link, 'error', `health check failed: ${messageOf(thrown)}`);
        throw thrown;
      }
    };
    return use(server, check, undefined, { brief: true });
  }

  function drained(drainMs: number): Promise<void> {
    if (running === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = clock.after(drainMs, resolve, { awaited: true });
      onDrained = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  async function shutDown(drainMs: number, graceMs = CLOSE_GRACE_MS): Promise<void> {
    idleTimer.stop();
    healthTimer.stop();
    await drained(drainMs);
    // Ends the waits for a token, which would keep the process alive.
    limiter.close(shuttingDown());
    await links.stop(graceMs);
  }

  return {
    call: caller.call,
    access: caller.access,
    use,
    ping,
    isOpen,
    connectionsOf,

    health(id) {
      const slot = slots.get(id);
      return slot ? healthOf(slot) : { state: 'disconnected', breaker: 'closed', since: startedAt };
    },

    mayList(id) {
      const slot = slots.get(id);
      return !slot || slot.breaker.sharedState === 'closed' || isTried(slot);
    },

    pings: (id) => slots.get(id)?.pings ?? [],
    stderr: (id) => hide(slots.get(id)?.stderr.text() ?? ''),
    appendStderr: (id, chunk) => slots.get(id)?.stderr.append(chunk),
    noteNoise(id) {
      const slot = slots.get(id);
      if (slot) slot.noise++;
    },

    noteQuestion(server) {
      const slot = slots.get(server.id);
      if (!slot || slot.isAsking) return;
      slot.isAsking = true;
      deps.asking?.note(server);
      for (const key of slot.links.keys()) if (isGroupConnection(key)) links.retireConnection(slot, key);
    },

    retain(servers) {
      const wanted = new Map(servers.filter((server) => server.enabled).map((server) => [server.id, server]));
      for (const slot of slots.values()) {
        const server = wanted.get(slot.id);
        if (!server) {
          slots.delete(slot.id);
          links.retire(slot, 'it was removed from the configuration');
        } else if (server.digest !== slot.digest) slotOf(server);
        else for (const link of slot.links.values()) link.server = server;
      }
      limiter.retain(servers);
      idleTimer.watch();
      healthTimer.watch();
    },

    disconnect(id) {
      const slot = slots.get(id);
      if (slot) links.retire(slot, 'closed on request');
    },

    connectionOf(server, host) {
      const slot = slots.get(server.id);
      return slot ? connectionKeyOf(host, server, slot).id : SHARED.id;
    },

    async setLogLevel(host) {
      await Promise.all(connectionsOf(host).map((upstream) => tellLogLevel(upstream, host)));
    },

    release(host) {
      const connection = connectionIdOf(host);
      for (const slot of slots.values()) links.retireConnection(slot, connection);
    },

    onEvent: (listener) => events.on(listener),

    close({ drainMs, graceMs }) {
      closed ??= shutDown(drainMs, graceMs);
      return closed;
    },
  };
}

/** Reports a failed call to the breaker, once for all calls that one lost connection failed. */
function learnFrom(slot: Slot, link: Link | undefined, thrown: unknown, { principal, timeoutMs }: PoolUse): void {
  const isTimeout = thrown instanceof ToolscoutError && thrown.code === 'TOOL_EXECUTION_TIMEOUT';
  const isOwnLimit = link && timeoutMs !== undefined && timeoutMs < link.server.timeoutMs && isTimeout;
  const verdict = link && !isOwnLimit ? judgeFailure(thrown) : 'nothing';
  if (verdict === 'answered') return slot.breaker.succeed(principal);
  const lost = link?.upstream.closed === true;
  if (verdict === 'nothing' || (lost && link.lossCounted)) return slot.breaker.release(principal);
  if (link && lost) link.lossCounted = true;
  slot.breaker.fail(thrown, principal);
}
