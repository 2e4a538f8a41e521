import { randomBytes } from 'node:crypto';
import { sleep, type Clock, type Timer } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import { isAhead, isOver } from '../kernel/expiry.js';
import { surplusOf } from '../kernel/fair-share.js';
import { sha256 } from '../kernel/hash.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { Entry, Store } from '../model/store.js';
import type { AskingCall } from './asking-call.js';
import type { Journal, Used } from './run-types.js';
import type { Answer } from './script-call.js';
import type { Vault } from './vault.js';
import type { CallRequest, VmImage } from './worker-messages.js';

/** A script that waits for a person. */
export interface SuspendedScript {
  readonly script: string;
  /** The id of its audit record. */
  readonly record: string;
  /** When it was started (wall clock), and the seed it was given. */
  readonly startedAt: number;
  readonly seed: readonly number[];
  readonly image: VmImage;
  readonly asking: readonly AskingCall[];
  readonly used: Used;
}

/** The only one who may continue a suspended script. */
export interface ScriptOwner {
  readonly principal: string;
  readonly skill?: string;
}

/** A suspended script that this process continues; no other process may until it is released or this process dies. */
export interface ClaimedScript {
  readonly suspended: SuspendedScript;
  readonly journal: Journal;
  /** It has ended, or was suspended again under another state: forgets it. */
  forget(): Promise<void>;
  /** Releases it for the next process. */
  release(): Promise<void>;
}

/** Suspended scripts in the store (CODE-5). */
export interface SuspendedScripts {
  /** Keeps a script; answers the state under which it is found. */
  keep(suspended: SuspendedScript, owner: ScriptOwner): Promise<string>;
  /** @throws ToolscoutError `INVALID_REQUEST` when it is unknown, expired, of another script or owner, or being run. */
  claim(state: string, script: string, owner: ScriptOwner): Promise<ClaimedScript>;
  /** Waits, some seconds at most, until it is known whether the process that continues a script is gone. */
  isAbandoned(state: string): Promise<boolean>;
}

/** What the state of a suspended script begins with. */
export const STATE_PREFIX = 'script.';

const SCRIPTS = 'scripts';
const CLAIMS = 'script-claims';
const journalOf = (key: string): string => `script-journal.${key}`;

/** How long a suspended script is kept for the answer of a person. */
const LIFE_MS = 3_600_000;
/** Suspended scripts that are kept; then the oldest of the principal that has most goes. */
const MAX_KEPT = 256;
/** Bytes of one image. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Bytes of all images; then the oldest of the principal whose scripts take most goes. */
const TOTAL_BYTES = 256 * 1024 * 1024;
/** A process that has not renewed its claim for this long is dead. */
const CLAIM_MS = 15_000;
const RENEW_MS = 5000;
const LOOK_MS = 500;

/** The header, its length before it, and the memory of the VM. */
function pack({ image, ...rest }: SuspendedScript, expiresAt: number): Buffer {
  const { memory, ...about } = image;
  const header = Buffer.from(JSON.stringify({ ...rest, image: about, expiresAt }), 'utf8');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  return Buffer.concat([length, header, memory]);
}

function unpack(bytes: Buffer): SuspendedScript & { readonly expiresAt: number } {
  const end = 4 + bytes.readUInt32LE(0);
  const { image, ...rest } = JSON.parse(bytes.toString('utf8', 4, end)) as SuspendedScript & { expiresAt: number };
  return { ...rest, image: { ...image, memory: new Uint8Array(bytes.subarray(end)) } };
}

function unknownState(): ToolscoutError {
  return new ToolscoutError(
    'INVALID_REQUEST',
    'The requestState is unknown or expired, or the text of the script differs.',
    {
      suggestion:
        'Send the script unchanged. Its earlier calls took effect; check what they changed before you run it from the start.',
    },
  );
}

function lostJournal(): ToolscoutError {
  const message = 'The paused script cannot be resumed: the record of its calls cannot be decrypted.';
  return new ToolscoutError('STORE_ERROR', message, {
    suggestion: 'Check what its calls changed, then run it from the start.',
  });
}

/** Tells the claims of principals apart without naming them. */
function ownerKey({ principal }: ScriptOwner): string {
  return sha256(principal);
}

function ownerIn({ value }: Entry): string {
  return isObject(value) && typeof value['owner'] === 'string' ? value['owner'] : '';
}

/** Bytes that a suspended script takes; an earlier version did not say. */
function bytesIn({ value }: Entry): number {
  return isObject(value) && typeof value['bytes'] === 'number' ? value['bytes'] : 0;
}

