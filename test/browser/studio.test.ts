import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { seriousFindings } from './support/axe.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

describe('Studio', () => {
  const open = sharedBrowser();

  it('STUDIO-2 finds a tool as one types, and tries it', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { huge: fixture('huge', '--tools=50'), legacy: fixture('legacy') } });
    const page = await open(studio.url);
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'What is to be done' }).fill('echo a text');
    await page.getByRole('option', { name: /legacy:echo/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByLabel(/^message/).fill('hello from a browser');
    await page.getByRole('button', { name: 'Run the tool' }).click();
    await page.getByText('success').first().waitFor();
    expect(await page.getByRole('region', { name: 'Text of the result' }).textContent()).toContain(
      'hello from a browser',
    );
  });

  it('STUDIO-1 says what an agent reads and pays for a search', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { huge: fixture('huge', '--tools=50'), legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/search?q=${encodeURIComponent('list the messages')}`);
    await page.getByText(/to ask, \d+ for/).waitFor();
    await page.getByText('What it reads').click();
    const text = (await page.getByRole('region', { name: 'What the agent reads' }).textContent())!;
    const host = new Client({ name: 'stranger', version: '1.0.0' });
    onTestFinished(() => host.close());
    await host.connect(new StreamableHTTPClientTransport(new URL(`${studio.url}mcp`)));
    const { content } = await host.callTool({ name: 'search_tools', arguments: { query: 'list the messages' } });
    expect([{ type: 'text', text }]).toEqual(content);
  });

  it.each(['light', 'dark'] as const)(
    'STUDIO-1 has no serious accessibility findings: %s',
    STARTS_PROCESSES,
    async (colorScheme) => {
      const studio = await openStudio({
        servers: {
          huge: fixture('huge', '--tools=50'),
          legacy: fixture('legacy'),
          absent: { command: '/no/such/program' },
        },
        toolRules: [
          { pattern: 'legacy:crash', enabled: false },
          { pattern: 'legacy:echo', confirm: { when: "message == 'ask first'" }, tags: ['text'] },
        ],
      });
      const page = await open(studio.url, { colorScheme });
      const found: string[] = [];
      const look = async (what: string): Promise<void> => {
        await expect.poll(() => page.getByText('is loading…').count()).toBe(0);
        found.push(...(await seriousFindings(page)).map((one) => `${what}: ${one}`));
      };
      const call = (tool: string, args: object) =>
        fetch(`${studio.url}v1/call`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ server: 'legacy', tool, arguments: args }),
        });
      // Traffic is recorded while somebody follows it.
      await page.goto(`${studio.url}#/traffic`);
      await page.getByText('Listening').waitFor();
      await call('echo', { message: 'hello' });
      await call('fail', {});
      await call('echo', { message: 'ask first' });
      await page.getByRole('option', { name: /legacy:fail/ }).click();
      await page.getByRole('heading', { name: 'What it led to', exact: true }).waitFor();
      await look('traffic with a row open');
      await page.goto(`${studio.url}#/home`);
      await page.getByText('A call of "legacy:echo" waits for confirmation').waitFor();
      await page.getByRole('region', { name: 'Last calls' }).getByText('legacy:echo').first().waitFor();
      await look('home with data');
      for (const [view, ready] of [
        ['servers', page.getByRole('option', { name: /absent/ })],
        ['servers/legacy', page.getByRole('option', { name: /echo/ })],
        ['search?q=echo', page.getByText(/An agent pays/)],
        ['tool/legacy/echo', page.getByLabel(/^message/)],
        ['tool/legacy/crash', page.getByText('Agents do not get this tool.')],
        ['held', page.getByRole('row', { name: /legacy:crash/ })],
        ['approvals', page.getByRole('listitem', { name: 'Call of legacy:echo' })],
        ['skills', page.getByRole('heading', { name: 'Skills', exact: true })],
        ['audit', page.getByText('echo').first()],
        ['rules', page.getByText('disables 1 tool')],
      ] as const) {
        await page.goto(`${studio.url}#/${view}`);
        await ready.waitFor();
        await look(view);
      }
      const dialog = page.getByRole('dialog');
      await page.goto(`${studio.url}#/config`);
      await page.getByLabel('Text of the config file').waitFor();
      await look('config');
      await page.getByLabel('Text of the config file').fill('{"servers": {}, "mode": "nonsense"}');
      await page.getByRole('button', { name: 'Check and review' }).click();
      await dialog.getByText('mode', { exact: true }).first().waitFor();
      await look('review of a config with a mistake');
      await page.keyboard.press('Escape');
      await page.goto(`${studio.url}#/servers/legacy/edit`);
      await page.getByLabel('Title').fill('Another title');
      await look('edit a server');
      await page.goto(`${studio.url}#/servers/+/add`);
      await page.getByRole('button', { name: 'Review the change' }).click();
      await page.getByText('Give it a short name').waitFor();
      await look('add a server, with a mistake');
      await page.getByLabel('Name', { exact: true }).fill('second');
      await page.getByLabel('Command', { exact: true }).fill('node second.mjs');
      await page.getByRole('button', { name: 'Review the change' }).click();
      await dialog.getByText('This would be run on your machine').waitFor();
      await look('review of a new server');
      expect(found).toEqual([]);
    },
  );
});
