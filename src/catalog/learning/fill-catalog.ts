import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ToolCache } from '../../discover/index.js';
import type { Config } from '../../model/config.js';
import type { Server } from '../../model/server.js';
import type { Tool } from '../../model/tool.js';
import { isOverdue, isStandIn, isUsable, type Catalog, type LearnedList } from '../catalog.js';

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
    /** Admits tools that were cached before trust was recorded. */
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
