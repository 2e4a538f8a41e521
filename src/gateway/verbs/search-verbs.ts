import { forbidden, shownCheck } from '../../execute/index.js';
import { addressOf } from '../../kernel/ids.js';
import { leanDefinition } from '../../normalize/index.js';
import type { SearchOptions } from '../../model/hit.js';
import { isFallback, type Tool } from '../../model/tool.js';
import type { Viewer } from '../../model/viewer.js';
import { answerSearch } from './answer-search.js';
import { isStandIn, type LearnedList } from '../../catalog/catalog.js';
import type { AskOptions } from '../contract/options.js';
import type { Core } from '../core.js';
import { coverageOf } from '../../catalog/coverage.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import { callerOf, isHidden, requireServer } from '../viewer.js';
import { isUsable, viewServer, type ServerView, type Sources } from '../../catalog/views.js';
import { explainFor } from '../reports/why.js';

const isOffered = ({ status }: Tool): boolean => status === 'enabled';

const isSeen = (viewer: Viewer, { server, name }: Tool): boolean => !viewer.isLimited || viewer.sees(server, name);

/** A search by a skill: nothing of what is disabled, and not how many servers there are besides the bound ones. */
function skillSearch(asked: SearchOptions): SearchOptions {
  const onLearning = asked.server === undefined ? undefined : asked.onLearning;
  return { ...asked, includeDisabled: false, onLearning };
}

/**
 * The tool that a viewer wants to be shown; its server is learned first when it must be.
 *
 * @throws ToolscoutError when there is none for this viewer, or when it is not offered.
 */
export async function findShown(
  core: Core,
  viewer: Viewer,
  server: string,
  name: string,
  options?: AskOptions,
): Promise<Tool> {
  requireServer(viewer, server, core.catalog);
  await core.known(server, options, { standIn: true });
  if (viewer.skill && !viewer.sees(server, name)) throw forbidden(viewer.skill.id, addressOf(server, name));
  const tool = core.catalog.tool(server, name, viewer.sees);
  shownCheck({ tool });
  return tool;
}

/** The verbs that look at what is known and change nothing. */
export function lookingVerbs(
  core: Core,
): VerbTable<
  'coverage' | 'listServers' | 'searchTools' | 'listTools' | 'offeredTools' | 'definitionOf' | 'toolDetails' | 'why'
> {
  const { pool, clock } = core.deps;
  const sources = (): Sources => ({ catalog: core.catalog, learner: core.learner, pool, hide: core.hide });

  /** A server as a skill is shown it: of its tools those that serve, as far as they are known (CONN-2). */
  const countServing = (viewer: Viewer, view: ServerView): ServerView => {
    const serving = core.catalog.index.tools(view.id).filter((tool) => isOffered(tool) && isSeen(viewer, tool));
    return { ...view, tools: serving.length, disabledTools: 0 };
  };

  return defineVerbs({
    coverage(viewer) {
      return coverageOf([...core.catalog.servers.values()].filter(({ id }) => viewer.sees(id)));
    },

    async listServers(viewer) {
      await core.filled();
      return [...core.catalog.servers.values()]
        .filter(({ id }) => viewer.sees(id))
        .map((server) => viewServer(server, sources()))
        .map((view) => (viewer.skill ? countServing(viewer, view) : view))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },

    async searchTools(viewer, query, asked = {}) {
      if (asked.server !== undefined) requireServer(viewer, asked.server, core.catalog);
      await core.filled();
      const { catalog, learner } = core;
      const options = viewer.skill ? skillSearch(asked) : asked;
      const all = options.server === undefined ? [...catalog.servers.values()] : [catalog.server(options.server)];
      // A server may turn out to serve a skill when it is learned, so the search waits for those that are not bound too.
      const caller = callerOf(viewer);
      const servers = caller.isLimited ? all.filter(({ id }) => caller.sees(id)) : all;
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
      const { principal } = viewer;
      const answer = answerSearch(viewer, query, options, servers, sources(), await core.experience.of(principal));
      const shown = answer.hits.map((hit) => addressOf(hit.server, hit.tool));
      core.experience.noteSearch(principal, catalog.index.terms(query), shown);
      return answer;
    },

    async listTools(viewer, server, options = {}) {
      requireServer(viewer, server, core.catalog);
      await core.known(server, options, { standIn: true });
      const tools = core.catalog.index.tools(server);
      // What is disabled is none of a skill's business.
      const { includeDisabled, includeFallback } = viewer.skill ? {} : options;
      // What is pending or quarantined is shown to nobody but whoever decides about it (A11).
      const isShown = (tool: Tool): boolean =>
        isOffered(tool) ||
        (includeDisabled === true && tool.status === 'disabled') ||
        (includeFallback === true && isFallback(tool));
      return tools.filter((tool) => isShown(tool) && isSeen(viewer, tool));
    },

    async offeredTools(viewer) {
      await core.filled();
      const offered = core.catalog.index.tools().filter((tool) => isOffered(tool) && isSeen(viewer, tool));
      // By name within a server already; the sort keeps that.
      return offered.toSorted((a, b) => (a.server === b.server ? 0 : a.server < b.server ? -1 : 1));
    },

    definitionOf: (viewer, server, name) =>
      viewer.sees(server, name) ? core.catalog.index.tool(server, name)?.definition : undefined,

    async toolDetails(viewer, server, name, options = {}) {
      const tool = await findShown(core, viewer, server, name, options);
      return { tool, lean: leanDefinition(tool.definition) };
    },

    async why(viewer, server, tool) {
      await core.filled();
      return explainFor(viewer, server, tool, {
        ...sources(),
        now: clock.now(),
        isHidden: isHidden(viewer, server, core.catalog),
      });
    },
  });
}
