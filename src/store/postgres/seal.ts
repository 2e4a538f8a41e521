import { createHash, hkdfSync } from 'node:crypto';
import { ToolscoutError } from '../../kernel/errors.js';
import { KEY_BYTES, openSealed, sealBytes } from '../../kernel/sealing.js';

/** The spaces whose values are encrypted: they hold tokens with which others could act for the user. */
export const SEALED_SPACES: ReadonlySet<string> = new Set(['oauth']);

const PREFIX = 'sealed:1:';
const MIN_KEY_LENGTH = 32;

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
  if (text.length < MIN_KEY_LENGTH) {
    throw new ToolscoutError(
      'CONFIGURATION_ERROR',
      `The key of the store (TOOLSCOUT_STORE_KEY) has ${text.length} characters; expected at least ${MIN_KEY_LENGTH}.`,
      { suggestion: 'Make one with: openssl rand -base64 32' },
    );
  }
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', text, '', `toolscout ${purpose}`, KEY_BYTES));
  const key = derive('store values');
  return {
    check: createHash('sha256').update(derive('key check')).digest('hex').slice(0, 16),
    close: (value, place) => PREFIX + sealBytes(key, Buffer.from(value, 'utf8'), place).toString('base64'),
    open(sealed, place) {
      if (!sealed.startsWith(PREFIX)) return undefined;
      return openSealed(key, Buffer.from(sealed.slice(PREFIX.length), 'base64'), place)?.toString('utf8');
    },
  };
}
