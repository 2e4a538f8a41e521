import type { Clock } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { isObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import { cooperatively } from '../kernel/async/cooperative.js';
import type { Server } from '../model/server.js';
import type { Entry, Store } from '../model/store.js';
import type { Listed } from './list.js';
import {
  keyOf,
  keyPrefix,
  pack,
  unpack,
  type CachedList,
  type Remembered,
  type UpstreamFacts,
  type Validity,
} from './stored-list.js';

/** How well the cache does. */
export interface CacheStats {
  readonly hits: number;
  readonly misses: number;
  /** Lists held in memory. */
  readonly entries: number;
}

/** Lists of tools by server and credential: memory in front of the store (DISC-4). */
export interface ToolCache {
  read(server: Server): Promise<CachedList | undefined>;
  /** Lists of many servers, by id, with one look into the store. */
  readAll(servers: readonly Server[]): Promise<Map<string, CachedList>>;
  /**
   * Lists of these servers that other processes stored since the last look. A list that another process cleared or
   * invalidated is marked as stale.
   */
  readNewer(servers: readonly Server[]): AsyncIterable<{ readonly server: Server; readonly list: CachedList }>;
  /** Keeps a list. A store that fails costs the next process a listing, never this one its tools. */
  write(
    server: Server,
    listed: Listed,
    facts: UpstreamFacts,
    /** The list belongs to one call with other credentials: those of this server that are in use are kept beside it. */
    options?: { readonly keepOthers?: boolean },
  ): Promise<CachedList>;
  /** Marks a server's list as stale, e.g. when the server announced a change. */
  invalidate(server: Server): Promise<void>;
  /** Forgets one server's lists under every credential, or all lists; answers how many. */
  clear(serverId?: string): Promise<number>;
  stats(): CacheStats;
  /** Stops listening to the store. */
  close(): void;
}

/** What the cache needs. */
export interface ToolCacheDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long a list is fresh when its server did not say. Like `kept` it is asked for when it is needed: a reload may change it. */
  readonly ttlMs: number;
  /** Whether lists outlive this process; they do unless this says otherwise. */
  readonly kept?: boolean;
  readonly log: Log;
  /** Client capabilities declared to servers; a server may list other tools for others. */
  readonly capabilities?: string;
}

/** The validity of a list that may still be in use after a newer one arrived or the store dropped it. */
interface Mark extends Validity {
  readonly server: string;
  readonly learnedAt: number;
  isInvalid: boolean;
}

const SPACE = 'tools';

/** The number of dropped entries whose reason is kept. */
const MAX_LEFT_OUT = 100;
const DAY_MS = 86_400_000;

/** Lists under credentials that are no longer in use would pile up; a month after they were stored they go. */
const FORGOTTEN_MS = 30 * DAY_MS;

