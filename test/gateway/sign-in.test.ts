import { describe, expect, it } from 'vitest';
import { wrapGateway, type Gateway } from '../../src/gateway/index.js';
import {
  browse,
  lastAddress,
  startAuthorizationServer,
  startProtectedServer,
} from '../support/authorization-server.js';
import { commandLine } from '../support/command-line.js';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const visit = async (url: string): Promise<void> => void (await browse(url));

describe('signing in', STARTS_PROCESSES, () => {
  it('CONN-6 a server that asks for it names the command; once signed in, calls succeed', async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const gateway = await openToolscout({ servers: { notes: { url: server.url } } });
    const refused = await gateway.call('notes', 'echo', { text: 'hi' });
    expect(refused.error).toMatchObject({
      code: 'AUTHENTICATION_FAILED',
      suggestion: 'Sign in: toolscout auth login notes',
    });
    expect(await gateway.servers.signInStatus('notes')).toEqual({ server: 'notes', state: 'signed-out' });

    const pages: string[] = [];
    const open = async (url: string): Promise<void> => void pages.push((await browse(url)).text);
    const status = await gateway.servers.signIn('notes', { open });
    expect(status).toMatchObject({
      state: 'signed-in',
      issuer: issuer.origin,
      resource: server.url,
      scopes: expect.arrayContaining(['mcp:read']) as string[],
      renewable: true,
    });
    expect(pages).toEqual([expect.stringContaining('You can close this window')]);
    expect(textOf(await gateway.call('notes', 'echo', { text: 'hi' }))).toBe('hi');
    expect(await gateway.servers.signOut('notes')).toEqual({ removed: true, revoked: true });
    expect((await gateway.call('notes', 'echo', {})).error).toMatchObject({ code: 'AUTHENTICATION_FAILED' });
    const kinds = (await gateway.audit.list()).filter(({ kind }) => kind.startsWith('sign-'));
    expect(kinds.map(({ kind, outcome, server: id }) => [kind, outcome, id])).toEqual([
      ['sign-out', 'success', 'notes'],
      ['sign-in', 'success', 'notes'],
    ]);
  });

  it('CONN-6 a sign-in in one process is used by another that runs already', async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const stateDir = await temporaryDirectory();
    const config = { servers: { notes: { url: server.url } } };
    const [running, other] = [await openToolscout(config, { stateDir }), await openToolscout(config, { stateDir })];
    expect((await running.call('notes', 'echo', {})).error?.code).toBe('AUTHENTICATION_FAILED');
    await other.servers.signIn('notes', { open: visit });
    expect(textOf(await running.call('notes', 'echo', { text: 'there' }))).toBe('there');
  });

  it('CONN-6 a server that was left alone for want of a sign-in is learned again after one elsewhere', async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const stateDir = await temporaryDirectory();
    const config = { servers: { notes: { url: server.url } } };
    const [running, other] = [await openToolscout(config, { stateDir }), await openToolscout(config, { stateDir })];
    expect((await running.servers.discover())[0]).toMatchObject({
      ok: false,
      error: { code: 'AUTHENTICATION_FAILED' },
    });
    const finding = (await running.reports.doctor()).findings.find(({ subject }) => subject.includes('notes'));
    expect(finding?.next).toBe('Sign in: toolscout auth login notes');
    const learned = new Promise<number>((resolve) => {
      running.onEvent((event) => event.type === 'learned' && resolve(event.tools));
    });
    await other.servers.signIn('notes', { open: visit });
    expect(await learned).toBe(1);
  });

  it('CONN-6 refuses a sign-in where a credential is configured, and to a local process', async () => {
    const gateway = await openToolscout(
      {
        servers: {
          header: { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer configured' } },
          variable: { url: 'https://b.example/mcp' },
          local: fixture('legacy'),
        },
      },
      { env: { PATH: process.env['PATH'], VARIABLE_MCP_TOKEN: 'from-the-environment' } },
    );
    for (const id of ['header', 'variable', 'local']) {
      await expect(gateway.servers.signIn(id, { open: visit })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    const states = await Promise.all(['header', 'variable', 'local'].map((id) => gateway.servers.signInStatus(id)));
    expect(states.map(({ state }) => state)).toEqual(['configured', 'configured', 'local']);
    await expect(gateway.servers.signInStatus('nobody')).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
  });

  it('CONN-6 CFG-4 a credential that is absent is not called configured', async () => {
    const gateway = await openToolscout({
      servers: {
        unset: { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer ${NO_SUCH_TOKEN}' } },
        elsewhere: { url: 'https://b.example/${NO_SUCH_PATH}/mcp' },
      },
    });
    const problem = expect.stringContaining('NO_SUCH_TOKEN') as string;
    expect(await gateway.servers.signInStatus('unset')).toEqual({ server: 'unset', state: 'unusable', problem });
    expect(await gateway.servers.signInStatus('elsewhere')).toMatchObject({
      problem: expect.stringContaining('NO_SUCH_PATH') as string,
    });
    const ran = await commandLine(['auth', 'status'], { gateway });
    expect(ran.stdout).toMatch(/^unset: cannot be used\n {2}problem +.*NO_SUCH_TOKEN/m);
    expect(ran.stdout).not.toContain('uses the credential');
  });

  it('CONN-6 A33 toolscout signs in as itself without a page; a credential in the URL is not shown', async () => {
    const secret = 'robot-secret-robot-secret';
    const robot = {
      client_id: 'robot',
      client_secret: secret,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    };
    const issuer = await startAuthorizationServer({ clients: [robot] });
    const resource = (url: string): string => `${url}?key=canary-in-the-url`;
    const server = await startProtectedServer({ issuers: () => [issuer.origin], resource });
    const auth = { type: 'client-credentials' as const, clientId: 'robot', clientSecret: secret };
    const gateway = await openToolscout({ servers: { notes: { url: resource(server.url), auth } } });
    expect(textOf(await gateway.call('notes', 'echo', { text: 'hi' }))).toBe('hi');
    const open = (): never => {
      throw new Error('nobody is there');
    };
    expect(await gateway.servers.signIn('notes', { open })).toMatchObject({ state: 'signed-in', renewable: true });
    const shown = JSON.stringify([await gateway.servers.signInStatus('notes'), await gateway.audit.list()]);
    expect(shown).toContain('?key=***');
    expect(shown).not.toContain('canary-in-the-url');
    expect(shown).not.toContain(secret);
  });

  it('CLI-1 auth login, status and logout say what holds, as text and as JSON', async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const stateDir = await temporaryDirectory();
    const gateway = (): Promise<Gateway> => openToolscout({ servers: { notes: { url: server.url } } }, { stateDir });
    const stopped = (): Promise<void> => new Promise(() => undefined);
    const run = (...args: string[]): ReturnType<typeof commandLine> =>
      commandLine(['auth', ...args], { gateway, stopped, openBrowser: visit });

    expect(await run('status')).toMatchObject({ code: 0, stdout: 'notes: not signed in\n' });
    const login = await run('login', 'notes');
    expect(login).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^notes: signed in\n[^]*tools {3}1\n$/) as string,
    });
    expect(login.stderr).toMatch(/^Sign in here:\n\n {2}http:\/\/127\.0\.0\.1:\d+\/auth\?/);
    const status = JSON.parse((await run('status', 'notes', '--json')).stdout) as { servers: object[] };
    expect(status.servers).toEqual([
      {
        server: 'notes',
        state: 'signed-in',
        issuer: issuer.origin,
        resource: server.url,
        scopes: expect.any(Array) as string[],
        expiresAt: expect.any(Number) as number,
        renewable: true,
      },
    ]);
    expect(await run('logout', 'notes')).toMatchObject({
      stdout: 'notes: signed out, and revoked by its authorization server\n',
    });
    expect(await run('logout', 'notes')).toMatchObject({ code: 0, stdout: 'notes: was not signed in\n' });
    expect((await run('login', 'nobody')).code).toBe(2);
    expect((await run('login')).code).toBe(64);
  });

  it('CLI-1 without a browser the address is printed, and what the user pastes ends the sign-in', async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const gateway = await openToolscout({ servers: { notes: { url: server.url } } });
    let shown = (_url: string): void => undefined;
    const address = new Promise<string>((resolve) => (shown = resolve));
    const gatewayThatShows: Gateway = wrapGateway(gateway, () => ({
      'servers.signIn': (id, options) =>
        gateway.servers.signIn(id, {
          ...options,
          open: async (url) => {
            await options.open(url);
            shown(url);
          },
        }),
    }));
    // The browser runs on another machine: its last address is all that comes back.
    const readLine = async (): Promise<string> => lastAddress(await address);
    const ran = await commandLine(['auth', 'login', 'notes', '--no-browser', '--paste', '--json'], {
      gateway: gatewayThatShows,
      stopped: () => new Promise(() => undefined),
      readLine,
    });
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ state: 'signed-in', tools: 1 });
    expect(ran.stderr).toContain('paste the address');
  });
});
