import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownFlags } from './own-flags.js';

describe('what a command needs to reach this toolscout', () => {
  const { homedir } = userInfo();
  const around = { cwd: '/work', env: { HOME: homedir } };

  it('STUDIO-6 a config is named unless every command of the user finds it', () => {
    expect(ownFlags('/work/toolscout.config.json', around)).toEqual({ config: '/work/toolscout.config.json' });
    expect(ownFlags(join(homedir, '.config/toolscout/config.yaml'), around)).toEqual({});
    // A variable may be set for this process alone.
    const other = { ...around, env: { HOME: homedir, XDG_CONFIG_HOME: '/xdg' } };
    expect(ownFlags('/xdg/toolscout/config.json', other)).toEqual({ config: '/xdg/toolscout/config.json' });
    expect(ownFlags('defaults', around)).toEqual({});
    expect(ownFlags('library', around)).toEqual({});
    expect(ownFlags('demo', { ...around, stateDir: '/srv/state' })).toEqual({ stateDir: '/srv/state', demo: true });
  });
});
