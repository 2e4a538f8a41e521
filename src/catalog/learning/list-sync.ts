import type { Approvals, ChangedServers } from '../../approvals/index.js';
import type { ToolCache } from '../../discover/index.js';
import type { Emitter } from '../../kernel/async/emitter.js';
import { messageOf } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import type { Server } from '../../model/server.js';
import type { Store } from '../../model/store.js';
import type { Catalog, LearnedList } from '../catalog.js';
import { changesBetween } from '../changes.js';
import type { Trust } from '../trust.js';
import type { CatalogEvent } from '../events.js';
import { isUsable } from '../catalog.js';

/** Takes over lists that other processes learned, so that all of them offer the same (A40). */
export interface ListSync {
  /** Takes over what is newer in the store than in the catalog. Never rejects. */
  look(): Promise<void>;
  /** Takes over what another process decided about servers, whatever stands in the memory of this one. Never rejects. */
  follow(servers: ChangedServers): Promise<void>;
  close(): void;
}

/** The space of the store that holds the lists. */
const LISTS = 'tools';

/** Follows the lists in a store. */
export function createListSync(deps: {
  readonly store: Store;
  readonly cache: ToolCache;
  readonly log: Log;
  readonly events: Pick<Emitter<CatalogEvent>, 'emit'>;
  readonly catalog: () => Catalog;
  readonly approvals: Pick<Approvals, 'missing'>;
  readonly trust: Pick<Trust, 'admitKnown' | 'reconsider'>;
  /** Requests a server's list again soon. */
  readonly relistSoon: (server: string) => void;
  /** Whether the catalog has been filled; before that there is nothing to keep up with. */
  readonly isFilled: () => boolean;
}): ListSync {
  const { store, cache, log, events, catalog } = deps;
  let closed = false;
  let running: Promise<void> | undefined;
  let isWanted = false;

  const take = async (server: Server, list: LearnedList): Promise<void> => {
    const before = catalog().list(server.id);
    if (before?.learnedAt === list.learnedAt) return;
    await deps.trust.admitKnown(server, list, await catalog().put(server, list));
    events.emit({
      type: 'learned',
      server: server.id,
      tools: list.items.length,
      changed: changesBetween(before, list),
    });
  };
  const lookOnce = async (): Promise<void> => {
    isWanted = false;
    const servers = [...catalog().servers.values()].filter(isUsable);
    for await (const { server, list } of cache.readNewer(servers)) {
      if (closed) return;
      await take(server, list);
    }
  };
  const run = async (): Promise<void> => {
    try {
      const isDone = (): boolean => closed || !isWanted;
      while (!isDone()) await lookOnce();
    } catch (thrown) {
      log.warn('lists.unread', { reason: messageOf(thrown) });
    } finally {
      running = undefined;
    }
  };
  const look = (): Promise<void> => {
    if (closed || !deps.isFilled()) return Promise.resolve();
    isWanted = true;
    return (running ??= run());
  };
  const stop = store.onChange((space) => {
    if (space === LISTS) void look();
  });
  /** What each server was asked for again because another process trusts it, so that it is asked once. */
  const caughtUp = new Map<string, string>();
  return {
    look,
    async follow(servers) {
      const ids = servers === 'all' ? [...catalog().servers.keys()] : [...servers];
      deps.trust.reconsider(ids);
      await look();
      for (const id of ids) {
        const server = catalog().servers.get(id);
        if (closed || !server || !isUsable(server)) continue;
        const missing = deps.approvals.missing(server, catalog().index.tools(id));
        if (missing === '' || caughtUp.get(id) === missing) continue;
        caughtUp.set(id, missing);
        deps.relistSoon(id);
      }
    },
    close() {
      closed = true;
      stop();
    },
  };
}
