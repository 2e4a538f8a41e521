import { describe, expect, it } from 'vitest';
import { readEnvironment, resolveConfig } from './index.js';

describe('readEnvironment', () => {
  it('CFG-7 has a default for every variable', () => {
    const environment = readEnvironment({});
    expect(environment).toMatchObject({
      toolsYamlPath: 'tools/tools.yaml',
      registryRefreshMs: 60_000,
      registryStaleMaxMs: 3_600_000,
      discoveryTimeoutMs: 1500,
      discoveryUserAgent: 'toolscout',
      registryEnabled: true,
      noColor: false,
      problems: [],
    });
    expect(environment.registryAllowedHosts).toBeUndefined();
    expect(environment.cacheTtlMs).toBeUndefined();
    expect(environment.serverToken('github')).toBeUndefined();
  });

  it('CFG-7 reads every variable', () => {
    const environment = readEnvironment({
      MCP_AUTH_TOKEN: ' general ',
      GITHUB_MCP_TOKEN: 'special',
      MY_SERVER_2_MCP_TOKEN: 'mine',
      CCOS_MCP_CACHE_DIR: '/c',
      CCOS_MCP_CACHE_TTL: '5',
      TOOLS_YAML_PATH: 'x.yaml',
      REGISTRY_REFRESH_SEC: '1',
      REGISTRY_STALE_MAX_SEC: '0',
      DISCOVERY_TIMEOUT_MS: '9',
      DISCOVERY_UA: 'me/1',
      TOOLS_REGISTRY_ENABLED: 'Off',
      REGISTRY_ALLOWED_HOSTS: ' A.example, ,b.example ',
      NO_COLOR: '1',
      XDG_DATA_HOME: '/d',
      XDG_CONFIG_HOME: '/g',
    });
    expect(environment).toMatchObject({
      authToken: 'general',
      cacheDirectory: '/c',
      cacheTtlMs: 5000,
      toolsYamlPath: 'x.yaml',
      registryRefreshMs: 1000,
      registryStaleMaxMs: 0,
      discoveryTimeoutMs: 9,
      discoveryUserAgent: 'me/1',
      registryEnabled: false,
      registryAllowedHosts: ['a.example', 'b.example'],
      noColor: true,
      dataHome: '/d',
      configHome: '/g',
      problems: [],
    });
    expect(environment.serverToken('github')).toBe('special');
    expect(environment.serverToken('my-server.2')).toBe('mine');
  });

  it.each([
    ['CCOS_MCP_CACHE_TTL', 'soon'],
    ['REGISTRY_REFRESH_SEC', '0'],
    ['REGISTRY_STALE_MAX_SEC', '-1'],
    ['DISCOVERY_TIMEOUT_MS', '1e3'],
    ['TOOLS_REGISTRY_ENABLED', 'maybe'],
    ['XDG_DATA_HOME', 'relative'],
    ['DISCOVERY_UA', 'a\r\nX: y'],
  ])('CFG-7 a senseless %s is reported by name and its default holds', (name, value) => {
    const { problems, ...rest } = readEnvironment({ [name]: value });
    expect(problems).toMatchObject([{ path: name }]);
    expect(problems[0]!.message).not.toContain(value);
    const { problems: none, ...defaults } = readEnvironment({});
    expect(none).toEqual([]);
    expect(JSON.stringify(rest)).toBe(JSON.stringify(defaults));
  });

  it('CFG-7 a blank variable is not set, and inherited names are not variables', () => {
    expect(readEnvironment({ MCP_AUTH_TOKEN: ' ', NO_COLOR: '' })).toMatchObject({ noColor: false });
    expect(readEnvironment({ MCP_AUTH_TOKEN: ' ' }).authToken).toBeUndefined();
    expect(
      readEnvironment(Object.create({ MCP_AUTH_TOKEN: 'inherited' }) as Record<string, string>).authToken,
    ).toBeUndefined();
  });

  it.each([
    [{}, { enabled: true, ttlMs: 5000 }],
    [{ cache: false }, { enabled: false, ttlMs: 5000 }],
    [{ cache: { enabled: false } }, { enabled: false, ttlMs: 5000 }],
    [{ cache: { ttlMs: 7000 } }, { enabled: true, ttlMs: 7000 }],
    [{ discovery: { cache: true } }, { enabled: true, ttlMs: 5000 }],
  ])('CFG-7 CCOS_MCP_CACHE_TTL is the default of cache.ttlMs: %j', (raw, cache) => {
    const env = { CCOS_MCP_CACHE_TTL: '5' };
    expect(resolveConfig(raw, { source: 'library', env }).config.cache).toEqual(cache);
  });

  it('CFG-7 senseless variables are warnings of a loaded config', () => {
    const { warnings } = resolveConfig({}, { source: 'library', env: { REGISTRY_REFRESH_SEC: 'x' } });
    expect(warnings).toMatchObject([{ path: 'REGISTRY_REFRESH_SEC' }]);
  });
});
