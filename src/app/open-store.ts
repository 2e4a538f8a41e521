import { readFile } from 'node:fs/promises';
import { readEnvironment } from '../config/index.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { SecretMask } from '../kernel/secrets.js';
import type { Store } from '../model/store.js';
import { createMemoryStore, openSqliteStore, type SqliteStoreOptions } from '../store/index.js';

/** What opening a store needs. */
export interface StoreSurroundings extends SqliteStoreOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Gets the password of a database and the key of its values, to mask them. */
  readonly mask: SecretMask;
}

/** Opens the store that a config names: `memory`, `sqlite` or the address of a database; the driver of a database is loaded only for one. */
export async function openStore(store: string, options: StoreSurroundings): Promise<Store> {
  if (store === 'memory') return createMemoryStore(options);
  if (store === 'sqlite') return openSqliteStore(options);
  const { createSeal, openPostgresStore, readPostgresAddress } = await import('../store/postgres/index.js');
  const { env, mask, clock, log } = options;
  const address = readPostgresAddress(store, env);
  mask.add(address.secrets);
  const key = await readStoreKey(env);
  if (key !== undefined) mask.add([key]);
  return openPostgresStore({ address, clock, log, ...(key !== undefined && { seal: createSeal(key) }) });
}

/** The key that encrypts tokens in a shared database, from the environment or from a file. */
async function readStoreKey(env: StoreSurroundings['env']): Promise<string | undefined> {
  const { storeKey, storeKeyFile } = readEnvironment(env);
  if (storeKey !== undefined || storeKeyFile === undefined) return storeKey;
  try {
    return (await readFile(storeKeyFile, 'utf8')).trim();
  } catch (thrown) {
    throw new ToolscoutError('CONFIGURATION_ERROR', `Cannot read TOOLSCOUT_STORE_KEY_FILE: ${messageOf(thrown)}.`, {
      suggestion: 'Name a file that this user can read, or set TOOLSCOUT_STORE_KEY.',
      cause: thrown,
    });
  }
}
