import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import { isAhead } from '../kernel/expiry.js';
import { surplusOf } from '../kernel/fair-share.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Store } from '../model/store.js';
import type { Viewer } from '../model/viewer.js';

/** A result that was too large to be returned whole. */
export interface KeptResult {
  readonly handle: string;
  /** The tool that it came from. */
  readonly server: string;
  readonly tool: string;
  readonly keptAt: number;
  readonly expiresAt: number;
  readonly result: JsonObject;
}

/** How much is kept, and for how long. */
export interface KeepLimits {
  readonly keepMs: number;
  readonly keepBytes: number;
}

/** Results that agents read on in, bound to who made the call (ANS-2). */
export interface KeptResults {
  /** Keeps a result and answers its handle; `undefined` when it cannot be kept: it is too large, or the store fails. */
  keep(
    viewer: Viewer,
    from: { readonly server: string; readonly tool: string },
    result: JsonObject,
  ): Promise<string | undefined>;
  /** The result of a handle; `undefined` when there is none for this viewer. */
  find(viewer: Viewer, handle: string): Promise<KeptResult | undefined>;
  /** Whether anything is kept for this viewer. */
  hasAny(viewer: Viewer): Promise<boolean>;
}

/** Who owns each result and how large it is; small, so that it can be listed. */
const INDEX = 'result-index';
/** The results themselves. */
const RESULTS = 'results';

/** Results kept at once, of all principals together. */
const MAX_RESULTS = 500;

const HANDLE = /^res_[\w-]{24,64}$/;

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A new handle of 142 random bits: letters and digits alone, so that a double click takes it whole and no markup reads it as its own. */
function newHandle(): string {
  let handle = 'res_';
  while (handle.length < 28) {
    // Bytes beyond the last multiple of 62 would make some letters more likely.
    for (const byte of randomBytes(32)) if (byte < 248 && handle.length < 28) handle += LETTERS[byte % 62];
  }
  return handle;
}

interface Row {
  readonly principal: string;
  readonly skill?: string;
  readonly server: string;
  readonly tool: string;
  readonly bytes: number;
  readonly keptAt: number;
  readonly expiresAt: number;
}

function isStale({ keptAt, expiresAt }: Row, now: number): boolean {
  return expiresAt <= now || isAhead(keptAt, now);
}

const ownerIn = ([, { principal }]: readonly [string, Row]): string => principal;

function rowIn(value: JsonValue): Row | undefined {
  if (!isObject(value)) return undefined;
  const { principal, skill, server, tool, bytes, keptAt, expiresAt } = value;
  if (typeof principal !== 'string' || typeof server !== 'string' || typeof tool !== 'string') return undefined;
  if (typeof bytes !== 'number' || typeof keptAt !== 'number' || typeof expiresAt !== 'number') return undefined;
  return { principal, ...(typeof skill === 'string' && { skill }), server, tool, bytes, keptAt, expiresAt };
}

/** Kept results over a store; every process over the same store sees the same ones. */
export function createKeptResults(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: () => KeepLimits;
  /** Told why a result could not be kept. */
  readonly onError: (thrown: unknown) => void;
}): KeptResults {
  const { store, clock, limits } = deps;

  const remove = async (handle: string): Promise<void> => {
    await store.delete(RESULTS, handle);
    await store.delete(INDEX, handle);
  };

  const rows = async (): Promise<Map<string, Row>> => {
    const found = new Map<string, Row>();
    for (const { key, value } of await store.list(INDEX)) {
      const row = rowIn(value);
      if (row) found.set(key, row);
      else await remove(key);
    }
    return found;
  };

  /** Removes expired results; where there are too many, or too large ones, the oldest of the caller that has most of what is scarce. */
  const makeRoom = async (bytes: number): Promise<void> => {
    const now = clock.now();
    const kept = [...(await rows())];
    const alive = kept.filter(([, row]) => !isStale(row, now));
    const oldestFirst = alive.toSorted(([, a], [, b]) => a.keptAt - b.keptAt);
    const excess = new Set(surplusOf(oldestFirst, ownerIn, MAX_RESULTS - 1));
    const rest = oldestFirst.filter((each) => !excess.has(each));
    const heavy = surplusOf(rest, ownerIn, limits().keepBytes - bytes, ([, row]) => row.bytes);
    const stale = kept.filter(([, row]) => isStale(row, now));
    for (const [handle] of [...stale, ...excess, ...heavy]) await remove(handle);
  };

  const belongsTo = (row: Row, viewer: Viewer): boolean =>
    !isStale(row, clock.now()) && row.principal === viewer.principal && row.skill === viewer.skill?.id;

  const keep: KeptResults['keep'] = async (viewer, { server, tool }, result) => {
    const bytes = Buffer.byteLength(JSON.stringify(result));
    const { keepMs, keepBytes } = limits();
    if (bytes > keepBytes || keepMs === 0) return undefined;
    await makeRoom(bytes);
    const handle = newHandle();
    const keptAt = clock.now();
    const expiresAt = keptAt + keepMs;
    const skill = viewer.skill?.id;
    const row = {
      principal: viewer.principal,
      server,
      tool,
      bytes,
      keptAt,
      expiresAt,
      ...(skill !== undefined && { skill }),
    };
    // The row first: a result without one would never be removed.
    await store.put(INDEX, handle, row, { expiresAt });
    await store.put(RESULTS, handle, result, { expiresAt });
    return handle;
  };

  return {
    // A result that cannot be kept is shown all the same: the call has been made.
    keep: (viewer, from, result) =>
      keep(viewer, from, result).catch((thrown: unknown) => {
        deps.onError(thrown);
        return undefined;
      }),

    async find(viewer, handle) {
      if (!HANDLE.test(handle)) return undefined;
      const entry = await store.get(INDEX, handle);
      const row = entry && rowIn(entry.value);
      if (!row || !belongsTo(row, viewer)) return undefined;
      const { server, tool, keptAt, expiresAt } = row;
      if (viewer.isLimited && !isOwn(server) && !viewer.sees(server, tool)) return undefined;
      const kept = await store.get(RESULTS, handle);
      if (!kept || kept.damaged || !isObject(kept.value)) return undefined;
      return { handle, server, tool, keptAt, expiresAt, result: kept.value };
    },

    async hasAny(viewer) {
      for (const { value } of await store.list(INDEX)) {
        const row = rowIn(value);
        if (row && belongsTo(row, viewer)) return true;
      }
      return false;
    },
  };
}

/** The id under which toolscout is a server of its own catalog. */
export const OWN_SERVER = 'toolscout';

const isOwn = (server: string): boolean => server === OWN_SERVER;
