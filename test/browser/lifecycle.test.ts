import type { Page } from 'playwright-core';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

/** Learning its tools may have left the server connected. */
async function connect(page: Page): Promise<void> {
  const [on, off] = ['Connect', 'Disconnect'].map((name) => page.getByRole('button', { name, exact: true }));
  await on!.or(off!).waitFor();
  if (await on!.isVisible()) await on!.click();
  await off!.waitFor();
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
    await page.getByRole('button', { name: 'Read the file again' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'mode' });
    await alert.first().waitFor();
    await page.goto(`${studio.url}#/servers`);
    await page.getByRole('option', { name: /legacy/ }).waitFor();
  });
});
