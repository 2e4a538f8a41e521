import {
  createApprovals,
  createMarketplace,
  type Approvals,
  type Marketplace,
  type Promotion,
} from '../approvals/index.js';
import type { Audit } from '../audit/index.js';
import type { LoadedConfig } from '../config/index.js';
import type { Limiter, Pool } from '../connect/index.js';
import type { ToolCache } from '../discover/index.js';
import type { Clock } from '../kernel/clock.js';
import { createEmitter, type Emitter } from '../kernel/emitter.js';
import { hideIn, messageOf, ToolscoutError, toToolscoutError } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';
import type { SecretMask } from '../kernel/secrets.js';
import type { Approval } from '../model/approval.js';
import type { Server } from '../model/server.js';
import type { Store } from '../model/store.js';
import type { Tool } from '../model/tool.js';
import type { VectorSource } from '../search/index.js';
import { createCatalog, presented, type Catalog, type LearnedList } from './catalog.js';
import { fillCatalog } from './fill.js';
import { createLearner, type Learner } from './learner.js';
import { learn } from './pipeline.js';
import { createRelister } from './relister.js';
import type { GatewayEvent } from './verbs.js';
import { isUsable, problemOf } from './views.js';

/** What the gateway is made of; `main.ts` hands it in. */
export interface GatewayDeps {
  readonly loaded: LoadedConfig;
  readonly loadConfig: () => Promise<LoadedConfig>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly mask: SecretMask;
  readonly random: () => number;
  readonly pool: Pool;
  readonly limiter: Limiter;
  readonly cache: ToolCache;
  readonly audit: Audit;
  /** Who is trusted with what; by default as the store has it. */
  readonly approvals?: Approvals;
  /** Where exported files go when they are approved; without it nothing is exported. */
  readonly promotion?: Promotion;
  /** Word vectors for the ranking; without them it goes by words alone. */
  readonly vectors?: VectorSource;
  /** Whether servers never seen before are learned as soon as the gateway starts (CONN-2). */
  readonly learnAtStart: boolean;
}

/** What the verbs of the gateway share: the state in force, and how a server comes to be known. */
export interface Core {
  readonly deps: GatewayDeps;
  readonly events: Emitter<GatewayEvent>;
  readonly learner: Learner;
  readonly approvals: Approvals;
  readonly marketplace: Marketplace;
  /** The configuration in force; a reload swaps it together with the catalog. */
  readonly loaded: LoadedConfig;
  readonly catalog: Catalog;
  readonly closing: boolean;
  /** Removes secrets from a text. */
  hide(text: string): string;
  /** Resolves when everything the store knows has been indexed. */
  filled(): Promise<void>;
  /** The server of that id when it may be connected to; otherwise the reason why not. */
  usable(id: string): Server;
  /** Makes sure that a server's list is known before a verb that needs exactly that server. */
  known(id: string): Promise<Server>;
  learnInBackground(servers: readonly Server[]): void;
  /** Asks a server for its list anew before long. */
  relistSoon(server: string): void;
  /** Notes what the catalog now shows: tools to pin, servers and tools to ask for (SEC-9). */
  admitAll(): Promise<void>;
  /** Judges servers anew after a decision about them; one that may be used now is learned. */
  reconsider(servers: Iterable<string>): void;
  /** Ends the connections of servers that are gone or may not be used. */
  retainAllowed(): void;
  swap(next: { readonly loaded: LoadedConfig; readonly catalog: Catalog }): void;
  /** Stops learning; what runs in the pool is the caller's to end. */
  stop(): void;
}

/** The catalog is read from the store when it is first needed, and at the latest after this. */
const OPEN_DELAY_MS = 100;

