import { describe, expect, it } from 'vitest';
import { stateDirectory } from './state-directory.js';

describe('stateDirectory', () => {
  const linux = { platform: 'linux', home: '/home/ada' } as const;

  it('STORE-2 --state-dir stands above CCOS_MCP_CACHE_DIR above XDG_DATA_HOME', () => {
    const env = { XDG_DATA_HOME: '/xdg', CCOS_MCP_CACHE_DIR: '/ccos' };
    expect(stateDirectory({ ...linux, env, override: '/mine' })).toBe('/mine');
    expect(stateDirectory({ ...linux, env })).toBe('/ccos');
    expect(stateDirectory({ ...linux, env: { XDG_DATA_HOME: '/xdg' } })).toBe('/xdg/toolscout');
  });

  it('STORE-2 every platform has its place', () => {
    expect(stateDirectory({ ...linux, env: {} })).toBe('/home/ada/.local/share/toolscout');
    expect(stateDirectory({ platform: 'darwin', home: '/Users/ada', env: {} })).toBe(
      '/Users/ada/Library/Application Support/toolscout',
    );
    const windows = { platform: 'win32', home: 'C:\\Users\\ada' } as const;
    expect(stateDirectory({ ...windows, env: { LOCALAPPDATA: 'D:\\Local' } })).toBe('D:\\Local\\toolscout');
    expect(stateDirectory({ ...windows, env: {} })).toBe('C:\\Users\\ada\\AppData\\Local\\toolscout');
  });

  it('STORE-2 an empty variable or a relative XDG_DATA_HOME counts as unset', () => {
    const env = { XDG_DATA_HOME: 'relative', CCOS_MCP_CACHE_DIR: '' };
    expect(stateDirectory({ ...linux, env, override: '' })).toBe('/home/ada/.local/share/toolscout');
  });
});
