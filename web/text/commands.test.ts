import { describe, expect, it } from 'vitest';
import { shellWord, withOwnFlags } from './commands.js';

describe('commands that the page shows', () => {
  it('STUDIO-6 reach the toolscout of the page: its port, its config, its state', () => {
    const own = { port: '7391', stateDir: '/srv/state', config: '/my files/tools.yaml' };
    expect(withOwnFlags('npx toolscout studio', own)).toBe(
      "npx toolscout studio --port 7391 --config '/my files/tools.yaml' --state-dir /srv/state",
    );
    expect(withOwnFlags('npx toolscout call a:b --args {}', own)).toBe(
      "npx toolscout call --config '/my files/tools.yaml' --state-dir /srv/state a:b --args {}",
    );
    expect(withOwnFlags('Sign in: toolscout auth login github', { config: '/c.json' })).toBe(
      'Sign in: toolscout auth login --config /c.json github',
    );
    expect(withOwnFlags('Run toolscout store status, then toolscout store accept.', { demo: true })).toBe(
      'Run toolscout store status --demo, then toolscout store accept --demo.',
    );
    // These work on files alone.
    expect(withOwnFlags('toolscout secret set TOKEN', { ...own, demo: true })).toBe(
      "toolscout secret set --config '/my files/tools.yaml' TOKEN",
    );
    expect(withOwnFlags('toolscout install', { stateDir: '/s' })).toBe('toolscout install');
  });

  it('STUDIO-6 stay as they are where they reach it anyway, and prose stays prose', () => {
    expect(withOwnFlags('npx toolscout studio', { port: '7077' })).toBe('npx toolscout studio');
    expect(withOwnFlags('toolscout goes on by itself.', { config: '/c' })).toBe('toolscout goes on by itself.');
    expect(withOwnFlags('toolscout call --config /other a:b', { config: '/c' })).toBe(
      'toolscout call --config /other a:b',
    );
  });

  it('STUDIO-6 quote what a shell would read', () => {
    expect(withOwnFlags('toolscout pending', { stateDir: "/my files/it's" })).toBe(
      String.raw`toolscout pending --state-dir '/my files/it'\''s'`,
    );
    expect(withOwnFlags('toolscout pending', { stateDir: String.raw`C:\My Files\state` })).toBe(
      String.raw`toolscout pending --state-dir "C:\My Files\state"`,
    );
    // A replacement pattern in a path is no pattern.
    expect(withOwnFlags('toolscout pending', { config: '/$&/c' })).toBe("toolscout pending --config '/$&/c'");
  });

  it('A17 a name of a server cannot leave its word in a shell', () => {
    expect(shellWord('a; rm -rf /')).toBe("'a; rm -rf /'");
    expect(shellWord('$(x)`y`')).toBe("'$(x)`y`'");
    expect(shellWord('plain-1.2/x:y')).toBe('plain-1.2/x:y');
  });
});
