import { createApprovals, createMarketplace, type Approvals, type Marketplace } from '../approvals/index.js';
import type { LoadedConfig } from '../config/index.js';
import type { OpenSession, Tap } from '../connect/index.js';
import { createEmitter, type Emitter } from '../kernel/async/emitter.js';
import { messageOf, ToolscoutError, type Problem } from '../kernel/errors.js';
import type { Host } from '../model/host.js';
import type { Server } from '../model/server.js';
import type { Upstream } from '../model/upstream.js';
import {
  createCatalog,
  isInvalid,
  isStale,
  isStandIn,
  isUsable,
  isWorthRefreshing,
  type Catalog,
  type LearnedList,
} from '../catalog/catalog.js';
import { createConnectionKeeper, type ConnectionKeeper } from '../catalog/learning/connection-keeper.js';
import { createConnectionCheck } from '../catalog/learning/connection-check.js';
import { createExperience, type ExperienceKeeper } from '../catalog/experience.js';
import { createFailureMemory } from '../catalog/learning/failure-memory.js';
import { fillCatalog } from '../catalog/learning/fill-catalog.js';
import { createLearner, learningProgress, type Learner } from '../catalog/learning/learner.js';
import { createListSync } from '../catalog/learning/list-sync.js';
import { learnOnce } from '../catalog/learning/learn-once.js';
import { createOldLists } from '../catalog/learning/list-connections.js';
import { learnServer } from '../catalog/learning/learn-server.js';
import { learnWithoutHandshake } from '../catalog/learning/handshake-fallback.js';
import { logWarnings } from './config-warnings.js';
import { requireOpenSession, type GatewayDeps } from './deps.js';
import type { Learned, LearnTerms } from '../catalog/learning/pipeline.js';
import { createRefresher } from '../catalog/learning/refresher.js';
import { createRelister } from '../catalog/learning/relister.js';
import { createOwnServer, type OwnServer } from './own-server.js';
import { createRetention } from './retention.js';
import { createTrust, type Trust } from '../catalog/trust.js';
import type { ToolscoutEvent } from './contract.js';
import type { AskOptions } from './contract/options.js';
import { problemOf } from '../catalog/views.js';
import { unusableServer } from './unusable-server.js';

/** What the verbs of the gateway share: the state in force, and how a server comes to be known. */
export interface Core {
  readonly deps: GatewayDeps;
  readonly events: Emitter<ToolscoutEvent>;
  readonly learner: Learner;
  readonly approvals: Approvals;
  readonly trust: Trust;
  /** Connects eager servers and those that skills wait for, until they are back. */
  readonly keeper: ConnectionKeeper;
  readonly marketplace: Marketplace;
  /** toolscout as a server of its own catalog, and what is made of results (ANS-1, ANS-3). */
  readonly own: OwnServer;
  /** What queries led to. */
  readonly experience: ExperienceKeeper;
  /** What servers said they offer when the registry asked them (NEG-1), by id. */
  readonly probed: Map<string, readonly string[]>;
  /** The configuration in force; a reload swaps it together with the catalog. */
  readonly loaded: LoadedConfig;
  readonly catalog: Catalog;
  readonly closing: boolean;
  /** What is wrong with the config that was last read and is not used; absent when the last reload succeeded. */
  rejectedConfig?: readonly Problem[] | undefined;
  /** Removes secrets from a text. */
  hide(text: string): string;
  /** Resolves when everything in the store is indexed. */
  filled(): Promise<void>;
  /** The server of that id when it may be connected to; otherwise the reason why not. */
  usable(id: string): Server;
  /** Makes sure that a server's list is known before a verb that needs exactly that server; refuses when it may not be used. */
  known(id: string, options?: AskOptions, need?: { readonly standIn?: boolean }): Promise<Server>;
  learnInBackground(servers: readonly Server[]): void;
  /**
   * Has those lists read again that are out of date; until then they are served as they are (DISC-4). A process that ends
   * before they would be read has them read before the answer, as long as a search waits.
   */
  refresh(servers: readonly Server[], onLearning?: AskOptions['onLearning']): Promise<void>;
  /** Whether a list is older than its server or the configuration lets it be. */
  isStale(list: LearnedList): boolean;
  /** Requests a server's list again soon. */
  relistSoon(server: string): void;
  /** What to wait for before the first request of this host on a connection: the list may have changed with the process (A12). */
  checkConnection(server: Server, upstream: Upstream, host: Host | undefined): Promise<void> | undefined;
  /** The same as `relistSoon`, after a call by this host, where the list is old. */
  relistAfterCall(server: string, host: Host | undefined): void;
  /** Deletes records beyond the configured retention, in the background. */
  pruneAudit(): void;
  swap(next: { readonly loaded: LoadedConfig; readonly catalog: Catalog }): void;
  /** Stops learning; what runs in the pool is the caller's to end. Resolves when what is remembered is stored. */
  stop(): Promise<void>;
}

