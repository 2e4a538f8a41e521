import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { seriousFindings } from './support/axe.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

const selected = (page: Page): Promise<string> =>
  page.getByLabel('Text of the config file').evaluate((box) => {
    const { value, selectionStart, selectionEnd } = box as HTMLTextAreaElement;
    return value.slice(selectionStart, selectionEnd);
  });

describe('the config in Studio', () => {
  const open = sharedBrowser();

  it(
    'STUDIO-1 STUDIO-2 lines have numbers, and a problem leads to its line, also at 360 px',
    STARTS_PROCESSES,
    async () => {
      const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
      const config = { servers: { legacy: fixture('legacy') }, toolRules: [{ pattern: 'x', enabled: false }] };
      const text = `${JSON.stringify(config, null, 2)}\n`;
      await writeFile(studio.configFile, text);
      for (const width of [1280, 360]) {
        const page = await open(`${studio.url}#/config`, { viewport: { width, height: 740 } });
        const editor = page.getByLabel('Text of the config file');
        await expect.poll(() => editor.inputValue()).toBe(text);
        const lines = text.split('\n').length;
        await page.getByText(`Line 1 of ${lines}`).waitFor();
        // Each number stands beside its line: the heights agree, and no line is wrapped.
        const heights = await page.locator('.line-editor').evaluate((box) => {
          const numbers = box.querySelector('pre')!;
          return [numbers.scrollHeight, box.querySelector('textarea')!.scrollHeight, numbers.textContent];
        });
        expect(heights[2]).toBe(Array.from({ length: lines }, (_, at) => `${at + 1}\n`).join(''));
        expect(Math.abs(Number(heights[0]) - Number(heights[1]))).toBeLessThan(25);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        await editor.fill(text.replace('"pattern": "x"', '"pattern": 7'));
        await page.getByRole('button', { name: 'Check and review' }).click();
        const dialog = page.getByRole('dialog', { name: 'Review the change' });
        const line = text.slice(0, text.indexOf('"pattern"')).split('\n').length;
        await dialog
          .getByRole('button', { name: `Line ${line}` })
          .first()
          .click();
        await expect.poll(() => selected(page)).toBe('      "pattern": 7,');
        await page.getByText(`Line ${line} of ${lines}`).waitFor();
        expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
          'Text of the config file',
        );
        expect(await seriousFindings(page)).toEqual([]);
        await page.getByRole('button', { name: 'Undo' }).click();
      }
    },
  );

  it('STUDIO-1 a file that is not used names the line, and marks it', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/config`);
    await page.getByLabel('Text of the config file').waitFor();
    await writeFile(studio.configFile, '{\n  "servers": {},\n  "toolRules": [ { "pattern": } ]\n}\n');
    await page.getByRole('button', { name: 'Read the file again' }).click();
    await page.getByRole('alert').getByRole('button', { name: 'Line 3' }).click();
    await expect.poll(() => selected(page)).toBe('  "toolRules": [ { "pattern": } ]');
    expect(await page.locator('.line-marked').textContent()).toBe('3\n');
    expect(await seriousFindings(page)).toEqual([]);
    // From elsewhere the address names the line.
    await page.goto(`${studio.url}#/config?line=2`);
    await expect.poll(() => selected(page)).toBe('  "servers": {},');
  });

  it(
    'STUDIO-1 CFG-6 a file that goes away is told, not shown as empty, and forgotten when it is back',
    STARTS_PROCESSES,
    async () => {
      const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
      const page = await open(`${studio.url}#/config`);
      await page.getByLabel('Text of the config file').waitFor();
      await page.getByRole('button', { name: 'Read the file again' }).click();
      await page.getByText('Nothing has changed.').waitFor();
      await rename(studio.configFile, `${studio.configFile}.away`);
      const alert = page.getByRole('alert').filter({ hasText: 'does not exist any more' });
      await alert.waitFor();
      await expect.poll(() => page.getByText('Nothing has changed.').count()).toBe(0);
      expect(await page.getByLabel('Text of the config file').count()).toBe(0);
      expect(await seriousFindings(page)).toEqual([]);
      await page.goto(`${studio.url}#/rules`);
      await alert.waitFor();
      await rename(`${studio.configFile}.away`, studio.configFile);
      await alert.waitFor({ state: 'detached' });
      await page.goto(`${studio.url}#/config`);
      await page.getByLabel('Text of the config file').waitFor();
      await writeFile(studio.configFile, '{ "toolRules": [ }');
      await page.goto(`${studio.url}#/rules`);
      await page.getByRole('alert').getByRole('link', { name: 'Correct the file under Config' }).waitFor();
    },
  );

  it('STUDIO-8 an exception for one tool changes one line of the file', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const rules =
      '[\n    { "pattern": "legacy:e*",   "enabled": false },\n    {"pattern":"none","tags":["a","b"]}\n  ]';
    const server = JSON.stringify(fixture('legacy'));
    const text = `{\n  "servers": { "legacy": ${server} },\n  "toolRules": ${rules}\n}\n`;
    await writeFile(studio.configFile, text);
    const page = await open(`${studio.url}#/held`);
    await page.getByRole('button', { name: 'Enable this tool only: legacy:echo' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Enable the tool' }).click();
    await page.getByText('legacy:echo is offered now.').waitFor();
    expect(await readFile(studio.configFile, 'utf8')).toBe(
      text.replace('"legacy:e*"', '["legacy:e*", "!legacy:echo"]'),
    );
  });
});
