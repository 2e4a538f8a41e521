import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveConfig, validateConfig } from '../index.js';

const CANARY = 'canary-sekret-value';
const config = (auth: unknown, rest: object = {}): unknown => ({
  servers: { issues: { url: 'https://mcp.example/mcp', auth, ...rest } },
});
const problems = (auth: unknown): string[] =>
  validateConfig(config(auth)).problems.map((p) => `${p.path}: ${p.message}`);
const resolved = (auth: unknown, env: Record<string, string> = {}): ReturnType<typeof resolveConfig> =>
  resolveConfig(config(auth), { source: 'test', env });

describe('auth of a server', () => {
  it('CONN-6 CFG-3 reports invalid settings with their path', () => {
    expect(problems({ type: 'client-credentials' })).toEqual([
      'servers.issues.auth.type: needs clientId and clientSecret for client-credentials',
    ]);
    expect(problems({ clientSecret: 'x' })[0]).toMatch(/^servers\.issues\.auth\.clientSecret: /);
    expect(problems({ clientMetadataUrl: 'http://a.example/b' })[0]).toMatch(/auth\.clientMetadataUrl: needs an https/);
    expect(problems({ clientMetadataUrl: 'https://a.example/' })[0]).toMatch(/auth\.clientMetadataUrl: /);
    expect(problems({ issuer: 'file:///x' })[0]).toMatch(/auth\.issuer: /);
    expect(problems({ scopes: ['a b'] })[0]).toMatch(/auth\.scopes: /);
    expect(problems({ redirectPort: 0 })[0]).toMatch(/auth\.redirectPort: /);
    expect(problems({ clientID: 'x' })[0]).toMatch(/did you mean "clientId"/);
  });

  it('CONN-6 what works passes, variables included', () => {
    expect(problems({})).toEqual([]);
    expect(problems({ type: 'client-credentials', clientId: '${ID}', clientSecret: '${SECRET}' })).toEqual([]);
    expect(problems({ clientMetadataUrl: 'https://a.example/client.json', scopes: ['a:b'], redirectPort: 7 })).toEqual(
      [],
    );
    expect(problems({ clientMetadataUrl: '${URL}', issuer: '${ISSUER}', scopes: ['${SCOPE}'] })).toEqual([]);
  });

  it('CFG-4 A33 variables are filled in, and the secret is known as one', () => {
    const auth = { clientId: '${ID}', clientSecret: '${SECRET}', scopes: ['${SCOPE:-read}'] };
    const { servers, secrets } = resolved(auth, { ID: 'me', SECRET: CANARY });
    expect(servers[0]?.transport).toMatchObject({ auth: { clientId: 'me', clientSecret: CANARY, scopes: ['read'] } });
    expect(secrets).toContain(CANARY);
    expect(JSON.stringify(servers[0]?.shown)).not.toContain(CANARY);
    const missing = resolved(auth, { ID: 'me' }).servers[0];
    expect(missing?.problem).toMatch(/SECRET/);
    const wrong = resolved({ issuer: '${ISSUER}' }, { ISSUER: `ftp://${CANARY}` }).servers[0];
    expect(wrong?.problem).toMatch(/issuer/);
    expect(wrong?.problem).not.toContain(CANARY);
  });

  it('DISC-4 another client is another credential: the digest changes', () => {
    const digest = (auth: unknown): string | undefined => resolved(auth).servers[0]?.digest;
    expect(digest({ clientId: 'a' })).not.toBe(digest({ clientId: 'b' }));
    expect(digest({ clientId: 'a' })).toBe(digest({ clientId: 'a' }));
  });

  it('CFG-3 it has no effect on a local server, and says so', () => {
    const { warnings } = validateConfig({ servers: { a: { command: 'x', auth: {} } } });
    expect(warnings.map(({ path }) => path)).toContain('servers.a.auth');
  });

  it('CFG-3 any value whatever gives problems, never a crash', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (auth, field) => {
        expect(Array.isArray(problems(auth))).toBe(true);
        for (const name of ['type', 'clientId', 'clientSecret', 'clientMetadataUrl', 'issuer', 'scopes']) {
          expect(Array.isArray(problems({ [name]: field }))).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });
});
