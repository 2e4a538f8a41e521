import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import { isObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { Entry, Store } from '../model/store.js';
import { fairPortion } from './fair-portion.js';

/** The other processes that serve the same state, and what is divided among them (STORE-3). */
export interface Replicas {
  /** Notes a request to a server that has a rate limit. */
  note(server: string): void;
  /** The part of the rate limit of a server that this replica has now: 1 when no other one uses it. */
  portionOf(server: string, perSecond: number): number;
  /** Called when portions may have changed. */
  onPortions(listener: () => void): void;
  /** Takes work that one replica does: whether it is ours. What a replica holds that is gone is free again. */
  claim(work: string): Promise<boolean>;
  release(work: string): Promise<void>;
  close(): Promise<void>;
}

const SPACE = 'replicas';
const CLAIMS = 'claims';

/** How often a replica says that it is there: rarely, and often while it uses servers with a limit. */
const BEAT_MS = 1000;
const BUSY_BEAT_MS = 300;

/** A replica that said nothing for so long is gone, and one for so much longer is forgotten. */
const GONE_MS = 3500;
const FORGOTTEN_MS = 60_000;

/** Of a demand that ended this much is left at the next beat, so that a short pause does not give the portion away. */
const DECAY = 0.6;
const NO_DEMAND = 0.05;

/** Attempts at a claim while the store fails. */
const CLAIM_ATTEMPTS = 3;

interface Peer {
  revision: number;
  /** Monotonic time of this process at which the revision was first seen: clocks of replicas need not agree. */
  seenAt: number;
  demand: ReadonlyMap<string, number>;
}

function ownerOf(entry: Entry | undefined): string | undefined {
  const owner = isObject(entry?.value) ? entry.value['owner'] : undefined;
  return typeof owner === 'string' ? owner : undefined;
}

function readDemand(value: unknown): Map<string, number> {
  const demand = isObject(value) && isObject(value['demand']) ? Object.entries(value['demand']) : [];
  return new Map(demand.filter((entry): entry is [string, number] => typeof entry[1] === 'number' && entry[1] > 0));
}

/** Joins the replicas of a store. While the store fails everything stays as it was last known. */
export function joinReplicas(deps: { readonly store: Store; readonly clock: Clock; readonly log: Log }): Replicas {
  const { store, clock, log } = deps;
  const id = randomUUID();
  const peers = new Map<string, Peer>();
  const strangers = new Map<string, number>();
  const listeners = new Set<() => void>();
  let asked = new Map<string, number>();
  let demand = new Map<string, number>();
  let beatenAt = clock.monotonic();
  let timer: Timer | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  const isGone = (peer: Peer): boolean => clock.monotonic() - peer.seenAt > GONE_MS;

  const measure = (): void => {
    const seconds = Math.max(0.05, (clock.monotonic() - beatenAt) / 1000);
    beatenAt = clock.monotonic();
    const next = new Map<string, number>();
    for (const server of new Set([...asked.keys(), ...demand.keys()])) {
      const rate = Math.max((asked.get(server) ?? 0) / seconds, (demand.get(server) ?? 0) * DECAY);
      if (rate >= NO_DEMAND) next.set(server, rate);
    }
    asked = new Map();
    demand = next;
  };
  const look = async (): Promise<void> => {
    const now = clock.monotonic();
    const found = new Set<string>();
    for (const { key, value, revision } of await store.list(SPACE)) {
      if (key === id) continue;
      found.add(key);
      const peer = peers.get(key);
      if (!peer) peers.set(key, { revision, seenAt: now, demand: readDemand(value) });
      else if (peer.revision !== revision) Object.assign(peer, { revision, seenAt: now, demand: readDemand(value) });
      else if (now - peer.seenAt > FORGOTTEN_MS) await store.delete(SPACE, key);
    }
    for (const key of peers.keys()) if (!found.has(key)) peers.delete(key);
  };
  const beat = async (): Promise<void> => {
    try {
      measure();
      const rates = [...demand].map(([server, rate]) => [server, Number(rate.toFixed(2))]);
      await store.put(SPACE, id, { demand: Object.fromEntries(rates) as Record<string, number> });
      await look();
      for (const listener of listeners) listener();
    } catch (thrown) {
      log.debug('replicas.unknown', { reason: messageOf(thrown) });
      // Without the shared store no replica can be seen, so none counts as gone.
      for (const peer of peers.values()) peer.seenAt = clock.monotonic();
    } finally {
      running = undefined;
      schedule();
    }
  };
  const schedule = (): void => {
    timer?.cancel();
    if (!closed) timer = clock.after(demand.size > 0 || asked.size > 0 ? BUSY_BEAT_MS : BEAT_MS, start);
  };
  const start = (): void => {
    running ??= beat();
  };
  start();

  /** A replica that holds something and has not been heard of yet may just have started. */
  const isThere = (owner: string): boolean => {
    const peer = peers.get(owner);
    if (peer) return !isGone(peer);
    const since = strangers.get(owner) ?? clock.monotonic();
    strangers.set(owner, since);
    return clock.monotonic() - since <= GONE_MS;
  };

  return {
    note(server) {
      const isNew = !asked.has(server) && !demand.has(server);
      asked.set(server, (asked.get(server) ?? 0) + 1);
      // The others learn at once that one more uses it.
      if (isNew && !closed) start();
    },
    portionOf(server, perSecond) {
      const others = [...peers.values()].filter((peer) => !isGone(peer));
      if (others.length === 0) return 1;
      const demands = others.map((peer) => peer.demand.get(server) ?? 0);
      // Before it is known what others need of a server, each has an equal part of it.
      if (!demand.has(server)) return 1 / (others.length + 1);
      return fairPortion(
        perSecond,
        demand.get(server)!,
        demands.filter((rate) => rate > 0),
      );
    },
    onPortions: (listener) => void listeners.add(listener),
    async claim(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          await running;
          const entry = await store.get(CLAIMS, work);
          const owner = ownerOf(entry);
          if (owner === id) return true;
          if (owner !== undefined && isThere(owner)) return false;
          return await store.put(CLAIMS, work, { owner: id }, { ifRevision: entry?.revision ?? 0 });
        } catch (thrown) {
          log.debug('replicas.unclaimed', { work, reason: messageOf(thrown) });
          // The answer may be lost, not the claim: another look tells whose it is. Without a store each does all of the work.
          if (attempt === CLAIM_ATTEMPTS) return true;
        }
      }
    },
    async release(work) {
      try {
        // Another replica has it when this one was silent for too long.
        if (ownerOf(await store.get(CLAIMS, work)) === id) await store.delete(CLAIMS, work);
      } catch (thrown) {
        log.debug('replicas.unreleased', { work, reason: messageOf(thrown) });
      }
    },
    async close() {
      closed = true;
      timer?.cancel();
      await running;
      await store
        .delete(SPACE, id)
        .catch((thrown: unknown) => log.debug('replicas.unleft', { reason: messageOf(thrown) }));
    },
  };
}
