import { describe, expect, it, onTestFinished } from 'vitest';
import { createServer, type AddressInfo } from 'node:net';
import { isServing } from '../../src/app/serve.js';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { startPostgres } from '../support/postgres.js';
import { lineMatching, workplace } from '../support/toolscout.js';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('studio', STARTS_PROCESSES, () => {
  it('STUDIO-1 STUDIO-6 one process serves the page, another opens it signed in, and sign-out holds in both', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const place = await workplace({ servers: { old: fixture('legacy') }, http: { port } });
    expect(await isServing(url)).toBe(false);
    const serving = place.start('studio', '--no-open', '--json');
    onTestFinished(() => void serving.kill('SIGKILL'));
    const [line] = await lineMatching(serving, /\{.*\}/);
    const first = JSON.parse(line) as { url: string; started: boolean };
    expect([first.started, first.url.startsWith(`${url}/#/sign-in?code=`)]).toEqual([true, true]);
    await expect.poll(() => isServing(url)).toBe(true);
    const again = await place.run('studio', '--no-open', '--json');
    const second = JSON.parse(again.stdout) as { url: string; started: boolean };
    expect(second.started).toBe(false);
    const send = (path: string, init: RequestInit = {}): Promise<Response> => fetch(`${url}${path}`, init);
    const page = await send('/');
    expect([200, 503]).toContain(page.status);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const json = { 'content-type': 'application/json' };
    expect((await send('/v1/config/reload', { method: 'POST' })).status).toBe(403);
    for (const each of [first, second]) {
      const code = each.url.split('code=')[1];
      const signedIn = await send('/v1/session', { method: 'POST', headers: json, body: JSON.stringify({ code }) });
      expect(signedIn.status).toBe(200);
      const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
      const { csrf } = (await signedIn.json()) as { csrf: string };
      const headers = { cookie, 'x-toolscout-csrf': csrf };
      expect((await send('/v1/config/reload', { method: 'POST', headers })).status).toBe(200);
      expect((await send('/v1/session', { method: 'DELETE', headers })).status).toBe(204);
      expect((await send('/v1/config/reload', { method: 'POST', headers })).status).toBe(403);
    }
  });

  it('STUDIO-6 names the state directory of a toolscout on that port that is not its own', async () => {
    const port = await freePort();
    const place = await workplace({ servers: { old: fixture('legacy') }, http: { port } });
    const serving = place.start('studio', '--no-open', '--json');
    onTestFinished(() => void serving.kill('SIGKILL'));
    await lineMatching(serving, /\{.*\}/);
    const elsewhere = await workplace({});
    const refused = await elsewhere.run('studio', '--no-open', '--port', `${port}`);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain(`The gateway on port ${port} uses another state directory or database.`);
    const [, named = ''] = /Pass --state-dir (\S+) --config/.exec(refused.stderr) ?? [];
    const told = await workplace({}, { stateDir: named });
    const again = await told.run('studio', '--no-open', '--port', `${port}`);
    expect(again.stdout).toContain(`http://127.0.0.1:${port}/#/sign-in?code=`);
  });

  it('STUDIO-6 over PostgreSQL the config is what another command needs', async () => {
    const postgres = await startPostgres();
    onTestFinished(postgres.cleanup);
    const port = await freePort();
    const place = await workplace({ store: await postgres.newDatabase(), http: { port } });
    const serving = place.start('serve');
    onTestFinished(() => void serving.kill('SIGKILL'));
    await lineMatching(serving, /127\.0\.0\.1:\d+/);
    const session = (await (await fetch(`http://127.0.0.1:${port}/v1/session`)).json()) as { config?: string };
    expect(session.config).toBe(place.configFile);
    const stateDir = place.flags.at(-1);
    const elsewhere = await workplace({}, { stateDir });
    const refused = await elsewhere.run('studio', '--no-open', '--port', `${port}`);
    expect(refused.stderr).toContain(`--config ${place.configFile}.`);
    const told = await place.run('studio', '--no-open', '--port', `${port}`);
    expect(told.stdout).toContain(`http://127.0.0.1:${port}/#/sign-in?code=`);
  });
});
