import { afterEach, describe, expect, it } from 'vitest';
import type { SessionState } from '../api/types.js';
import { howToGetCode, howToSignIn, isAdmin, seesAsAdmin, session, signInCommand, whatIsAllowed } from './session.js';

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
    session.value = state({ required: true, scopes: ['read'] });
    expect(whatIsAllowed()).toBe('You can look, but not change anything.');
    expect(howToSignIn()).toContain('scope admin');
  });

  it('STUDIO-6 the command that signs in names the state and the config of this toolscout', () => {
    session.value = state({ stateDir: '/srv/state' });
    expect(howToSignIn()).toBe('Run `npx toolscout studio --state-dir /srv/state` in a terminal to sign in.');
    expect(signInCommand()).toBe('npx toolscout studio --state-dir /srv/state');
    session.value = state({ config: '/srv/tools.yaml' });
    expect(howToGetCode()).toBe(
      'Run `npx toolscout studio --config /srv/tools.yaml` again: it opens a new address that signs you in.',
    );
    session.value = state({ required: true });
    expect(signInCommand()).toBeUndefined();
    session.value = state({ stateDir: 'memory' });
    expect(signInCommand()).toBeUndefined();
    expect([howToSignIn(), howToGetCode()].every((text) => text.includes('start it with `--admin`'))).toBe(true);
  });
});
