import { describe, expect, it } from 'vitest';
import { adviceOf, reasonOf } from './advice.js';

describe('what the API advises', () => {
  it('STUDIO-1 is left out where it names routes, and numbers rules as the page does', () => {
    expect(adviceOf('GET /v1/servers shows the state of the server.')).toBeUndefined();
    expect(
      adviceOf('An administrator decides: GET /v1/approvals, then POST /v1/approvals/{ref}/approve.'),
    ).toBeUndefined();
    expect(adviceOf('For the operator: Install it.')).toBe('Install it.');
    expect(adviceOf('')).toBeUndefined();
    expect(adviceOf(undefined)).toBeUndefined();
    expect(adviceOf('Wait a moment and try again.')).toBe('Wait a moment and try again.');
    expect(reasonOf('"a:b" is disabled by toolRules[0] (pattern "b").')).toBe(
      '"a:b" is disabled by rule 1 (pattern "b").',
    );
    expect(reasonOf('"a:b" is quarantined: it changed.')).toBe('"a:b" waits for approval: it changed.');
  });
});
