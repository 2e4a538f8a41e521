import { seenItem, type ItemKind } from '../../../approvals/index.js';
import { discoverAll, listPrompts, listResources, listResourceTemplates } from '../../../discover/index.js';
import { hideIn, ToolscoutError, toToolscoutError } from '../../../kernel/errors.js';
import type { Server } from '../../../model/server.js';
import type { Tool } from '../../../model/tool.js';
import type { Upstream } from '../../../model/upstream.js';
import type { Viewer } from '../../../model/viewer.js';
import type { Core } from '../../core.js';
import { requireOpenSession } from '../../deps.js';
import { idOfTarget, type DiscoveryOptions, type DiscoveryTarget } from '../../contract/discovery-options.js';
import type { Exporting } from '../export-verbs.js';
import { inferAll, type OutputInference } from '../../../catalog/learning/inference.js';
import type { DiscoveryOutcome } from '../../../catalog/learning/learner.js';
import type { MarketplaceKeeper } from '../marketplace.js';
import type { LearnTerms } from '../../../catalog/learning/pipeline.js';
import { discoverRaw } from '../../reports/raw-report.js';
import { judgeSeparately, listSeparately, withAuthHeaders, type SeparateServer } from './separate-discovery.js';
import { defineVerbs, type VerbTable } from '../define-verbs.js';
import { requireServer } from '../../viewer.js';
import { isUsable } from '../../../catalog/catalog.js';

type Listed = Awaited<ReturnType<typeof listPrompts>>;
type ListOptions = NonNullable<Parameters<typeof listPrompts>[1]>;
type Question<T> = (upstream: Upstream, options: ListOptions, trustedAs: Server) => Promise<T>;

/** What a target means: a server of the configuration as it is, or one that is asked beside it. */
type Resolved = { readonly server: Server; readonly separate?: SeparateServer };

/** The verbs that ask servers what they have. */
export function discoveryVerbs(
  core: Core,
  {
    outputs,
    exporting,
    marketplace,
  }: {
    readonly outputs: OutputInference;
    readonly exporting: Pick<Exporting, 'write'>;
    readonly marketplace: Pick<MarketplaceKeeper, 'registerTools'>;
  },
): VerbTable<
  | 'servers.discover'
  | 'servers.discoverTools'
  | 'servers.discoverResources'
  | 'servers.discoverPrompts'
  | 'servers.discoverRaw'
