import type { Pool } from '../connect/index.js';
import type { Server, ServerHealth, ShownTransport } from '../model/server.js';
import { isStandIn, isUsable, type Catalog, type LearnedList } from './catalog.js';
import type { Learner } from './learning/learner.js';
import { describeServer, writtenDescription } from './server-description.js';

/**
 * How much is known of a server's tools: `ready`, `stale` (known, but old), `learning`, `failed`
 * (never learned, the last attempt failed), `unknown` (not asked yet), or `off` (disabled or unusable).
 */
export type Knowledge = 'ready' | 'stale' | 'learning' | 'failed' | 'unknown' | 'off';

/** One server as people and agents see it. No secret is in it. */
export interface ServerView {
  readonly id: string;
  readonly title?: string;
  /** What it is for, on one line. */
  readonly description?: string;
  /** It has no description of its own: this one is made of the names of its tools. */
  readonly descriptionFrom?: 'tools';
  readonly source: string;
  readonly transport: ShownTransport;
  readonly tags: readonly string[];
  readonly enabled: boolean;
  readonly knowledge: Knowledge;
  /** Why there is nothing to offer, where that is so. */
  readonly problem?: string;
  /** Tools that can be searched and called. */
  readonly tools: number;
  /** Tools that a rule or a status keeps away. */
  readonly disabledTools: number;
  /** Tools that a fallback found and that cannot be called (DISC-6); they are among the ones kept away. */
  readonly fallbackTools?: number;
  /** Entries of the server's list that were malformed. */
  readonly droppedTools: number;
  readonly learnedAt?: number;
  /** The last attempt to learn its tools, when that failed: by this process, or by another one over the same store. */
  readonly failure?: { readonly at: number; readonly reason: string };
  readonly health: ServerHealth;
}

/** What views are made from. */
export interface Sources {
  readonly catalog: Catalog;
  readonly learner: Learner;
  readonly pool: Pool;
  /** Whether a list is older than it may be. */
  readonly isStale: (list: LearnedList) => boolean;
  /** The secret mask: error texts may hold what a server printed. */
  readonly hide: (text: string) => string;
}

/** Whether a list says that the server works: one that was read out of output does not, once the server has failed. */
function isEvidence(list: LearnedList | undefined, failure: unknown): list is LearnedList {
  if (!list || isStandIn(list)) return false;
  return list.rung === undefined || list.rung === 'plain-list' || failure === undefined;
}

function knowledgeOf(server: Server, { catalog, learner, isStale }: Sources): Knowledge {
  if (!isUsable(server)) return 'off';
  const list = catalog.list(server.id);
  const failure = learner.failure(server.id);
  if (isEvidence(list, failure)) return isStale(list) ? 'stale' : 'ready';
  if (learner.isLearning(server.id)) return 'learning';
  return failure ? 'failed' : 'unknown';
}

/** Why a server offers nothing, or `undefined` when it does. */
export function problemOf(
  server: Server,
  { catalog, learner, hide }: Pick<Sources, 'catalog' | 'learner' | 'hide'>,
): string | undefined {
  if (!server.enabled) return 'disabled in the configuration';
  if (server.problem) return server.problem;
  const failure = learner.failure(server.id);
  return isEvidence(catalog.list(server.id), failure) ? undefined : failure && hide(failure.message);
}

/** The view of one server. */
export function viewServer(server: Server, sources: Sources): ServerView {
  const tools = sources.catalog.index.tools(server.id);
  const enabled = tools.filter((tool) => tool.status === 'enabled').length;
  const fallback = tools.filter((tool) => tool.provenance !== 'protocol').length;
  const list = sources.catalog.list(server.id);
  const health = sources.pool.health(server.id);
  const failed = isUsable(server) ? sources.learner.lastFailure(server.id) : undefined;
  const isLeftAlone = !list && sources.learner.restMs(server.id) > 0;
  const isPresentable = sources.catalog.isPresentable(server.id);
  const facts = isPresentable ? list : undefined;
  const description = describeServer(server, facts, tools);
  const written = writtenDescription(server, facts);
  return {
    id: server.id,
    title: server.title ?? sources.catalog.title(server.id),
    ...(isUsable(server) && { description }),
    ...(description !== undefined && isUsable(server) && !written && { descriptionFrom: 'tools' as const }),
    source: server.source,
    transport: server.shown,
    tags: server.tags,
    enabled: server.enabled,
    knowledge: knowledgeOf(server, sources),
    problem: problemOf(server, sources),
    tools: enabled,
    disabledTools: tools.length - enabled,
    ...(fallback > 0 && { fallbackTools: fallback }),
    droppedTools: list?.dropped ?? 0,
    learnedAt: list?.learnedAt,
    ...(failed && { failure: { at: failed.at, reason: sources.hide(failed.error.message) } }),
    health: {
      ...health,
      ...(isLeftAlone && { breaker: 'open' as const }),
      ...(health.lastError && { lastError: sources.hide(health.lastError) }),
    },
  };
}
