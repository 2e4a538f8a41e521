import { describe, expect, it } from 'vitest';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { seriousFindings } from './support/axe.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

describe('questions in Studio', () => {
  const open = sharedBrowser();

  it(
    'STUDIO-1 a question that was left behind is named in every view and tab, and answered there',
    STARTS_PROCESSES,
    async () => {
      const studio = await openStudio({ servers: { asking: fixture('asking') } });
      const page = await open(`${studio.url}#/tool/asking/elicit`);
      const other = await open(studio.url, { viewport: { width: 360, height: 740 } });
      await page.getByLabel(/^message/).fill('Who?');
      await page.getByRole('button', { name: 'Run the tool' }).click();
      await page.getByRole('group', { name: 'asking asks you a question' }).waitFor();
      // On the page that asks it is said once.
      expect(await page.getByText('asking:elicit waits for your answer').count()).toBe(0);
      await page.goto(`${studio.url}#/audit`);
      await page.getByRole('status').getByText('asking:elicit waits for your answer').waitFor();
      await page.getByRole('link', { name: 'Question waits' }).waitFor();
      await expect.poll(() => page.title()).toBe('(1) Audit · toolscout Studio');
      expect(await seriousFindings(page)).toEqual([]);
      // Another tab, narrow: Home has it first.
      const item = other.getByRole('listitem').filter({ hasText: 'asking:elicit waits for your answer' });
      await item.waitFor();
      await other.getByRole('button', { name: 'Menu, 1 question for you' }).waitFor();
      expect(await seriousFindings(other)).toEqual([]);
      await item.getByRole('link', { name: 'Answer it' }).click();
      await other.getByRole('heading', { name: 'A call made elsewhere waits for you' }).waitFor();
      const ask = other.getByRole('group', { name: 'asking asks you a question' });
      await ask.getByLabel(/^name/).fill('Ada');
      expect(await seriousFindings(other)).toEqual([]);
      await ask.getByRole('button', { name: 'Send the answer' }).click();
      await expect.poll(() => ask.count()).toBe(0);
      await expect.poll(() => page.getByText('waits for your answer').count()).toBe(0);
      await page.goto(`${studio.url}#/tool/asking/elicit`);
      await page.getByText('Ada').first().waitFor();
      await expect.poll(() => page.title()).toBe('elicit · toolscout Studio');
    },
  );

  it('STUDIO-2 an answer that is being written stays when another view is opened', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { asking: fixture('asking') } });
    const page = await open(`${studio.url}#/tool/asking/elicit`);
    await page.getByLabel(/^message/).fill('Who?');
    await page.getByRole('button', { name: 'Run the tool' }).click();
    const answer = page.getByRole('group', { name: 'asking asks you a question' }).getByLabel(/^name/);
    await answer.fill('Ann draft');
    await page.getByRole('link', { name: 'Servers', exact: true }).click();
    await page.getByRole('heading', { name: 'Servers', exact: true }).waitFor();
    // An entry that is being changed stays as well.
    await page.goto(`${studio.url}#/servers/asking/edit`);
    await page.getByLabel('Title').fill('Half a title');
    await page.getByRole('link', { name: 'Question waits' }).click();
    await expect.poll(() => answer.inputValue()).toBe('Ann draft');
    await page.getByRole('button', { name: 'Send the answer' }).click();
    await page.getByText('Ann draft').first().waitFor();
    await page.goto(`${studio.url}#/servers/asking/edit`);
    await expect.poll(() => page.getByLabel('Title').inputValue()).toBe('Half a title');
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => page.getByLabel('Title').inputValue()).toBe('');
  });

  it(
    'STUDIO-1 SEC-11 a confirmation is a question of toolscout: the tool says it before, and the rule is named',
    STARTS_PROCESSES,
    async () => {
      const studio = await openStudio({
        servers: { asking: fixture('asking') },
        toolRules: [{ pattern: 'steps', confirm: true }],
      });
      const page = await open(`${studio.url}#/tool/asking/steps`);
      await page
        .getByText('toolscout asks you for a yes before the call is sent. Why: rule 1 (pattern "steps").')
        .waitFor();
      await page.getByText('each call by rule 1 (pattern "steps")').waitFor();
      await page.getByLabel(/^steps/).fill('2');
      const run = page.getByRole('button', { name: 'Run the tool' });
      await run.click();
      const ask = page.getByRole('group', { name: 'toolscout asks: approve this call of asking:steps?' });
      await ask.getByText('Rule 1 (pattern "steps")').waitFor();
      await page.getByText('Waiting for your yes. Nothing was sent to the server yet.').waitFor();
      expect(await page.getByText('asking asks you').count()).toBe(0);
      expect(await seriousFindings(page)).toEqual([]);
      await ask.getByRole('button', { name: 'Approve the call' }).click();
      await page.getByText('2 steps').first().waitFor();
      await page.getByText(/ waiting for your answer/).waitFor();
      // Cancelled while toolscout asks: nothing was sent.
      await run.click();
      await ask.waitFor();
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await page.getByText('Nothing was sent to the server.').waitFor();
      // Left for later, it is no failure: it waits under Approvals.
      await run.click();
      await ask.getByRole('button', { name: 'Decide later in Approvals' }).click();
      await page.getByText('needs a yes', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Decide in Approvals' }).click();
      await page.getByText('1 call waits for confirmation').waitFor();
      await page.goto(`${studio.url}#/servers/asking`);
      await page.getByRole('option', { name: /^steps.*needs a yes/ }).waitFor();
      await page.goto(`${studio.url}#/search?q=${encodeURIComponent('report progress steps')}`);
      await page.getByRole('option', { name: /asking:steps/ }).click();
      await page.getByText('each call, by rule 1 (pattern "steps")').waitFor();
    },
  );
});
