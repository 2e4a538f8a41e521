import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../src/kernel/hash.js';
import { fixture } from '../support/fixture.js';
import { lineMatching, workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const KEY = 'a-long-key-for-the-team';
const bearer = (key: string): { headers: Record<string, string> } => ({ headers: { authorization: `Bearer ${key}` } });

/** An issuer of tokens on this machine; `jwksUri` is where it says its keys are. */
async function startIssuer(jwksUri?: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' };
  const asked: string[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url ?? '');
    const metadata = { issuer, jwks_uri: jwksUri ?? `${issuer}/jwks` };
    const document = url === '/jwks' ? { keys: [jwk] } : url?.includes('openid-configuration') ? metadata : undefined;
    response
      .writeHead(document ? 200 : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(document ?? {}));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sign = (claims: object): Promise<string> =>
    new SignJWT({ sub: 'ann', scope: 'read', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer(issuer)
      .setAudience('tools')
      .setExpirationTime('5m')
      .sign(privateKey);
  return { issuer, sign, asked };
}

describe('a toolscout for a team', STARTS_PROCESSES, () => {
  it('S2 serve refuses an address that others can reach without keys, and serves it with them', async () => {
    const open = await workplace({ http: { host: '0.0.0.0', port: 0 } });
    const refused = await open.run('serve');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('without authentication');
    const unset = await workplace({
      http: { host: '0.0.0.0', port: 0, auth: { keys: [{ name: 'a', key: '${NO_SUCH_KEY}' }] } },
    });
    expect((await unset.run('serve')).code).toBe(2);

    const keys = [{ name: 'team', hash: sha256(KEY), scopes: ['call' as const] }];
    const place = await workplace({
      servers: { old: fixture('legacy') },
      http: { host: '0.0.0.0', port: 0, auth: { keys } },
    });
    const child = place.start('serve');
    const [, port] = await lineMatching(child, /http:\/\/127\.0\.0\.1:(\d+)\/mcp/);
    const base = `http://127.0.0.1:${port}`;
    expect((await fetch(`${base}/v1/servers`)).status).toBe(401);
    expect((await fetch(`${base}/v1/servers`, bearer(KEY))).status).toBe(200);
    expect((await fetch(`${base}/mcp`, { method: 'POST', body: '{}' })).status).toBe(401);
    // Keys change with the config, without a restart.
    await place.write({
      servers: { old: fixture('legacy') },
      http: { host: '0.0.0.0', port: 0, auth: { keys: [{ name: 'team', hash: sha256('another-long-key-for-it') }] } },
    });
    child.kill('SIGHUP');
    await expect.poll(async () => (await fetch(`${base}/v1/servers`, bearer(KEY))).status).toBe(401);
    expect((await fetch(`${base}/v1/servers`, bearer('another-long-key-for-it'))).status).toBe(200);
  });

  it('S10 A19 tokens are checked with the keys of the issuer, which are not looked for inside the network', async () => {
    const good = await startIssuer();
    const inner = await startIssuer();
    const evil = await startIssuer(`${inner.issuer}/jwks`);
    const serveFor = async (issuer: string): Promise<string> => {
      const place = await workplace({ http: { port: 0, auth: { oauth: { issuer, audience: 'tools' } } } });
      const [, base] = await lineMatching(place.start('serve'), /(http:\/\/127\.0\.0\.1:\d+)\/mcp/);
      return base!;
    };
    const base = await serveFor(good.issuer);
    expect((await fetch(`${base}/v1/servers`, bearer(await good.sign({})))).status).toBe(200);
    expect((await fetch(`${base}/v1/servers`, bearer(await inner.sign({})))).status).toBe(401);
    const metadata = await fetch(`${base}/.well-known/oauth-protected-resource`);
    expect(await metadata.json()).toMatchObject({ authorization_servers: [good.issuer], resource: `${base}/mcp` });
    const led = await serveFor(evil.issuer);
    expect((await fetch(`${led}/v1/servers`, bearer(await evil.sign({})))).status).toBe(401);
    expect(inner.asked).toEqual([]);
  });

  it('REG-1 REG-7 the registry keeps itself current while it serves', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') }, http: { port: 0 } });
    const [, base] = await lineMatching(place.start('serve'), /(http:\/\/127\.0\.0\.1:\d+)\/mcp/);
    await expect.poll(async () => (await fetch(`${base}/v1/tools`)).status).toBe(200);
    expect(await (await fetch(`${base}/metrics`)).text()).toMatch(/^tools_registry_size 1$/m);
  });
});
