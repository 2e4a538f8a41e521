import type { Clock } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import { isOver } from '../kernel/expiry.js';
import { surplusOf } from '../kernel/fair-share.js';
import { sha256 } from '../kernel/hash.js';
import { isObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { Entry, Store } from '../model/store.js';
import type { Viewer } from '../model/viewer.js';

/** Which server gave which link to a caller, for every process of a store and for the next one (A52). */
export interface KeptLinks {
  /** Notes that a server gave these links. A store that fails is logged: the answer that holds them is there already. */
  keep(viewer: Viewer, server: string, uris: readonly string[]): Promise<void>;
  /** The servers that gave this link. */
  giversOf(viewer: Viewer, uri: string): Promise<string[]>;
}

const SPACE = 'links';
/** Links of one server that are kept for one caller; the oldest give way. */
const MAX_LINKS = 1000;
/** Pairs of a caller and a server; then the oldest of the caller that has most goes. */
const MAX_ENTRIES = 2000;
const LIFE_MS = 30 * 86_400_000;
/** An entry that is older than this is written again when a link in it is given again, so that it lives on. */
const RENEW_MS = 86_400_000;
/** How often it is looked at which are kept: each look reads all of them. */
const PRUNE_EACH_MS = 60_000;
/** How often a change is tried again that another process came before. */
const TRIES = 5;
/** Characters of the hash of a link: 96 bits are enough against another link with the same. */
const DIGEST = 24;

const digestOf = (uri: string): string => sha256(uri).slice(0, DIGEST);
/** A skill of a caller is another caller. */
const callerOf = ({ principal, skill }: Viewer): string => sha256(JSON.stringify([principal, skill?.id ?? null]));
const ownerIn = ({ value }: Entry): string => (isObject(value) ? String(value['caller']) : '');

function linksIn(entry: Entry | undefined): string[] {
  const links = isObject(entry?.value) ? entry.value['links'] : undefined;
  return Array.isArray(links) ? links.filter((link) => typeof link === 'string') : [];
}

/** The links in a store. */
export function createKeptLinks(deps: { readonly store: Store; readonly clock: Clock; readonly log: Log }): KeptLinks {
  const { store, clock, log } = deps;
  let prunedAt = -Infinity;
  const isStale = ({ expiresAt = 0 }: Entry): boolean => isOver(expiresAt, LIFE_MS, clock.now());

  const prune = async (): Promise<void> => {
    if (clock.monotonic() - prunedAt < PRUNE_EACH_MS) return;
    prunedAt = clock.monotonic();
    const entries = (await store.list(SPACE)).toSorted((a, b) => a.storedAt - b.storedAt);
    const alive = entries.filter((entry) => !isStale(entry));
    const over = [...entries.filter(isStale), ...surplusOf(alive, ownerIn, MAX_ENTRIES)];
    for (const { key } of over) await store.delete(SPACE, key);
  };

  const write = async (caller: string, server: string, given: readonly string[]): Promise<void> => {
    const key = sha256(JSON.stringify([caller, server]));
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const entry = await store.get(SPACE, key);
      const known = entry && !isStale(entry) ? linksIn(entry) : [];
      const isYoung = entry !== undefined && entry.storedAt + RENEW_MS > clock.now();
      if (isYoung && given.every((link) => known.includes(link))) return;
      const links = [...new Set([...known.filter((link) => !given.includes(link)), ...given])].slice(-MAX_LINKS);
      const options = { ifRevision: entry?.revision ?? 0, expiresAt: clock.now() + LIFE_MS };
      if (await store.put(SPACE, key, { caller, server, links }, options)) return prune();
    }
  };

  return {
    async keep(viewer, server, uris) {
      try {
        await write(callerOf(viewer), server, uris.slice(-MAX_LINKS).map(digestOf));
      } catch (thrown) {
        log.warn('links.not-kept', { server, reason: messageOf(thrown) });
      }
    },
    async giversOf(viewer, uri) {
      const [caller, digest] = [callerOf(viewer), digestOf(uri)];
      return (await store.list(SPACE)).flatMap((entry) => {
        const { value } = entry;
        const isMine = isObject(value) && value['caller'] === caller && !isStale(entry);
        return isMine && linksIn(entry).includes(digest) ? [String(value['server'])] : [];
      });
    },
  };
}
