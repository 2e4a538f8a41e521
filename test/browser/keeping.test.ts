import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { seriousFindings } from './support/axe.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

describe('what stays in Studio, and what is asked first', () => {
  const open = sharedBrowser();

  it('STUDIO-1 traffic and arguments stay when another view is opened', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/traffic`);
    await page.getByText('Listening').waitFor();
    await fetch(`${studio.url}v1/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ server: 'legacy', tool: 'echo', arguments: { message: 'hello' } }),
    });
    await page.getByRole('option', { name: /legacy:echo/ }).waitFor();
    await page.getByRole('link', { name: 'legacy:echo' }).click();
    await page.getByLabel(/^message/).fill('kept');
    await page.getByRole('link', { name: 'Traffic', exact: true }).click();
    await page.getByRole('option', { name: /legacy:echo/ }).waitFor();
    await page.goBack();
    await expect.poll(() => page.getByLabel(/^message/).inputValue()).toBe('kept');
  });

  it('STUDIO-3 traffic says which time is missing from it, and shows what was said', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const say = (message: string): Promise<Response> =>
      fetch(`${studio.url}v1/call`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ server: 'legacy', tool: 'echo', arguments: { message } }),
      });
    const page = await open(`${studio.url}#/traffic`);
    await page.getByText('Listening').waitFor();
    await say('first words');
    await page.getByRole('option', { name: /legacy:echo/ }).waitFor();
    // Neither the argument nor the answer is folded away.
    await page.getByText('first words').nth(1).waitFor();
    await page.getByRole('link', { name: 'Rules', exact: true }).click();
    await page.getByRole('heading', { name: 'Rules', exact: true }).waitFor();
    await say('unseen');
    await page.getByRole('link', { name: 'Traffic', exact: true }).click();
    await page.getByText(/^Nothing was recorded from/).waitFor();
    await say('last');
    await page.getByRole('option', { name: /not recorded below/ }).waitFor();
    expect(await page.getByRole('option', { name: /legacy:echo/ }).count()).toBe(2);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('STUDIO-1 a tool that may delete something says so, and runs at the second click', STARTS_PROCESSES, async () => {
    const file = join(await temporaryDirectory(), 'tools.json');
    const wipe = { name: 'wipe', description: 'Deletes all notes.', inputSchema: { type: 'object' } };
    await writeFile(file, JSON.stringify({ tools: [{ ...wipe, annotations: { destructiveHint: true } }] }));
    const studio = await openStudio({ servers: { notes: fixture('changing', `--file=${file}`) } });
    const page = await open(`${studio.url}#/tool/notes/wipe`);
    await page.getByText('may delete or overwrite', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Run the tool' }).click();
    await page.getByText('It is called when you press the button again').waitFor();
    const { records } = (await (await fetch(`${studio.url}v1/audit?kind=execution`)).json()) as { records: unknown[] };
    expect(records).toEqual([]);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Run it nevertheless' }).click();
    await page.getByText('ran wipe').waitFor();
    await page.getByRole('button', { name: 'Run the tool' }).waitFor();
  });

  it(
    'STUDIO-1 a call goes on while another view is open, and ends with the tab only when that is wanted',
    STARTS_PROCESSES,
    async () => {
      const studio = await openStudio({ servers: { asking: fixture('asking') } });
      let asked = 0;
      const page = await open(`${studio.url}#/tool/asking/elicit`, { onLeave: () => (asked += 1) });
      await page.getByLabel(/^message/).fill('Who?');
      await page.getByRole('button', { name: 'Run the tool' }).click();
      await page.getByRole('button', { name: 'Decline' }).waitFor();
      await page.getByRole('link', { name: 'Home', exact: true }).click();
      await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
      await page.goBack();
      await page.getByRole('button', { name: 'Decline' }).waitFor();
      const reload = () => page.evaluate(() => void setTimeout(() => location.reload()));
      await reload();
      await expect.poll(() => asked).toBe(1);
      await page.getByRole('button', { name: 'Decline' }).click();
      await page.getByText('success', { exact: true }).waitFor();
      // Nothing runs any more, so nothing is asked.
      const loaded = page.waitForEvent('load');
      await reload();
      await loaded;
      await page.getByRole('button', { name: 'Run the tool' }).waitFor();
      expect(asked).toBe(1);
    },
  );

  it('STUDIO-8 rules that are not saved stay, also when the config changes', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    await (await fetch(`${studio.url}v1/servers/legacy/tools`)).text();
    const page = await open(`${studio.url}#/rules`);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByLabel(/tools named/).fill('crash');
    await page.getByText('disables 1 tool').waitFor();
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.goBack();
    await expect.poll(() => page.getByLabel(/tools named/).inputValue()).toBe('crash');
    // The same in another tab, with another rule that is saved.
    const other = await open(`${studio.url}#/rules`);
    await other.getByRole('button', { name: 'Add a rule' }).click();
    await other.getByLabel(/tools named/).fill('fail');
    await other.getByRole('button', { name: 'Review the change' }).click();
    await other.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('The rules of the config changed while you wrote.').waitFor();
    expect(await page.getByLabel(/tools named/).inputValue()).toBe('crash');
    // Turning one tool on by a rule turns the others off, and the page says why.
    await page.locator('.rule select').selectOption('enabled');
    await page.getByText('With a rule that enables, only tools that such a rule names are offered.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('STUDIO-8 a new server cannot take the name of another', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/servers/+/add`);
    await page.getByLabel('Command', { exact: true }).fill('node x.mjs');
    for (const [name, problem] of [
      ['legacy', 'legacy exists already'],
      ['every thing', 'Write every-thing'],
    ] as const) {
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByRole('button', { name: 'Review the change' }).click();
      await page.getByText(problem).waitFor();
      expect(await page.getByRole('dialog').count()).toBe(0);
    }
  });
});
