import type { LoadedConfig } from '../config/index.js';
import type { Clock } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';
import type { Store } from '../model/store.js';

/** Keys that one replica has taken back hold on none (STORE-3). */
export interface RevokedKeys {
  /**
   * A config as it is in force here: without the keys that another replica has taken back. What the config read before had and
   * this one has not is taken back for all; what it has anew is good again for all.
   */
  apply(loaded: LoadedConfig): Promise<LoadedConfig>;
  /** Reads a config with `read`; for a reload that `follow` repeats it is the one in force, without keys that were taken back. */
  reader(read: () => Promise<LoadedConfig>, inForce: () => LoadedConfig): () => Promise<LoadedConfig>;
  /**
   * Reloads when a replica has taken back a key, or brought one back; once more when that fails, since a key that was taken back must not
   * stay good because the config of this replica cannot be read now.
   */
  follow(reload: () => Promise<unknown>, onFailure: (thrown: unknown) => void): () => void;
}

const SPACE = 'revoked-keys';

/** By then every replica has a config without it. */
const KEPT_MS = 30 * 86_400_000;

/** The keys of a config by their hash. */
function keysIn({ config }: LoadedConfig): Map<string, string> {
  const keys = config.http.auth?.keys ?? [];
  return new Map(keys.flatMap(({ name, hash }) => (hash === undefined ? [] : [[hash, name] as const])));
}

/** Without the keys of these hashes, and with a warning for each. */
function withoutKeys(loaded: LoadedConfig, revoked: ReadonlySet<string>): LoadedConfig {
  const { config, warnings } = loaded;
  const { auth } = config.http;
  const gone = auth?.keys.filter(({ hash }) => hash !== undefined && revoked.has(hash)) ?? [];
  if (!auth || gone.length === 0) return loaded;
  const keys = auth.keys.filter((key) => !gone.includes(key));
  return {
    ...loaded,
    config: { ...config, http: { ...config.http, auth: { ...auth, keys } } },
    warnings: [
      ...warnings,
      ...gone.map(({ name }) => ({
        path: `http.auth.keys "${name}"`,
        message: 'was taken out of the config of another replica and is not accepted; make a new key',
      })),
    ],
  };
}

/** Keys taken back by any replica of a store. */
export function createRevokedKeys({
  store,
  clock,
  log,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}): RevokedKeys {
  let isRepeated = false;
  let before: ReadonlyMap<string, string> | undefined;
  /** Taken back here, and not stored yet: the store failed. */
  const unsaved = new Map<string, string>();

  const save = async (): Promise<void> => {
    for (const [hash, name] of unsaved) {
      await store.put(SPACE, hash, { name }, { expiresAt: clock.now() + KEPT_MS });
      unsaved.delete(hash);
    }
  };

  const strip = async (loaded: LoadedConfig): Promise<LoadedConfig> =>
    withoutKeys(loaded, new Set((await store.list(SPACE)).map(({ key }) => key)));

  return {
    async apply(loaded) {
      const now = keysIn(loaded);
      const old = before ?? now;
      before = now;
      for (const [hash, name] of old) if (!now.has(hash)) unsaved.set(hash, name);
      const brought = [...now.keys()].filter((hash) => !old.has(hash));
      for (const hash of brought) unsaved.delete(hash);
      try {
        await save();
        for (const hash of brought) await store.delete(SPACE, hash);
      } catch (thrown) {
        // Here it holds in any case; the next reload tries again.
        log.error('keys.unshared', { keys: [...unsaved.values()], reason: messageOf(thrown) });
      }
      return strip(loaded);
    },
    reader: (read, inForce) => () => (isRepeated ? strip(inForce()) : read()),
    follow(reload, onFailure) {
      const repeat = async (thrown: unknown): Promise<void> => {
        onFailure(thrown);
        isRepeated = true;
        try {
          await reload();
        } finally {
          isRepeated = false;
        }
      };
      return store.onChange((space) => void (space === SPACE && reload().catch(repeat).catch(onFailure)));
    },
  };
}
