import { describe, expect, it } from 'vitest';
import {
  browse,
  json,
  serveHttp,
  startAuthorizationServer,
  startProtectedServer,
} from '../../../test/support/authorization-server.js';
import { signInTo } from '../../../test/support/sign-in.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import { systemClock } from '../../kernel/clock.js';
import type { JsonObject } from '../../kernel/json.js';
import { discoverSite } from './discovery.js';
import { createEndpointFetch, checkEndpoint, isLoopback } from './endpoint.js';

const patient = STARTS_PROCESSES;

/** Tries to sign in, and answers how that failed and which pages would have been opened. */
async function attempt(url: string): Promise<{ failure: Error & { code?: string }; opened: string[] }> {
  const opened: string[] = [];
  const open = async (page: string): Promise<void> => {
    opened.push(page);
    await browse(page);
  };
  const failure = await signInTo(url)
    .signIn({ open })
    .then(
      () => new Error('signed in'),
      (thrown: Error) => thrown,
    );
  return { failure, opened };
}

const withMetadata = async (change: (metadata: JsonObject) => JsonObject): ReturnType<typeof attempt> => {
  const issuer = await startAuthorizationServer({ metadata: change });
  const server = await startProtectedServer({ issuers: () => [issuer.origin] });
  return attempt(server.url);
};

