import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { resolveConfig } from '../config/index.js';
import { LOCK_FILE } from '../model/lock.js';
import { openLock } from './lock.js';

const loadedWith = (approval: 'lock' | 'manual') => resolveConfig({ approval }, { source: 'library', env: {} });

describe('the lock file of a process', () => {
  it('SEC-10 lies beside the config wherever toolscout is started, and in the current folder without one', () => {
    const place = { cwd: '/here', home: '/home/ada', env: {}, hide: (text: string) => text };
    expect(openLock(place).deps.path()).toBe(join('/here', LOCK_FILE));
    const named = openLock({ ...place, config: '/there/toolscout.json', env: { npm_config_cache: '/npm' } });
    expect(named.deps.path()).toBe(join('/there', LOCK_FILE));
    expect(named.deps.places).toEqual({ project: '/there', npmCache: '/npm' });
    expect(openLock(place).deps.places).toEqual({ project: '/here', npmCache: join('/home/ada', '.npm') });
  });

  it('SEC-10 is read only under the policy that needs it, and does not bind the command that writes it', async () => {
    const cwd = await temporaryDirectory();
    const { apply } = openLock({ cwd, home: cwd, env: {}, hide: (text) => text });
    await writeFile(join(cwd, LOCK_FILE), '{}');
    const manual = loadedWith('manual');
    expect(await apply(manual)).toBe(manual);
    expect(await apply(manual, true)).toBe(manual);
    const locked = loadedWith('lock');
    expect(await apply(locked)).toBe(locked);
    expect((await apply(locked, true)).config.approval).toBe('trust-first');
  });
});
