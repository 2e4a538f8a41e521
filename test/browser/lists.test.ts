import { writeFile } from 'node:fs/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { seriousFindings } from './support/axe.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio, type Studio } from './support/studio.js';

async function searches(studio: Studio): Promise<unknown> {
  const answer = await fetch(`${studio.url}v1/stats`);
  const { total } = (await answer.json()) as { total: Record<string, unknown> };
  return [total['searches'], total['calls'], total['menus'], total['reads']];
}

describe('lists of Studio', () => {
  const open = sharedBrowser();

  it('STUDIO-1 one kind of line says how each server is and what to do', STARTS_PROCESSES, async () => {
    const studio = await openStudio({
      servers: {
        works: { ...fixture('legacy'), description: 'Repeats and adds.' },
        absent: { command: '/no/such/program' },
        unset: { command: 'x', env: { A: '${NOT_SET_1}' } },
        off: { command: 'x', enabled: false },
        hidden: fixture('legacy'),
      },
      toolRules: [{ pattern: 'hidden:*', enabled: false }],
    });
    for (const id of ['works', 'hidden', 'absent']) await (await fetch(`${studio.url}v1/servers/${id}/tools`)).text();
    const page = await open(`${studio.url}#/servers`);
    const line = (id: string) => page.getByRole('option', { name: new RegExp(`^${id}`) }).locator('.row-sub');
    await expect
      .poll(() => line('absent').textContent())
      .toMatch(/^No call reaches it, for it does not answer: .*no\/such/);
    expect(await line('works').textContent()).toMatch(/^(?:Calls reach it at once|The next call starts it)/);
    expect(await line('unset').textContent()).toMatch(/^No call reaches it: .*NOT_SET_1/);
    expect(await line('off').textContent()).toMatch(/^No call reaches it: it is disabled/);
    expect(await line('hidden').textContent()).toMatch(/^No call reaches it: all its \d+ tools are held back/);
    // What the server is for stands on its page instead.
    await page.goto(`${studio.url}#/servers/works`);
    await page.getByText('Repeats and adds.').waitFor();
    const narrow = await open(`${studio.url}#/servers`, { viewport: { width: 360, height: 740 } });
    const wrapped = narrow.getByRole('option', { name: /^absent/ }).locator('.row-sub');
    await wrapped.waitFor();
    expect(await wrapped.evaluate((text) => text.scrollWidth - text.clientWidth)).toBeLessThanOrEqual(0);
    expect(await seriousFindings(narrow)).toEqual([]);
    // What stands in columns of a wide page is there too, and the list scrolls with the page.
    await narrow.getByRole('option', { name: /^works.*tools offered/ }).waitFor();
    const list = narrow.getByRole('listbox', { name: 'Servers' });
    expect(await list.evaluate((box) => box.scrollHeight - box.clientHeight)).toBeLessThanOrEqual(0);
    const [name, word] = await Promise.all(
      ['.row-title', '.badge'].map((part) =>
        narrow
          .getByRole('option', { name: /^works/ })
          .locator(part)
          .boundingBox(),
      ),
    );
    expect(Math.abs(name!.y + name!.height / 2 - word!.y - word!.height / 2)).toBeLessThan(4);
    // The second line of other lists has the whole width there.
    await narrow.goto(`${studio.url}#/audit`);
    const record = narrow.getByRole('listbox', { name: 'Records' }).getByRole('option').first();
    await record.waitFor();
    const [row, line2] = await Promise.all([record.boundingBox(), record.locator('.row-sub').boundingBox()]);
    expect(line2!.width).toBeGreaterThan(row!.width - 40);
    await narrow.goto(`${studio.url}#/servers`);
    // A row with one line of text takes no more room than that.
    const works = narrow.getByRole('option', { name: /^works/ });
    expect(await works.evaluate((element) => element.clientHeight)).toBeLessThan(80);
  });

  it('STUDIO-1 a server that fails or is disabled is named where tools are missing', STARTS_PROCESSES, async () => {
    const studio = await openStudio({
      servers: {
        works: fixture('legacy'),
        absent: { command: '/no/such/program' },
        off: { ...fixture('legacy'), enabled: false },
      },
    });
    for (const id of ['works', 'absent']) await (await fetch(`${studio.url}v1/servers/${id}/tools`)).text();
    const page = await open(`${studio.url}#/home`);
    await page.getByRole('link', { name: '2 servers give none: see why' }).click();
    await page.getByRole('heading', { name: '2 servers' }).waitFor();
    expect(await page.getByText('Nothing is held back').count()).toBe(0);
    expect(await page.locator('.attention').allTextContents()).toEqual([
      expect.stringMatching(/^absent.*no\/such/),
      expect.stringMatching(/^off.*It is disabled/),
    ]);
    expect(await seriousFindings(page)).toEqual([]);
    await page.goto(`${studio.url}#/search?q=echo`);
    await page.getByText('1 server is disabled and not searched: off').waitFor();
    await page.goto(`${studio.url}#/held`);
    await page.getByRole('link', { name: 'Open the server off' }).click();
    expect(page.url()).toContain('#/servers/off');
  });

  it('STUDIO-1 the page of a server agrees with itself after Disable and after Enable', STARTS_PROCESSES, async () => {
    const config = { servers: { files: fixture('legacy') } };
    const studio = await openStudio(config);
    await writeFile(studio.configFile, JSON.stringify(config, null, 2));
    const page = await open(`${studio.url}#/servers/files`);
    const offered = page.getByRole('option', { name: /echo.*offered/ });
    const trouble = page.locator('.callout-bad, .callout-warn');
    await offered.waitFor();
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByText('Agents get none of its tools').waitFor();
    expect([await offered.count(), await trouble.count()]).toEqual([0, 0]);
    // Also for who comes back to it.
    await page.goto(`${studio.url}#/servers`);
    await page.getByRole('option', { name: /^files.*disabled/ }).click();
    await page.getByText('Agents get none of its tools').waitFor();
    expect([await offered.count(), await trouble.count()]).toEqual([0, 0]);
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await offered.waitFor();
    expect(await trouble.count()).toBe(0);
  });

  it('STUDIO-1 looking at anything counts as nothing that an agent did', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/home`);
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'What is to be done' }).fill('echo a text');
    await page.getByRole('option', { name: /legacy:echo/ }).waitFor();
    await page.getByText(/An agent pays/).waitFor();
    for (const [view, ready] of [
      ['tool/legacy/echo', page.getByLabel(/^message/)],
      ['servers/legacy', page.getByRole('option', { name: /echo/ })],
      ['held', page.getByText('Nothing is held back')],
      ['audit?kind=search', page.getByText('No record fits')],
    ] as const) {
      await page.goto(`${studio.url}#/${view}`);
      await ready.waitFor();
    }
    expect(await searches(studio)).toEqual([0, 0, 0, 0]);
    // An agent over HTTP is one.
    await (await fetch(`${studio.url}v1/search?q=echo`)).text();
    await expect.poll(() => searches(studio)).toEqual([1, 0, 0, 0]);
    await page.locator('#records').getByRole('option').first().waitFor();
  });

  it('STUDIO-3 Traffic finds what was refused', STARTS_PROCESSES, async () => {
    const studio = await openStudio({
      servers: { legacy: fixture('legacy') },
      toolRules: [{ pattern: 'legacy:crash', enabled: false }],
    });
    const page = await open(`${studio.url}#/traffic`);
    await page.getByText('Listening').waitFor();
    const host = new Client({ name: 'stranger', version: '1.0.0' });
    onTestFinished(() => host.close());
    await host.connect(new StreamableHTTPClientTransport(new URL(`${studio.url}mcp`)));
    for (const tool of ['crash', 'fail', 'echo'])
      await host.callTool({
        name: 'execute_tool',
        arguments: { server: 'legacy', tool, arguments: { message: 'hello' } },
      });
    const rows = page.locator('#traffic').getByRole('option');
    await page.getByRole('option', { name: /legacy:echo.*success/ }).waitFor();
    await page.getByLabel('Outcome').selectOption('refused');
    await expect.poll(() => rows.count()).toBe(1);
    expect(await rows.first().textContent()).toMatch(/legacy:crash.*TOOL_DISABLED.*refused/);
    await page.getByLabel('Outcome').selectOption('failure');
    await expect.poll(() => rows.first().textContent()).toMatch(/legacy:fail.*failure/);
    expect(await rows.count()).toBe(1);
  });

  it('STUDIO-1 the time that a person takes is told, and not counted', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { asking: fixture('asking') } });
    const page = await open(`${studio.url}#/tool/asking/elicit`);
    await page.getByLabel(/^message/).fill('Who?');
    await page.getByRole('button', { name: 'Run the tool' }).click();
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByText('waiting for your answer').waitFor();
    await page.goto(`${studio.url}#/audit?kind=execution&sort=slow`);
    await page.getByRole('option', { name: /asking:elicit.*waited .* for a person or the host/ }).waitFor();
    await page.getByText(/^waited .* for a person or the host, not counted above$/).waitFor();
    await page.goto(`${studio.url}#/servers/asking`);
    await page.getByText('Waiting for the rate limit or for your answer is left out.').waitFor();
  });
});
