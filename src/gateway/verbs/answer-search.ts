import type { Audit } from '../../audit/index.js';
import { OWN_SERVER } from '../../answers/index.js';
import { findFindings } from '../../approvals/index.js';
import { isStandIn, isUsable, isWorthRefreshing, type LearnedList } from '../../catalog/catalog.js';
import { createEncoding } from '../../catalog/encoding.js';
import { problemOf } from '../../catalog/views.js';
import { addressOf } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import { sampleTokens } from '../../kernel/token-sample.js';
import { estimateTokens } from '../../kernel/tokens.js';
import type { Hit, SearchAnswer, SearchOptions } from '../../model/hit.js';
import { showConfirm } from '../../model/pending-call.js';
import type { Server } from '../../model/server.js';
import type { Tool } from '../../model/tool.js';
import type { Viewer } from '../../model/viewer.js';
import { signatureOf } from '../../normalize/index.js';
import type { Encoded, Experience } from '../../search/index.js';
import type { Core } from '../core.js';
import { OWN_WORDS } from '../own-server.js';
import { callerOf, requireServer } from '../viewer.js';
import type { Verbs } from './define-verbs.js';

/** The verb `search`, from the question to its record: what is not learned or out of date is asked for, then the catalog answers. */
export function createSearch(core: Core): Verbs['search'] {
  const { clock, log, store, audit } = core.deps;
  const encoder = (): string | undefined => core.loaded.config.search.encoder;
  const encoding = createEncoding({ store, log, encoder, load: core.deps.loadEncoder });
  const demotion = createDemotion();

  return async (viewer, query, asked = {}) => {
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
    const servers = viewer.isLimited ? all.filter(({ id }) => callerOf(viewer).sees(id)) : all;
    const isUnlearned = (list: LearnedList | undefined): boolean => list === undefined || isStandIn(list);
    const unlearned = servers.filter((server) => isUsable(server) && isUnlearned(catalog.list(server.id)));
    // A server that failed is tried again in the background after a pause. A search waits for it only when it failed
    // in another process and this one tries it for the first time.
    const awaited = unlearned.filter(
      ({ id }) => !learner.failure(id) || (!learner.hasFailedHere(id) && (learner.isDue(id) || learner.isLearning(id))),
    );
    core.learnInBackground(unlearned.filter((server) => learner.isDue(server.id)));
    const { limits, cache } = core.loaded.config;
    const now = clock.now();
    const old = servers.filter((server) => {
      const list = catalog.list(server.id);
      return list !== undefined && isUsable(server) && isWorthRefreshing(list, cache, now);
    });
    if (old.length > 0) await core.refresh(old, options.onLearning);
    if (awaited.length > 0) {
      const ids = awaited.map(({ id }) => id);
      await learner.settle(ids, limits.searchWaitMs, options.onLearning);
    }
    const { principal } = viewer;
    const encoded = encoder() === undefined ? undefined : encoding.of(query, () => core.catalog.index.tools());
    const experience = await core.experience.of(principal);
    const answer = answerSearch(viewer, query, options, servers, core, { experience, encoded, demotion });
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
    if (!asked.isPreview) recordSearch(audit, viewer, query, asked, whole, clock.monotonic() - started);
    return whole;
  };
}

/** A search by a skill: nothing of what is disabled, and not how many servers there are besides the bound ones. */
function skillSearch(asked: SearchOptions): SearchOptions {
  const onLearning = asked.server === undefined ? undefined : asked.onLearning;
  return { ...asked, includeDisabled: false, onLearning };
}

/** What a search uses besides the catalog. */
interface SearchAids {
  /** What earlier searches of the caller led to. */
  readonly experience?: Experience;
  /** The query and the tools as an encoder reads them (FIND-8). */
  readonly encoded?: Encoded;
  readonly demotion: Demotion;
}

