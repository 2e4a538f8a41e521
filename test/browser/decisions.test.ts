import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { seriousFindings } from './support/axe.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

const DROP = {
  name: 'drop',
  description: 'Deletes a note.',
  inputSchema: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
  annotations: { destructiveHint: true },
};

describe('decisions in Studio', () => {
  const open = sharedBrowser();

  it(
    'STUDIO-1 SEC-11 a call that may delete asks once, waits under Approvals, and says when it is sent at once',
    STARTS_PROCESSES,
    async () => {
      const file = join(await temporaryDirectory(), 'list.json');
      await writeFile(file, JSON.stringify({ tools: [DROP] }));
      const studio = await openStudio({
        servers: { notes: fixture('changing', `--file=${file}`) },
        toolRules: [{ pattern: 'drop', confirm: true }],
      });
      const page = await open(`${studio.url}#/tool/notes/drop`);
      await page.getByText('toolscout asks you for a yes before the call is sent.').waitFor();
      await page.getByLabel(/^id/).fill('7');
      const run = page.getByRole('button', { name: 'Run the tool' });
      await run.click();
      const ask = page.getByRole('group', { name: 'toolscout asks: approve this call of notes:drop?' });
      await ask.waitFor();
      // It waits under Approvals too, and nothing there says otherwise.
      await page.getByRole('link', { name: /Approvals.*1.*waiting/ }).click();
      await page.getByRole('heading', { name: 'A call made elsewhere waits for you' }).waitFor();
      await ask.waitFor();
      expect(await page.getByText('Nothing waits for you').count()).toBe(0);
      expect(await seriousFindings(page)).toEqual([]);
      await ask.getByRole('button', { name: 'Decide later in Approvals' }).click();
      await page.getByText('1 call waits for confirmation').waitFor();
      const waiting = page.getByRole('listitem', { name: 'Call of notes:drop' });
      await waiting.getByRole('button', { name: 'Approve the call' }).click();
      await page.getByText('Nothing waits for you').waitFor();
      await page.goto(`${studio.url}#/tool/notes/drop`);
      await page.getByText(/This call is approved until [\d:]+: it is sent at once\./).waitFor();
      expect(await page.getByText(/was not called yet/).count()).toBe(0);
      await run.click();
      await page.getByText('ran drop').waitFor();
      await page.getByText('toolscout asks you for a yes before the call is sent.').waitFor();
      // A no is a refusal, here as in the audit log, and advises nothing that only an agent needs.
      await run.click();
      await ask.getByRole('button', { name: 'Reject the call' }).click();
      await page.getByText('refused', { exact: true }).waitFor();
      expect(await page.getByText(/Do not repeat/).count()).toBe(0);
      await run.click();
      await ask.waitFor();
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await page.getByText('cancelled', { exact: true }).waitFor();
      await page.goto(`${studio.url}#/audit`);
      await page.getByLabel('Outcome').selectOption('cancelled');
      await page.getByRole('heading', { name: '1 record' }).waitFor();
    },
  );
});
