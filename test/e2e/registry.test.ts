import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { registryEntry, startRegistry } from '../support/registry-server.js';
import { workplace } from '../support/toolscout.js';

describe('the registry, from the built command line', () => {
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
});
