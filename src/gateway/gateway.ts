import type { Audit } from '../audit/index.js';
import type { LoadedConfig } from '../config/index.js';
import { isTransient, withRetry, type Limiter, type Pool } from '../connect/index.js';
import { listPrompts, listResources, listResourceTemplates, type ToolCache } from '../discover/index.js';
import { createArgumentValidator, createExecutor, approvalCheck, ruleCheck } from '../execute/index.js';
import type { Clock } from '../kernel/clock.js';
import { createEmitter } from '../kernel/emitter.js';
import { hideIn, messageOf, ToolscoutError, toToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { SecretMask } from '../kernel/secrets.js';
import type { Call } from '../model/call.js';
import type { Server } from '../model/server.js';
import type { Store } from '../model/store.js';
import type { Upstream } from '../model/upstream.js';
import { leanDefinition } from '../normalize/index.js';
import { answerSearch } from './answer-search.js';
import type { VectorSource } from '../search/index.js';
import { createCatalog, type Catalog } from './catalog.js';
import { examine } from './doctor.js';
import { evaluate } from './evaluation.js';
import { fillCatalog } from './fill.js';
import { createLearner } from './learner.js';
import { learn } from './pipeline.js';
import { createRelister } from './relister.js';
import { rebuild, type ReloadReport } from './reload.js';
import type { CallOptions, Gateway, GatewayEvent } from './verbs.js';
import { coverageOf, isUsable, problemOf, viewServer } from './views.js';
import { explainTool } from './why.js';

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
  /** Word vectors for the ranking; without them it goes by words alone. */
  readonly vectors?: VectorSource;
  /** Whether servers never seen before are learned as soon as the gateway starts (CONN-2). */
  readonly learnAtStart: boolean;
}

type Question<T> = (upstream: Upstream, options: { readonly timeoutMs: number }) => Promise<T>;

/** The catalog is read from the store when it is first needed, and at the latest after this. */
const OPEN_DELAY_MS = 100;