/** The suspended scripts of one store. */
export function createSuspendedScripts(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly totalBytes?: number;
}): SuspendedScripts {
  const { store, clock, vault, totalBytes = TOTAL_BYTES } = deps;
  const bindingOf = (state: string, script: string, { principal, skill = '' }: ScriptOwner): string =>
    JSON.stringify([state, sha256(script), principal, skill]);

  const remove = async (key: string): Promise<void> => {
    await store.delete(SCRIPTS, key);
    await store.clear(journalOf(key));
    await store.delete(CLAIMS, key);
  };

  /** Removes what has expired, and where there are too many, or too large ones, the oldest of the principal that has most. */
  const prune = async (newBytes: number): Promise<void> => {
    const claims = await store.list(CLAIMS);
    const now = clock.now();
    const isStale = ({ expiresAt = 0 }: Entry): boolean => isOver(expiresAt, LIFE_MS, now);
    const alive = claims.filter((claim) => !isStale(claim));
    const oldestFirst = alive.toSorted((a, b) => a.storedAt - b.storedAt);
    const excess = surplusOf(oldestFirst, ownerIn, MAX_KEPT - 1);
    const rest = oldestFirst.filter((claim) => !excess.includes(claim));
    const heavy = surplusOf(rest, ownerIn, totalBytes - newBytes, bytesIn);
    for (const { key } of [...claims.filter(isStale), ...excess, ...heavy]) await remove(key);
  };

  const openJournal = async (key: string, binding: string): Promise<Journal> => {
    const space = journalOf(key);
    const entries = await store.list(space);
    const noted: Array<{ id: number; answer: Answer; now: number }> = [];
    for (const { key: name, value } of entries) {
      if (!name.startsWith('answer.') || typeof value !== 'string') continue;
      const bytes = await vault.open(value, `${binding}${name}`);
      if (!bytes) throw lostJournal();
      noted.push(JSON.parse(bytes.toString('utf8')) as (typeof noted)[number]);
    }
    let next = noted.length;
    return {
      noted,
      sending: ({ id, server, tool, json }: CallRequest, round) =>
        store.put(space, `sent.${id}.${round}`, sha256(JSON.stringify([server, tool, json])), { ifRevision: 0 }),
      async answered(id, answer, now) {
        // Entries are listed by key: digits keep their order.
        const name = `answer.${String(next++).padStart(8, '0')}`;
        const bytes = Buffer.from(JSON.stringify({ id, answer, now }), 'utf8');
        await store.put(space, name, await vault.seal(bytes, `${binding}${name}`));
      },
    };
  };

  const claimOf = (owner: string, until: number, bytes: number): JsonObject => ({ until, owner, bytes });

  const untilOf = (entry: Entry | undefined): number =>
    isObject(entry?.value) ? Number(entry.value['until'] ?? 0) : 0;

  /** Takes over a script, unless a live process has it. */
  const take = async (key: string, owner: string, expiresAt: number): Promise<() => void> => {
    const entry = await store.get(CLAIMS, key);
    const left = untilOf(entry) - clock.now();
    const bytes = entry ? bytesIn(entry) : 0;
    const claim = (): JsonObject => claimOf(owner, clock.now() + CLAIM_MS, bytes);
    const isTaken =
      (left <= 0 || isAhead(untilOf(entry) - CLAIM_MS, clock.now())) &&
      entry !== undefined &&
      (await store.put(CLAIMS, key, claim(), { ifRevision: entry.revision, expiresAt }));
    if (!isTaken) {
      throw new ToolscoutError('INVALID_REQUEST', 'The script is already running.', {
        suggestion: 'Wait for its answer; if that answer was lost, send the answers again in a few seconds.',
        retryAfterMs: Math.max(left, 1000),
      });
    }
    let timer: Timer;
    const renew = (): void => {
      timer = clock.after(RENEW_MS, () => {
        // A claim that could not be renewed runs out; what is sent is noted before, so nothing is sent twice.
        store.put(CLAIMS, key, claim(), { expiresAt }).catch(() => undefined);
        renew();
      });
    };
    renew();
    return () => timer.cancel();
  };

  return {
    async keep(suspended, owner) {
      if (suspended.image.memory.length > MAX_BYTES) {
        throw new ToolscoutError('SCRIPT_LIMIT_EXCEEDED', 'The script holds too much data to wait for a person.', {
          suggestion: 'Keep less in variables before a call that asks the user something.',
        });
      }
      const bytes = suspended.image.memory.length;
      await prune(bytes);
      const state = `${STATE_PREFIX}${randomBytes(24).toString('base64url')}`;
      const key = sha256(state);
      const expiresAt = clock.now() + LIFE_MS;
      const sealed = await vault.seal(pack(suspended, expiresAt), bindingOf(state, suspended.script, owner));
      await store.put(CLAIMS, key, claimOf(ownerKey(owner), 0, bytes), { expiresAt });
      await store.put(SCRIPTS, key, sealed, { expiresAt });
      return state;
    },
    async claim(state, script, owner) {
      const key = sha256(state);
      const entry = await store.get(SCRIPTS, key);
      if (typeof entry?.value !== 'string') throw unknownState();
      const binding = bindingOf(state, script, owner);
      const bytes = await vault.open(entry.value, binding);
      if (!bytes) throw unknownState();
      const { expiresAt, ...suspended } = unpack(bytes);
      if (isOver(expiresAt, LIFE_MS, clock.now())) {
        await remove(key);
        throw unknownState();
      }
      const stop = await take(key, ownerKey(owner), expiresAt);
      const release = async (): Promise<void> => {
        stop();
        await store.put(CLAIMS, key, claimOf(ownerKey(owner), 0, suspended.image.memory.length), { expiresAt });
      };
      const journal = await openJournal(key, binding).catch(async (thrown: unknown) => {
        await release();
        throw thrown;
      });
      return {
        suspended,
        journal,
        async forget() {
          stop();
          await remove(key);
        },
        release,
      };
    },
    async isAbandoned(state) {
      const key = sha256(state);
      const before = untilOf(await store.get(CLAIMS, key));
      while (!isOver(before, CLAIM_MS, clock.now())) {
        await sleep(clock, LOOK_MS);
        if (untilOf(await store.get(CLAIMS, key)) !== before) return false;
      }
      return true;
    },
  };
}
