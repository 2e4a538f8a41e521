import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { CLI, finish } from '../support/toolscout.js';
import { seriousFindings } from './support/axe.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

const SCHEMA = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 3 },
    priority: { type: 'string', enum: ['low', 'high'], default: 'low' },
    count: { type: 'integer', minimum: 1 },
    labels: { type: 'array', items: { type: 'string' } },
    place: { type: 'object', properties: { room: { type: 'string' } }, required: ['room'] },
    who: {
      anyOf: [
        { title: 'A person', type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        { title: 'A number', type: 'integer' },
      ],
    },
  },
  required: ['title', 'who'],
};

describe('calls in Studio', () => {
  const open = sharedBrowser();

  it('STUDIO-1 the copied command reaches the toolscout of the page from any folder', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/tool/legacy/echo`);
    await page.getByLabel(/^message/).fill("it's here");
    const copied = page.getByLabel('Command line', { exact: true });
    await expect.poll(() => copied.textContent()).toContain('here');
    const command = ((await copied.textContent()) ?? '').replace(/^npx toolscout/, `"${process.execPath}" "${CLI}"`);
    const elsewhere = await temporaryDirectory();
    const env = { ...process.env, HOME: elsewhere };
    const ran = await finish(spawn('sh', ['-c', command], { cwd: elsewhere, env, stdio: 'pipe' }));
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining("it's here")]);
    await page.getByRole('radio', { name: 'TypeScript' }).click();
    await page.getByText(JSON.stringify(studio.configFile)).waitFor();
  });

  it(
    'STUDIO-2 makes a form of a schema, checks it before it sends, and sends what was entered',
    STARTS_PROCESSES,
    async () => {
      const file = join(await temporaryDirectory(), 'tools.json');
      await writeFile(
        file,
        JSON.stringify({ tools: [{ name: 'file_issue', description: 'Files an issue.', inputSchema: SCHEMA }] }),
      );
      const studio = await openStudio({ servers: { tracker: fixture('changing', `--file=${file}`) } });
      const page = await open(`${studio.url}#/tool/tracker/file_issue`);
      await page.getByRole('button', { name: 'Run the tool' }).click();
      await page.getByText('title is required').waitFor();
      await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-invalid'))).toBe('true');
      await page.getByLabel(/^title/).fill('ab');
      await page.getByText('title must have at least 3 characters').waitFor();
      await page.getByLabel(/^title/).fill('abc');
      await page.getByLabel(/^name/).fill('Ada');
      await page.getByLabel(/^count/).fill('two');
      await page.getByText('count must be a number').waitFor();
      await page.getByLabel(/^count/).fill('2');
      await page.getByLabel(/^priority/).selectOption('high');
      await page.getByRole('button', { name: 'Add to labels' }).click();
      await page.getByLabel(/^labels 1/).fill('bug');
      await page.getByRole('button', { name: 'Fill in place' }).click();
      await page.getByLabel(/^room/).fill('12');
      expect(await seriousFindings(page)).toEqual([]);
      const sent = {
        title: 'abc',
        who: { name: 'Ada' },
        count: 2,
        priority: 'high',
        labels: ['bug'],
        place: { room: '12' },
      };
      await page.getByRole('radio', { name: 'curl' }).click();
      const curl = (await page.getByLabel('curl', { exact: true }).last().textContent())!;
      expect(JSON.parse(/-d '(.*)'/s.exec(curl)![1]!)).toEqual({
        server: 'tracker',
        tool: 'file_issue',
        arguments: sent,
      });
      await page.getByRole('button', { name: 'Run the tool' }).click();
      await page.getByText('ran file_issue').waitFor();
      // Limits stand beside the inputs and in the table; an argument that no schema names is remarked on.
      await page.getByRole('cell', { name: 'whole number, at least 1' }).waitFor();
      await page.getByText('choice, default low').waitFor();
      await page.getByRole('radio', { name: 'JSON' }).first().click();
      await page.getByLabel('Arguments as JSON').fill('{"title":"abc","who":1,"priorty":"low"}');
      const remark = page.getByText(
        'priorty is not in the schema of this tool. It is sent as it is. Did you mean priority?',
      );
      await remark.waitFor();
      await page.getByRole('radio', { name: 'Form' }).click();
      await remark.waitFor();
      expect(await seriousFindings(page)).toEqual([]);
    },
  );

  it(
    'STUDIO-2 STUDIO-5 saves a call, runs it after a reload, exports it and imports it',
    STARTS_PROCESSES,
    async () => {
      const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
      const page = await open(`${studio.url}#/tool/legacy/echo`);
      await page.getByLabel(/^message/).fill('kept for later');
      await page.getByLabel('Name of the saved call').fill('my echo');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('button', { name: 'my echo', exact: true }).waitFor();
      await page.reload();
      await page.getByRole('button', { name: 'my echo', exact: true }).click();
      await expect.poll(() => page.getByLabel(/^message/).inputValue()).toBe('kept for later');
      await page.getByRole('button', { name: 'Run the tool' }).click();
      await page.getByRole('region', { name: 'Text of the result' }).getByText('kept for later').waitFor();
      const downloading = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Export all' }).click();
      const exported = join(await temporaryDirectory(), 'calls.json');
      await (await downloading).saveAs(exported);
      const kept = { name: 'my echo', server: 'legacy', tool: 'echo', arguments: { message: 'kept for later' } };
      expect(JSON.parse(await readFile(exported, 'utf8'))).toEqual({ calls: [expect.objectContaining(kept)] });
      await page.getByRole('button', { name: 'Delete my echo' }).click();
      await expect.poll(() => page.getByRole('button', { name: 'my echo', exact: true }).count()).toBe(0);
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Import saved calls' });
      await dialog.getByLabel('Or its text').fill('[]');
      await dialog.getByRole('button', { name: 'Import the calls' }).click();
      await dialog.getByText('There are no calls in it.').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await dialog.getByLabel('File with saved calls').setInputFiles(exported);
      await expect.poll(() => dialog.getByLabel('Or its text').inputValue()).toContain('my echo');
      await dialog.getByRole('button', { name: 'Import the calls' }).click();
      await page.getByRole('button', { name: 'my echo', exact: true }).waitFor();
      // The same call again, pasted with another one: only that one is new.
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      await dialog.getByLabel('Or its text').fill(JSON.stringify([kept, { ...kept, name: 'pasted' }]));
      await dialog.getByRole('button', { name: 'Import the calls' }).click();
      await page.getByText('1 call imported. 1 call was there already.').waitFor();
      await page.getByRole('button', { name: 'pasted', exact: true }).waitFor();
      const { calls } = (await (await fetch(`${studio.url}v1/saved-calls`)).json()) as { calls: unknown[] };
      expect(calls).toHaveLength(2);
    },
  );

  it('STUDIO-2 STUDIO-4 “This is what I meant” writes a label', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { huge: fixture('huge', '--tools=20'), legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/search?q=${encodeURIComponent('echo a text')}`);
    await page.getByRole('option', { name: /legacy:echo/ }).click();
    await page.getByRole('button', { name: 'This is what I meant' }).click();
    await page.getByText('Noted as a test case: “echo a text” means legacy:echo.').waitFor();
    const { labels } = (await (await fetch(`${studio.url}v1/labels`)).json()) as { labels: unknown[] };
    expect(labels).toEqual([expect.objectContaining({ query: 'echo a text', relevant: ['legacy:echo'] })]);
  });

  it(
    'STUDIO-2 answers what a server asks in the middle of a call, shows progress, and cancels',
    STARTS_PROCESSES,
    async () => {
      const studio = await openStudio({ servers: { asking: fixture('asking') } });
      const page = await open(`${studio.url}#/tool/asking/elicit_twice`);
      await page.getByLabel(/^message/).fill('Who?');
      await page.getByRole('button', { name: 'Run the tool' }).click();
      const ask = page.getByRole('group', { name: 'asking asks' });
      await ask.getByText('Who? 1').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await ask.getByRole('button', { name: 'Send the answer' }).click();
      await ask.getByText('name is required').waitFor();
      await ask.getByLabel(/^name/).fill('Ada');
      await ask.getByRole('button', { name: 'Send the answer' }).click();
      await ask.getByText('Who? 2').waitFor();
      await ask.getByLabel(/^name/).fill('Grace');
      await ask.getByRole('button', { name: 'Send the answer' }).click();
      await page.getByText('Ada and Grace').waitFor();
      await page.goto(`${studio.url}#/tool/asking/sample`);
      await page.getByLabel(/^prompt/).fill('Say hi');
      await page.getByRole('button', { name: 'Run the tool' }).click();
      await page.getByLabel('Answer of the model').fill('hi from a person');
      await ask.getByRole('button', { name: 'Send the answer' }).click();
      await page.getByText('sampled: hi from a person').waitFor();
      await page.goto(`${studio.url}#/tool/asking/elicit`);
      await page.getByLabel(/^message/).fill('Who?');
      await page.getByRole('button', { name: 'Run the tool' }).click();
      await ask.waitFor();
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await page.getByText('The call was cancelled.').waitFor();
    },
  );

  it('STUDIO-1 counts calls of other fronts and processes while one looks at Home', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const page = await open(studio.url);
    const calls = page.getByRole('region', { name: 'Last calls' }).getByRole('row');
    await page.getByText('Calls in 24 hours').waitFor();
    const host = new Client({ name: 'stranger', version: '1.0.0' });
    onTestFinished(() => host.close());
    await host.connect(new StreamableHTTPClientTransport(new URL(`${studio.url}mcp`)));
    const call = { server: 'legacy', tool: 'echo', arguments: { message: 'x' } };
    await host.callTool({ name: 'execute_tool', arguments: call });
    await calls.filter({ hasText: 'legacy:echo' }).first().waitFor();
    expect((await studio.run('call', 'legacy:echo', 'message=from a terminal')).code).toBe(0);
    await expect.poll(() => calls.filter({ hasText: 'legacy:echo' }).count()).toBe(2);
  });

  it(
    'STUDIO-2 STUDIO-3 shows the traffic of a host that we did not write, as it happens',
    STARTS_PROCESSES,
    async () => {
      const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
      const page = await open(`${studio.url}#/traffic`);
      await page.getByText('Listening').waitFor();
      const host = new Client({ name: 'stranger', version: '1.0.0' });
      onTestFinished(() => host.close());
      await host.connect(new StreamableHTTPClientTransport(new URL(`${studio.url}mcp`)));
      await host.callTool({ name: 'search_tools', arguments: { query: 'echo a text' } });
      await host.callTool({
        name: 'execute_tool',
        arguments: { server: 'legacy', tool: 'echo', arguments: { message: 'seen by the operator' } },
      });
      const row = page.getByRole('option', { name: /legacy:echo/ });
      await row.waitFor();
      await row.click();
      await page.getByRole('heading', { name: 'What it led to', exact: true }).waitFor();
      await page.getByText('stranger').first().waitFor();
      await page.getByText('seen by the operator').first().waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByLabel('Search').fill('search_tools');
      await expect.poll(() => page.getByRole('option', { name: /legacy:echo/ }).count()).toBe(0);
      await page.getByRole('button', { name: 'Pause' }).click();
      await host.callTool({ name: 'search_tools', arguments: { query: 'something else' } });
      await page.getByRole('button', { name: 'Resume' }).click();
      await expect.poll(() => page.getByRole('option', { name: /search_tools/ }).count()).toBe(2);
    },
  );
});