/** Announcements after which a server is asked for its lists again. */
const LIST_CHANGES = new Set(['tools', 'resources', 'prompts'].map((kind) => `notifications/${kind}/list_changed`));

/** The catalog is read from the store when it is first needed, and at the latest after this. */
const OPEN_DELAY_MS = 100;

/** Opens the core: stored lists are served at once, the rest is learned in the background. */
export function createCore(deps: GatewayDeps): Core {
  const { clock, log, pool, cache, audit, mask } = deps;
  const events = createEmitter<ToolscoutEvent>((thrown) => log.error('event.listener', { error: messageOf(thrown) }));
  const hide = (text: string): string => mask.hideEncoded(text);
  mask.add(deps.loaded.secrets);
  deps.redaction.use(deps.loaded.config.redaction);

  let loaded = deps.loaded;
  logWarnings(log, loaded.warnings);
  const approvals = deps.approvals ?? createApprovals({ store: deps.store, clock, log });
  let catalog: Catalog = createCatalog(loaded.config, loaded.servers, deps.knowledge, approvals);
  let closing = false;

  const oldLists = createOldLists();
  const memory = createFailureMemory({ store: deps.store, clock, log });
  const openerWith = (tap: Tap): OpenSession => {
    const openSession = requireOpenSession(deps);
    return (server, signal) => openSession(server, signal, { tap });
  };

  const learner = createLearner({
    clock,
    breaker: () => ({ failures: loaded.config.limits.breakerFailures, resetMs: loaded.config.limits.breakerResetMs }),
    onFailure: memory.note,
    onLearned: memory.clear,
    run: (server, signal, terms) => {
      const learn = (): Promise<Learned> => learnHere(server, signal, terms);
      const { replicas } = deps;
      if (!replicas || !inBackground.delete(server.id)) return learn();
      const { lastFailure } = learner;
      return learnOnce(
        server,
        { replicas, clock, catalog: () => catalog, look: () => lists.look(), lastFailure, signal },
        learn,
      );
    },
  });
  /** Servers to learn that no request named: one replica is enough. */
  const inBackground = new Set<string>();
  const learnHere = (server: Server, signal: AbortSignal, terms: LearnTerms | undefined): Promise<Learned> =>
    learnServer(
      server,
      {
        pool,
        open: terms?.tap && openerWith(terms.tap),
        terms,
        cache,
        audit,
        log,
        events,
        hide,
        usable,
        oldLists,
        noteListed: (upstream) => connectionCheck.noteListed(server, upstream),
        catalog: () => catalog,
        withoutHandshake: (each, stop, mayRun) =>
          learnWithoutHandshake(each, { ...deps, config: () => loaded.config, tap: terms?.tap }, stop, mayRun),
        admit: (...seen) => trust.admit(...seen),
      },
      signal,
    );

  /** Takes over which servers failed in other processes. */
  const recallFailures = async (): Promise<void> => {
    const failureOf = await memory.load();
    for (const server of loaded.servers) learner.recall(server.id, failureOf(server));
  };
  const forgetMemory = memory.onChange(() => void recallFailures());

  const learnInBackground = (servers: readonly Server[]): void => {
    if (servers.length === 0 || closing) return;
    // This parallelism was not chosen by a user, and one server that hangs must not delay the others (DISC-3).
    const { maxParallelDiscoveries: parallel, lendSlots } = loaded.config;
    if (deps.replicas) for (const { id } of servers) if (!learner.isLearning(id)) inBackground.add(id);
    void learner.learnAll(servers, { parallel, lendSlots: lendSlots !== false });
  };

  const trust = createTrust({
    approvals,
    pool,
    log,
    events,
    hide,
    loaded: () => loaded,
    catalog: () => catalog,
    learnInBackground,
  });
  const unwatch = approvals.onChange((servers) => void lists.follow(servers));
  const keeper = createConnectionKeeper({
    clock,
    log,
    random: deps.random,
    pool,
    learner,
    events,
    catalog: () => catalog,
    hide,
  });

  const retention = createRetention({ ...deps, hide, retentionMs: () => loaded.config.limits.auditRetentionMs });
  const open = async (): Promise<void> => {
    try {
      const { cache: caching } = loaded.config;
      await Promise.all([trust.open(), recallFailures()]);
      const servers = [...catalog.servers.values()];
      const due = await fillCatalog(catalog, servers, { cache, caching, now: clock.now(), admit: trust.admitKnown });
      if (deps.learnAtStart) {
        learnInBackground(due);
        keeper.start();
      }
      isFilled = true;
      // Lists that another process learned while this one was starting are taken over now.
      void lists.look();
      retention.prune();
    } catch (thrown) {
      log.error('store.unreadable', { error: hide(messageOf(thrown)) });
    }
  };
  let isFilled = false;
  const lists = createListSync({
    ...deps,
    approvals,
    events,
    trust,
    catalog: () => catalog,
    isFilled: () => isFilled && loaded.config.cache.enabled,
    relistSoon: (id) => relister.soon(id),
  });
  let opening: Promise<void> | undefined;
  const filled = (): Promise<void> => (opening ??= open());
  // A host that has just started us asks for the menu first, and that needs no catalog.
  const soon = clock.after(OPEN_DELAY_MS, () => void filled());

  const relister = createRelister({
    clock,
    isLearning: learner.isLearning,
    async relist(id) {
      const server = catalog.servers.get(id);
      if (!server || !isUsable(server) || closing) return true;
      // The change may have been announced while a list was read that was kept afterwards.
      if (oldLists.isAnnounced(id)) void cache.invalidate(server);
      const [outcome] = await learner.learnAll([server], { parallel: 1 });
      return outcome?.ok === true || !isInvalid(catalog.list(id));
    },
  });

  const ready = new WeakSet<Upstream>();
  const connectionCheck = createConnectionCheck({
    ready,
    clock,
    patienceMs: () => loaded.config.limits.searchWaitMs,
    isDue({ id }) {
      const list = catalog.list(id);
      return list !== undefined && !isStandIn(list) && !closing && pool.mayList(id);
    },
    read(server, connection) {
      oldLists.noteCalled(server.id, connection);
      return learner.learnAll([server], { parallel: 1 });
    },
  });

  const refresher = createRefresher({
    clock,
    learner,
    catalog: () => catalog,
    isOld: (list, now) => isWorthRefreshing(list, loaded.config.cache, now),
    claim: relister.claim,
    learn: learnInBackground,
  });

  pool.onEvent((event) => {
    if (event.type === 'notification' && LIST_CHANGES.has(event.method)) {
      const server = catalog.servers.get(event.server);
      if (server) void cache.invalidate(server);
      oldLists.noteAnnounced(event.server, event.connection);
      relister.soon(event.server);
    }
    events.emit(event);
  });

  const usable = (id: string): Server => {
    const server = catalog.server(id);
    if (isUsable(server)) return server;
    const hold = server.enabled ? catalog.hold(id) : undefined;
    if (hold) {
      throw new ToolscoutError('APPROVAL_REQUIRED', `Server "${id}" cannot be used: ${hold.reason}.`, {
        remedy: hold.remedy,
        delivered: false,
      });
    }
    throw unusableServer(server, problemOf(server, { catalog, learner, hide }), loaded);
  };

  /** In a process that ends before a background refresh would: has old lists read again before the answer. */
  const freshen: Core['refresh'] = async (servers, onLearning) => {
    if (!deps.refreshFirst) return;
    const now = clock.now();
    const old = servers.filter((server) => {
      const list = catalog.list(server.id);
      return list && isUsable(server) && isWorthRefreshing(list, loaded.config.cache, now);
    });
    const due = old.map(({ id }) => id).filter((id) => learner.isDue(id) && !learner.failure(id));
    learnInBackground(old.filter(({ id }) => due.includes(id)));
    await learner.settle(due, loaded.config.limits.searchWaitMs, onLearning);
  };

  return {
    deps,
    events,
    learner,
    approvals,
    trust,
    keeper,
    marketplace: deps.marketplace ?? createMarketplace({ store: deps.store }),
    probed: new Map(),
    own: createOwnServer(deps, { config: () => loaded.config, catalog: () => catalog }),
    experience: createExperience({ store: deps.store, clock, log, config: () => loaded.config }),
    get loaded() {
      return loaded;
    },
    get catalog() {
      return catalog;
    },
    get closing() {
      return closing;
    },
    hide,
    filled,
    usable,
    async known(id, { onLearning } = {}, { standIn = false } = {}) {
      await filled();
      const server = catalog.server(id);
      // What is off has no list, which is not the same as an empty one.
      if (!isUsable(server)) return usable(id);
      const isMissing = (): boolean => !catalog.list(id) || isStandIn(catalog.list(id));
      // What stands in for a list is good enough to look at while the server rests.
      if (isMissing() && !(standIn && catalog.list(id) && learner.restMs(id) > 0)) {
        learner.checkRested(id);
        onLearning?.(learningProgress(0, 1));
        const unlearned = (thrown: unknown): unknown => {
          const error = learner.failure(id);
          return error
            ? new ToolscoutError(error.code, `Cannot list the tools of "${id}": ${hide(error.message)}`, {
                remedy: error.remedy,
                cause: error,
              })
            : thrown;
        };
        const { failure } = await learner.learn(server).catch((thrown: unknown) => {
          throw unlearned(thrown);
        });
        if (failure && !standIn) throw unlearned(failure);
        onLearning?.(learningProgress(1, 1));
      } else await freshen([server], onLearning);
      return server;
    },
    learnInBackground,
    async refresh(servers, onLearning) {
      await freshen(servers, onLearning);
      refresher.refresh(servers);
    },
    isStale: (list) => isStale(list, loaded.config.cache, clock.now()),
    relistSoon: (server) => relister.soon(server),
    checkConnection: (server, upstream, host) =>
      ready.has(upstream) ? undefined : connectionCheck.before(server, upstream, () => pool.connectionOf(server, host)),
    relistAfterCall(server, host) {
      const list = catalog.list(server);
      if (!list || !isStale(list, loaded.config.cache, clock.now())) return;
      if (host) oldLists.noteCalled(server, pool.connectionOf(catalog.server(server), host));
      relister.whenRested(server);
    },
    pruneAudit: retention.prune,
    swap(next) {
      const { warnings } = loaded;
      loaded = next.loaded;
      logWarnings(log, loaded.warnings, warnings);
      deps.redaction.use(loaded.config.redaction);
      catalog = next.catalog;
      void recallFailures();
    },
    stop() {
      closing = true;
      keeper.close();
      unwatch();
      lists.close();
      approvals.close();
      soon.cancel();
      retention.stop();
      relister.close();
      refresher.close();
      forgetMemory();
      learner.close(loaded.config.limits.searchWaitMs);
      return memory.settled();
    },
  };
}
