import { describe, expect, it } from 'vitest';
import { createLineFinder, keysOf } from './line-of.js';
import type { DataFormat } from './parse.js';

const FILES: ReadonlyArray<readonly [DataFormat, string]> = [
  [
    'jsonc',
    '// mine\n{\n  "servers": {\n    "a b": {\n      "command": "x"\n    }\n  },\n  "toolRules": [\n    { "pattern": "x" },\n    {\n      "pattern":\n        "y"\n    }\n  ]\n}\n',
  ],
  ['yaml', '# mine\n\nservers:\n  a b:\n    command: x\n\n\ntoolRules:\n  - pattern: x\n  -\n    pattern:\n      y\n'],
  ['toml', '# mine\n\n[servers]\n[servers."a b"]\ncommand = "x"\n\n\n\n[[toolRules]]\n[[toolRules]]\npattern = "y"\n'],
];

describe('the line of a problem', () => {
  it('STUDIO-1 reads the paths that problems have', () => {
    expect(keysOf('toolRules[2].pattern')).toEqual(['toolRules', 2, 'pattern']);
    expect(keysOf('servers["a b"].env')).toEqual(['servers', 'a b', 'env']);
    expect(keysOf('servers["a\\"b"]')).toEqual(['servers', 'a"b']);
    expect(keysOf('servers["\\q"]')).toEqual(['servers', '\\q']);
    expect(keysOf('config')).toEqual(['config']);
  });

  it.each(FILES)('STUDIO-1 is that of the value, or of what is there of the way to it: %s', async (format, text) => {
    const lineOf = await createLineFinder(text, format);
    expect(lineOf('servers')).toBe(3);
    expect(lineOf('servers["a b"].command')).toBe(5);
    expect(lineOf('servers["a b"].env TOKEN')).toBe(4);
    expect(lineOf('toolRules[1].pattern')).toBe(11);
    expect(lineOf('toolRules[0].pattern')).toBe(9);
    expect(lineOf('config')).toBeUndefined();
    expect(lineOf('line 7, column 2')).toBe(7);
  });

  it('STUDIO-1 finds what stands in a section of a shared file, and nothing in code', async () => {
    const lineOf = await createLineFinder('{\n "discovery": {\n  "toolRules": [{}] } }', 'json');
    expect(lineOf('toolRules[0].pattern')).toBe(3);
    const inCode = await createLineFinder('export default {}', undefined);
    expect([inCode('servers'), inCode('line 2, column 1')]).toEqual([undefined, 2]);
    const odd = await createLineFinder('- 1\n- 2\n', 'yaml');
    expect([odd('servers'), (await createLineFinder('x', 'yaml'))('a.b')]).toEqual([undefined, undefined]);
  });

  it.each([
    ['toml', 'args = ["-y", "foo]'],
    ['toml', "args = ['x"],
    ['toml', 'a = { "abc'],
    ['toml', 'a = {'],
    ['toml', '"a\tb" = 1\n"\\U0001F600" = 2'],
    ['toml', `a = ${'['.repeat(200_000)}`],
    ['yaml', '['.repeat(1_000_000)],
    ['yaml', '- '.repeat(500_000)],
    ['json', '['.repeat(1_000_000)],
  ] as const)('STUDIO-1 A28 reads a text that is not valid to its end: %s %#', async (format, text) => {
    const lineOf = await createLineFinder(text, format);
    expect(lineOf('servers.a')).toBeUndefined();
  });
});
