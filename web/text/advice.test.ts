import { describe, expect, it } from 'vitest';
import { adviceOf, reasonOf, withRuleNumbers } from './advice.js';

describe('what the API advises', () => {
  it('STUDIO-1 is left out where it names routes, and numbers rules as the page does', () => {
    expect(adviceOf('GET /v1/servers shows the state of the server.')).toBeUndefined();
    expect(
      adviceOf('An administrator decides: GET /v1/approvals, then POST /v1/approvals/{ref}/approve.'),
    ).toBeUndefined();
    expect(adviceOf('The operator must do this: Install it.')).toBe('Install it.');
    expect(adviceOf('')).toBeUndefined();
    expect(adviceOf(undefined)).toBeUndefined();
    expect(adviceOf('Wait a moment and try again.')).toBe('Wait a moment and try again.');
    for (const rule of ['rule 1', 'toolRules[0]'])
      expect(reasonOf(`"a:b" is disabled by ${rule} (pattern "b").`)).toBe(
        '"a:b" is disabled by rule 1 (pattern "b").',
      );
    expect(withRuleNumbers('toolRules[2].pattern[0]')).toBe('rule 3, pattern[0]');
    expect(withRuleNumbers('can never decide, because toolRules[0] and toolRules[1] always decide first')).toBe(
      'can never decide, because rule 1 and rule 2 always decide first',
    );
    expect(reasonOf('"a:b" is quarantined: it changed.')).toBe('"a:b" waits for approval: it changed.');
  });
});
