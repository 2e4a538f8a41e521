import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import { isObject, type JsonObject } from '../../kernel/json.js';

/** How long a host may take for one round. */
const LIFE_MS = 600_000;
/** Longer than this it cannot be ours. */
const LONGEST = 512 * 1024;
/** Used ones that are remembered; beyond that the one used longest ago may be used again until it expires. */
const MOST_USED = 10_000;

/** Text that goes to a host and comes back as what it was, or not at all (S8). */
export interface RequestStates {
  /** A text for `payload` that only whoever has the same `binding` can hand in, once and not too late. */
  seal(payload: JsonObject, binding: string): string;
  /** What was sealed; `undefined` for anything forged, foreign, expired or used before. */
  open(state: unknown, binding: string): JsonObject | undefined;
}

/** States sealed with a key that lives as long as this process. */
export function createRequestStates(clock: Clock): RequestStates {
  const key = randomBytes(32);
  const used = new Set<string>();

  const sign = (body: string, binding: string): Buffer =>
    createHmac('sha256', key).update(`${body.length}:${body}${binding}`).digest();

  return {
    seal(payload, binding) {
      const text = JSON.stringify({ payload, until: clock.monotonic() + LIFE_MS, once: newId() });
      const body = Buffer.from(text, 'utf8').toString('base64url');
      return `${body}.${sign(body, binding).toString('base64url')}`;
    },
    open(state, binding) {
      if (typeof state !== 'string' || state.length > LONGEST) return undefined;
      const dot = state.lastIndexOf('.');
      const body = state.slice(0, Math.max(dot, 0));
      const given = Buffer.from(state.slice(dot + 1), 'base64url');
      const right = sign(body, binding);
      // Decoding forgives: only the very text that was given out counts.
      if (state.slice(dot + 1) !== right.toString('base64url')) return undefined;
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
      const { payload, until, once } = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as JsonObject;
      if (!isObject(payload) || typeof until !== 'number' || typeof once !== 'string') return undefined;
      if (clock.monotonic() > until || used.has(once)) return undefined;
      used.add(once);
      const oldest = used.values().next();
      if (used.size > MOST_USED && !oldest.done) used.delete(oldest.value);
      return payload;
    },
  };
}
