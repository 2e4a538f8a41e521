import { listPrompts, listResources, listResourceTemplates } from '../discover/index.js';
import { hideIn, toToolscoutError } from '../kernel/errors.js';
import type { Upstream } from '../model/upstream.js';
import type { Core } from './core.js';
import { talkRaw } from './raw-report.js';
import type { Gateway } from './verbs.js';
import { isUsable } from './views.js';

type Question<T> = (upstream: Upstream, options: { readonly timeoutMs: number }) => Promise<T>;

/** The verbs that ask servers what they have. */
export function discoveryVerbs(
  core: Core,
): Pick<Gateway, 'discover' | 'discoverTools' | 'discoverResources' | 'discoverPrompts' | 'discoverRaw' | 'settle'> {
  const { limiter, pool } = core.deps;

  /** Asks a server something that is not kept. */
  const ask = async <T>(id: string, question: Question<T>): Promise<T> => {
    const server = core.usable(id);
    await limiter.wait(server);
    return pool
      .use(server, (upstream) => question(upstream, { timeoutMs: server.timeoutMs }), undefined, { brief: true })
      .catch((thrown: unknown) => {
        throw hideIn(toToolscoutError(thrown), core.hide);
      });
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
        const resources = await listResources(upstream, options);
        const templates = await listResourceTemplates(upstream, options);
        return { resources: resources.items, templates: templates.items };
      }),

    discoverPrompts: (id) => ask(id, async (upstream, options) => (await listPrompts(upstream, options)).items),

    async discoverRaw(id) {
      await core.filled();
      return talkRaw(core, id);
    },

    async settle(patienceMs) {
      await core.filled();
      await core.learner.settle([...core.catalog.servers.keys()], patienceMs);
    },
  };
}
