import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { ToolscoutError } from '../../kernel/errors.js';

/** The spaces whose values are encrypted: they hold tokens with which others could act for the user. */
export const SEALED_SPACES: ReadonlySet<string> = new Set(['oauth']);

const PREFIX = 'sealed:1:';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SHORTEST_KEY = 32;

/** Encrypts values with one key, each bound to its place. */
export interface Seal {
  /** Tells keys apart without giving one away; every process that uses a database must have the same. */
  readonly check: string;
  close(text: string, place: string): string;
  /** The text, or `undefined` when it was not sealed here, with this key and for this place. */
  open(sealed: string, place: string): string | undefined;
}

/**
 * A seal with AES-256-GCM, keyed by a text that should be random.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` for a text that is too short to be one.
 */
export function createSeal(text: string): Seal {
  if (text.length < SHORTEST_KEY) {
    throw new ToolscoutError(
      'CONFIGURATION_ERROR',
      `The key of the store is too short: expected at least ${SHORTEST_KEY} characters.`,
      { suggestion: 'Make one with: openssl rand -base64 32' },
    );
  }
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', text, '', `toolscout ${purpose}`, 32));
  const key = derive('store values');
  return {
    check: createHash('sha256').update(derive('key check')).digest('hex').slice(0, 16),
    close(value, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
      return PREFIX + Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64');
    },
    open(sealed, place) {
      if (!sealed.startsWith(PREFIX)) return undefined;
      const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64');
      if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES)).setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      try {
        return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        // Another key, another place, or changed bytes: the caller names the entry as damaged.
        return undefined;
      }
    },
  };
}
