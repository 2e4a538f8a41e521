import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';

/** How long a host may take for one round. */
const LIFE_MS = 600_000;
/** Longer than this it cannot be ours. */
const LONGEST = 512 * 1024;
/** Used ones that are remembered; beyond that the one used longest ago may be used again until it expires. */
const MAX_USED = 10_000;

/** Text that goes to a host and comes back as what it was, or not at all (S8). */
export interface RequestStates {
  /** A text for `payload` that only whoever has the same `binding` can hand in, once and not too late. */
  seal(payload: JsonObject, binding: string): string;
  /** What was sealed; `undefined` for anything forged, foreign, expired or used before. */
  open(state: unknown, binding: string): JsonObject | undefined;
}

/** Of AES-GCM, in bytes: what makes each text different, and what proves that nothing was changed. */
const NONCE = 12;
const PROOF = 16;

/**
 * States sealed with a key that lives as long as this process. They are encrypted, not only signed: a server may keep
 * in its state what a rule of redaction takes out of everything else the host sees.
 */
export function createRequestStates(clock: Clock): RequestStates {
  const key = randomBytes(32);
  const used = new Set<string>();

  const decrypt = (sealed: Buffer, binding: string): string | undefined => {
    const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE), { authTagLength: PROOF });
    cipher.setAAD(Buffer.from(binding, 'utf8')).setAuthTag(sealed.subarray(NONCE, NONCE + PROOF));
    try {
      return cipher.update(sealed.subarray(NONCE + PROOF), undefined, 'utf8') + cipher.final('utf8');
    } catch {
      // It was changed, or given to somebody else.
      return undefined;
    }
  };

  return {
    seal(payload, binding) {
      const text = JSON.stringify({ payload, until: clock.monotonic() + LIFE_MS, once: newId() });
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: PROOF });
      cipher.setAAD(Buffer.from(binding, 'utf8'));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(state, binding) {
      if (typeof state !== 'string' || state.length > LONGEST) return undefined;
      const sealed = Buffer.from(state, 'base64url');
      // Decoding forgives: only the very text that was given out counts.
      if (sealed.length <= NONCE + PROOF || sealed.toString('base64url') !== state) return undefined;
      const text = decrypt(sealed, binding);
      if (text === undefined) return undefined;
      const { payload, until, once } = JSON.parse(text) as JsonObject;
      if (!isObject(payload) || typeof until !== 'number' || typeof once !== 'string') return undefined;
      if (clock.monotonic() > until || used.has(once)) return undefined;
      used.add(once);
      const oldest = used.values().next();
      if (used.size > MAX_USED && !oldest.done) used.delete(oldest.value);
      return payload;
    },
  };
}
