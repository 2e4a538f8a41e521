import type { Page } from 'playwright-core';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

/** A connection that was opened to learn the tools closes by itself within seconds, so it is not used here. */
async function connect(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Connect now', exact: true }).click();
  await page.getByRole('button', { name: 'Disconnect', exact: true }).waitFor();
}

describe('Studio over time', () => {
  const open = sharedBrowser();

  it('STUDIO-2 shows a server that dies, and that it came back', STARTS_PROCESSES, async () => {
    const starts = join(await temporaryDirectory(), 'starts');
    const studio = await openStudio({ servers: { legacy: fixture('legacy', `--start-file=${starts}`) } });
    const page = await open(`${studio.url}#/servers/legacy`);
    await connect(page);
    const pids = (await readFile(starts, 'utf8')).trim().split('\n');
    process.kill(Number(pids.at(-1)), 'SIGKILL');
    await page
      .getByText('Last error:')
      .or(page.getByText('failing', { exact: true }))
      .first()
      .waitFor();
    await connect(page);
    expect((await readFile(starts, 'utf8')).trim().split('\n').length).toBeGreaterThan(pids.length);
  });

  it('STUDIO-2 shows what changed before the page heard of changes', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const late = await open(`${studio.url}#/servers/legacy`);
    let begin = (): void => undefined;
    const beginning = new Promise<void>((resolve) => {
      begin = resolve;
    });
    await late.getByRole('button', { name: 'Connect now', exact: true }).waitFor();
    await late.route('**/v1/events', (route) => beginning.then(() => route.continue()));
    await late.reload();
    await late.getByRole('button', { name: 'Connect now', exact: true }).waitFor();
    await connect(await open(`${studio.url}#/servers/legacy`));
    begin();
    await late.getByRole('button', { name: 'Disconnect', exact: true }).waitFor();
  });

  it('STUDIO-2 survives a restart of toolscout, and says so', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/servers`);
    await page.getByText('Live', { exact: true }).waitFor();
    await studio.stop();
    await page.getByText('toolscout does not answer').waitFor();
    await page.getByText('Disconnected').waitFor();
    // What was known stays on the page.
    expect(await page.getByRole('option', { name: /legacy/ }).count()).toBe(1);
    await studio.write({ servers: { legacy: fixture('legacy'), second: fixture('legacy') } });
    await studio.restart();
    await page.getByText('toolscout is back').waitFor();
    await page.getByRole('option', { name: /second/ }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('STUDIO-2 says what is wrong with a broken config, and keeps the one in force', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/config`);
    await page.getByRole('heading', { name: 'Config', exact: true }).waitFor();
    await writeFile(studio.configFile, JSON.stringify({ servers: { legacy: { command: 5 } }, mode: 'nonsense' }));
    // Without asking for it: the file is watched.
    const alert = page.getByRole('alert').filter({ hasText: 'mode' });
    await alert.waitFor();
    expect(await alert.textContent()).toContain('The previous config stays in force.');
    await page.getByRole('button', { name: 'Read the file again' }).click();
    await page.waitForResponse((response) => response.url().endsWith('/v1/config/file'));
    expect(await alert.count()).toBe(1);
    await page.goto(`${studio.url}#/home`);
    await page.getByText('The config file on disk is not used').waitFor();
    await page.getByRole('link', { name: 'Open the config' }).click();
    await alert.waitFor();
    await page.goto(`${studio.url}#/servers`);
    await page.getByRole('option', { name: /legacy/ }).waitFor();
  });
});
