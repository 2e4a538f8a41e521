import { describe, expect, it } from 'vitest';
import {
  browse,
  lastAddress,
  startAuthorizationServer,
  startProtectedServer,
} from '../../../../test/support/authorization-server.js';
import { fixture } from '../../../../test/support/fixture.js';
import { openHttpApp } from '../../../../test/support/http-app.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { ConfigInput } from '../../../model/config.js';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function open(servers: ConfigInput['servers']): Promise<{
  show(id?: string): Promise<Answer>;
  begin(body?: object, id?: string): Promise<Answer>;
}> {
  const { send, post } = await openHttpApp(await openToolscout({ servers }));
  const read = async (answer: Response): Promise<Answer> => ({
    status: answer.status,
    body: (await answer.json()) as Record<string, unknown>,
  });
  return {
    show: async (id = 'notes') => read(await send(`/v1/servers/${id}/sign-in`)),
    begin: async (body, id = 'notes') => read(await post(`/v1/servers/${id}/sign-in`, body)),
  };
}

describe('signing in to a server from a page', STARTS_PROCESSES, () => {
  it('STUDIO-6 CONN-6 the page gets the address, and is told when the sign-in is done', async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const { show, begin } = await open({ notes: { url: server.url } });
    expect(await show()).toEqual({ status: 200, body: { server: 'notes', state: 'signed-out' } });
    const begun = await begin();
    expect(begun).toMatchObject({ status: 200, body: { state: 'signed-out' } });
    const url = String(begun.body['url']);
    expect(new URL(url).origin).toBe(issuer.origin);
    expect((await show()).body['url']).toBe(url);
    await browse(url);
    await expect.poll(async () => (await show()).body['state']).toBe('signed-in');
    await expect.poll(async () => (await show()).body['url']).toBeUndefined();
    expect((await show()).body).not.toHaveProperty('failed');
  });

  it('STUDIO-6 CONN-6 one that is begun anew takes the place of the former, which is no failure', async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const { show, begin } = await open({ notes: { url: server.url } });
    const first = (await begin()).body['url'];
    const second = (await begin({})).body['url'];
    expect(second).not.toBe(first);
    expect((await show()).body).toMatchObject({ url: second });
    expect((await show()).body).not.toHaveProperty('failed');
  });

  it('STUDIO-6 CONN-6 an address that is pasted ends the sign-in; a wrong one is a failure that the page shows', async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer({ issuers: () => [issuer.origin] });
    const { show, begin } = await open({ notes: { url: server.url } });
    expect((await begin({ redirected: 'http://127.0.0.1:1/callback?code=x' })).status).toBe(400);
    const begun = new URL(String((await begin()).body['url']));
    const redirect = `${begun.searchParams.get('redirect_uri')}?error=access_denied&state=${begun.searchParams.get('state')}`;
    expect((await begin({ redirected: redirect })).status).toBeGreaterThanOrEqual(400);
    expect((await show()).body).toMatchObject({ state: 'signed-out', failed: expect.stringMatching(/\S/) as string });
    expect((await show()).body).not.toHaveProperty('url');
    // The next try begins without the failure of the last.
    const again = await begin();
    expect(again.body).not.toHaveProperty('failed');
    // The browser runs on another machine: its last address is all that comes back.
    const done = await begin({ redirected: await lastAddress(String(again.body['url'])) });
    expect(done).toMatchObject({ status: 200, body: { state: 'signed-in', issuer: issuer.origin } });
  });

  it('STUDIO-6 CONN-6 no address is given for a local process, a server that is not there, or an issuer that is gone', async () => {
    const server = await startProtectedServer({ issuers: () => ['http://127.0.0.1:1'] });
    const { show, begin } = await open({ notes: { url: server.url }, local: fixture('legacy') });
    expect((await begin(undefined, 'local')).status).toBe(400);
    expect((await show('local')).body).toEqual({ server: 'local', state: 'local' });
    expect([(await begin(undefined, 'nobody')).status, (await show('nobody')).status]).toEqual([404, 404]);
    expect((await begin()).status).toBeGreaterThanOrEqual(500);
    expect((await show()).body).not.toHaveProperty('url');
  });
});
