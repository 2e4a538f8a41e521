import { describe, expect, it } from 'vitest';
import { resolveConfig } from '../config/index.js';
import { correctionOf, unusableServer } from './unusable-server.js';

const FILE = '/home/me/toolscout.config.json';
const OTHER = '/home/me/.cursor/mcp.json';

function load(raw: object): ReturnType<typeof resolveConfig> {
  return resolveConfig(raw, { source: FILE, env: {} });
}

function remedyOf(raw: object, source = FILE): unknown {
  const loaded = load(raw);
  return unusableServer({ ...loaded.servers[0]!, source }, 'a reason', loaded).remedy;
}

describe('the correction of a server that cannot be used', () => {
  const off = { servers: { a: { command: 'a', enabled: false } } };
  const bad = { servers: { toolscout: { command: 'a' } } };

  it.each([
    ['its own entry', off, FILE, 'Remove "enabled": false from servers.a in the config.'],
    ['the whole config', { ...off, enabled: false }, FILE, 'Remove "enabled": false at the top of the config.'],
    ['the file of a client', off, OTHER, `Enable "a" in ${OTHER}, where it is configured.`],
  ])('CFG-2 names what turned it off: %s', (_, raw, source, what) => {
    expect(remedyOf(raw, source)).toEqual({ kind: 'configure', what });
  });

  it('CFG-4 CFG-5 names the file with the mistake', () => {
    const loaded = load(bad);
    const server = loaded.servers[0]!;
    expect(correctionOf(server, loaded)).toBe('correct servers.toolscout in the config');
    expect(correctionOf({ ...server, source: OTHER }, loaded)).toBe(
      `correct "toolscout" in ${OTHER}, where it is configured`,
    );
  });

  it('CFG-4 names missing variables only where the server is on', () => {
    const entry = { command: 'a', env: { KEY: '${NO_SUCH_VARIABLE}' } };
    expect(remedyOf({ servers: { a: entry } })).toEqual({ kind: 'set-variables', names: ['NO_SUCH_VARIABLE'] });
    expect(remedyOf({ servers: { a: { ...entry, enabled: false } } })).toMatchObject({ kind: 'configure' });
  });
});
