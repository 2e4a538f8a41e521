import { describe, expect, it } from 'vitest';
import { describeImporter, settle } from '../../test/contract/importer-contract.js';
import { SOURCE_TYPES } from '../model/config.js';
import { importClient } from './import-sources.js';
import { IMPORTERS } from './importers.js';

for (const importer of Object.values(IMPORTERS)) describeImporter(importer);

describe('the importers', () => {
  it('CFG-5 there is one for every source, under its own name', () => {
    expect(Object.keys(IMPORTERS)).toEqual([...SOURCE_TYPES]);
    for (const [type, importer] of Object.entries(IMPORTERS)) expect(importer.type).toBe(type);
  });

  it.each(['claude-desktop', 'vscode', 'roo', 'zed', 'goose'] as const)(
    'CFG-5 %s finds the same servers of the user on a Mac and on Windows',
    async (type) => {
      const ids = async (platform: string): Promise<string[]> => {
        const place = await settle([type], platform);
        return (await importClient(type, place)).servers.filter((s) => s.scope === 'user').map((s) => s.id);
      };
      const linux = (await ids('linux')).filter((id) => id !== 'legacy-settings');
      expect(linux.length).toBeGreaterThan(1);
      expect(await ids('darwin')).toEqual(linux);
      expect(await ids('win32')).toEqual(linux);
    },
  );

  it('CFG-5 gemini-cli reads %VAR% on Windows, and leaves it alone elsewhere', async () => {
    const win = async (platform: string): Promise<string | undefined> =>
      (await importClient('gemini-cli', await settle(['gemini-cli'], platform))).servers.find((s) => s.id === 'local')
        ?.entry.env?.['WIN'];
    expect(await win('win32')).toBe('${MY_WIN}');
    expect(await win('linux')).toBe('%MY_WIN%');
  });

  it('CFG-5 variables move the folders of clients that honour them', () => {
    const place = { platform: 'linux', home: '/h', env: { CODEX_HOME: '/c', XDG_CONFIG_HOME: '/x' } };
    expect(IMPORTERS.codex.locate(place)[0]?.path).toBe('/c/config.toml');
    expect(IMPORTERS.goose.locate(place)[0]?.path).toBe('/x/goose/config.yaml');
    expect(IMPORTERS['tools-yaml'].locate({ ...place, env: { TOOLS_YAML_PATH: '/t/t.yaml' } })).toEqual([
      { path: '/t/t.yaml', scope: 'user', format: 'yaml' },
    ]);
  });
});
