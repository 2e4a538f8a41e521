import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { seriousFindings } from './support/axe.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio, type Studio } from './support/studio.js';

const call = (studio: Studio, server: string, tool: string, args: object): Promise<Response> =>
  fetch(`${studio.url}v1/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ server, tool, arguments: args }),
  });

describe('details of Studio', () => {
  const open = sharedBrowser();

  it('STUDIO-2 keeps what is typed fast, and arrows enter the list of a view', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy'), second: fixture('legacy') } });
    const page = await open(`${studio.url}#/home`);
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
    // All keys at once, before the browser could draw another view.
    await page.evaluate(() => {
      for (const key of '/echo g')
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    });
    const box = page.getByRole('combobox', { name: 'What is to be done' });
    await expect.poll(() => box.inputValue()).toBe('echo g');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('search-input');
    // Who leaves while the search waits for the next letter is not brought back.
    const place = await page.evaluate(async () => {
      const input = document.querySelector<HTMLInputElement>('#search-input')!;
      input.value = 'echo';
      input.dispatchEvent(new Event('input', { bubbles: true }));
      location.hash = '#/held';
      // Timers end in the order in which they are due: that of the search is over then.
      await new Promise((resolve) => setTimeout(resolve, 200));
      return location.hash;
    });
    expect(place).toBe('#/held');
    await page.locator('h1').focus();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page
      .locator('#servers')
      .getByRole('option', { name: /second/ })
      .waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('servers');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /second/ }).waitFor();
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').textContent()).toMatch(/Ctrl \+ Enter.*held back.*signals.*documentation/s);
  });

  it('STUDIO-2 asks several questions at once, and says how long they waited', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { asking: fixture('asking') } });
    const page = await open(`${studio.url}#/tool/asking/flood`);
    await page.getByLabel(/^count/).fill('2');
    await page.getByRole('button', { name: 'Run the tool' }).click();
    await page.getByText('2 questions.').waitFor();
    const asks = page.getByRole('group', { name: 'asking asks you a question' });
    await expect.poll(() => asks.count()).toBe(2);
    const inFirst = () => asks.first().evaluate((group) => group.contains(document.activeElement));
    await expect.poll(inFirst).toBe(true);
    await asks.first().getByRole('button', { name: 'Decline' }).click();
    await expect.poll(() => asks.count()).toBe(1);
    await expect.poll(inFirst).toBe(true);
    await asks.first().getByRole('button', { name: 'Decline' }).click();
    await page.getByText('waiting for your answer').waitFor();
    await page.goto(`${studio.url}#/tool/asking/roots`);
    await page.getByRole('button', { name: 'Run the tool' }).click();
    await page.getByRole('button', { name: 'Decline: no folders' }).click();
    await page.getByText('success', { exact: true }).waitFor();
    await page.getByRole('list', { name: 'Result' }).getByText('[ ]').waitFor();
  });

  it('STUDIO-1 names tokens and outcomes alike in Home, Audit and Traffic', STARTS_PROCESSES, async () => {
    const studio = await openStudio({
      servers: {
        legacy: fixture('legacy'),
        unset: { command: 'x', env: { A: '${NOT_SET_1}' } },
        off: { command: 'x', enabled: false },
      },
      toolRules: [{ pattern: 'legacy:crash', enabled: false }],
    });
    const page = await open(`${studio.url}#/traffic`);
    await page.getByText('Listening').waitFor();
    const host = new Client({ name: 'stranger', version: '1.0.0' });
    onTestFinished(() => host.close());
    await host.connect(new StreamableHTTPClientTransport(new URL(`${studio.url}mcp`)));
    const execute = (tool: string) =>
      host.callTool({ name: 'execute_tool', arguments: { server: 'legacy', tool, arguments: { message: 'hello' } } });
    await execute('echo');
    await execute('crash');
    await page.getByRole('option', { name: /legacy:crash.*refused/ }).waitFor();
    await page.getByText(/\d+ in the request and \d+ in the answer/).waitFor();
    await page.goto(`${studio.url}#/audit`);
    await page.getByRole('option', { name: /legacy:crash.*MCP host.*refused/ }).click();
    await page.getByText(/arguments \d+, answer \d+/).waitFor();
    await page.getByText('"legacy:crash" is disabled: rule 1').waitFor();
    // A failed call says its message once, and the record keeps it.
    await page.goto(`${studio.url}#/tool/legacy/fail`);
    await page.getByRole('button', { name: 'Run the tool' }).click();
    await page.getByRole('alert').getByText('it failed', { exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'Text of the result' }).count()).toBe(0);
    await page.goto(`${studio.url}#/audit?outcome=failure`);
    await page.locator('.facts').getByText('it failed', { exact: true }).waitFor();
    await page.getByLabel('Kind').selectOption('session ended');
    await page.getByText('No record fits').waitFor();
    await page.goto(`${studio.url}#/home`);
    await page.locator('.tile-note').getByText('2 did not succeed').waitFor();
    await page.getByText('1 known, 1 needs attention, 1 disabled').waitFor();
    await page.getByRole('columnheader', { name: 'Tokens: arguments + answer' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('STUDIO-1 cuts nothing off on 360 px', STARTS_PROCESSES, async () => {
    const config = {
      servers: { legacy: fixture('legacy') },
      toolRules: [{ pattern: 'legacy:crash', enabled: false }],
    };
    const studio = await openStudio(config);
    await writeFile(studio.configFile, JSON.stringify(config, null, 2));
    await call(studio, 'legacy', 'echo', { message: 'hello' });
    const page = await open(`${studio.url}#/home`, { viewport: { width: 360, height: 740 } });
    const calls = page.getByRole('region', { name: 'Last calls' });
    await calls.getByText('legacy:echo').waitFor();
    expect(await calls.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    await Promise.all(Array.from({ length: 11 }, () => call(studio, 'legacy', 'echo', { message: 'hello' })));
    await page.goto(`${studio.url}#/audit?kind=execution`);
    const cost = page.locator('#records .narrow-only').first();
    await cost.waitFor();
    expect(await cost.textContent()).toMatch(/^\d+ tokens/);
    // The details begin below the screen; a tap leads to them.
    const record = page.getByRole('heading', { name: 'Record', exact: true });
    const top = () => record.evaluate((heading) => heading.getBoundingClientRect().top);
    await expect.poll(top).toBeGreaterThan(740);
    await page.locator('#records').getByRole('option').first().click();
    await expect.poll(top).toBeLessThan(200);
    await page.goto(`${studio.url}#/held`);
    const reason = page.getByRole('row', { name: /legacy:crash/ }).locator('.row-sub');
    expect(await reason.evaluate((line) => line.scrollWidth - line.clientWidth)).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'Menu' }).click();
    expect(await page.getByRole('link', { name: 'Held back', exact: true }).getAttribute('aria-current')).toBe('page');
    await page.goto(`${studio.url}#/servers/legacy/edit`);
    await page.getByLabel('Title').fill('Another title');
    await page.getByRole('button', { name: 'Review the change' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Save' }).waitFor();
    // A line that stays the same is drawn once, and the dialog has the only scrollbar.
    const same = await dialog
      .locator('.diff-same')
      .evaluateAll((cells) =>
        cells.filter((cell) => (cell as HTMLElement).offsetHeight > 0).map((cell) => cell.textContent),
      );
    expect(same.filter((line) => line?.includes('"args"'))).toHaveLength(1);
    expect(await dialog.getByRole('region').evaluate((box) => getComputedStyle(box).overflowY)).toBe('visible');
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    const notice = page.locator('.notice').first();
    await notice.waitFor();
    const { left, right } = await notice.evaluate((box) => box.getBoundingClientRect().toJSON() as DOMRect);
    expect([left >= 0, right <= 360]).toEqual([true, true]);
  });

  it('STUDIO-2 shows the last known list while toolscout is away, and how to start it', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    // The list was only asked for by the search.
    const page = await open(`${studio.url}#/search`);
    await page.getByRole('option', { name: 'legacy', exact: true }).waitFor({ state: 'attached' });
    await page.goto(`${studio.url}#/home`);
    await studio.stop();
    const command = `start it with npx toolscout studio --port ${new URL(studio.url).port} --config`;
    await page.getByText(command).first().waitFor();
    await page.goto(`${studio.url}#/servers`);
    await page.getByRole('option', { name: /legacy/ }).waitFor();
    expect(await page.getByText('could not be reached').count()).toBe(0);
  });

  it('STUDIO-8 tells what learning led to, and removes a server from its page', STARTS_PROCESSES, async () => {
    const tool = { name: 'pay', description: 'Pays an invoice.', inputSchema: { type: 'object' } };
    const file = join(await temporaryDirectory(), 'tools.json');
    await writeFile(file, JSON.stringify({ tools: [tool] }));
    const studio = await openStudio({ servers: { billing: fixture('changing', `--file=${file}`) } });
    const page = await open(`${studio.url}#/servers/billing`);
    await page.getByRole('option', { name: /pay/ }).waitFor();
    await writeFile(file, JSON.stringify({ tools: [{ ...tool, description: 'Pays every invoice.' }] }));
    await page.getByRole('button', { name: 'Learn its tools again' }).click();
    await page.getByText('1 tool changed and waits for approval').waitFor();
    await page.getByText('1 tool of this server waits for approval').waitFor();
    await page.getByRole('button', { name: 'Remove the server' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('billing was removed.').waitFor();
    await page.getByText('No servers yet').waitFor();
  });
});
