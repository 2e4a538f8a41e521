import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serveHttp } from '../support/authorization-server.js';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio, type Studio } from './support/studio.js';

/** What a browser says about what it refused; here that is what is hoped for. */
const REFUSALS = /CORS|Refused to|blocked|frame|EventSource|MIME/i;

/** A page of somebody else, on another port of this machine. */
async function startForeign(): Promise<string> {
  const { origin } = await serveHttp((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>A page of somebody else</title>'),
  );
  return origin;
}

/** Everything a page can try without the help of its visitor; each answer is what it got. */
function attack(page: Page, target: string): Promise<Record<string, string>> {
  return page.evaluate(async (url) => {
    const read = async (path: string, init: RequestInit = {}): Promise<string> => {
      try {
        const answer = await fetch(url + path, { credentials: 'include', ...init });
        return answer.type === 'opaque' ? 'opaque' : `read ${(await answer.text()).slice(0, 200)}`;
      } catch {
        return 'refused';
      }
    };
    const body = JSON.stringify({ server: 'legacy', tool: 'echo', arguments: { message: 'forged' } });
    const json = { 'content-type': 'application/json' };
    const text = { 'content-type': 'text/plain' };
    const stream = new Promise<string>((resolve) => {
      const events = new EventSource(`${url}v1/events`, { withCredentials: true });
      events.addEventListener('hello', () => resolve('read'));
      events.addEventListener('error', () => {
        events.close();
        resolve('refused');
      });
    });
    const submit = (path: string): Promise<string> =>
      new Promise((resolve) => {
        const frame = document.createElement('iframe');
        frame.name = `frame-${path}`;
        document.body.append(frame);
        const form = document.createElement('form');
        form.action = url + path;
        form.method = 'post';
        form.enctype = 'text/plain';
        form.target = frame.name;
        const field = document.createElement('input');
        // A form of plain text whose name and value together are JSON.
        field.name = `${body.slice(0, -1)},"x":"`;
        field.value = '"}';
        form.append(field);
        document.body.append(form);
        frame.addEventListener('load', () => resolve('sent'));
        form.submit();
        setTimeout(() => resolve('sent'), 2000);
      });
    const script = new Promise<string>((resolve) => {
      const element = document.createElement('script');
      element.src = `${url}v1/servers`;
      element.addEventListener('load', () => resolve('read'));
      element.addEventListener('error', () => resolve('refused'));
      document.head.append(element);
    });
    return {
      read: await read('v1/servers'),
      readMcp: await read('mcp', { method: 'POST', headers: json, body: '{}' }),
      post: await read('v1/call', { method: 'POST', headers: json, body }),
      blindPost: await read('v1/call', { method: 'POST', mode: 'no-cors', headers: text, body }),
      blindMcp: await read('mcp', { method: 'POST', mode: 'no-cors', headers: text, body }),
      form: await submit('v1/call'),
      disable: await submit('v1/servers/legacy/disable'),
      blindDisable: await read('v1/servers/legacy/disable', { method: 'POST', mode: 'no-cors' }),
      stream: await stream,
      script: await script,
    };
  }, target);
}

const NOTHING = {
  read: 'refused',
  readMcp: 'refused',
  post: 'refused',
  blindPost: expect.stringMatching(/opaque|refused/),
  blindMcp: expect.stringMatching(/opaque|refused/),
  form: 'sent',
  disable: 'sent',
  blindDisable: expect.stringMatching(/opaque|refused/),
  stream: 'refused',
  script: 'refused',
};

/** What was really done, whatever the page was told. */
async function done(studio: Studio, headers: Record<string, string> = {}): Promise<unknown> {
  const ask = async (path: string) => (await (await fetch(studio.url + path, { headers })).json()) as never;
  const { records }: { records: unknown[] } = await ask('v1/audit?kind=execution');
  const { servers }: { servers: Array<{ enabled: boolean }> } = await ask('v1/servers');
  return { calls: records.length, enabled: servers.map(({ enabled }) => enabled) };
}

describe('pages of others', () => {
  const open = sharedBrowser();

  it('STUDIO-6 S1 A6 reach nothing where no sign-in is needed', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const foreign = await startForeign();
    const { origin } = new URL(studio.url);
    const page = await open(foreign, { alsoTo: [origin], tolerates: REFUSALS });
    expect(await attack(page, studio.url)).toEqual(NOTHING);
    expect(await done(studio)).toEqual({ calls: 0, enabled: [true] });
  });

  it('STUDIO-6 S1 A6 reach nothing with the session of their visitor', STARTS_PROCESSES, async () => {
    const key = 'a-key-of-the-foreign-page-test';
    vi.stubEnv('FOREIGN_PAGE_KEY', key);
    onTestFinished(() => void vi.unstubAllEnvs());
    const studio = await openStudio(
      {
        servers: { legacy: fixture('legacy') },
        http: { auth: { keys: [{ name: 'operator', key: '${FOREIGN_PAGE_KEY}', scopes: ['admin'] }] } },
      },
      [],
    );
    const foreign = await startForeign();
    const page = await open(studio.url, { alsoTo: [foreign], tolerates: REFUSALS });
    await page.getByLabel('Key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /Sign out/ }).waitFor();
    await page.goto(foreign);
    expect(await attack(page, studio.url)).toEqual(NOTHING);
    expect(await done(studio, { authorization: `Bearer ${key}` })).toEqual({ calls: 0, enabled: [true] });
  });

  it('A17 S1 cannot show Studio in a frame, nor keep hold of its window', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const foreign = await startForeign();
    const page = await open(foreign, { alsoTo: [new URL(studio.url).origin], tolerates: REFUSALS });
    await page.evaluate((url) => {
      const frame = document.createElement('iframe');
      frame.src = url;
      document.body.append(frame);
    }, studio.url);
    await expect.poll(() => page.frames().map((frame) => frame.url())).toContain('chrome-error://chromewebdata/');
    const opening = page.context().waitForEvent('page');
    await page.evaluate((url) => {
      (globalThis as { opened?: Window | null }).opened = window.open(url);
    }, studio.url);
    await (await opening).getByRole('heading', { level: 1 }).waitFor();
    await expect
      .poll(() => page.evaluate(() => (globalThis as { opened?: Window | null }).opened?.closed ?? true))
      .toBe(true);
  });

  it('STUDIO-6 S1 A1 reach nothing by a name that leads to this machine', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    // Browsers take every name under localhost to this machine, as a name would whose address was changed after the page was loaded.
    const rebound = studio.url.replace('127.0.0.1', 'rebound.localhost');
    const page = await open(rebound);
    expect(await page.locator('body').textContent()).toContain('is not allowed');
    const answers = await page.evaluate(async () =>
      Promise.all(['v1/servers', 'v1/session', 'mcp'].map(async (path) => (await fetch(`/${path}`)).status)),
    );
    expect(answers).toEqual([403, 403, 403]);
  });
});
