import type { Pool } from '../connect/index.js';
import { counted, mostTokens } from '../kernel/text.js';
import { isKnownDomain, primaryDomain } from '../normalize/index.js';
import type { Server, ServerHealth, ShownTransport } from '../model/server.js';
import type { Catalog } from './catalog.js';
import type { Learner } from './learner.js';

/**
 * How much is known of a server's tools: `ready`, `stale` (known, but old), `learning`, `failed`
 * (never learned, the last attempt failed), `unknown` (not asked yet), or `off` (disabled or unusable).
 */
export type Knowledge = 'ready' | 'stale' | 'learning' | 'failed' | 'unknown' | 'off';

/** One server as people and agents see it. No secret is in it. */
export interface ServerView {
  readonly id: string;
  readonly title?: string;
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
  /** Entries of the server's list that were malformed. */
  readonly droppedTools: number;
  readonly learnedAt?: number;
  readonly health: ServerHealth;
}

/** What views are made from. */
export interface Sources {
  readonly catalog: Catalog;
  readonly learner: Learner;
  readonly pool: Pool;
  /** The secret mask: error texts may hold what a server printed. */
  readonly hide: (text: string) => string;
}

/** True when a server may be connected to at all. */
export function isUsable(server: Server): boolean {
  return server.enabled && server.problem === undefined;
}

function knowledgeOf(server: Server, { catalog, learner }: Sources): Knowledge {
  if (!isUsable(server)) return 'off';
  const list = catalog.list(server.id);
  if (list) return list.stale ? 'stale' : 'ready';
  if (learner.isLearning(server.id)) return 'learning';
  return learner.failure(server.id) ? 'failed' : 'unknown';
}

/** Why a server offers nothing, or `undefined` when it does. */
export function problemOf(server: Server, { catalog, learner, hide }: Sources): string | undefined {
  if (!server.enabled) return 'disabled in the configuration';
  if (server.problem) return server.problem;
  const failure = catalog.list(server.id) ? undefined : learner.failure(server.id);
  return failure && hide(failure.message);
}

/** The view of one server. */
export function viewServer(server: Server, sources: Sources): ServerView {
  const tools = sources.catalog.index.tools(server.id);
  const enabled = tools.filter((tool) => tool.status === 'enabled').length;
  const list = sources.catalog.list(server.id);
  const health = sources.pool.health(server.id);
  return {
    id: server.id,
    title: server.title ?? sources.catalog.title(server.id),
    source: server.source,
    transport: server.shown,
    tags: server.tags,
    enabled: server.enabled,
    knowledge: knowledgeOf(server, sources),
    problem: problemOf(server, sources),
    tools: enabled,
    disabledTools: tools.length - enabled,
    droppedTools: list?.dropped ?? 0,
    learnedAt: list?.learnedAt,
    health: health.lastError ? { ...health, lastError: sources.hide(health.lastError) } : health,
  };
}

/** Tokens of the line below, whatever the names are. */
const COVERAGE_TOKENS = 60;

/** What ` and 12 more` takes of them. */
const REST_TOKENS = 8;

/** A name with the comma before it; only letters take the space before them along. */
function costOf(domain: string): number {
  if (isKnownDomain(domain)) return KNOWN_DOMAIN_TOKENS;
  return mostTokens(domain) + (/^[a-z]/.test(domain) ? 1 : 2);
}

/** Known domains are plain words; a test holds them to it. */
const KNOWN_DOMAIN_TOKENS = 4;

/**
 * One line that names what is behind toolscout (META-8). It depends on nothing but the set of
 * servers, so that its bytes, and a host's prompt cache, stay the same until that set changes.
 */
export function coverageOf(servers: Iterable<Server>): string {
  const domains = new Set<string>();
  for (const server of servers) if (isUsable(server)) domains.add(primaryDomain(server.id));
  const sorted = [...domains].toSorted();
  const all = sorted.reduce((sum, domain) => sum + costOf(domain), 0);
  let left = all <= COVERAGE_TOKENS ? all : COVERAGE_TOKENS - REST_TOKENS;
  const shown = sorted.filter((domain) => {
    const fits = costOf(domain) <= left;
    if (fits) left -= costOf(domain);
    return fits;
  });
  const rest = sorted.length - shown.length;
  if (rest === 0) return shown.join(', ');
  return shown.length === 0 ? counted(rest, 'server') : `${shown.join(', ')} and ${rest} more`;
}
