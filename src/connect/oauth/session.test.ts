import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { silentLog } from '../../kernel/log.js';
import { createSecretMask } from '../../kernel/secrets.js';
import { createMemoryStore } from '../../store/index.js';
import { createGrants } from './grants.js';
import { createSignInSession } from './session.js';

describe('the session of a sign-in', () => {
  it('S15 A28 a server that asks for other scopes with every answer cannot make what is stored grow', async () => {
    const clock = createFakeClock();
    const grants = createGrants({ store: createMemoryStore({ clock }), clock, mask: createSecretMask() });
    const scope = { server: 's', url: 'https://mcp.example/mcp' };
    const issuer = 'https://login.example';
    await grants.write({
      ...scope,
      issuer,
      resource: scope.url,
      isResourceNamed: true,
      client: { id: 'c', origin: 'configured' },
      metadata: { issuer, authorization_endpoint: issuer, token_endpoint: issuer, response_types_supported: ['code'] },
      scope: 'read',
      accessToken: 'token-1',
    });
    const session = createSignInSession({ scope, auth: {}, grants, clock, log: silentLog, mask: (text) => text });
    const refuse = (wanted: string): Promise<unknown> =>
      session.recover({ status: 403, scope: wanted }, 'token-1').catch((thrown: unknown) => thrown);
    const wanted = async (): Promise<string> => (await grants.read(scope))?.wantedScope ?? '';
    await refuse('write');
    expect(await wanted()).toBe('read write');
    for (let at = 0; at < 300; at++) await refuse(`a${at} ${'x'.repeat(100)}${at}`);
    expect((await wanted()).length).toBeLessThan(5000);
    // The latest wish counts, and one that is too long for any scope does not.
    expect(await wanted()).toMatch(/^read .*a299/);
    const before = await wanted();
    expect(await refuse('y'.repeat(100_000))).toMatchObject({ code: 'AUTHENTICATION_FAILED' });
    expect(await wanted()).toBe(before);
  });
});
