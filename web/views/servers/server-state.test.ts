import { describe, expect, it } from 'vitest';
import { failedText, latencyText, learnedText, narrowFacts, offeredText, stateOf } from './server-state.js';

const health = { state: 'disconnected', breaker: 'closed', since: 0 } as const;

describe('stateOf', () => {
  it.each([
    [
      { enabled: false, knowledge: 'off' as const, problem: 'disabled in the configuration' },
      'disabled',
      /^No call reaches it: it is disabled\.$/,
    ],
    [{ knowledge: 'off' as const, problem: 'A is not set' }, 'needs attention', /^No call reaches it: A is not set$/],
    // What Home calls failing has a problem too: the failure.
    [
      { knowledge: 'failed' as const, problem: 'no answer', failure: { at: 0, reason: 'no answer' } },
      'failing',
      /^No call reaches it, for it does not answer: no answer$/,
    ],
    [
      { health: { ...health, breaker: 'open' as const, lastError: 'it died' } },
      'failing',
      /^Calls fail for a moment.*: it died$/,
    ],
    [
      { health: { ...health, state: 'error' as const, lastError: 'it died' } },
      'failing',
      /^The next call starts it again; it stopped: it died$/,
    ],
    [{ health: { ...health, state: 'error' as const } }, 'failing', /^The next call starts it again; it stopped\.$/],
    [
      { health: { ...health, state: 'error' as const, lastError: 'no route' }, transport: { type: 'http' as const } },
      'failing',
      /^The next call tries it again: no route$/,
    ],
    [{ knowledge: 'learning' as const }, 'learning tools', /^Calls wait.*asked for them now/],
    [{ health: { ...health, state: 'connected' as const } }, 'connected', /at once/],
    [{ tools: 0, disabledTools: 1 }, 'held back', /^No call reaches it: its only tool is held back/],
    [
      { tools: 0, disabledTools: 5, health: { ...health, state: 'connected' as const } },
      'held back',
      /all its 5 tools are held back/,
    ],
    [{ tools: 0 }, 'no tools', /^There is nothing to call/],
    [{}, 'ready', /^The next call starts it\.$/],
    [{ knowledge: 'stale' as const }, 'ready', /^The next call starts it/],
    [{ transport: { type: 'http' as const } }, 'ready', /^The next call connects to it/],
    [{ knowledge: 'unknown' as const }, 'not started', /^The next search starts it and asks/],
    [
      { knowledge: 'unknown' as const, transport: { type: 'sse' as const } },
      'not connected',
      /^The next search connects to it/,
    ],
  ])('STUDIO-1 tells how a server is and what that means: %j', (change, word, line) => {
    const usual = {
      enabled: true,
      knowledge: 'ready',
      tools: 3,
      disabledTools: 0,
      transport: { type: 'stdio' },
    } as const;
    const state = stateOf({ ...usual, health, ...change });
    expect(state.word).toBe(word);
    expect(state.line).toMatch(line);
    expect(state.tone === 'bad').toBe(/needs attention|failing/.test(word));
    // One rule for the line: what the next call, or the search before it, meets.
    expect(state.line).toMatch(/call|search/i);
    // The reason stands at the end of the line, or there is none.
    expect(state.line.endsWith(state.reason ?? '.')).toBe(true);
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

describe('numbers of a server', () => {
  it('STUDIO-1 says how fast it answered calls and pings, which failed, and when', () => {
    const at = (ms: number, ok = true, by: 'call' | 'check' = 'call') => ({ at: 0, ms, ok, by });
    expect(latencyText([at(300), at(10), at(20)])).toBe('3 calls, median 20 ms, slowest 300 ms');
    expect(latencyText([at(10), at(5, false), at(1, true, 'check')])).toBe(
      '2 calls, median 10 ms, slowest 10 ms, 1 failed; 1 ping, median 1 ms, slowest 1 ms',
    );
    expect(latencyText([at(5, false)])).toBe('1 call, which failed');
    expect(latencyText([at(5, false, 'check'), at(6, false, 'check')])).toBe('2 pings, all of which failed');
    expect(failedText([at(1)])).toBe('');
    const failed = [0, 1000, 2000, 3000].map((time) => ({ ...at(1, false), at: time }));
    const last = { ...at(1, false, 'check'), at: 4000 };
    expect(failedText([...failed, last])).toMatch(
      /^Failed: a ping at [\d:]+:04, a call at [\d:]+:03, a call at [\d:]+:02, and 2 before$/,
    );
  });

  it('STUDIO-1 names the cause of a failure, also while the server is left alone', () => {
    const reason =
      'Server "broken" failed 7 times in a row and is not called for now; try again in 12 s. Last error: spawn nope ENOENT';
    const health = { state: 'error', breaker: 'open', since: 0, lastError: reason } as const;
    const shown = {
      enabled: true,
      knowledge: 'failed',
      health,
      tools: 0,
      disabledTools: 0,
      transport: { type: 'stdio' },
    };
    expect(stateOf(shown as never)).toMatchObject({
      reason: 'spawn nope ENOENT',
      line: 'No call reaches it, for it does not answer: spawn nope ENOENT',
    });
  });

  it('STUDIO-1 says how many tools agents get, and how many not', () => {
    expect([offeredText(3, 0), offeredText(0, 1)]).toEqual(['3 tools offered', '0 tools offered, 1 held back']);
  });

  it('STUDIO-1 on a narrow page the tools and the latency of a server stand in one line', () => {
    const health = { state: 'connected', breaker: 'closed', since: 0 } as const;
    expect(narrowFacts({ tools: 1, disabledTools: 0, health })).toBe('1 tool offered');
    expect(narrowFacts({ tools: 0, disabledTools: 0, health })).toBe('');
    expect(narrowFacts({ tools: 8, disabledTools: 2, health: { ...health, latencyMs: 12 } })).toBe(
      '8 tools offered, 2 held back · ping 12 ms',
    );
  });
});
