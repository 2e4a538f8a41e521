import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startAuthorizationServer } from '../support/authorization-server.js';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { lineMatching } from '../support/toolscout.js';
import { seriousFindings } from './support/axe.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

const KEY = 'studio-test-key-0123456789abcdef';

describe('sign-in to Studio', () => {
  const open = sharedBrowser();

  it('STUDIO-6 a person signs in with a key, works, and signs out', STARTS_PROCESSES, async () => {
    vi.stubEnv('STUDIO_TEST_KEY', KEY);
    onTestFinished(() => void vi.unstubAllEnvs());
    const studio = await openStudio(
      {
        servers: { legacy: fixture('legacy') },
        http: { auth: { keys: [{ name: 'operator', key: '${STUDIO_TEST_KEY}', scopes: ['read', 'call', 'admin'] }] } },
      },
      [],
    );
    const page = await open(`${studio.url}#/servers/legacy`);
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Key').fill('wrong');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Key').fill(KEY);
    await page.keyboard.press('Enter');
    const learned = page.waitForResponse((response) => response.url().endsWith('/v1/servers/legacy/discover'));
    await page.getByRole('button', { name: 'Learn its tools again', exact: true }).click();
    expect((await learned).ok()).toBe(true);
    // Neither scripts nor storage of the page hold what was signed in with.
    expect(
      await page.evaluate(
        () => `${document.cookie}${JSON.stringify({ ...localStorage })}${JSON.stringify({ ...sessionStorage })}`,
      ),
    ).not.toMatch(/session|key-0123/);
    const stolen = await page.context().cookies();
    await page.getByRole('button', { name: /Sign out operator/ }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    // The cookie is worth nothing any more.
    await page.context().addCookies(stolen);
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
  });

  it(
    'STUDIO-6 S9 a person signs in at an identity provider of another site, and signs out',
    STARTS_PROCESSES,
    async () => {
      const CALLBACK = 'v1/session/oauth/callback';
      const audience = 'https://tools.example.com/mcp';
      // A public client, as registered by hand: it has no secret, so PKCE alone binds the code to this browser.
      const provider = await startAuthorizationServer({
        clients: [
          {
            client_id: 'studio',
            token_endpoint_auth_method: 'none',
            application_type: 'native',
            redirect_uris: [`http://localhost/${CALLBACK}`],
            scope: 'mcp:read mcp:admin',
          },
        ],
      });
      const oauth = { issuer: provider.origin, audience, clientId: 'studio', scopePrefix: 'mcp:' };
      const studio = await openStudio({ servers: { legacy: fixture('legacy') }, http: { auth: { oauth } } }, []);
      // Another site than that of the provider: a strict cookie must still be there after the way back.
      const here = studio.url.replace('127.0.0.1', 'localhost');
      const page = await open(`${here}#/servers/legacy`, { alsoTo: [provider.origin] });
      await page.getByRole('link', { name: /identity provider/i }).click();
      await page.getByRole('button', { name: /Sign out/ }).waitFor();
      const asked = provider.seen.find(({ path }) => path === '/auth')!.query;
      expect(Object.fromEntries(asked)).toMatchObject({
        response_type: 'code',
        client_id: 'studio',
        code_challenge_method: 'S256',
        redirect_uri: `${here}${CALLBACK}`,
      });
      const sent = provider.seen.find(({ path }) => path === '/token')!.form;
      const challenge = createHash('sha256').update(sent.get('code_verifier')!).digest('base64url');
      expect([sent.get('grant_type'), challenge]).toEqual(['authorization_code', asked.get('code_challenge')]);
      const [cookie, ...others] = await page.context().cookies(here);
      expect([cookie, others]).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }, []]);
      expect(await page.evaluate(() => document.cookie)).toBe('');
      // What needs a right of the token, and a token against CSRF.
      const learned = page.waitForResponse((response) => response.url().endsWith('/v1/servers/legacy/discover'));
      await page.goto(`${here}#/servers/legacy`);
      await page.getByRole('button', { name: 'Learn its tools again', exact: true }).click();
      expect((await learned).ok()).toBe(true);
      const stolen = { cookie: `${cookie!.name}=${cookie!.value}` };
      expect((await fetch(`${here}v1/config`, { headers: stolen })).status).toBe(200);
      await page.getByRole('button', { name: /Sign out/ }).click();
      await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
      expect((await fetch(`${here}v1/config`, { headers: stolen })).status).toBe(401);
      await page.context().addCookies([cookie!]);
      await page.reload();
      await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    },
  );

  it('STUDIO-6 says what may not be done and how to sign in; a pasted address signs in', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } }, []);
    const page = await open(`${studio.url}#/servers/legacy`);
    await page.getByText('You can look and run tools, but not change anything.').waitFor();
    expect(await page.locator('.banner').textContent()).toMatch(
      /Run npx toolscout studio --port \d+ --config \S+ --state-dir \S+ in a terminal to sign in\./,
    );
    const learn = page.getByRole('button', { name: 'Learn its tools again', exact: true });
    expect(await learn.isDisabled()).toBe(true);
    const child = studio.start('studio', '--no-open');
    const [, path = ''] = await lineMatching(child, /(#\/sign-in\?code=\S+)/);
    // The browser does not load the page again: only what stands after # differs.
    await page.evaluate((hash) => (location.hash = hash), path);
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
    expect(page.url()).toBe(`${studio.url}#/home`);
    expect(await page.locator('.banner').count()).toBe(0);
    await page.goBack();
    expect(await learn.isEnabled()).toBe(true);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You can look and run tools').waitFor();
    // Longer than the first attempt to reconnect waits.
    await page.waitForTimeout(1500);
    expect(await page.getByText('toolscout is back').count()).toBe(0);
    // A code is good once; the advice is one that a person in a browser can follow.
    await page.evaluate((hash) => (location.hash = hash), path);
    await page.getByText('it opens a new address that signs you in').waitFor();
    // The reason stands beside a button that is grey at the end of a form.
    await page.goto(`${studio.url}#/servers/+/add`);
    await page.locator('form').getByText('You can look and run tools, but not change anything.').waitFor();
  });
});
