import { describe, expect, it } from 'vitest';
import { runningText, tokensText, tookText } from './run-words.js';

describe('words of a call', () => {
  it('STUDIO-1 says what a running call waits for', () => {
    const questions = (count: number) => Array.from({ length: count }, () => ({}));
    expect([0, 1, 3].map((count) => runningText(questions(count)))).toEqual([
      'The tool is running…',
      'The tool waits for your answer.',
      'The tool waits for your answers: 3 questions.',
    ]);
    expect(runningText(questions(1), true)).toBe('The tool is running, and has 1 question…');
    expect(runningText([], true)).toBe('The tool is running…');
    const confirms = { rule: 'rule 1 (pattern "*")', scope: 'call', arguments: {} } as const;
    expect(runningText([{ confirms }])).toBe('Waiting for your yes. Nothing was sent to the server yet.');
  });

  it('STUDIO-1 says what it cost, and what was kept back', () => {
    expect(tokensText(undefined)).toBeUndefined();
    expect(tokensText({ success: true })).toBeUndefined();
    expect(tokensText({ tokens: { arguments: 7, returned: 1200 } })).toBe('Tokens: arguments 7, answer 1,200');
    expect(tokensText({ tokens: { arguments: 7, returned: 2, withheld: 3000 } })).toBe(
      'Tokens: arguments 7, answer 2, 3,000 kept back',
    );
  });

  it('STUDIO-1 says how long it took without the wait for the person', () => {
    expect(tookText({ ms: 120, askedMs: 0 })).toBe('120 ms');
    expect(tookText({ ms: 30_120, askedMs: 30_000 })).toBe('120 ms + 30.0 s waiting for your answer');
  });
});