/** The hits of a search over these servers that a viewer sees, and who is missing from it and why (FIND-5). */
function answerSearch(
  viewer: Viewer,
  query: string,
  asked: SearchOptions,
  servers: readonly Server[],
  core: Pick<Core, 'catalog' | 'learner' | 'hide'>,
  { experience, encoded, demotion }: SearchAids,
): SearchAnswer {
  const { catalog, learner } = core;
  const options = viewer.isLimited ? { ...asked, accepts: viewer.sees } : asked;
  const ranked = demotion.order(catalog.index.search(query, options, experience, encoded));
  const signatures = options.includeSchema ? fitSignatures(ranked, options.schemaTokens) : [];
  const missing = servers.filter(({ id, enabled }) => enabled && !catalog.list(id) && viewer.sees(id));
  return {
    hits: ranked.map(({ tool, relevance, need, explanation }, place) => ({
      server: tool.server,
      tool: tool.name,
      summary: tool.summary,
      relevance,
      tags: tool.tags,
      ...(need === undefined ? {} : { need }),
      ...(tool.confirm && { confirm: showConfirm(tool.confirm) }),
      ...(signatures[place] === undefined ? {} : { signature: signatures[place] }),
      ...(explanation ? { explanation } : {}),
    })),
    nearest: ranked.length === 0 ? catalog.index.nearest(query, options) : [],
    learning: missing.filter((server) => learner.isLearning(server.id)).map((server) => server.id),
    unavailable: missing
      .filter((server) => !learner.isLearning(server.id))
      .map((server) => ({ server: server.id, reason: problemOf(server, core) ?? 'not learned yet' })),
  };
}

/** What signatures may take together unless a caller says otherwise. */
const SCHEMA_TOKENS = 1000;

/** A budget is kept by an estimate that is rather too high: this much above the likely number. */
const MARGIN = 1.15;

/** What a signature takes of the budget. */
export function signatureCost(signature: string): number {
  return Math.ceil(estimateTokens(signature) * MARGIN);
}

/**
 * Signatures for the best hits, as many as the budget holds. One that does not fit is left out, and a
 * smaller one after it may still stand: an agent that misses one asks for the details of that tool.
 */
function fitSignatures(
  ranked: ReadonlyArray<{ readonly tool: Tool }>,
  budget: number = SCHEMA_TOKENS,
): Array<string | undefined> {
  let left = budget;
  return ranked.map(({ tool }) => {
    const signature = signatureOf(tool);
    const cost = signatureCost(signature);
    if (cost > left) return undefined;
    left -= cost;
    return signature;
  });
}

/** A tool of an answer to a search. */
interface FoundTool {
  readonly tool: Tool;
  readonly relevance: number;
  readonly need?: string;
}

/** The share of the relevance of a tool with findings that the next tool needs to be ranked before it. */
const MIN_RELEVANCE_SHARE = 0.98;

/** Ranks tools whose findings do not hold them back a little lower in searches. */
export interface Demotion {
  /** The same hits: one with findings changes places with the next if that one has none and is nearly as relevant. */
  order<Found extends FoundTool>(hits: readonly Found[]): Found[];
}

/** Looks for findings in each definition at most once, and only if its place depends on it. */
export function createDemotion(): Demotion {
  const known = new WeakMap<JsonObject, boolean>();
  const hasFindings = ({ tool: { definition } }: FoundTool): boolean => {
    const before = known.get(definition);
    if (before !== undefined) return before;
    const found = findFindings(definition).length > 0;
    known.set(definition, found);
    return found;
  };
  return {
    order(hits) {
      const ordered = [...hits];
      for (let at = 0; at + 1 < ordered.length; at++) {
        const [hit, next] = [ordered[at]!, ordered[at + 1]!];
        // A list without a query is ordered by name.
        const isRanked = hit.relevance > 0;
        const fits = isRanked && next.need === hit.need && next.relevance >= hit.relevance * MIN_RELEVANCE_SHARE;
        if (!fits || !hasFindings(hit) || hasFindings(next)) continue;
        ordered[at] = next;
        ordered[at + 1] = hit;
        // By one place and no more.
        at++;
      }
      return ordered;
    },
  };
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
  { server, route, hostName, traceId }: SearchOptions,
  { hits, nearest }: SearchAnswer,
  latencyMs: number,
): void {
  audit.record({
    kind: 'search',
    principal,
    route,
    host: hostName,
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
