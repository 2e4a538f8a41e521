import { OWN_SERVER } from '../../answers/index.js';
import { forbidden, shownCheck } from '../../execute/index.js';
import type { Audit } from '../../audit/index.js';
import { addressOf } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import { sampleTokens } from '../../kernel/token-sample.js';
import { leanDefinition } from '../../normalize/index.js';
import type { Hit, SearchAnswer, SearchOptions } from '../../model/hit.js';
import type { Tool } from '../../model/tool.js';
import type { Viewer } from '../../model/viewer.js';
import { answerSearch } from './answer-search.js';
import { createDoubts } from '../../catalog/doubts.js';
import { isStandIn, type LearnedList } from '../../catalog/catalog.js';
import type { AskOptions } from '../contract/options.js';
import type { Core } from '../core.js';
import { OWN_WORDS } from '../own-server.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import { callerOf, isHidden, requireServer } from '../viewer.js';
import type { Sources } from '../../catalog/views.js';
import { isUsable } from '../../catalog/catalog.js';
import { createEncoding } from '../../catalog/encoding.js';
import { explainFor } from '../reports/why.js';

/** A search by a skill: nothing of what is disabled, and not how many servers there are besides the bound ones. */
function skillSearch(asked: SearchOptions): SearchOptions {
  const onLearning = asked.server === undefined ? undefined : asked.onLearning;
  return { ...asked, includeDisabled: false, onLearning };
}

/**
 * The tool that a viewer asks for; its server is learned first if needed.
 *
 * @throws ToolscoutError when there is no such tool for this viewer, or when it is not offered.
 */
export async function findShown(
  core: Core,
  viewer: Viewer,
  server: string,
  name: string,
  options?: AskOptions,
): Promise<Tool> {
  if (server === OWN_SERVER) {
    const tool = core.own.tool(name);
    shownCheck({ tool });
    return tool;
  }
  requireServer(viewer, server, core.catalog);
  await core.known(server, options, { standIn: true });
  if (viewer.skill && !viewer.sees(server, name)) throw forbidden(viewer.skill.id, addressOf(server, name));
  const tool = core.catalog.tool(server, name, viewer.sees);
  shownCheck({ tool });
  return tool;
}

/** Of a hit what an agent is shown. */
function shownHit({ server, tool, summary, relevance, tags, need, signature }: Hit): JsonObject {
  return { server, tool, summary, relevance: Math.round(relevance * 100) / 100, tags: [...tags], need, signature };
}

/** One record for a search and what its answer cost (ANS-7). The words of the query are not in it: they are stored nowhere (A33). */
function recordSearch(
  audit: Audit,
  { principal, skill }: Viewer,
  query: string,
  { server, route, traceId }: SearchOptions,
  { hits, nearest }: SearchAnswer,
  latencyMs: number,
): void {
  audit.record({
    kind: 'search',
    principal,
    route,
    skill: skill?.id,
    server,
    outcome: 'success',
    latencyMs: Math.round(latencyMs * 1000) / 1000,
    traceId,
    detail: { hits: hits.length },
    countTokens: () => ({
      arguments: sampleTokens(query),
      returned: sampleTokens([...hits.map(shownHit), ...nearest]),
      withheld: 0,
    }),
  });
}

/** The verbs at the top that look at what is known and change nothing. */
export function searchVerbs(core: Core): VerbTable<'search' | 'details' | 'why'> {
  const { pool, clock, log, store } = core.deps;
  const encoding = createEncoding({
    store,
    log,
    encoder: () => core.loaded.config.search.encoder,
    load: core.deps.loadEncoder,
  });
  const doubts = createDoubts();
  const sources = (): Sources => ({
    catalog: core.catalog,
    learner: core.learner,
    pool,
    hide: core.hide,
    isStale: core.isStale,
  });

  return defineVerbs({
    async search(viewer, query, asked = {}) {
      const started = clock.monotonic();
      if (asked.server === OWN_SERVER) {
        return { hits: await core.own.hits(viewer, asked.server), nearest: [], learning: [], unavailable: [] };
      }
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
      // A server that failed is tried again in the background after a pause. A search waits for it only when it failed
      // in another process and this one tries it for the first time.
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
      const encoded = encoding.of(query, () => core.catalog.index.tools());
      const experience = await core.experience.of(principal);
      const answer = answerSearch(viewer, query, options, servers, sources(), { experience, encoded, doubts });
      // Where a query holds several needs, each hit is noted for its own need only.
      for (const need of asked.isPreview ? [] : new Set(answer.hits.map((hit) => hit.need))) {
        const shown = answer.hits.filter((hit) => hit.need === need).map((hit) => addressOf(hit.server, hit.tool));
        core.experience.noteSearch(principal, catalog.index.terms(need ?? query), shown);
      }
      const ownHits = asked.server === undefined && OWN_WORDS.test(query) ? await core.own.hits(viewer, query) : [];
      const whole =
        ownHits.length === 0
          ? answer
          : {
              ...answer,
              hits: [...ownHits, ...answer.hits].slice(0, options.limit ?? answer.hits.length + ownHits.length),
              nearest: [],
            };
      if (!asked.isPreview) recordSearch(core.deps.audit, viewer, query, asked, whole, clock.monotonic() - started);
      return whole;
    },

    async details(viewer, server, name, options = {}) {
      const tool = await findShown(core, viewer, server, name, options);
      return { tool, lean: leanDefinition(tool.definition, { effects: core.loaded.config.splitReads }) };
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