/** A cache of tool lists over a store. */
export function createToolCache(deps: ToolCacheDeps): ToolCache {
  const { store, clock, log } = deps;
  const capabilities = deps.capabilities ?? '';
  /** Tells lists that this process stored from those of others. */
  const writer = newId();
  /** Lists that are being stored. */
  const writing = new Map<string, Promise<unknown>>();
  const memory = new Map<string, Remembered>();
  /** The revision under which each list was last looked at in the store. */
  const seen = new Map<string, number>();
  /** The mark of the list last handed out under each key; it outlives what is kept in memory. */
  const marks = new Map<string, Mark>();
  let hits = 0;
  let misses = 0;
  /** How often what is stored was changed, by whomever: what was read before that is not kept in memory. */
  let overtaken = 0;
  const stop = store.onChange((space) => {
    if (space !== SPACE) return;
    memory.clear();
    overtaken++;
  });

  /** What a server allows is kept within a day; what the configuration says is the user's own business. */
  const freshMsOf = ({ ttlMs }: { readonly ttlMs?: number | undefined }): number | undefined =>
    ttlMs === undefined ? undefined : Math.min(ttlMs, DAY_MS);

  const newMark = (key: string, { server, learnedAt, invalidated }: Remembered): Mark => {
    const mark: Mark = { server, learnedAt, isInvalid: invalidated };
    marks.set(key, mark);
    return mark;
  };
  const markOf = (key: string, list: Remembered): Mark => {
    const known = marks.get(key);
    if (known?.learnedAt !== list.learnedAt) return newMark(key, list);
    if (list.invalidated) known.isInvalid = true;
    return known;
  };

  const present = (list: Remembered, mark: Mark): CachedList => {
    const { server: _server, writer: _writer, ttlMs, cacheScope: _scope, invalidated: _invalidated, ...rest } = list;
    return { ...rest, freshMs: freshMsOf({ ttlMs }), validity: mark };
  };

  /** Reads a stored entry; a damaged one is a miss that is logged, never an error. */
  const open = (entry: Entry | undefined, server: Server): Remembered | undefined => {
    if (!entry) return undefined;
    try {
      const list = unpack(entry.value, server.id);
      if (!('reason' in list)) return list;
      log.warn('cache.ignored', { server: server.id, reason: list.reason });
    } catch (thrown) {
      log.warn('cache.ignored', { server: server.id, reason: messageOf(thrown) });
    }
    return undefined;
  };

  const guard = async <T>(doing: string, fallback: T, work: () => Promise<T>): Promise<T> => {
    if (deps.kept === false) return fallback;
    try {
      return await work();
    } catch (thrown) {
      log.warn('cache.store-failed', { doing, reason: messageOf(thrown) });
      return fallback;
    }
  };

  const count = (key: string, list: Remembered | undefined, since = overtaken): CachedList | undefined => {
    if (!list) {
      misses++;
      return undefined;
    }
    hits++;
    if (since === overtaken) memory.set(key, list);
    return present(list, markOf(key, list));
  };

  return {
    async read(server) {
      const key = keyOf(server, capabilities);
      const known = memory.get(key);
      if (known) return count(key, known);
      const entry = await guard('read', undefined, () => store.get(SPACE, key));
      return count(key, open(entry, server));
    },

    async readAll(servers) {
      const since = overtaken;
      const wanted = servers.map((server) => {
        const key = keyOf(server, capabilities);
        return { server, key, known: memory.get(key) };
      });
      const isKnown = wanted.every(({ known }) => known);
      const entries = isKnown ? [] : await guard('list', [], () => store.list(SPACE));
      const stored = new Map(entries.map((entry) => [entry.key, entry]));
      const keys = new Set(wanted.map(({ key }) => key));
      for (const { key, revision } of entries) if (keys.has(key)) seen.set(key, revision);
      for (const { key, storedAt } of entries) {
        if (keys.has(key) || clock.now() - storedAt < FORGOTTEN_MS) continue;
        await guard('prune', false, () => store.delete(SPACE, key));
      }
      const found = new Map<string, CachedList>();
      await cooperatively(wanted, ({ server, key, known }) => {
        const list = count(key, memory.get(key) ?? known ?? open(stored.get(key), server), since);
        if (list) found.set(server.id, list);
      });
      return found;
    },

    async *readNewer(servers) {
      const revisions = await guard('look', undefined, () => store.revisions(SPACE));
      if (!revisions) return;
      for (const server of servers) {
        const key = keyOf(server, capabilities);
        const revision = revisions.get(key);
        const before = seen.get(key);
        if (revision === before) continue;
        if (revision === undefined) {
          seen.delete(key);
          const mark = marks.get(key);
          if (mark) mark.isInvalid = true;
          continue;
        }
        // The order of writes counts, not the times in the lists: clocks of processes differ.
        await writing.get(key);
        const entry = await guard('read', undefined, () => store.get(SPACE, key));
        if (entry) seen.set(key, entry.revision);
        const list = open(entry, server);
        // What this process stored itself it has, or it has a newer one that could not be stored.
        if (!list || (list.writer === writer && list.learnedAt !== marks.get(key)?.learnedAt)) continue;
        memory.set(key, list);
        yield { server, list: present(list, markOf(key, list)) };
      }
    },

    async write(server, listed, facts, { keepOthers = false } = {}) {
      overtaken++;
      const key = keyOf(server, capabilities);
      const { info, instructions, era, rung, capabilities: offered, resources, resourceTemplates, prompts } = facts;
      const leftOut = [
        ...listed.bad.map((bad) => ({ method: 'tools/list', ...bad })),
        ...(facts.leftOut ?? []).filter(({ method }) => method !== 'tools/list'),
      ].slice(0, MAX_LEFT_OUT);
      const list: Remembered = {
        server: server.id,
        writer,
        items: listed.items,
        dropped: listed.bad.length,
        learnedAt: clock.now(),
        ttlMs: listed.ttlMs,
        cacheScope: listed.cacheScope,
        invalidated: false,
        ...(info ? { info } : {}),
        ...(instructions === undefined ? {} : { instructions }),
        ...(era ? { era } : {}),
        ...(offered ? { capabilities: offered } : {}),
        ...(resources ? { resources } : {}),
        ...(resourceTemplates ? { resourceTemplates } : {}),
        ...(prompts ? { prompts } : {}),
        ...(leftOut.length > 0 ? { leftOut } : {}),
        ...(rung ? { rung } : {}),
      };
      // What this server listed for an earlier credential is not asked for again in this process.
      for (const [other, old] of memory) {
        if (keepOthers || old.server !== server.id) continue;
        memory.delete(other);
        marks.delete(other);
      }
      memory.set(key, list);
      const mark = newMark(key, list);
      const expiresAt = list.learnedAt + (freshMsOf(listed) ?? deps.ttlMs);
      const stored = guard('write', false, async () => store.put(SPACE, key, pack(list), { expiresAt }));
      writing.set(key, stored);
      await stored;
      if (writing.get(key) === stored) writing.delete(key);
      return present(list, mark);
    },

    async invalidate(server) {
      overtaken++;
      const key = keyOf(server, capabilities);
      const known = memory.get(key);
      if (known) memory.set(key, { ...known, invalidated: true });
      const mark = marks.get(key);
      if (mark) mark.isInvalid = true;
      await guard('invalidate', false, async () => {
        const entry = await store.get(SPACE, key);
        if (!entry || !isObject(entry.value) || entry.value.stale === true) return false;
        // Another process may have stored a newer list meanwhile; that one is not stale.
        return store.put(SPACE, key, { ...entry.value, stale: true }, { ifRevision: entry.revision });
      });
    },

    async clear(serverId) {
      overtaken++;
      for (const mark of marks.values()) if (serverId === undefined || mark.server === serverId) mark.isInvalid = true;
      if (serverId === undefined) {
        const held = memory.size;
        memory.clear();
        return Math.max(held, await store.clear(SPACE));
      }
      const gone = new Set<string>();
      for (const [key, list] of memory) {
        if (list.server !== serverId) continue;
        memory.delete(key);
        gone.add(key);
      }
      const prefix = keyPrefix(serverId);
      for (const { key, value } of await store.list(SPACE)) {
        // An entry that names no server is damaged; where it may be this server's it goes too.
        const owner = isObject(value) && typeof value.server === 'string' ? value.server : undefined;
        if (owner === undefined ? !key.startsWith(prefix) : owner !== serverId) continue;
        await store.delete(SPACE, key);
        gone.add(key);
      }
      return gone.size;
    },

    stats: () => ({ hits, misses, entries: memory.size }),
    close: stop,
  };
}
