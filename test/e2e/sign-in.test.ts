import { describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/model/config.js';
import { browse, startAuthorizationServer, startProtectedServer } from '../support/authorization-server.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { finish, workplace, type Finished, type Workplace } from '../support/toolscout.js';

describe('what is seen of a token', STARTS_PROCESSES, () => {
  /** Signs in as a person would: reads the address off the terminal and visits it. */
  async function login(place: Workplace): Promise<Finished> {
    const child = place.start('auth', 'login', 'notes', '--no-browser', '--verbose');
    let printed = '';
    const visited = new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        const address = /^ {2}(http\S+)\n/m.exec(printed)?.[1];
        if (address === undefined) return;
        printed = '';
        browse(address).then(() => resolve(), reject);
      });
    });
    const [finished] = await Promise.all([finish(child), visited]);
    return finished;
  }

  it('A33 CONN-6 no token is in any output, log, audit record or answer, whatever goes wrong', async () => {
    const secret = 'canary-client-secret-canary';
    const client = {
      client_id: 'by-hand',
      client_secret: secret,
      redirect_uris: ['http://127.0.0.1/callback'],
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_basic',
    };
    const issuer = await startAuthorizationServer({ clients: [client] });
    const refused = new Set<string>();
    const server = await startProtectedServer({
      issuers: () => [issuer.origin],
      accepts: (token) => !refused.has(token),
      callScope: 'mcp:read',
    });
    const config: ConfigInput = {
      servers: { notes: { url: server.url, auth: { clientId: 'by-hand', clientSecret: secret } } },
      retryPolicy: { maxRetries: 0 },
    };
    const place = await workplace(config);
    const all: Finished[] = [];
    const run = async (...args: string[]): Promise<Finished> => {
      const done = await place.run(...args, '--verbose');
      all.push(done);
      return done;
    };

    await run('call', 'notes', 'echo');
    const signedIn = await login(place);
    all.push(signedIn);
    expect(signedIn).toMatchObject({ code: 0, stdout: expect.stringContaining('notes: signed in') as string });
    expect((await run('call', 'notes', 'echo', 'text=hi')).stdout).toContain('hi');
    expect((await run('call', 'notes', 'echo', 'text=please leak')).stderr).toContain('bad token ***');
    expect((await run('call', 'notes', 'echo', 'text=please tell')).stderr).toContain('bad token ***');
    // Renewed in the middle of a call, then refused for good.
    for (const token of server.tokens) refused.add(token);
    expect((await run('call', 'notes', 'echo', 'text=again')).stdout).toContain('again');
    await run('auth', 'status', '--json');
    await run('config', 'show');
    await run('servers', '--json');
    for (const token of server.tokens) refused.add(token);
    await issuer.close();
    expect((await run('call', 'notes', 'echo', '--json')).code).not.toBe(0);
    await run('doctor', '--json');
    await run('auth', 'logout', 'notes');
    await run('audit', '--json', '--limit', '100');

    const issued = issuer.seen.filter(({ path }) => path === '/token').map(({ form }) => form);
    const secrets = new Set(
      [
        secret,
        ...server.tokens,
        ...issued.flatMap((form) => ['code', 'code_verifier', 'refresh_token'].map((name) => form.get(name) ?? '')),
      ].filter((value) => value !== ''),
    );
    expect(server.tokens.length).toBeGreaterThan(1);
    expect(issued.some((form) => form.has('refresh_token'))).toBe(true);
    const output = all.map(({ stdout, stderr }) => stdout + stderr).join('\n');
    expect(output).toContain('"sign-in"');
    // A token that is cut short is still a leak.
    const parts = [...secrets].flatMap((value) => [value.slice(0, 40), value.slice(-20)]);
    expect(parts.filter((part) => output.includes(part))).toEqual([]);
  });
});
