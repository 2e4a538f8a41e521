import { describe, expect, it } from 'vitest';
import { stateDirectory } from './state-directory.js';

describe('stateDirectory', () => {
  const linux = { platform: 'linux', home: '/home/ada' } as const;

  it('STORE-2 --state-dir stands above CCOS_MCP_CACHE_DIR above XDG_DATA_HOME', () => {
    const named = { dataHome: '/xdg', cacheDirectory: '/ccos' };
    expect(stateDirectory({ ...linux, ...named, override: '/mine' })).toBe('/mine');
    expect(stateDirectory({ ...linux, ...named })).toBe('/ccos');
    expect(stateDirectory({ ...linux, dataHome: '/xdg' })).toBe('/xdg/toolscout');
  });

  it('STORE-2 every platform has its place', () => {
    expect(stateDirectory(linux)).toBe('/home/ada/.local/share/toolscout');
    expect(stateDirectory({ platform: 'darwin', home: '/Users/ada' })).toBe(
      '/Users/ada/Library/Application Support/toolscout',
    );
    const windows = { platform: 'win32', home: 'C:\\Users\\ada' } as const;
    expect(stateDirectory({ ...windows, localAppData: 'D:\\Local' })).toBe('D:\\Local\\toolscout');
    expect(stateDirectory(windows)).toBe('C:\\Users\\ada\\AppData\\Local\\toolscout');
  });
});
