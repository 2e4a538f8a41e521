import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { seriousFindings } from './support/axe.js';
import { sharedBrowser } from './support/browser.js';
import { openStudio } from './support/studio.js';

describe('the first run of Studio', () => {
  const open = sharedBrowser();

  it(
    'STUDIO-2 STUDIO-8 imports servers of a client, with the command and the difference shown first',
    STARTS_PROCESSES,
    async () => {
      const home = await temporaryDirectory();
      await mkdir(join(home, '.cursor'));
      const { command, args } = fixture('legacy');
      await writeFile(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { notes: { command, args } } }));
      vi.stubEnv('HOME', home);
      vi.stubEnv('XDG_CONFIG_HOME', join(home, '.config'));
      onTestFinished(() => void vi.unstubAllEnvs());
      const studio = await openStudio({ servers: {} });
      const page = await open(studio.url);
      await page.getByRole('heading', { name: 'Welcome. Give toolscout its first servers.', exact: true }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByLabel(/Cursor.*notes/).waitFor();
      await page.getByRole('button', { name: 'Review the import' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(args[0]!).first().waitFor();
      expect(JSON.parse(await readFile(studio.configFile, 'utf8'))).toEqual({ servers: {} });
      await dialog.getByRole('button', { name: /^Save/ }).click();
      await page.getByText('Tools that agents can use').waitFor();
      expect(await readFile(studio.configFile, 'utf8')).toContain('notes');
    },
  );

  it('STUDIO-2 STUDIO-8 adds a server by its command, edits it and removes it', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { first: fixture('legacy') } });
    const page = await open(`${studio.url}#/servers`);
    await page.getByRole('link', { name: 'Add a server' }).click();
    await page.getByRole('button', { name: 'Review the change' }).click();
    await page.getByText('Give it a short name').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('second');
    const { command, args } = fixture('legacy');
    await page.getByLabel('Command', { exact: true }).fill(`${command} ${args.join(' ')}`);
    await page.getByRole('button', { name: 'Review the change' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This would be run on your machine').waitFor();
    expect(await dialog.locator('.command').textContent()).toContain(args[0]);
    expect(await readFile(studio.configFile, 'utf8')).not.toContain('second');
    await dialog.getByRole('button', { name: 'Add the server' }).click();
    await page.getByRole('option', { name: /echo/ }).waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Title').fill('The second one');
    await page.getByRole('button', { name: 'Review the change' }).click();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'The second one', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Remove the server' }).click();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('option', { name: /first/ }).waitFor();
    await expect.poll(() => page.getByRole('option', { name: /second/ }).count()).toBe(0);
  });

  it('STUDIO-1 STUDIO-8 adds servers as the page of a server shows them', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { first: fixture('legacy') } });
    const page = await open(`${studio.url}#/servers/+/add`);
    await page.getByRole('radio', { name: 'JSON' }).click();
    const text = page.getByLabel('Entry of the config as JSON');
    await text.fill('{"mcpServers": {"notes": {}}}');
    await page.getByRole('button', { name: 'Review the change' }).click();
    await page.getByText('"notes" has neither a command nor a url.').waitFor();
    await text.fill(JSON.stringify({ mcpServers: { notes: fixture('legacy') } }));
    await page.getByRole('button', { name: 'Review the change' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Add the server' }).click();
    await page.getByRole('heading', { name: 'notes', exact: true }).waitFor();
    await page.getByRole('option', { name: /echo/ }).waitFor();
  });

  it('STUDIO-2 shows what a rule turns off while it is written, and saves it', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/servers/legacy`);
    await page.getByRole('option', { name: /echo.*offered/ }).waitFor();
    await page.goto(`${studio.url}#/rules`);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByLabel('Rule 1: tools named').fill('ech*');
    await page.getByText('disables 1 tool').waitFor();
    await page.getByRole('button', { name: 'Review the change' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.goto(`${studio.url}#/tool/legacy/echo`);
    await page.getByText('Agents do not get this tool.').waitFor();
    await page.getByRole('link', { name: 'Open the rules' }).waitFor();
  });

  it(
    'STUDIO-2 STUDIO-8 saves the text of the config after its difference was shown, and uses it',
    STARTS_PROCESSES,
    async () => {
      const studio = await openStudio({ servers: { first: fixture('legacy') } });
      const page = await open(`${studio.url}#/config`);
      const text = page.getByLabel('Text of the config file');
      await expect.poll(() => text.inputValue()).toContain('first');
      const wanted = `{
  "servers": ${JSON.stringify({ first: fixture('legacy'), second: fixture('legacy') })}
}
`;
      await text.fill(wanted);
      await page.getByRole('button', { name: 'Check and review' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('.diff-right').filter({ hasText: 'second' }).first().waitFor();
      expect(await readFile(studio.configFile, 'utf8')).not.toContain('second');
      await dialog.getByRole('button', { name: /^Save/ }).click();
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
      expect(await readFile(studio.configFile, 'utf8')).toBe(wanted);
      await page.goto(`${studio.url}#/servers`);
      await page.getByRole('option', { name: /second/ }).waitFor();
      // The file changes elsewhere, and the page reads it again.
      await studio.write({ servers: { first: fixture('legacy'), third: fixture('legacy') } });
      await page.goto(`${studio.url}#/config`);
      await page.getByRole('button', { name: 'Read the file again' }).click();
      await expect.poll(() => text.inputValue()).toContain('third');
    },
  );

  it('STUDIO-2 STUDIO-8 checks the text of the config before it is written', STARTS_PROCESSES, async () => {
    const studio = await openStudio({ servers: { legacy: fixture('legacy') } });
    const page = await open(`${studio.url}#/config`);
    const before = await readFile(studio.configFile, 'utf8');
    await page.getByLabel('Text of the config file').fill('{"servers": {}, "mode": "nonsense"}');
    await page.getByRole('button', { name: 'Check and review' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('mode', { exact: true }).first().waitFor();
    expect(await dialog.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await readFile(studio.configFile, 'utf8')).toBe(before);
  });
});