> {
  const { clock, log, mask, pool } = core.deps;

  const termsOf = ({ retryPolicy, rateLimit }: DiscoveryOptions): LearnTerms => ({
    ...(retryPolicy && { retry: retryPolicy }),
    ...(rateLimit !== undefined && { rateLimit }),
  });

  /** The configured server that a description means, when it is launched in the same way. */
  const configuredAs = (server: Server): Server | undefined => {
    const known = core.catalog.servers.get(server.id);
    return known?.shown.type === server.shown.type && known.shown.target === server.shown.target ? known : undefined;
  };

  /** The server of a target, with the headers of the call; refused when it may not be used. */
  const resolve = (target: DiscoveryTarget, { authHeaders }: DiscoveryOptions): Resolved => {
    mask.add(Object.values(authHeaders ?? {}));
    if (typeof target === 'string') {
      const own = core.usable(target);
      const server = withAuthHeaders(own, authHeaders);
      return server === own ? { server } : { server: own, separate: { server, trustedAs: own } };
    }
    const { makeServer } = core.deps.proposing ?? {};
    if (!makeServer)
      throw new ToolscoutError('FORBIDDEN', 'This gateway discovers configured servers only.', {
        remedy: { kind: 'configure', what: 'Add the server to the config.' },
      });
    const { id: _id, name: _name, ...entry } = target as { id?: string; name?: string };
    const described = makeServer(idOfTarget(target), entry);
    if (described.problem !== undefined) {
      throw new ToolscoutError('INVALID_REQUEST', `The server "${described.id}" cannot be used: ${described.problem}.`);
    }
    const known = configuredAs(described);
    const hasOwnHeaders = described.transport.type !== 'stdio' && Object.keys(described.transport.headers).length > 0;
    if (known && !hasOwnHeaders && described.transport.type !== 'stdio') return resolve(known.id, { authHeaders });
    const server = withAuthHeaders(described, authHeaders);
    return { server, separate: { server } };
  };

  /** Asks a server something that is not kept. */
  const ask = async <T>(target: DiscoveryTarget, options: DiscoveryOptions, question: Question<T>): Promise<T> => {
    await core.filled();
    const { server: own, separate } = resolve(target, options);
    const server = separate?.server ?? own;
    const open = separate && requireOpenSession(core.deps);
    const { retry, rateLimit } = termsOf(options);
    const access = pool.access(server, { retry, rateLimit, open });
    const asked = { timeoutMs: server.timeoutMs, pace: access.pace };
    const once = (): Promise<T> =>
      access.use((upstream) => question(upstream, asked, separate?.trustedAs ?? server), { brief: true });
    return access.again(once).catch((thrown: unknown) => {
      throw hideIn(toToolscoutError(thrown), core.hide);
    });
  };

  /** The entries of a list that are not held; missing ones are reported as for tools. */
  const kept = (server: Server, kind: ItemKind, method: string, { items, bad, truncated }: Listed): Listed['items'] => {
    for (const each of bad) log.warn('discover.dropped', { server: server.id, method, ...each });
    if (truncated !== undefined) log.info('discover.partial', { server: server.id, method, reason: truncated });
    const { approval } = core.loaded.config;
    const { judge } = core.approvals.judge(server, { isUnknown: true }, approval);
    return items.filter((each) => judge(seenItem(kind, each)).status === 'enabled');
  };

  /** Whether what is known of a server stands for asking it. */
  const isGoodEnough = (id: string, useCache: DiscoveryOptions['useCache']): boolean => {
    const list = core.catalog.list(id);
    if (!useCache || !list) return false;
    return useCache === 'stale' || (core.loaded.config.cache.enabled && !core.isStale(list));
  };

  /** What else the options require for the tools of one server. */
  const finish = async (server: Server, tools: readonly Tool[], options: DiscoveryOptions): Promise<Tool[]> => {
    const { config } = core.loaded;
    const introspect = options.introspectOutputSchemas ?? config.introspectOutputSchemas;
    const isLazy = options.lazyOutputSchemas ?? config.lazyOutputSchemas;
    const described = await inferAll(tools, outputs, introspect && !isLazy);
    if (options.registerInMarketplace) await marketplace.registerTools(server, described, introspect);
    // A list that was just learned is exported anyway when the configuration says so.
    if (options.exportToRtfs) {
      await exporting.write(server, described, { directory: options.exportDirectory, introspect });
    }
    return described;
  };

  const discoverSeparately = async (
    separate: SeparateServer,
    options: DiscoveryOptions,
  ): Promise<{ tools: Tool[]; dropped: number }> => {
    const list = await listSeparately(core, separate.server, options);
    return { tools: await judgeSeparately(core, separate, list), dropped: list.dropped };
  };

  /** Asks servers beside the catalog, at most so many at once. */
  const discoverApart = async (
    targets: readonly DiscoveryTarget[],
    options: DiscoveryOptions,
    parallel: number,
  ): Promise<DiscoveryOutcome[]> => {
    const named = targets.map((target) => ({ id: idOfTarget(target), target }));
    const found = await discoverAll(
      named,
      async ({ target }) => {
        const { separate } = resolve(target, options);
        return discoverSeparately(separate!, options);
      },
      { clock, parallel, lendSlots: options.lendSlots ?? core.loaded.config.lendSlots === true },
    );
    return found.map((one) =>
      one.ok ? { server: one.server, ok: true, tools: one.value.tools.length, dropped: [] } : one,
    );
  };

  /** A viewer that sees only some servers may not describe another one. */
  const requireTarget = (viewer: Viewer, target: DiscoveryTarget): void => {
    if (typeof target === 'string') requireServer(viewer, target, core.catalog);
    else if (viewer.isLimited) {
      throw new ToolscoutError('FORBIDDEN', 'This caller may discover configured servers only.', {
        suggestion: 'Name the server by its id.',
      });
    }
  };

  return defineVerbs({
    async 'servers.discover'(_viewer, targets, options = {}) {
      await core.filled();
      const { catalog, learner } = core;
      const { config } = core.loaded;
      const parallel = options.maxParallelDiscoveries ?? config.maxParallelDiscoveries;
      const use = options.onlyUnknown ? 'stale' : options.useCache;
      const isOwn = (target: DiscoveryTarget): target is string => typeof target === 'string';
      // A server that cannot be used at all is answered for by the learner.
      const isApart = (target: DiscoveryTarget): boolean => {
        if (!isOwn(target)) return true;
        const server = catalog.server(target);
        return isUsable(server) && withAuthHeaders(server, options.authHeaders) !== server;
      };
      const apart = (targets ?? []).filter(isApart);
      const own = (targets ?? [])
        .filter((target) => !isApart(target))
        .map((target) => catalog.server(idOfTarget(target)));
      const usable = [...catalog.servers.values()].filter(isUsable);
      const chosen = targets ? own : usable.filter(({ id }) => !isApart(id));
      const servers = chosen.filter(({ id }) => !isGoodEnough(id, use));
      const learned = await learner.learnAll(servers, {
        parallel,
        lendSlots: options.lendSlots ?? config.lendSlots === true,
        terms: termsOf(options),
        onProgress: options.onProgress,
      });
      const separate = targets ? apart : usable.map(({ id }) => id).filter(isApart);
      return [...learned, ...(await discoverApart(separate, { ...options, useCache: use }, parallel))];
    },

    async 'servers.discoverTools'(viewer, target, options = {}) {
      requireTarget(viewer, target);
      await core.filled();
      const { server, separate } = resolve(target, options);
      if (separate) {
        const { tools } = await discoverSeparately(separate, options);
        return finish(separate.trustedAs ?? server, tools, options);
      }
      if (!isGoodEnough(server.id, options.useCache)) await core.learner.learn(server, termsOf(options));
      return finish(server, core.catalog.index.tools(server.id), options);
    },

    async 'servers.discoverResources'(viewer, target, options = {}) {
      requireTarget(viewer, target);
      return ask(target, options, async (upstream, asked, server) => {
        const resources = kept(server, 'resources', 'resources/list', await listResources(upstream, asked));
        const found = await listResourceTemplates(upstream, asked);
        return { resources, templates: kept(server, 'templates', 'resources/templates/list', found) };
      });
    },

    async 'servers.discoverPrompts'(viewer, target, options = {}) {
      requireTarget(viewer, target);
      return ask(target, options, async (upstream, asked, server) =>
        kept(server, 'prompts', 'prompts/list', await listPrompts(upstream, asked)),
      );
    },

    async 'servers.discoverRaw'(_viewer, id) {
      await core.filled();
      return discoverRaw(core, id);
    },
  });
}
