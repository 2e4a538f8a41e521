import { describe, expect, it } from 'vitest';
import {
  lastAddress,
  startAuthorizationServer,
  startProtectedServer,
} from '../../../../test/support/authorization-server.js';
import { commandLine, type Ran } from '../../../../test/support/command-line.js';
import { fixture } from '../../../../test/support/fixture.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';

describe('toolscout auth', STARTS_PROCESSES, () => {
  it('CONN-6 CLI-1 a local process needs no sign-in, and status says so', async () => {
    const run = (...args: string[]): Promise<Ran> =>
      commandLine(['auth', ...args], { gateway: () => openToolscout({ servers: { old: fixture('legacy') } }) });
    const all = await run('status');
    expect(all).toMatchObject({ code: 0, stdout: '' });
    expect(all.stderr).toContain('No remote server is configured.');
    expect((await run('status', '--json')).stdout).toBe('{"servers":[]}\n');
    expect((await run('status', 'old')).stdout).toBe('old: is a local process; there is nothing to sign in to\n');
    expect((await run('logout', 'old', '--json')).code).not.toBe(1);
    expect((await run('login', 'old')).code).toBe(64);
    expect((await run('status', 'nobody')).code).toBe(2);
  });

  it('CONN-6 CLI-1 where no browser opens the address is enough: what is pasted signs in, with the scopes asked for', async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const addresses: string[] = [];
    const ran = await commandLine(['auth', 'login', 'notes', '--paste', '--scope', 'mcp:read'], {
      gateway: () => openToolscout({ servers: { notes: { url: server.url } } }),
      openBrowser: (url) => Promise.reject(new Error(`no display ${addresses.push(url)}`)),
      readLine: async () => {
        await expect.poll(() => addresses.length).toBe(1);
        return lastAddress(addresses[0]!);
      },
    });
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('No browser could be opened (no display 1); open the address yourself.');
    expect(new URL(addresses[0]!).searchParams.get('scope')).toContain('mcp:read');
    expect(ran.stdout).toMatch(/^notes: signed in\n/);
    expect(ran.stdout).toContain(`  by      ${issuer.origin}`);
    expect(ran.stdout).toMatch(/ {2}until {3}\d{4}-/);
  });

  it('CONN-6 CLI-2 stopping the command stops the sign-in', async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const addresses: string[] = [];
    const ran = await commandLine(['auth', 'login', 'notes'], {
      gateway: () => openToolscout({ servers: { notes: { url: server.url } } }),
      openBrowser: async (url) => void addresses.push(url),
      stopped: () => expect.poll(() => addresses.length).toBe(1),
    });
    expect(ran.code).not.toBe(0);
    expect(ran.stdout).toBe('');
  });
});
