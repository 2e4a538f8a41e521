import { describe, expect, it } from 'vitest';
import { learnedText, stateOf } from './server-state.js';

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

describe('learnedText', () => {
  const counts = { total: 3, enabled: 3, disabled: 0, pending: 0, quarantined: 0 };
  it.each([
    [{}, 'has 3 tools, as before.'],
    [{ total: 4, enabled: 4 }, 'has 4 tools instead of 3.'],
    [{ enabled: 2, quarantined: 1 }, 'was asked: 1 tool changed and waits for approval.'],
    [{ total: 5, pending: 2 }, 'was asked: 2 new tools wait for approval.'],
  ])('STUDIO-1 tells what learning the tools again led to: %j', (change, text) => {
    expect(learnedText(counts, { ...counts, ...change })).toBe(text);
  });
});
