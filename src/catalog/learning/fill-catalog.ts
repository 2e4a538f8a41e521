import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ToolCache } from '../../discover/index.js';
import type { Config } from '../../model/config.js';
import type { Server } from '../../model/server.js';
import type { Tool } from '../../model/tool.js';
import { isStandIn, type Catalog, type LearnedList } from '../catalog.js';
import { isUsable } from '../catalog.js';

/** What clocks may differ by. A list that is further ahead was learned by one that was wrong, and may be of any age (R11). */
const CLOCK_SLACK_MS = 60_000;

/** Whether a list is to be asked for anew, even where its server must be started for that. */
export function isOverdue(list: LearnedList, caching: Config['cache'], now: number): boolean {
  const age = now - list.learnedAt;
  return list.invalidated === true || age > caching.ttlMs || age < -CLOCK_SLACK_MS;
}

/** Servers are not started all the time because they let their lists be kept for a moment only. */
const MIN_TTL_MS = 3_600_000;

/** The same for a search, which has time: what a server itself says about keeping its list counts too. */
export function isWorthRefreshing(list: LearnedList, caching: Config['cache'], now: number): boolean {
  return isOverdue(list, caching, now) || (list.stale && now - list.learnedAt > MIN_TTL_MS);
}

/** Fills a catalog from the cache; answers the servers whose list is missing, too old or announced as changed. */
export async function fillCatalog(
  catalog: Catalog,
  servers: readonly Server[],
  {
    cache,
    caching,
    now,
    admit,
  }: {
    readonly cache: ToolCache;
    readonly caching: Config['cache'];
    readonly now: number;
    /** Notes tools that were cached before anybody noted what is trusted. */
    readonly admit: (server: Server, list: LearnedList, tools: readonly Tool[]) => Promise<void>;
  },
): Promise<Server[]> {
  if (!caching.enabled) return servers.filter(isUsable);
  const cached = await cache.readAll(servers);
  const due: Server[] = [];
  for (const server of servers) {
    if (!isUsable(server)) continue;
    const list = cached.get(server.id);
    if (list) {
      await admit(server, list, await catalog.put(server, list));
      // Indexing is work: between two servers others have their turn.
      await nextTurn();
    }
    if (!list || isStandIn(list) || isOverdue(list, caching, now)) due.push(server);
  }
  return due;
}
