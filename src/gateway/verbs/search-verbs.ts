import { shownCheck } from '../../execute/index.js';
import { addressOf } from '../../kernel/ids.js';
import { leanDefinition } from '../../normalize/index.js';
import { isFallback, type Tool } from '../../model/tool.js';
import { answerSearch } from './answer-search.js';
import { isStandIn, type LearnedList } from '../../catalog/catalog.js';
import type { Core } from '../core.js';
import { coverageOf } from '../../catalog/coverage.js';
import type { Gateway } from '../contract.js';
import { isUsable, viewServer, type Sources } from '../../catalog/views.js';
import { explainTool } from '../reports/why.js';

/** The verbs that look at what is known and change nothing. */
export function lookingVerbs(
  core: Core,
): Pick<
  Gateway,
  'coverage' | 'listServers' | 'searchTools' | 'listTools' | 'offeredTools' | 'definitionOf' | 'toolDetails' | 'why'
> {
  const { pool, clock } = core.deps;
  const sources = (): Sources => ({ catalog: core.catalog, learner: core.learner, pool, hide: core.hide });

  return {
    coverage(only) {
      const servers = [...core.catalog.servers.values()];
      return coverageOf(only ? servers.filter(({ id }) => only.has(id)) : servers);
    },

    async listServers() {
      await core.filled();
      return [...core.catalog.servers.values()]
        .map((server) => viewServer(server, sources()))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },

    async searchTools(query, options = {}) {
      await core.filled();
      const { catalog, learner } = core;
      const { servers: only } = options;
      const all = options.server === undefined ? [...catalog.servers.values()] : [catalog.server(options.server)];
      const servers = only ? all.filter(({ id }) => only.includes(id)) : all;
      const isUnlearned = (list: LearnedList | undefined): boolean => list === undefined || isStandIn(list);
      const unlearned = servers.filter((server) => isUsable(server) && isUnlearned(catalog.list(server.id)));
      // A server that failed is tried again in the background after a rest. A search waits for it only when it failed in another
      // process and this one tries it anew.
      const awaited = unlearned.filter(
        ({ id }) =>
          !learner.failure(id) || (!learner.hasFailedHere(id) && (learner.isDue(id) || learner.isLearning(id))),
      );
      core.learnInBackground(unlearned.filter((server) => learner.isDue(server.id)));
      await core.freshen(servers, options.onLearning);
      core.refreshInBackground(servers);
      await learner.settle(
        awaited.map((server) => server.id),
        core.loaded.config.limits.searchWaitMs,
        options.onLearning,
      );
      const { principal = 'local' } = options;
      const answer = answerSearch(query, options, servers, sources(), await core.experience.of(principal));
      const shown = answer.hits.map((hit) => addressOf(hit.server, hit.tool));
      core.experience.noteSearch(principal, catalog.index.terms(query), shown);
      return answer;
    },

    async listTools(server, options = {}) {
      await core.known(server, options, { standIn: true });
      const tools = core.catalog.index.tools(server);
      // What is pending or quarantined is shown to nobody but whoever decides about it (A11).
      const isShown = (tool: Tool): boolean =>
        tool.status === 'enabled' ||
        (options.includeDisabled === true && tool.status === 'disabled') ||
        (options.includeFallback === true && isFallback(tool));
      return tools.filter(isShown);
    },

    async offeredTools() {
      await core.filled();
      const offered = core.catalog.index.tools().filter((tool) => tool.status === 'enabled');
      // By name within a server already; the sort keeps that.
      return offered.toSorted((a, b) => (a.server === b.server ? 0 : a.server < b.server ? -1 : 1));
    },

    definitionOf: (server, name) => core.catalog.index.tool(server, name)?.definition,

    async toolDetails(server, name, options = {}) {
      const { servers } = options;
      await core.known(server, options, { standIn: true });
      const tool = core.catalog.tool(server, name, (id) => servers?.has(id) ?? true);
      shownCheck({ tool });
      return { tool, lean: leanDefinition(tool.definition) };
    },

    async why(server, tool) {
      await core.filled();
      return explainTool(server, tool, { ...sources(), now: clock.now() });
    },
  };
}
