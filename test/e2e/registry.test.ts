import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { registryEntry, startRegistry } from '../support/registry-server.js';
import { CLI, finish, workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

describe('the registry, from the built command line', STARTS_PROCESSES, () => {
  it('S25 REG-9 SEC-9 search, show and add; without a terminal nothing is written unless --yes says so', async () => {
    const registry = await startRegistry([
      registryEntry({
        name: 'io.test/weather',
        description: 'Forecasts',
        version: '1.0.0',
        packages: [{ registryType: 'npm', identifier: 'weather-mcp', version: '1.0.0', transport: { type: 'stdio' } }],
      }),
    ]);
    const place = await workplace({ registry: { url: registry.url } });
    const before = await readFile(place.configFile, 'utf8');
    expect((await place.run('registry', 'search', 'weather')).stdout).toContain('io.test/weather');
    expect((await place.run('registry', 'show', 'io.test/weather')).stdout).toContain('npx -y weather-mcp@1.0.0');
    const asked = await place.run('registry', 'add', 'io.test/weather');
    expect(asked).toMatchObject({ code: 4, stdout: '' });
    expect(asked.stderr).toContain('npx -y weather-mcp@1.0.0');
    expect(await readFile(place.configFile, 'utf8')).toBe(before);
    expect(await place.run('registry', 'add', 'io.test/weather', '--yes')).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(place.configFile, 'utf8'))).toMatchObject({
      servers: { weather: { command: 'npx', args: ['-y', 'weather-mcp@1.0.0'] } },
    });
    // The search was remembered: one question for it, one for each look at the server.
    expect(registry.asked.filter((path) => path.includes('search='))).toHaveLength(1);
    await place.run('registry', 'search', 'weather');
    expect(registry.asked.filter((path) => path.includes('search='))).toHaveLength(1);
  });

  it('CFG-1 REG-9 configs of every format that is data are read and written by what ships', async () => {
    const server = { name: 'io.test/far', description: '', version: '1.0.0' };
    const registry = await startRegistry([
      registryEntry({ ...server, remotes: [{ type: 'streamable-http', url: 'https://far.example/mcp' }] }),
    ]);
    const place = await workplace({});
    const files: Array<[string, string]> = [
      ['a.jsonc', `{ // mine\n  "registry": { "url": "${registry.url}" },\n}\n`],
      ['a.yaml', `# mine\nregistry:\n  url: ${registry.url}\n`],
      ['a.toml', `# mine\n[registry]\nurl = "${registry.url}"\n`],
    ];
    for (const [name, text] of files) {
      const file = join(place.folder, name);
      await writeFile(file, text);
      const flags = ['--config', file, '--state-dir', join(place.folder, 'state')];
      const added = await finish(
        spawn(process.execPath, [CLI, 'registry', 'add', 'io.test/far', '--yes', ...flags], { cwd: place.folder }),
      );
      expect(added, name).toMatchObject({ code: 0 });
      const after = await readFile(file, 'utf8');
      expect(after, name).toContain('mine');
      expect(after, name).toContain('https://far.example/mcp');
      const listed = await finish(spawn(process.execPath, [CLI, 'servers', '--json', ...flags], { cwd: place.folder }));
      expect(listed.stdout, name).toContain('"id":"far"');
    }
  });
});
