import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

const TOOLS = 5000;
/** Elements that a page may hold however much there is; what is out of sight is not drawn. */
const MAX_ELEMENTS = 1500;

describe('much in Studio', () => {
  const open = sharedBrowser();

  it(
    'STUDIO-1 R7 5,000 tools: the list and the search draw what is in sight, and reach every tool',
    STARTS_PROCESSES,
    async () => {
      const studio = await openStudio({ servers: { huge: fixture('huge', `--tools=${TOOLS}`, '--page=1000') } });
      const page = await open(`${studio.url}#/servers/huge`);
      const elements = () => page.evaluate(() => document.querySelectorAll('*').length);
      const tools = page.getByRole('listbox', { name: /Tools/ });
      await tools.getByRole('option').first().waitFor();
      expect(await elements()).toBeLessThan(MAX_ELEMENTS);
      await tools.focus();
      await page.keyboard.press('End');
      const { tools: all } = (await (await fetch(`${studio.url}v1/servers/huge/tools`)).json()) as {
        tools: Array<{ tool: string }>;
      };
      expect(all).toHaveLength(TOOLS);
      await tools
        .getByRole('option')
        .filter({ hasText: all.at(-1)!.tool })
        .first()
        .waitFor();
      expect(await elements()).toBeLessThan(MAX_ELEMENTS);
      await page.keyboard.press('/');
      await page.keyboard.type('create an issue');
      await page.getByRole('listbox', { name: 'Tools found' }).getByRole('option').first().waitFor();
      expect(await elements()).toBeLessThan(MAX_ELEMENTS);
      await page.goto(`${studio.url}#/home`);
      await page.getByText('5,000').first().waitFor();
      expect(await elements()).toBeLessThan(MAX_ELEMENTS);
    },
  );

  it('A17 R7 a description and a result of 1 MB are inert text in parts', STARTS_PROCESSES, async () => {
    const markup = '<img src=x onerror="globalThis.attacked=1">';
    const file = join(await temporaryDirectory(), 'tools.json');
    const description = `${markup} ${'x '.repeat(120_000)} the end`;
    await writeFile(file, JSON.stringify({ tools: [{ name: 'long', description, inputSchema: { type: 'object' } }] }));
    const studio = await openStudio({
      approval: 'off',
      servers: { changing: fixture('changing', `--file=${file}`), legacy: fixture('legacy') },
    });
    const page = await open(`${studio.url}#/tool/legacy/echo`);
    const length = async () => (await page.locator('body').textContent())!.length;
    await page.getByLabel(/^message/).fill(`${markup}${'y'.repeat(1_000_000)}`);
    await page.getByRole('button', { name: 'Run the tool' }).click();
    const result = page.getByRole('region', { name: 'Text of the result' });
    await result.waitFor();
    await expect.poll(() => result.textContent()).toContain('<img src=x');
    expect(await length()).toBeLessThan(100_000);
    expect(await page.locator('img').count()).toBe(0);
    // The page still answers: a part more of it, and its JSON.
    await result.getByRole('button', { name: /more of/ }).click();
    await page.goto(`${studio.url}#/tool/changing/long`);
    await page.getByText('<img src=x onerror=').first().waitFor();
    expect(await length()).toBeLessThan(100_000);
    expect(await page.evaluate(() => 'attacked' in globalThis)).toBe(false);
  });
});
