import { describe, expect, it } from 'vitest';
import { approvedText, beforeRunText, coversText, needsText } from './confirm-words.js';

describe('words of a confirmation', () => {
  it('STUDIO-1 says which calls need a yes, and what happens before one is sent', () => {
    const all = (['always', 'once', 'when'] as const).map((asks) => ({ asks }));
    expect(all.map(needsText)).toEqual([
      'each call',
      'the first call of each caller',
      'calls whose arguments fit a condition',
    ]);
    expect(all.map(beforeRunText)).toEqual([
      'toolscout asks you for a yes before the call is sent.',
      'toolscout asks you for a yes before your first call is sent.',
      'toolscout asks you for a yes before the call is sent, if its arguments fit the condition of a rule.',
    ]);
  });

  it('STUDIO-1 SEC-11 says what a yes covers: one call, or the tool for 30 days', () => {
    expect(coversText({ scope: 'call' })).toBe('this call with these arguments, once');
    expect(coversText({ scope: 'tool' })).toBe(
      'every call of this tool by this caller for 30 days, with any arguments',
    );
    const call = { server: 'notes', tool: 'drop', principal: 'ann' };
    expect(approvedText({ ...call, scope: 'call' }, '12:00')).toBe(
      'Approved. ann may call notes:drop once with these arguments, until 12:00.',
    );
    expect(approvedText({ ...call, scope: 'tool' }, '12:00')).toBe(
      'Approved. ann may make this call until 12:00, and then call notes:drop for 30 days with any arguments.',
    );
  });
});
