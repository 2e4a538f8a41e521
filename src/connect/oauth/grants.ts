import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { sleep, type Clock } from '../../kernel/clock.js';
import { CLOCK_SLACK_MS, isAhead } from '../../kernel/expiry.js';
import { sha256 } from '../../kernel/hash.js';
import { isObject, type JsonValue } from '../../kernel/json.js';
import type { SecretMask } from '../../kernel/secrets.js';
import type { Store } from '../../model/store.js';

/** The space of the store in which everything about signing in stands. */
export const OAUTH_SPACE = 'oauth';

/** A renewal takes less time than this; an older lock is stale. */
const LOCK_MS = 30_000;
const LOCK_POLL_MS = 100;

const text = z.string();

const OauthClient = z.object({
  id: text,
  secret: text.optional(),
  /** How the client proves itself at the token endpoint, where the authorization server said. */
  method: text.optional(),
  redirectUri: text.optional(),
  origin: z.enum(['configured', 'document', 'registered']),
  /** Wall-clock time at which the secret ends. */
  secretExpiresAt: z.number().optional(),
});

const Grant = z.object({
  server: text,
  url: text,
  issuer: text,
  resource: text,
  isResourceNamed: z.boolean(),
  client: OauthClient,
  metadata: z.object({
    issuer: text,
    authorization_endpoint: text,
    token_endpoint: text,
    revocation_endpoint: text.optional(),
    response_types_supported: z.array(text),
    token_endpoint_auth_methods_supported: z.array(text).optional(),
  }),
  /** What was granted. */
  scope: text.optional(),
  /** What the server asked for since; the next sign-in asks for it. */
  wantedScope: text.optional(),
  accessToken: text.optional(),
  refreshToken: text.optional(),
  obtainedAt: z.number().optional(),
  expiresAt: z.number().optional(),
});

/** The client that toolscout is at one authorization server. */
export type OauthClient = z.infer<typeof OauthClient>;

/**
 * What was granted to toolscout for one server. It is bound to the issuer and the resource it was
 * granted by and for, and is never used where either differs (S15).
 */
export type Grant = z.infer<typeof Grant>;

/** For which server something was granted: two ids with one URL may be two accounts. */
export interface GrantKey {
  readonly server: string;
  readonly url: string;
}

/** The grants in the store; every secret that passes through becomes known to the mask. */
export interface Grants {
  read(key: GrantKey): Promise<Grant | undefined>;
  write(grant: Grant): Promise<void>;
  remove(key: GrantKey): Promise<boolean>;
  /** Runs a task while no other process that uses this store runs one for the same server. */
  exclusively<T>(key: GrantKey, task: () => Promise<T>): Promise<T>;
}

interface WatchedLock {
  revision: number | undefined;
  /** Monotonic time at which this revision was first seen. */
  since: number;
}

const keyOf = ({ server, url }: GrantKey): string => `grant:${sha256(`${server}\0${url}`)}`;
const lockOf = ({ server, url }: GrantKey): string => `lock:${sha256(`${server}\0${url}`)}`;

/** The grants of a store. */
export function createGrants(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly mask: SecretMask;
}): Grants {
  const { store, clock, mask } = deps;

  function hide(grant: Grant): void {
    const { accessToken, refreshToken, client } = grant;
    mask.renew(
      keyOf(grant),
      [accessToken, refreshToken, client.secret].filter((secret) => secret !== undefined),
    );
  }

  /** Takes the lock when it is free or was left behind; `watched` is what was seen of it before. */
  async function take(key: string, owner: string, watched: WatchedLock): Promise<boolean> {
    const entry = await store.get(OAUTH_SPACE, key);
    const until = isObject(entry?.value) ? Number(entry.value['until']) : 0;
    if (entry?.revision !== watched.revision) {
      watched.revision = entry?.revision;
      watched.since = clock.monotonic();
    }
    // Clocks of replicas differ: a lock is surely left behind when it was watched for as long as one lasts.
    const isLeft = clock.monotonic() - watched.since >= LOCK_MS;
    const isHeld = until > clock.now() - CLOCK_SLACK_MS && !isAhead(until - LOCK_MS, clock.now());
    if (until > 0 && isHeld && !isLeft) return false;
    const value: JsonValue = { owner, until: clock.now() + LOCK_MS };
    return store.put(OAUTH_SPACE, key, value, { ifRevision: entry?.revision ?? 0 });
  }

  /** Gives it back, unless it was taken over meanwhile. */
  async function giveBack(key: string, owner: string): Promise<void> {
    const entry = await store.get(OAUTH_SPACE, key);
    if (!isObject(entry?.value) || entry.value['owner'] !== owner) return;
    await store.put(OAUTH_SPACE, key, { owner: '', until: 0 }, { ifRevision: entry.revision });
  }

  return {
    async read(key) {
      const entry = await store.get(OAUTH_SPACE, keyOf(key));
      const parsed = Grant.safeParse(entry?.value);
      // What cannot be understood, or belongs to another address, is as good as absent.
      if (!parsed.success || parsed.data.url !== key.url || parsed.data.server !== key.server) return undefined;
      hide(parsed.data);
      return parsed.data;
    },
    async write(grant) {
      hide(grant);
      await store.put(OAUTH_SPACE, keyOf(grant), JSON.parse(JSON.stringify(grant)) as JsonValue);
    },
    remove: (key) => store.delete(OAUTH_SPACE, keyOf(key)),
    async exclusively(key, task) {
      const owner = randomUUID();
      const lock = lockOf(key);
      const watched: WatchedLock = { revision: undefined, since: clock.monotonic() };
      while (!(await take(lock, owner, watched))) await sleep(clock, LOCK_POLL_MS);
      try {
        return await task();
      } finally {
        await giveBack(lock, owner);
      }
    },
  };
}
