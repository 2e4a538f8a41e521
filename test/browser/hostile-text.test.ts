import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio, type Studio } from './support/studio.js';

const MARKUP = '<img src=x onerror="globalThis.attacked=1"><script>globalThis.attacked=1</script>';
const TOOLS = [
  {
    name: 'markup',
    title: `Title ${MARKUP}`,
    description: `${MARKUP} [click](javascript:globalThis.attacked=1)`,
    icons: [
      { src: 'javascript:globalThis.attacked=1' },
      { src: 'data:image/svg+xml,<svg onload="globalThis.attacked=1"/>' },
    ],
    inputSchema: {
      type: 'object',
      properties: {
        '"><script>globalThis.attacked=1</script>': {
          type: 'string',
          description: MARKUP,
          enum: [MARKUP, '\u202eevil'],
        },
      },
    },
  },
  {
    name: 'ansi',
    description: 'before \u001b[2J\u001b]8;;https://evil.example\u0007after\rover',
    inputSchema: { type: 'object' },
  },
  {
    name: 'bidi',
    description: 'pay \u202egnihton\u202c now, in\u200bvisible, \u{e0041}\u{e0042}',
    inputSchema: { type: 'object' },
  },
  { name: 'dropped', description: 'x'.repeat(1_000_000), inputSchema: { type: 'object' } },
  { name: 'huge', description: `begin ${'x'.repeat(200_000)} end`, inputSchema: { type: 'object' } },
];

async function openHostile(): Promise<Studio> {
  const file = join(await temporaryDirectory(), 'tools.json');
  await writeFile(file, JSON.stringify({ tools: TOOLS, instructions: MARKUP, title: MARKUP }));
  return openStudio({
    approval: 'off',
    servers: { evil: { ...fixture('changing', `--file=${file}`), title: MARKUP } },
  });
}

/** What the text of a server may not bring into the page. */
async function intrusions(page: Page): Promise<unknown> {
  return page.evaluate(() => ({
    attacked: (globalThis as { attacked?: number }).attacked ?? 0,
    scripts: [...document.querySelectorAll('body script, iframe, object, embed')].length,
    images: [...document.querySelectorAll('img')].map((image) => image.src),
    links: [...document.querySelectorAll('a')]
      .map((link) => link.href)
      .filter((href) => !/^https?:\/\/127\.0\.0\.1/.test(href)),
  }));
}

const NONE = { attacked: 0, scripts: 0, images: [], links: [] };

describe('text of servers in Studio', () => {
  const open = sharedBrowser();

  it('A17 markup and script addresses stay text on every view', STARTS_PROCESSES, async () => {
    const studio = await openHostile();
    const page = await open(studio.url);
    for (const view of [
      'servers',
      'servers/evil',
      'search?q=click+title',
      'tool/evil/markup',
      'approvals',
      'audit',
      'config',
      'home',
      'rules',
      'traffic',
      'skills',
    ]) {
      await page.goto(`${studio.url}#/${view}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => page.getByText('is loading…').count()).toBe(0);
      expect({ view, found: await intrusions(page) }).toEqual({ view, found: NONE });
    }
    await page.goto(`${studio.url}#/tool/evil/markup`);
    await page.getByText('<img src=x onerror=').first().waitFor();
  });

  it('A16 A17 control, bidirectional and invisible characters are shown by their code', STARTS_PROCESSES, async () => {
    const studio = await openHostile();
    const page = await open(`${studio.url}#/tool/evil/ansi`);
    const description = page.locator('.server-text-block').first();
    await expect.poll(() => description.textContent()).toContain('U+001B');
    expect(await description.textContent()).toMatch(/before U\+001B.*\[2J.*U\+0007.*after.*U\+000D.*over/s);
    await page.goto(`${studio.url}#/tool/evil/bidi`);
    await expect.poll(() => page.locator('.server-text-block').first().textContent()).toContain('U+202E');
    const text = (await page.locator('.server-text-block').first().textContent())!;
    expect(text).not.toMatch(/[\u202a-\u202e\u200b\u{e0000}-\u{e007f}]/u);
    expect(text).toMatch(/U\+200B.*U\+E0041/s);
  });

  it('A17 a long description is shown in parts, and one of 1 MB is named as dropped', STARTS_PROCESSES, async () => {
    const studio = await openHostile();
    const page = await open(`${studio.url}#/tool/evil/huge`);
    await page
      .getByRole('button', { name: /more of .* characters/ })
      .first()
      .waitFor();
    expect((await page.locator('body').textContent())!.length).toBeLessThan(20_000);
    await page
      .getByRole('button', { name: /more of .* characters/ })
      .first()
      .click();
    await expect.poll(async () => (await page.locator('body').textContent())!.length).toBeGreaterThan(20_000);
    await page.goto(`${studio.url}#/servers/evil`);
    await page.getByRole('option', { name: /huge/ }).waitFor();
    await page.getByText('1 tool of its list could not be used').waitFor();
    expect(await intrusions(page)).toEqual(NONE);
  });
});
