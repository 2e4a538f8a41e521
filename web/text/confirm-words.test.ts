import { describe, expect, it } from 'vitest';
import { beforeRunText, needsText } from './confirm-words.js';

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
});