/** Opens the gateway: what the store knows is served at once, the rest is learned in the background. */
export function createGateway(deps: GatewayDeps): Gateway {
  const { clock, log, pool, limiter, cache, audit, mask } = deps;
  const events = createEmitter<GatewayEvent>((thrown) => log.error('event.listener', { error: messageOf(thrown) }));
  const hide = (text: string): string => mask.hide(text);
  mask.add(deps.loaded.secrets);

  let loaded = deps.loaded;
  let catalog: Catalog = createCatalog(loaded.config, loaded.servers, deps.vectors);
  let closing = false;

  const learner = createLearner({
    clock,
    run: async (server, signal) => {
      try {
        usable(server.id);
        const learned = await learn(
          server,
          { clock, limiter, pool, cache, audit, random: deps.random, catalog: () => catalog },
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

  const open = async (): Promise<void> => {
    try {
      const { cache: caching } = loaded.config;
      const due = await fillCatalog(catalog, loaded.servers, { cache, caching, now: clock.now() });
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

  /** The server of that id when it may be connected to; otherwise the reason why not. */
  const usable = (id: string): Server => {
    const server = catalog.server(id);
    const problem = isUsable(server) ? undefined : problemOf(server, { catalog, learner, pool, hide });
    if (problem === undefined) return server;
    throw new ToolscoutError('SERVER_CONNECTION_ERROR', `Server "${id}" cannot be used: ${problem}.`, {
      delivered: false,
    });
  };

  /** Asks a server something that is not kept. */
  const ask = async <T>(id: string, question: Question<T>): Promise<T> => {
    const server = usable(id);
    await limiter.wait(server);
    return pool
      .use(server, (upstream) => question(upstream, { timeoutMs: server.timeoutMs }))
      .catch((thrown: unknown) => {
        throw hideIn(toToolscoutError(thrown), hide);
      });
  };

  /** Makes sure that a server's list is known before a verb that needs exactly that server. */
  const known = async (id: string): Promise<Server> => {
    await filled();
    const server = catalog.server(id);
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
  };

  const executor = createExecutor({
    clock,
    hide,
    resolve: (call) => {
      const server = usable(call.server);
      return { server, tool: catalog.tool(call.server, call.tool) };
    },
    checks: [ruleCheck, approvalCheck],
    validate: createArgumentValidator({
      onUnchecked: (tool, reason) => log.warn('execute.unchecked', { server: tool.server, tool: tool.name, reason }),
    }),
    limit: (server) => limiter.take(server),
    run: (server, task, signal) => pool.use(server, task, signal),
    retry: (task, server, options) => withRetry(task, server.retry, { clock, random: deps.random, ...options }),
    isTransient,
    record: (entry) => audit.record(entry),
  });

  const callOf = (server: string, tool: string, args: JsonObject, options: CallOptions): Call => ({
    principal: 'local',
    route: 'library',
    ...options,
    server,
    tool,
    arguments: args,
  });

  /** Learns the server first when it must be; a failure to learn is the answer of the call. */
  const prepared = async (call: Call): Promise<void> => {
    if (catalog.list(call.server)) return;
    await filled();
    if (catalog.list(call.server)) return;
    const server = catalog.servers.get(call.server);
    if (server && isUsable(server)) await known(call.server);
  };

  const reloadOnce = async (): Promise<ReloadReport> => {
    if (closing) throw new ToolscoutError('SHUTTING_DOWN', 'The config is not read again: toolscout is stopping.');
    await filled();
    try {
      const next = await rebuild({ loaded, catalog, load: deps.loadConfig, cache, vectors: deps.vectors });
      mask.add(next.loaded.secrets);
      for (const id of next.forgotten) learner.forget(id);
      loaded = next.loaded;
      catalog = next.catalog;
      pool.retain(loaded.servers);
      learnInBackground(next.due);
      // The new state is in force by now; a record that cannot be kept does not undo that.
      await audit
        .recordNow({ kind: 'reload', principal: 'local', outcome: 'success', detail: { ...next.report } })
        .catch((thrown: unknown) => log.error('audit.unrecorded', { error: hide(messageOf(thrown)) }));
      events.emit({ type: 'reloaded', report: next.report });
      return next.report;
    } catch (thrown) {
      const reason = hide(messageOf(thrown));
      log.error('config.reload-failed', { reason });
      events.emit({ type: 'reload-failed', reason });
      throw thrown;
    }
  };
  let reloading: Promise<unknown> = Promise.resolve();

  const shutDown = async (drainMs: number): Promise<void> => {
    closing = true;
    soon.cancel();
    relister.close();
    learner.close();
    await pool.close({ drainMs });
    cache.close();
    await audit.close();
    await deps.store.close();
  };
  let closed: Promise<void> | undefined;

  const gateway: Gateway = {
    ready: filled,
    coverage: () => coverageOf(catalog.servers.values()),

    async listServers() {
      await filled();
      const sources = { catalog, learner, pool, hide };
      return [...catalog.servers.values()]
        .map((server) => viewServer(server, sources))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },

    async searchTools(query, options = {}) {
      await filled();
      const servers = options.server === undefined ? [...catalog.servers.values()] : [catalog.server(options.server)];
      const unlearned = servers.filter((server) => isUsable(server) && !catalog.list(server.id));
      learnInBackground(unlearned.filter((server) => learner.isDue(server.id)));
      // Who failed before is tried again in the background, but nobody waits for that.
      const awaited = unlearned.filter((server) => !learner.failure(server.id));
      await learner.settle(
        awaited.map((server) => server.id),
        loaded.config.limits.searchWaitMs,
      );

      return answerSearch(query, options, servers, { catalog, learner, pool, hide });
    },

    async listTools(server, options = {}) {
      await known(server);
      const tools = catalog.index.tools(server);
      return options.includeDisabled ? tools : tools.filter((tool) => tool.status === 'enabled');
    },

    async toolDetails(server, name) {
      await known(server);
      const tool = catalog.tool(server, name);
      ruleCheck({ tool });
      approvalCheck({ tool });
      return { tool, lean: leanDefinition(tool.definition) };
    },

    async executeTool(server, tool, args, options = {}) {
      const call = callOf(server, tool, args, options);
      const outcome = await executor.execute(call, () => prepared(call));
      // The connection is open now, so a list that is out of date costs one cheap question.
      if (catalog.list(server)?.stale) relister.soon(server);
      return outcome;
    },

    executeStream(server, tool, args, options = {}) {
      const call = callOf(server, tool, args, options);
      return executor.executeStream(call, () => prepared(call));
    },

    async why(server, tool) {
      await filled();
      return explainTool(server, tool, { catalog, learner, pool, hide, now: clock.now() });
    },

    async discover(ids, options = {}) {
      await filled();
      const chosen = ids ? ids.map((id) => catalog.server(id)) : [...catalog.servers.values()].filter(isUsable);
      const servers = options.onlyUnknown ? chosen.filter((server) => !catalog.list(server.id)) : chosen;
      return learner.learnAll(servers, {
        parallel: loaded.config.maxParallelDiscoveries,
        onProgress: options.onProgress,
      });
    },

    async discoverTools(id, options = {}) {
      await filled();
      const server = usable(id);
      if (!options.useCache || !catalog.list(id)) await learner.learn(server);
      return catalog.index.tools(id);
    },

    discoverResources: (id) =>
      ask(id, async (upstream, options) => {
        const resources = await listResources(upstream, options);
        const templates = await listResourceTemplates(upstream, options);
        return { resources: resources.items, templates: templates.items };
      }),

    discoverPrompts: (id) => ask(id, async (upstream, options) => (await listPrompts(upstream, options)).items),

    async settle(patienceMs) {
      await filled();
      await learner.settle([...catalog.servers.keys()], patienceMs);
    },

    reload() {
      // One after the other, so that the last one asked for is the one that holds.
      const done = reloading.then(reloadOnce);
      reloading = done.then(
        () => undefined,
        () => undefined,
      );
      return done;
    },

    async clearCache(server) {
      await filled();
      if (server !== undefined) catalog.server(server);
      const cleared = await cache.clear(server);
      await audit.recordNow({
        kind: 'cache-clear',
        principal: 'local',
        server,
        outcome: 'success',
        detail: { cleared },
      });
      return cleared;
    },

    cacheStats: () => cache.stats(),
    audit: (filter = {}) => audit.query(filter),
    followAudit: (filter, onRecord) => audit.follow(filter, onRecord),

    async doctor() {
      await filled();
      return examine({ loaded, catalog, learner, pool, store: deps.store, hide, clock });
    },

    async evaluate(queries, { tools } = {}) {
      await filled();
      return evaluate(queries, tools, {
        index: catalog.index,
        loaded,
        store: deps.store,
        clock,
        vectors: deps.vectors,
      });
    },

    config: () => loaded,
    onEvent: (listener) => events.on(listener),

    close(options = {}) {
      closed ??= shutDown(options.drainMs ?? 5000);
      return closed;
    },
  };
  return gateway;
}
