import { describe, expect, it } from 'vitest';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { seriousFindings } from './support/axe.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

describe('Studio', () => {
  const open = sharedBrowser();

  it('STUDIO-2 finds a tool as one types, and tries it', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { many: fixture('many', '--tools=50'), legacy: fixture('legacy') } });
    const page = await open(studio.url);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'What is to be done' }).fill('echo a text');
    await page.getByRole('option', { name: /legacy:echo/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByLabel(/^message/).fill('hello from a browser');
    await page.getByRole('button', { name: 'Run the tool' }).click();
    await page.getByText('success').first().waitFor();
    expect(await page.getByRole('region', { name: 'Text of the result' }).textContent()).toContain(
      'hello from a browser',
    );
  });

  it.each(['light', 'dark'] as const)(
    'STUDIO-1 has no serious accessibility findings: %s',
    STARTS_PROCESSES,
    async (colorScheme) => {
      const studio = await openStudio({ servers: { many: fixture('many', '--tools=50'), legacy: fixture('legacy') } });
      const page = await open(studio.url, { colorScheme });
      const found: string[] = [];
      for (const view of [
        'home',
        'servers',
        'servers/legacy',
        'search?q=echo',
        'tool/legacy/echo',
        'approvals',
        'skills',
        'audit',
        'config',
        'rules',
        'traffic',
      ]) {
        await page.goto(`${studio.url}#/${view}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await expect.poll(() => page.getByText('is loading…').count()).toBe(0);
        found.push(...(await seriousFindings(page)).map((one) => `${view}: ${one}`));
      }
      expect(found).toEqual([]);
    },
  );
});
