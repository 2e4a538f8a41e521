import { homedir, userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { ownCommand } from './client-environment.js';
import { homeOf } from './state-place.js';
import { VERSION } from '../kernel/version.js';

describe('the home of the user', () => {
  it('STORE-2 CFG-1 is what HOME says, but never the folder we were started in', () => {
    expect(homeOf({ HOME: '/home/ann' })).toBe('/home/ann');
    expect(homeOf({})).toBe(homedir());
    for (const HOME of ['', '.', 'ann']) expect(homeOf({ HOME })).toBe(userInfo().homedir);
  });
});

describe('the command of an entry that starts toolscout', () => {
  it.each([
    '/home/ann/.npm/_npx/0f3a/node_modules/toolscout/dist/cli.js',
    'C:\\Users\\ann\\AppData\\Local\\npm-cache\\_npx\\0f3a\\node_modules\\toolscout\\dist\\cli.js',
    '/home/ann/.cache/pnpm/dlx/ab12/node_modules/toolscout/dist/cli.js',
    '/tmp/bunx-1000-toolscout@latest/node_modules/toolscout/dist/cli.js',
    '/tmp/xfs-0a1b2c3d/dlx-4711/node_modules/toolscout/dist/cli.js',
  ])('CLI-3 never names the cache of a package runner: %s', (script) => {
    const args = ['-y', `toolscout@${VERSION}`];
    expect(ownCommand(script, 'linux')).toEqual({ command: 'npx', args });
    expect(ownCommand(script, 'win32')).toEqual({ command: 'cmd', args: ['/c', 'npx', ...args] });
  });

  it('CLI-3 names an installed script by its path', () => {
    const script = '/usr/lib/node_modules/toolscout/dist/cli.js';
    expect(ownCommand(script, 'linux')).toEqual({ command: process.execPath, args: [script] });
  });
});
