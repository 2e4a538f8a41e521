import { openSealed, sealBytes } from '../kernel/sealing.js';
import type { Store } from '../model/store.js';
import { createStoreKey } from '../model/store-key.js';

/** Seals what is stored of scripts with a key of the store. */
export interface Vault {
  /** Base64 that only the same `binding` opens. */
  seal(bytes: Uint8Array, binding: string): Promise<string>;
  /** What was sealed; `undefined` when it was changed, or sealed with another binding. */
  open(sealed: string, binding: string): Promise<Buffer | undefined>;
}

/** A vault whose key is made when it is first needed; all processes of one store share it. */
export function createVault(store: Store): Vault {
  const key = createStoreKey(store, 'script-key');
  return {
    seal: async (bytes, binding) => sealBytes(await key(), bytes, binding).toString('base64'),
    open: async (sealed, binding) => openSealed(await key(), Buffer.from(sealed, 'base64'), binding),
  };
}
