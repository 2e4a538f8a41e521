import { describe, expect, it } from 'vitest';
import { EMPTY_ENTRY, entryOf, formOf, problemsOf, readEntries, splitCommand } from './server-entry.js';

describe('servers that are pasted', () => {
  const entry = { command: 'npx', args: ['-y', 'x'] };

  it('STUDIO-1 are read as clients write them, as the config does, by name, and alone where the name is known', () => {
    for (const text of [{ mcpServers: { x: entry } }, { servers: { x: entry } }, { x: entry }])
      expect(readEntries(JSON.stringify(text), '')).toEqual({ x: entry });
    expect(readEntries(JSON.stringify(entry), 'mine')).toEqual({ mine: entry });
    expect(readEntries('{"a": {"url": "https://a.example"}, "b": {"command": "b"}}', '')).toEqual({
      a: { url: 'https://a.example' },
      b: { command: 'b' },
    });
  });

  it('STUDIO-1 are refused with what is wrong', () => {
    expect(readEntries('{"a"', '')).toMatch(/^This is not valid JSON/);
    expect(readEntries('[]', '')).toMatch(/^Write an object/);
    expect(readEntries(JSON.stringify(entry), '')).toMatch(/^Give it a name/);
    expect(readEntries('{}', '')).toBe('There is no server in it.');
    expect(readEntries('{"mcpServers": 5}', '')).toBe('There is no server in it.');
    expect(readEntries('{"a": {"args": []}}', '')).toBe('"a" has neither a command nor a url.');
  });
});

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
    expect(splitCommand('node --dir="my files" \'a\'b "" C:\\x')).toEqual({
      command: 'node',
      args: ['--dir=my files', 'ab', '', 'C:\\x'],
    });
    for (const line of ['node "/work/a.mjs', "node it's", 'node --x="a b', '"'])
      expect(problemsOf({ ...EMPTY_ENTRY, id: 'a', command: line }).command).toMatch(/^Close the quote ["']/);
    expect(problemsOf({ ...EMPTY_ENTRY, id: 'a', command: '""' }).command).toContain('Give the command');
    expect(splitCommand('')).toEqual({ command: '', args: [] });
    expect(splitCommand(String.raw`"a \"b\"" 'c d'`)).toEqual({ command: 'a "b"', args: ['c d'] });
  });
});

describe('the name of a new server', () => {
  it('STUDIO-8 is reported at its field: missing, not allowed, or taken', () => {
    const form = { ...EMPTY_ENTRY, command: 'npx' };
    expect(problemsOf(form).id).toContain('short name');
    expect(problemsOf({ ...form, id: 'every thing' }).id).toContain('Write every-thing');
    expect(problemsOf({ ...form, id: 'x'.repeat(65) }).id).toContain('1 to 64');
    expect(problemsOf({ ...form, id: ' notes ' }, ['notes']).id).toContain('notes exists already');
    expect(problemsOf({ ...form, id: 'notes.2' }, ['notes'])).toEqual({});
  });

  it('STUDIO-8 that is taken is refused in pasted JSON as well: the entry would be replaced', () => {
    for (const text of ['{"mcpServers": {"notes": {"command": "x"}}}', '{"command": "x"}'])
      expect(readEntries(text, 'notes', ['notes'])).toContain('notes exists already');
  });
});
