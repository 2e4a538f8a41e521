import { describe, expect, it } from 'vitest';
import { EMPTY_ENTRY, entryOf, formOf, problemsOf, splitCommand } from './server-entry.js';

describe('the form of a server', () => {
  it('STUDIO-8 makes the entry of a command and of a URL', () => {
    expect(
      entryOf({
        ...EMPTY_ENTRY,
        id: 'a',
        command: 'npx -y "my server"',
        args: '--flag\n\nvalue',
        pairs: 'TOKEN=${TOKEN}',
        title: 'A',
      }),
    ).toEqual({
      title: 'A',
      command: 'npx',
      args: ['-y', 'my server', '--flag', 'value'],
      env: { TOKEN: '${TOKEN}' },
    });
    expect(
      entryOf({ ...EMPTY_ENTRY, kind: 'url', url: ' https://a.example/mcp ', pairs: 'Authorization=Bearer a=b' }),
    ).toEqual({
      url: 'https://a.example/mcp',
      headers: { Authorization: 'Bearer a=b' },
    });
  });

  it('STUDIO-8 keeps what the form does not ask, and reads back what it writes', () => {
    const entry = { command: '/opt/my tools/run', args: ['a b', '-x'], env: { A: '1' }, tags: ['team'], title: 'T' };
    expect(entryOf(formOf('x', entry), entry)).toEqual(entry);
    const remote = { url: 'https://a.example', headers: { X: 'y' }, eager: true };
    expect(entryOf(formOf('x', remote), remote)).toEqual(remote);
  });

  it('STUDIO-8 says what is missing before anything is planned', () => {
    expect(Object.keys(problemsOf({ ...EMPTY_ENTRY, pairs: 'novalue' }))).toEqual(['id', 'command', 'pairs']);
    expect(Object.keys(problemsOf({ ...EMPTY_ENTRY, id: 'a', kind: 'url', url: 'javascript:x' }))).toEqual(['url']);
    expect(problemsOf({ ...EMPTY_ENTRY, id: 'a', command: 'node' })).toEqual({});
    expect(splitCommand('')).toEqual({ command: '', args: [] });
    expect(splitCommand(String.raw`"a \"b\"" 'c d'`)).toEqual({ command: 'a "b"', args: ['c d'] });
  });
});
