import { afterEach, describe, expect, it } from 'vitest';
import type { SessionState } from '../api/types.js';
import { howToSignIn, isAdmin, seesAsAdmin, session, studioCommand, whatIsAllowed } from './session.js';

const state = (change: Partial<SessionState>): SessionState => ({
  signedIn: false,
  required: false,
  scopes: ['read', 'call', 'admin'],
  mayAdminister: false,
  methods: [],
  ...change,
});

afterEach(() => {
  session.value = undefined;
});

describe('what the page says about rights', () => {
  it('STUDIO-6 before it is known who asks, nothing may be changed', () => {
    expect([isAdmin(), seesAsAdmin()]).toEqual([false, false]);
  });

  it('STUDIO-6 says what is allowed and how to get more', () => {
    session.value = state({});
    expect([isAdmin(), seesAsAdmin()]).toEqual([false, true]);
    expect(whatIsAllowed()).toBe('You can look and run tools, but not change anything.');
    expect(howToSignIn()).toContain('`npx toolscout studio`');
    expect(studioCommand('7391')).toBe('npx toolscout studio --port 7391');
    session.value = state({ required: true, scopes: ['read'] });
    expect(whatIsAllowed()).toBe('You can look, but not change anything.');
    expect(howToSignIn()).toContain('scope admin');
  });
});
