import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { stateDirectoryOf, unusualStateDirectory } from './state-place.js';

describe('where state is kept', () => {
  it('STUDIO-6 a folder is unusual where a plain command of the user would look elsewhere', () => {
    const cwd = '/work';
    const plain = { HOME: userInfo().homedir };
    expect(unusualStateDirectory({ cwd, env: plain })).toBeUndefined();
    expect(unusualStateDirectory({ cwd, env: {}, stateDir: stateDirectoryOf({ cwd, env: plain }) })).toBeUndefined();
    expect(unusualStateDirectory({ cwd, env: plain, stateDir: 'here' })).toBe('/work/here');
    expect(unusualStateDirectory({ cwd, env: { ...plain, CCOS_MCP_CACHE_DIR: '/cache' } })).toBe('/cache');
    expect(unusualStateDirectory({ cwd, env: plain, stateDir: 'memory' })).toBe('memory');
  });
});
