import { describe, expect, it } from 'vitest';
import type { ServerEntry } from '../model/config.js';
import { expand } from '../config/resolve/expand.js';
import { literalSecrets } from '../config/secrets/literal-secrets.js';
import { takeCredentials } from './take-credentials.js';

const FREE = (): boolean => true;

/** Every text of an entry with its variables filled in. */
function filled(entry: ServerEntry, env: Readonly<Record<string, string>>): unknown {
  return JSON.parse(JSON.stringify(entry), (_, value: unknown) =>
    typeof value === 'string' ? expand(value, env).text : value,
  );
}

describe('taking credentials out of an entry', () => {
  it.each<ServerEntry>([
    { command: 'x', env: { GITHUB_TOKEN: 'ghp_canary12345678', MODE: 'fast' } },
    { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer canary-1234', 'X-Api-Key': 'canary-5678' } },
    { url: 'https://user:canary@a.example/mcp?key=canary2&x=y' },
    { command: 'x', args: ['--token', 'canary-1234', '--api-key=canary-5678', 'plain', '-e', 'SECRET=canary-9'] },
    { command: 'x', args: ['postgres://user:canary@db/x'] },
  ])('CFG-4 leaves nothing that looks like one, and means the same: %j', (entry) => {
    const taken = takeCredentials('my-server', entry, FREE)!;
    expect(JSON.stringify(taken.entry)).not.toContain('canary');
    expect(literalSecrets(taken.entry)).toEqual([]);
    expect(filled(taken.entry, taken.secrets)).toEqual(entry);
  });

  it('CFG-4 variables that the entry uses already stay as they are', () => {
    const entry = {
      command: 'x',
      args: ['${HOME}/work', '--token', '${T}'],
      env: { A_KEY: 'canary-1', B_KEY: '${B}' },
    };
    expect(takeCredentials('x', entry, FREE)).toEqual({
      entry: { ...entry, env: { A_KEY: '${A_KEY}', B_KEY: '${B}' } },
      secrets: { A_KEY: 'canary-1' },
    });
  });

  it('CFG-4 a name that is taken by another value is not used', () => {
    const entry = { command: 'x', env: { API_KEY: 'canary-1234' } };
    const { secrets, entry: taken } = takeCredentials('files', entry, (name) => name !== 'API_KEY')!;
    expect(secrets).toEqual({ FILES_API_KEY: 'canary-1234' });
    expect(taken.env).toEqual({ API_KEY: '${FILES_API_KEY}' });
  });

  it('CFG-4 a text that mixes a variable with something in clear is left alone', () => {
    expect(takeCredentials('x', { command: 'x', env: { KEY: 'pre-${A}-canary' } }, FREE)).toBeUndefined();
    expect(takeCredentials('x', { command: 'x', env: { KEY: 'two\nlines' } }, FREE)).toBeUndefined();
  });
});
