import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Of AES-256-GCM, in bytes. */
const NONCE = 12;
const PROOF = 16;

/** The length of a key in bytes. */
export const KEY_BYTES = 32;

/** Encrypts bytes with AES-256-GCM so that only the same key and the same `binding` open them. */
export function sealBytes(key: Buffer, bytes: Uint8Array, binding: string): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: PROOF });
  cipher.setAAD(Buffer.from(binding, 'utf8'));
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** What {@link sealBytes} sealed; `undefined` for changed bytes, another key or another binding. */
export function openSealed(key: Buffer, sealed: Buffer, binding: string): Buffer | undefined {
  if (sealed.length < NONCE + PROOF) return undefined;
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE), { authTagLength: PROOF });
  cipher.setAAD(Buffer.from(binding, 'utf8')).setAuthTag(sealed.subarray(NONCE, NONCE + PROOF));
  try {
    return Buffer.concat([cipher.update(sealed.subarray(NONCE + PROOF)), cipher.final()]);
  } catch {
    // GCM reports every mismatch by throwing; the caller refuses what it cannot open.
    return undefined;
  }
}
