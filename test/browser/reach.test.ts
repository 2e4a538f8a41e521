import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

const FOLDER = fileURLToPath(new URL('../../dist/studio/', import.meta.url));
const MAX_SCRIPT = 150_000;
const VIEWS = [
  'home',
  'servers',
  'servers/legacy',
  'servers/+/add',
  'servers/legacy/edit',
  'search?q=echo',
  'tool/legacy/echo',
  'tool/legacy/crash',
  'held',
  'traffic',
  'approvals',
  'rules',
  'skills',
  'audit',
  'config',
];

describe('who can use Studio', () => {
  const open = sharedBrowser();

  it('STUDIO-2 can be used with the keyboard alone', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/servers/legacy`);
    await page.getByRole('option', { name: /echo/ }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys and help' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('/');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('search-input');
    await page.keyboard.type('echo a text');
    await page.getByRole('option', { name: /legacy:echo/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Try it', exact: true }).waitFor();
    // From the heading to the first input of the form, by Tab alone.
    const focused = () => page.evaluate(() => document.activeElement?.tagName);
    for (let step = 0; step < 12 && !/INPUT|TEXTAREA/.test((await focused()) ?? ''); step += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.type('typed');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => page.getByRole('region', { name: 'Text of the result' }).textContent()).toContain('typed');
    await page.locator('h1').focus();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('listbox', { name: 'Servers' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Learn its tools again' }).waitFor();
    const outline = await page.getByRole('button', { name: 'Learn its tools again' }).evaluate((element) => {
      element.focus();
      return getComputedStyle(element).outlineStyle;
    });
    expect(outline).toBe('solid');
  });

  it('STUDIO-1 everything that can be clicked on a view is reached by Tab', STARTS_PROCESSES, async () => {
    const studio = await openStudio({
      servers: { legacy: fixture('legacy'), absent: { command: '/no/such/program' } },
      toolRules: [{ pattern: 'crash', enabled: false }],
    });
    const page = await open(studio.url);
    const missed: string[] = [];
    for (const view of VIEWS) {
      await page.goto(`${studio.url}#/${view}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => page.getByText('is loading…').count()).toBe(0);
      const count = await page.evaluate(() => {
        // Of a group of radio buttons Tab reaches the chosen one; arrows choose another.
        const all = document.querySelectorAll<HTMLElement>(
          'a[href], button:not([role=radio][aria-checked=false]), input:not([type=radio]), select, textarea, summary, [role=listbox]',
        );
        const wanted = [...all].filter((each) => each.checkVisibility() && !each.matches(':disabled'));
        for (const each of wanted) each.dataset['wanted'] = '';
        document.querySelector<HTMLElement>('.skip')?.focus();
        return wanted.length;
      });
      for (let step = 0; step < count * 2; step += 1) {
        await page.evaluate(() => delete (document.activeElement as HTMLElement).dataset['wanted']);
        await page.keyboard.press('Tab');
      }
      missed.push(
        ...(
          await page.evaluate(() =>
            [...document.querySelectorAll('[data-wanted]')].map((each) => each.outerHTML.slice(0, 120)),
          )
        ).map((each) => `${view}: ${each}`),
      );
      await page.evaluate(() => {
        for (const each of document.querySelectorAll<HTMLElement>('[data-wanted]')) delete each.dataset['wanted'];
      });
    }
    expect(missed).toEqual([]);
    await page.goto(`${studio.url}#/approvals`);
    await page.getByRole('radio', { name: 'Waiting' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('radio', { name: 'Decided', checked: true }).waitFor();
  });

  it('STUDIO-2 no hint in an empty input is cut off, nor one of a filter at 360 px', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const cut: string[] = [];
    for (const [width, views] of [
      [1280, VIEWS],
      [360, ['traffic', 'audit']],
    ] as const) {
      const page = await open(studio.url, { viewport: { width, height: 860 } });
      for (const view of views) {
        await page.goto(`${studio.url}#/${view}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await expect.poll(() => page.getByText('is loading…').count()).toBe(0);
        const found = await page.evaluate(() => {
          const measure = document.createElement('canvas').getContext('2d')!;
          return [...document.querySelectorAll('input')].flatMap((input) => {
            const { font, paddingLeft, paddingRight } = getComputedStyle(input);
            measure.font = font;
            const room = input.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
            const isCut = input.checkVisibility() && measure.measureText(input.placeholder).width > room + 1;
            return isCut ? [`${input.placeholder} (${Math.round(room)} px)`] : [];
          });
        });
        cut.push(...found.map((each) => `${view} at ${width}: ${each}`));
      }
    }
    expect(cut).toEqual([]);
  });

  it('STUDIO-1 fits a screen of 360 px on every view', STARTS_PROCESSES, async () => {
    const studio = await openStudio({
      servers: { legacy: fixture('legacy'), absent: { command: '/no/such/program' } },
      toolRules: [{ pattern: 'crash', enabled: false }],
    });
    const page = await open(studio.url, { viewport: { width: 360, height: 740 } });
    const wide: string[] = [];
    for (const view of VIEWS) {
      await page.goto(`${studio.url}#/${view}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => page.getByText('is loading…').count()).toBe(0);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width > 360) wide.push(`${view}: ${width}`);
    }
    expect(wide).toEqual([]);
    // Nothing beside a text takes its room: where it is typed, and what needs attention.
    const widthOf = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => element.getBoundingClientRect().width);
    await page.goto(`${studio.url}#/search?q=echo`);
    await page.locator('#search-input').waitFor();
    expect(await widthOf('#search-input')).toBeGreaterThan(200);
    await page.goto(`${studio.url}#/home`);
    await page.locator('.attention').first().waitFor();
    expect(await widthOf('.attention .grow')).toBeGreaterThan(200);
    const menu = page.getByRole('button', { name: 'Menu' });
    const isOpen = () => menu.getAttribute('aria-expanded');
    await menu.click();
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('heading', { name: 'Approvals', exact: true }).waitFor();
    expect(await isOpen()).toBe('false');
    // Whatever leads away from the menu closes it: Esc, a tap beside it, and the way back.
    await menu.click();
    await page.keyboard.press('Escape');
    await expect.poll(isOpen).toBe('false');
    expect(await menu.evaluate((button) => button === document.activeElement)).toBe(true);
    await menu.click();
    await page.mouse.click(180, 730);
    await expect.poll(isOpen).toBe('false');
    await menu.click();
    await page.goBack();
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
    await expect.poll(isOpen).toBe('false');
  });

  it('STUDIO-1 its script is at most 150 kB, and nothing of it is inline', () => {
    const files = readdirSync(FOLDER);
    const size = files
      .filter((file) => file.endsWith('.js'))
      .reduce((sum, file) => sum + gzipSync(readFileSync(FOLDER + file)).length, 0);
    expect(size).toBeGreaterThan(10_000);
    expect(size).toBeLessThanOrEqual(MAX_SCRIPT);
    const page = readFileSync(`${FOLDER}index.html`, 'utf8');
    expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:\/\//);
  });
});
