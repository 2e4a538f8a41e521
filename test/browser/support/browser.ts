import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, onTestFinished } from 'vitest';
import { patient } from '../../support/patience.js';

/** A page in the browser that the tests of one file share; a context of its own, so that nothing is remembered. */
export type OpenPage = (url: string, options?: PageOptions) => Promise<Page>;

/** How a page is opened. */
export interface PageOptions extends BrowserContextOptions {
  /** Origins besides its own that it may go to, such as an identity provider. */
  readonly alsoTo?: readonly string[];
  /** What the browser may log as an error, where a refusal is what the test is about. */
  readonly tolerates?: RegExp;
  /** Called when the page asks whether it may be left; the answer is no. Without it such a question fails the test. */
  readonly onLeave?: () => void;
}

/** How long a page may take on a busy machine. */
export const PATIENCE_MS = patient(150_000);

/**
 * One browser for all tests of a file. A page that throws, that logs an error or that asks for anything outside its
 * own server fails the test.
 */
export function sharedBrowser(): OpenPage {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: inject('chromium'),
      headless: true,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
    });
  }, patient(120_000));
  afterAll(() => browser?.close());
  return async (url, { alsoTo = [], tolerates, onLeave, ...options } = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const faults: string[] = [];
    const origins = new Set([new URL(url).origin, ...alsoTo]);
    page.on('pageerror', (error) => faults.push(`threw ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      // What the browser itself says about an answer that failed, or a server that is away, is part of such a test.
      if (message.type() !== 'error' || /Failed to load resource|net::ERR_/.test(message.text())) return;
      if (!tolerates?.test(message.text())) faults.push(message.text());
    });
    page.on('request', (request) => {
      if (!/^(?:data|blob|about):/.test(request.url()) && !origins.has(new URL(request.url()).origin))
        faults.push(`asked for ${request.url()}`);
    });
    page.on('dialog', (dialog) => {
      if (onLeave && dialog.type() === 'beforeunload') onLeave();
      else faults.push(`opened a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    onTestFinished(async () => {
      await context.close();
      expect(faults).toEqual([]);
    });
    await page.goto(url);
    return page;
  };
}