describe('where one signs in', STARTS_PROCESSES, () => {
  it('S13 an authorization server that does not say it supports PKCE is refused', patient, async () => {
    const silent = await withMetadata(({ code_challenge_methods_supported: _gone, ...rest }) => rest);
    expect(silent.failure).toMatchObject({ code: 'AUTHENTICATION_FAILED' });
    expect(silent.failure.message).toMatch(/PKCE/);
    const plain = await withMetadata((metadata) => ({ ...metadata, code_challenge_methods_supported: ['plain'] }));
    expect(plain.failure.message).toMatch(/PKCE/);
    expect(silent.failure).toMatchObject({ suggestion: 'Report it to the operator of the server.' });
    expect([...silent.opened, ...plain.opened]).toEqual([]);
  });

  it.each([
    'http://a/$(calc.exe)',
    'file:///etc/passwd',
    '--upload-pack=x',
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'http://evil.example/authorize',
    'https://user:secret@evil.example/authorize',
    'ms-settings:x',
    '',
    '\\\\evil.example\\share',
  ])('A6 S17 an authorization_endpoint that no browser should be sent to is refused: %s', patient, async (endpoint) => {
    const { failure, opened } = await withMetadata((metadata) => ({ ...metadata, authorization_endpoint: endpoint }));
    expect(failure).toMatchObject({ code: 'AUTHENTICATION_FAILED' });
    expect(failure.message).not.toContain('secret@');
    expect(opened).toEqual([]);
  });

  it(
    'A47 a browser is not sent into the internal network, unless the user wrote the issuer down',
    patient,
    async () => {
      const scope = { server: 's', url: 'https://mcp.example/mcp', ownHosts: ['mcp.example', 'files.corp.internal'] };
      const site = async (endpoint: string, auth = {}): Promise<string> => {
        const issuer = 'https://login.example';
        const metadata = {
          issuer,
          authorization_endpoint: endpoint,
          token_endpoint: `${issuer}/token`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
        };
        const answers = (url: string): JsonObject =>
          url.includes('protected-resource')
            ? { resource: 'https://mcp.example/mcp', authorization_servers: [issuer] }
            : metadata;
        return discoverSite(scope, auth, {}, async (url) => Response.json(answers(String(url)))).then(
          () => 'accepted',
          (thrown: { code: string }) => thrown.code,
        );
      };
      const internal = [
        '192.168.0.1',
        'router.local',
        '169.254.169.254',
        '[::1]:8443',
        'intranet',
        '10.0.0.7',
        'localhost',
      ];
      for (const host of internal) expect(await site(`https://${host}/reboot?now=1`), host).toBe('FORBIDDEN');
      expect(await site('https://login.example/authorize')).toBe('accepted');
      expect(await site('https://files.corp.internal/authorize')).toBe('accepted');
      expect(await site('https://10.0.0.7/authorize', { issuer: 'https://login.example' })).toBe('accepted');
    },
  );

  it.each(['token_endpoint', 'registration_endpoint', 'revocation_endpoint'])(
    'S17 a %s over plain http elsewhere is refused before anything is sent',
    patient,
    async (name) => {
      const { failure, opened } = await withMetadata((metadata) => ({ ...metadata, [name]: 'http://evil.example/x' }));
      expect(failure).toMatchObject({ code: 'AUTHENTICATION_FAILED' });
      expect(opened).toEqual([]);
    },
  );

  it('A6 a page is handed to the browser without a character that a shell would read', patient, async () => {
    let issuer = '';
    const { opened } = await withMetadata((metadata) => {
      issuer = String(metadata['issuer']);
      return { ...metadata, authorization_endpoint: `${issuer}/auth?x=$(touch%20x)|\`id\`;'"<>^` };
    });
    expect(opened).toHaveLength(1);
    expect(opened[0]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/auth\?[\w%&=.~:/+*!-]+$/);
  });

  it('S13 metadata that names another issuer or another resource is refused', patient, async () => {
    const issuer = await withMetadata((metadata) => ({ ...metadata, issuer: 'https://evil.example' }));
    expect(issuer.failure).toMatchObject({ code: 'AUTHENTICATION_FAILED' });
    const real = await startAuthorizationServer();
    for (const resource of ['https://evil.example/mcp', 'not a url', 'http://127.0.0.1:1/mcp']) {
      const server = await startProtectedServer({ issuers: () => [real.origin], resource: () => resource });
      const { failure, opened } = await attempt(server.url);
      expect(failure.message).toMatch(/another resource/);
      expect(failure).toMatchObject({ suggestion: 'Report it to the operator of the server.' });
      expect(opened).toEqual([]);
    }
  });

  it(
    'A27 A28 documents that are hostile, huge or no documents at all end in an error that can be read',
    patient,
    async () => {
      const bodies = ['<html>', '[]', '{"resource":1}', `{"resource":"x","__proto__":{"y":1}}`, 'x'.repeat(300_000)];
      for (const body of bodies) {
        const server = await serveHttp((_request, response) => response.writeHead(200).end(body));
        const { failure } = await attempt(`${server.origin}/mcp`);
        expect(['AUTHENTICATION_FAILED', 'SERVER_CONNECTION_ERROR']).toContain(failure.code);
        expect(failure.message.length).toBeLessThan(500);
      }
      expect(({} as { y?: number }).y).toBe(undefined);
    },
  );

  it('CONN-6 a server without any sign-in says so', patient, async () => {
    const server = await serveHttp((_request, response) => json(response, {}, 404));
    const { failure } = await attempt(`${server.origin}/mcp`);
    expect(failure.message).toMatch(/offers no sign-in/);
    expect(failure).toMatchObject({
      suggestion: expect.stringMatching(/^Configure a token under servers\.\w+\.headers, or/) as string,
    });
  });

  it('S17 a remote server cannot lead requests to this machine, nor to plain http', () => {
    const remote = { server: 'x', url: 'https://mcp.example/mcp' };
    expect(() => checkEndpoint('http://127.0.0.1:9200/', 'issuer', remote)).toThrow(/not an https address/);
    expect(() => checkEndpoint('http://localhost/', 'issuer', remote)).toThrow(/not an https address/);
    expect(checkEndpoint('https://login.example/a', 'issuer', remote).href).toBe('https://login.example/a');
    const local = { server: 'x', url: 'http://localhost:3000/mcp' };
    expect(checkEndpoint('http://127.0.0.1:9200/', 'issuer', local).port).toBe('9200');
    expect(['127.0.0.1', '127.1.2.3', 'localhost', 'a.localhost', '[::1]'].every(isLoopback)).toBe(true);
    expect(['127.0.0.1.evil.example', '10.0.0.1', 'localhost.evil.example', '::1'].some(isLoopback)).toBe(false);
  });

  it.each([
    'https://10.0.0.1/token',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/token',
    'https://[fd00::1]/token',
    'https://[::ffff:192.168.0.1]/token',
    'https://[4000::1]/token',
    'https://metadata.google.internal/token',
    'https://localhost/token',
    'https://0x7f.1/token',
  ])('A47 A19 a public server cannot lead a sign-in to %s', async (address) => {
    const scope = { server: 'x', url: 'https://mcp.example/mcp', ownHosts: ['mcp.example'] };
    await expect(createEndpointFetch(scope, { clock: systemClock })(address)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      suggestion: expect.stringContaining('auth.issuer') as string,
    });
  });

  it('A47 a host that the user wrote down may be internal, a host that only the server names may not', async () => {
    const server = await serveHttp((_request, response) => json(response, { here: true }));
    const url = server.origin.replace('127.0.0.1', 'localhost');
    const own = createEndpointFetch({ server: 'x', url, ownHosts: ['localhost'] }, { clock: systemClock });
    expect((await own(server.origin)).status).toBe(200);
    const stranger = createEndpointFetch({ server: 'x', url, ownHosts: [] }, { clock: systemClock });
    await expect(stranger(server.origin)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(server.seen).toHaveLength(1);
  });

  it('S17 a redirect of an authorization server to another place is not followed', patient, async () => {
    const evil = await serveHttp((_request, response) => json(response, {}));
    const server = await serveHttp((_request, response) =>
      response.writeHead(302, { location: `${evil.origin}/` }).end(),
    );
    const scope = { server: 'x', url: server.origin, ownHosts: ['127.0.0.1'] };
    const send = createEndpointFetch(scope, { clock: systemClock });
    expect((await send(server.origin)).status).toBe(302);
    await expect(attempt(`${server.origin}/mcp`)).resolves.toMatchObject({ opened: [] });
    expect(evil.seen).toEqual([]);
  });
});