/** Opens the core: what the store knows is served at once, the rest is learned in the background. */
export function createCore(deps: GatewayDeps): Core {
  const { clock, log, pool, limiter, cache, audit, mask } = deps;
  const events = createEmitter<GatewayEvent>((thrown) => log.error('event.listener', { error: messageOf(thrown) }));
  const hide = (text: string): string => mask.hide(text);
  mask.add(deps.loaded.secrets);

  let loaded = deps.loaded;
  const approvals = deps.approvals ?? createApprovals({ store: deps.store, clock, log });
  let catalog: Catalog = createCatalog(loaded.config, loaded.servers, deps.vectors, approvals);
  let closing = false;

  const learner = createLearner({
    clock,
    run: async (server, signal) => {
      try {
        usable(server.id);
        const learned = await learn(
          server,
          { clock, limiter, pool, cache, audit, random: deps.random, catalog: () => catalog, admit: admitFresh },
          signal,
        );
        for (const bad of learned.dropped) log.warn('discover.dropped', { server: server.id, ...bad });
        events.emit({ type: 'learned', server: server.id, tools: learned.tools });
        return learned;
      } catch (thrown) {
        const error = hideIn(toToolscoutError(thrown, 'TOOLS_LIST_FAILED'), hide);
        if (!signal.aborted) {
          log.warn('discover.failed', { server: server.id, reason: error.message });
          events.emit({ type: 'learn-failed', server: server.id, reason: error.message });
        }
        throw error;
      }
    },
  });

  const learnInBackground = (servers: readonly Server[]): void => {
    if (servers.length === 0 || closing) return;
    void learner.learnAll(servers, { parallel: loaded.config.maxParallelDiscoveries });
  };

  const announce = (made: readonly Approval[]): void => {
    for (const approval of made) {
      const { ref, about, risk } = approval;
      log.warn('approvals.requested', { ref, about, risk: risk.level });
      events.emit({ type: 'approval', approval });
    }
  };
  const admit = async (server: Server, list: LearnedList, tools: readonly Tool[], fresh: boolean): Promise<void> => {
    const { approval: policy } = loaded.config;
    announce(await approvals.admit(server, { ...presented(list), tools }, { policy, fresh }));
  };
  const admitFresh = (server: Server, list: LearnedList, tools: readonly Tool[]): Promise<void> =>
    admit(server, list, tools, true);
  const admitKnown = async (server: Server, list: LearnedList, tools: readonly Tool[]): Promise<void> => {
    await admit(server, list, tools, false);
    // Another process may have pinned something else while this list was put on the shelf.
    const judgement = approvals.judge(server, presented(list), loaded.config.approval);
    const isStill = (tool: Tool): boolean => tool.status === 'disabled' || judgement.judge(tool).status === tool.status;
    if (!tools.every(isStill)) catalog.reconsider(server.id);
  };
  const requestAll = async (): Promise<void> => {
    const held = loaded.servers.filter((server) => server.enabled && catalog.hold(server.id));
    const made = await approvals.request(held, loaded.config.approval).catch((thrown: unknown) => {
      // They stay held; only nobody is told by the store that they wait.
      log.error('approvals.unsaved', { reason: hide(messageOf(thrown)) });
      return [];
    });
    announce(made);
  };
  const retainAllowed = (): void => pool.retain(loaded.servers.filter(({ id }) => !catalog.hold(id)));
  const reconsider = (ids: Iterable<string>): void => {
    const opened: Server[] = [];
    let isHeld = false;
    for (const id of ids) {
      if (catalog.reconsider(id)) opened.push(catalog.server(id));
      isHeld ||= catalog.hold(id) !== undefined;
    }
    if (isHeld) retainAllowed();
    learnInBackground(opened.filter((server) => isUsable(server)));
  };
  const unwatch = approvals.onChange((servers) => reconsider(servers));

  const open = async (): Promise<void> => {
    try {
      const { cache: caching } = loaded.config;
      await approvals.load();
      for (const id of catalog.servers.keys()) catalog.reconsider(id);
      await requestAll();
      const servers = [...catalog.servers.values()];
      const due = await fillCatalog(catalog, servers, { cache, caching, now: clock.now(), admit: admitKnown });
      if (deps.learnAtStart) learnInBackground(due);
      // Nobody waits for it: forgetting years of records must not delay the first search.
      audit
        .prune(loaded.config.limits.auditRetentionDays)
        .catch((thrown: unknown) => log.error('audit.unpruned', { error: hide(messageOf(thrown)) }));
    } catch (thrown) {
      log.error('store.unreadable', { error: hide(messageOf(thrown)) });
    }
  };
  let opening: Promise<void> | undefined;
  const filled = (): Promise<void> => (opening ??= open());
  // A host that has just started us asks for the menu first, and that needs no catalog.
  const soon = clock.after(OPEN_DELAY_MS, () => void filled());

  const relister = createRelister({
    clock,
    isLearning: learner.isLearning,
    relist(id) {
      const server = catalog.servers.get(id);
      if (server && isUsable(server)) learnInBackground([server]);
    },
  });

  pool.onEvent((event) => {
    if (event.type === 'notification' && event.method === 'notifications/tools/list_changed') {
      const server = catalog.servers.get(event.server);
      if (server) void cache.invalidate(server);
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
        delivered: false,
      });
    }
    const problem = problemOf(server, { catalog, learner, pool, hide });
    throw new ToolscoutError('SERVER_CONNECTION_ERROR', `Server "${id}" cannot be used: ${problem}.`, {
      delivered: false,
    });
  };

  return {
    deps,
    events,
    learner,
    approvals,
    marketplace: createMarketplace({ store: deps.store }),
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
    async known(id) {
      await filled();
      const server = catalog.server(id);
      if (server.enabled && !isUsable(server) && catalog.hold(id)) return usable(id);
      if (isUsable(server) && !catalog.list(id)) {
        await learner.learn(server).catch((thrown: unknown) => {
          const error = learner.failure(id);
          throw error
            ? new ToolscoutError(error.code, `The tools of "${id}" could not be learned: ${hide(error.message)}`, {
                cause: error,
              })
            : thrown;
        });
      }
      return server;
    },
    learnInBackground,
    relistSoon: (server) => relister.soon(server),
    async admitAll() {
      await requestAll();
      for (const server of loaded.servers) {
        const list = catalog.list(server.id);
        if (list) await admitKnown(server, list, catalog.index.tools(server.id));
      }
    },
    reconsider,
    retainAllowed,
    swap(next) {
      loaded = next.loaded;
      catalog = next.catalog;
    },
    stop() {
      closing = true;
      unwatch();
      approvals.close();
      soon.cancel();
      relister.close();
      learner.close();
    },
  };
}
