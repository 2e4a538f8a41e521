import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
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

  it('STUDIO-6 who may not change anything is told so, and still sees everything', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } }, []);
    const page = await open(`${studio.url}#/servers/legacy`);
    await page.getByText('Read only').waitFor();
    await page.getByRole('button', { name: 'Learn its tools again', exact: true }).click();
    await page.getByRole('status').filter({ hasText: /admin/ }).waitFor();
  });
});
