import { seenItem, type ItemKind } from '../approvals/index.js';
import { withRetry } from '../connect/index.js';
import { listPrompts, listResources, listResourceTemplates } from '../discover/index.js';
import { hideIn, toToolscoutError } from '../kernel/errors.js';
import type { Upstream } from '../model/upstream.js';
import type { Core } from './core.js';
import { isWorthRetrying } from './pipeline.js';
import { talkRaw } from './raw-report.js';
import type { Gateway } from './verbs.js';
import { isUsable } from './views.js';

type Listed = Awaited<ReturnType<typeof listPrompts>>;
type Question<T> = (upstream: Upstream, options: { readonly timeoutMs: number }) => Promise<T>;

/** The verbs that ask servers what they have. */
export function discoveryVerbs(
  core: Core,
): Pick<
  Gateway,
  | 'discover'
  | 'discoverTools'
  | 'discoverResources'
  | 'discoverPrompts'
  | 'discoverRaw'
  | 'connect'
  | 'disconnect'
  | 'settle'
> {
  const { clock, limiter, log, pool, random } = core.deps;

  /** Asks a server something that is not kept. */
  const ask = async <T>(id: string, question: Question<T>): Promise<T> => {
    const server = core.usable(id);
    const once = async (): Promise<T> => {
      await limiter.wait(server);
      const options = { timeoutMs: server.timeoutMs };
      return pool.use(server, (upstream) => question(upstream, options), undefined, { brief: true });
    };
    return withRetry(once, server.retry, { clock, random, mayRetry: isWorthRetrying }).catch((thrown: unknown) => {
      throw hideIn(toToolscoutError(thrown), core.hide);
    });
  };

  /** The entries of a list that are not held; what is missing of it is told as it is for tools. */
  const kept = (server: string, kind: ItemKind, method: string, { items, bad, truncated }: Listed): Listed['items'] => {
    for (const each of bad) log.warn('discover.dropped', { server, method, ...each });
    if (truncated !== undefined) log.info('discover.partial', { server, method, reason: truncated });
    const { approval } = core.loaded.config;
    const { judge } = core.approvals.judge(core.usable(server), { isUnknown: true }, approval);
    return items.filter((each) => judge(seenItem(kind, each)).status === 'enabled');
  };

  /** Whether what is known of a server stands for asking it. */
  const isGoodEnough = (id: string, useCache: boolean | 'stale' | undefined): boolean => {
    const list = core.catalog.list(id);
    if (!useCache || !list) return false;
    return useCache === 'stale' || (core.loaded.config.cache.enabled && !list.stale);
  };

  return {
    async discover(ids, options = {}) {
      await core.filled();
      const { catalog, learner } = core;
      const chosen = ids ? ids.map((id) => catalog.server(id)) : [...catalog.servers.values()].filter(isUsable);
      const use = options.onlyUnknown ? 'stale' : options.useCache;
      const servers = chosen.filter(({ id }) => !isGoodEnough(id, use));
      return learner.learnAll(servers, {
        parallel: core.loaded.config.maxParallelDiscoveries,
        onProgress: options.onProgress,
      });
    },

    async discoverTools(id, options = {}) {
      await core.filled();
      const server = core.usable(id);
      if (!isGoodEnough(id, options.useCache)) await core.learner.learn(server);
      return core.catalog.index.tools(id);
    },

    discoverResources: (id) =>
      ask(id, async (upstream, options) => {
        const resources = kept(id, 'resources', 'resources/list', await listResources(upstream, options));
        const found = await listResourceTemplates(upstream, options);
        return { resources, templates: kept(id, 'templates', 'resources/templates/list', found) };
      }),

    discoverPrompts: (id) =>
      ask(id, async (upstream, options) => kept(id, 'prompts', 'prompts/list', await listPrompts(upstream, options))),

    async discoverRaw(id) {
      await core.filled();
      return talkRaw(core, id);
    },

    async connect(id) {
      await core.filled();
      const server = core.usable(id);
      await limiter.wait(server);
      await pool
        .use(server, () => Promise.resolve())
        .catch((thrown: unknown) => {
          throw hideIn(toToolscoutError(thrown, 'SERVER_CONNECTION_ERROR'), core.hide);
        });
    },

    async disconnect(id) {
      await core.filled();
      pool.disconnect(core.catalog.server(id).id);
    },

    async settle(patienceMs) {
      await core.filled();
      await core.learner.settle([...core.catalog.servers.keys()], patienceMs);
    },
  };
}
