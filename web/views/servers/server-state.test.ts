import { describe, expect, it } from 'vitest';
import { stateOf } from './server-state.js';

const health = { state: 'disconnected', breaker: 'closed', since: 0 } as const;

describe('stateOf', () => {
  it.each([
    [{ enabled: false }, 'disabled'],
    [{ problem: 'a variable is not set' }, 'needs attention'],
    [{ health: { ...health, breaker: 'open' as const, lastError: 'it died' } }, 'failing'],
    [{ knowledge: 'failed' as const, failure: { at: 0, reason: 'no answer' } }, 'failing'],
    [{ knowledge: 'learning' as const }, 'learning tools'],
    [{ health: { ...health, state: 'connected' as const } }, 'connected'],
    [{}, 'ready'],
    [{ knowledge: 'unknown' as const }, 'not started'],
  ])('STUDIO-1 tells how a server is: %j', (change, word) => {
    const state = stateOf({ enabled: true, knowledge: 'ready', health, ...change });
    expect(state.word).toBe(word);
    expect(state.reason === undefined).toBe(!/needs attention|failing/.test(word));
  });
});
