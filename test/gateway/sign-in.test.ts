import { describe, expect, it } from 'vitest';
import { browse, startAuthorizationServer, startProtectedServer } from '../support/authorization-server.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';

describe('signing in', () => {
  it('CONN-6 a whole sign-in without a screen: registered, signed in, called', { timeout: 30_000 }, async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const gateway = await openToolscout({ servers: { notes: { url: server.url } } });
    const refused = await gateway.executeTool('notes', 'echo', { text: 'hi' });
    expect(refused.error).toMatchObject({
      code: 'AUTHENTICATION_FAILED',
      suggestion: 'Sign in: toolscout auth login notes',
    });
    let page = '';
    const status = await gateway.signIn('notes', {
      open: async (url) => {
        page = (await browse(url)).text;
      },
    });
    expect(status).toMatchObject({ state: 'signed-in', issuer: issuer.origin, resource: server.url });
    expect(page).toContain('You can close this window');
    const answer = await gateway.executeTool('notes', 'echo', { text: 'hi' });
    expect(answer.error).toBe(undefined);
    expect(textOf(answer)).toBe('hi');
  });
});
