import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { ToolscoutError } from '../kernel/errors.js';
import type { Store } from '../model/store.js';

/** Seals what is stored of scripts with a key of the store. */
export interface Vault {
  /** Base64 that only the same `binding` opens. */
  seal(bytes: Uint8Array, binding: string): Promise<string>;
  /** What was sealed; `undefined` when it was changed, or sealed with another binding. */
  open(sealed: string, binding: string): Promise<Buffer | undefined>;
}

const SPACE = 'script-key';
const KEY_BYTES = 32;
/** Of AES-GCM, in bytes. */
const NONCE = 12;
const PROOF = 16;

/** A vault whose key is made when it is first needed; all processes of one store share it. */
export function createVault(store: Store): Vault {
  let known: Promise<Buffer> | undefined;
  const readKey = async (): Promise<Buffer | undefined> => {
    const entry = await store.get(SPACE, SPACE);
    const key = typeof entry?.value === 'string' ? Buffer.from(entry.value, 'base64') : undefined;
    return key?.length === KEY_BYTES ? key : undefined;
  };
  const makeKey = async (): Promise<Buffer> => {
    const found = await readKey();
    if (found) return found;
    // Another process may do the same at this moment; the key of the first one holds.
    await store.put(SPACE, SPACE, randomBytes(KEY_BYTES).toString('base64'), { ifRevision: 0 });
    const made = await readKey();
    if (made) return made;
    throw new ToolscoutError('STORE_ERROR', 'The key for suspended scripts cannot be read back from the store.');
  };
  const key = (): Promise<Buffer> =>
    (known ??= makeKey().catch((thrown: unknown) => {
      known = undefined;
      throw thrown;
    }));

  return {
    async seal(bytes, binding) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', await key(), nonce, { authTagLength: PROOF });
      cipher.setAAD(Buffer.from(binding, 'utf8'));
      const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    async open(sealed, binding) {
      const bytes = Buffer.from(sealed, 'base64');
      if (bytes.length < NONCE + PROOF) return undefined;
      const cipher = createDecipheriv('aes-256-gcm', await key(), bytes.subarray(0, NONCE), { authTagLength: PROOF });
      cipher.setAAD(Buffer.from(binding, 'utf8')).setAuthTag(bytes.subarray(NONCE, NONCE + PROOF));
      try {
        return Buffer.concat([cipher.update(bytes.subarray(NONCE + PROOF)), cipher.final()]);
      } catch {
        // It was changed, or belongs to somebody else.
        return undefined;
      }
    },
  };
}
